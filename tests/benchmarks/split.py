"""One reading on some cores: its wall time, its CPU, and how much of that each thread had, as JSON.

    python -m tests.benchmarks.split CORES {verify,records,diagnose} DIRECTORY

On a machine that others use too the wall says little; what threads share, and what sharing costs, shows all the same.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

READINGS = ("verify", "records", "diagnose")


def reading(name: str, directory: str) -> Callable[[], object]:
    """The reading of a name."""
    from kafkatx.local.diagnosis import diagnose
    from kafkatx.local.verification import verify

    if name == "diagnose":
        return lambda: diagnose([directory])
    return lambda: verify([directory], records=name == "records")


def measured(read: Callable[[], object]) -> dict[str, Any]:
    """Run it: seconds by the wall, of CPU in all, of the first thread, and of each of the others."""
    others: list[float] = []
    run = threading.Thread.run

    def timed(thread: threading.Thread) -> None:
        run(thread)
        others.append(time.thread_time())

    threading.Thread.run = timed  # type: ignore[method-assign]
    try:
        began, cpu, own = time.perf_counter(), time.process_time(), time.thread_time()
        read()
        return {
            "wall_s": time.perf_counter() - began,
            "cpu_s": time.process_time() - cpu,
            "first_s": time.thread_time() - own,
            "others_s": sorted(others),
        }
    finally:
        threading.Thread.run = run  # type: ignore[method-assign]


def main(cores: int, name: str, directory: str) -> None:
    """Read twice and print the second time: kernels are loaded then."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    read = reading(name, directory)
    read()
    json.dump(measured(read), sys.stdout)


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
