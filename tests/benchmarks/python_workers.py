"""How much memory Spark's Python workers held, while a block of code ran: read off /proc, so on Linux only.

A worker is a child of Spark's daemon (`pyspark.daemon`), which is a child of the JVM. Two figures are taken of each:
*resident* is VmHWM, the highest resident set that the kernel saw, pages of shared libraries and those still shared with
the daemon included; *anonymous* is the highest RssAnon that was sampled, memory that belongs to the worker alone or was
inherited and not yet written. VmHWM misses no moment; of workers that were there before it is set back first.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.benchmarks.measure import family

SAMPLE_S = 0.02
DAEMON = b"pyspark.daemon"
SET_BACK_PEAK = "5"
"""Written to /proc/PID/clear_refs (proc(5))."""


@dataclass(frozen=True, slots=True)
class Peak:
    """Highest memory of one worker, bytes."""

    resident: int
    anonymous: int


@dataclass(slots=True)
class PythonWorkers:
    """Watches the workers below this process from entering a `with` block to leaving it; `peaks` has them by pid."""

    peaks: dict[int, Peak] = field(default_factory=dict)
    _done: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> "PythonWorkers":
        for pid in _workers():
            with suppress(OSError):
                Path(f"/proc/{pid}/clear_refs").write_text(SET_BACK_PEAK)
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._sample()
        self._done.set()
        assert self._thread is not None
        self._thread.join()

    @property
    def highest(self) -> Peak:
        """The highest of all workers; raises ValueError where none was seen."""
        return Peak(
            max(peak.resident for peak in self.peaks.values()), max(peak.anonymous for peak in self.peaks.values())
        )

    def _watch(self) -> None:
        while not self._done.wait(SAMPLE_S):
            self._sample()

    def _sample(self) -> None:
        for pid in _workers():
            now, before = _memory(pid), self.peaks.get(pid, Peak(0, 0))
            self.peaks[pid] = Peak(max(now.resident, before.resident), max(now.anonymous, before.anonymous))


def _workers() -> Iterator[int]:
    """Pids of the Python workers below this process: children of a daemon, which runs the same program."""
    daemons = {pid for pid in family(os.getpid()) if DAEMON in _command(pid)}
    return (pid for pid in daemons if _parent(pid) in daemons)


def _command(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def _parent(pid: int) -> int:
    return _status(pid).get("PPid", 0)


def _memory(pid: int) -> Peak:
    status = _status(pid)
    return Peak(status.get("VmHWM", 0) << 10, status.get("RssAnon", 0) << 10)


def _status(pid: int) -> dict[str, int]:
    """The numbers of /proc/PID/status, sizes in KiB; empty where the process has ended."""
    lines: list[str] = []
    with suppress(OSError):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    pairs = ((name, value.split()) for name, _, value in (line.partition(":") for line in lines))
    return {name: int(value[0]) for name, value in pairs if value and value[0].isdigit()}
