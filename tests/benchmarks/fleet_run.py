"""Plans and diagnoses a fleet (tests/benchmarks/fleet.py) on Spark, in a process of its own; JSON of what it cost.

    python -m tests.benchmarks.fleet_run MASTER FOLDER

The session is the product's own (heap of the driver's JVM 1 GiB). *Planning* is all up to the tasks of the second pass:
listing, joining, the first pass, and which segments the second one opens; these are holes, so that reading them is a
task each and costs little. Memory is the highest resident set of the
driver's Python (VmHWM) so far, and that of its workers.
"""

import json
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from kafkatx.evidence.unread import unread_size
from kafkatx.outputs.answer import answer
from tests.benchmarks.measure import family
from tests.benchmarks.python_workers import PythonWorkers


def main() -> None:
    """Run; the figures on stdout."""
    master, folder = sys.argv[1:]
    sys.stdout.write(json.dumps(figures(master, Path(folder)), indent=1) + "\n")


def figures(master: str, folder: Path) -> dict[str, Any]:
    """Plan, then diagnose."""
    from kafkatx.spark import diagnosis
    from kafkatx.spark.looking import looks_in_tasks
    from kafkatx.spark.passes import FirstPass
    from kafkatx.spark.session import session
    from kafkatx.stages.models import Telling, joined_evidence
    from kafkatx.stages.suspects import SMALL
    from kafkatx.stages.tasks import tasks

    brokers = sorted(folder.glob("broker-*"))
    found: dict[str, Any] = {"brokers": len(brokers)}
    with session(master) as spark, PythonWorkers() as workers:
        spark.range(8).mapInArrow(lambda batches: batches, "id bigint").count()
        began = time.perf_counter()
        found["before"] = cost(began)
        with looks_in_tasks(spark) as looker:
            evidence = joined_evidence(brokers, None, looker)
            found["files"] = sum(len(one.items) for capture in evidence.captures for one in capture.directories)
            found["listed"] = cost(began)
            first = FirstPass(spark, looker, Telling())
            chosen = first.suspected(evidence.captures, SMALL)
            found["suspected"] = cost(began)
            todo = [*tasks(chosen, False, None, 4, first.has_read)]
            found["planned"] = {**cost(began), "tasks": len(todo)}
            size = [unread_size(capture) for capture in chosen]
            found["opened"] = sum(one.of - one.segments for one in size)
            found["of"] = sum(one.of for one in size)
            first.forget()
        del evidence, chosen, todo
        began = time.perf_counter()
        told = diagnosis.diagnose(spark, brokers, stretch_bytes=1 << 30)
        found["diagnosed"] = cost(began)
        found["answer"] = answer(told).headline
        found["findings"] = len(told.findings)
    found["worker"] = workers.highest.resident >> 20
    return found


def cost(began: float) -> dict[str, float]:
    """Seconds since, CPU of all processes so far, the highest resident set so far; told on standard error as well."""
    found = {"s": round(time.perf_counter() - began, 1), "cpu_s": round(sum(map(cpu_s, family(os.getpid()))), 1)}
    found["MiB"] = peak()
    sys.stderr.write(f"{found}\n")
    return found


def cpu_s(pid: int) -> float:
    """CPU of a process so far; 0 where it is gone."""
    with suppress(OSError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def peak() -> int:
    """The highest resident set of this process so far, MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) >> 10 for line in lines if line.startswith("VmHWM"))


if __name__ == "__main__":
    main()
