"""One export by Spark at a time writes to a place: a file in it names who does, and goes with the end of the run.

Gone     a run that was killed leaves the file. Where its process was one of this machine and is there no more, the next
         run takes over without a word; of another machine nobody can tell from here, so a person is asked.
Stores   have no file that only one can make. Who wrote it reads it back: of two that begin in the same moment the first
         one sees the other's name and gives up.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from kafkatx.spark.export_store import ExportStore
from kafkatx.terms.errors import OutputError
from kafkatx.terms.records import dataclass

LOCK = "_kafkatx.lock"


@dataclass(frozen=True, slots=True)
class Owner:
    """Who writes: the run, the machine, the process and when that began (as its system counts), and since when."""

    run_id: str
    machine: str
    process: int
    began: str
    since: str

    @classmethod
    def of_this(cls, run_id: str) -> Owner:
        """Return this process as the owner."""
        since = datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds")
        return cls(run_id, socket.gethostname(), os.getpid(), _began(os.getpid()), since.replace("+00:00", "Z"))

    @property
    def is_gone(self) -> bool:
        """Whether it was a process of this machine that is there no more."""
        return self.machine == socket.gethostname() and _began(self.process) != self.began


@contextlib.contextmanager
def locked(store: ExportStore, run_id: str) -> Iterator[None]:
    """Keep other exports by Spark out of a place; raises OutputError where one writes to it."""
    mine = Owner.of_this(run_id)
    data = json.dumps(asdict(mine)).encode()
    if not store.write_new(LOCK, data):
        _refuse_living(store)
        store.write(LOCK, data)
    if store.read(LOCK) != data:
        _refuse_living(store)
    try:
        yield
    finally:
        if store.read(LOCK) == data:
            store.remove_file(LOCK)


def _refuse_living(store: ExportStore) -> None:
    owner = _owner(store.read(LOCK))
    if owner is not None and not owner.is_gone:
        raise OutputError(
            f"another export, run {owner.run_id}, writes to {store.path} since {owner.since}: process {owner.process} "
            f"of {owner.machine}",
            [f"Wait for its end. If that process is gone, remove {store.shown(LOCK)} and give the command again."],
        )


def _owner(data: bytes | None) -> Owner | None:
    """Who a file names; None where there is none, or it was not written to its end."""
    try:
        return Owner(**json.loads(data or b""))
    except (ValueError, TypeError):
        return None


def _began(process: int) -> str:
    """When a process of this machine began, "" where there is none, "?" where the system does not tell."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return "" if Path("/proc/self/stat").exists() or not _is_there(process) else "?"


def _is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
