"""What a task is doing, noted on its machine: of a worker that is killed nothing else tells what it was about.

Folder  one a job, in the folder for temporary files, for nobody else's eyes; a task's note goes when the task ends, the
        folder with the last of them.
Where   what is left is looked for on this machine, and by tasks on those of a session that still runs.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, fields
from pathlib import Path

from kafkatx.terms.records import dataclass

PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
JOB = secrets.token_hex(8)
"""Names the jobs of this process, to the workers as well."""


@dataclass(frozen=True, slots=True)
class Note:
    """What a task was doing: its number as Spark has it, its stage, the file opened last, where, in how much memory."""

    task: int
    stage: str
    file: str | None
    worker: str
    memory_bytes: int | None


class Trail:
    """The note of one task, written anew with each file that it opens. Where it can't be written the task goes on."""

    def __init__(self, job: str, stage: str) -> None:
        self._job, self.stage, self._task = job, stage, _task()
        self._file: str | None = None
        self._descriptor = -1

    def __enter__(self) -> Trail:
        with contextlib.suppress(OSError):
            folder = folder_of(self._job)
            folder.mkdir(mode=0o700, exist_ok=True)
            self._descriptor = os.open(self._path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
            self._write()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            if self._descriptor >= 0:
                os.close(self._descriptor)
            self._path.unlink()
            self._path.parent.rmdir()  # refused as long as other tasks have notes in it

    def opening(self, path: str) -> None:
        """Note a file that is opened next."""
        self._file = path
        with contextlib.suppress(OSError):
            if self._descriptor >= 0:
                self._write()

    @property
    def note(self) -> Note:
        """What the task is doing now."""
        return Note(self._task, self.stage, self._file, worker_name(), _memory_bytes())

    @property
    def _path(self) -> Path:
        return folder_of(self._job) / f"{self._task}-{os.getpid()}.json"

    def _write(self) -> None:
        data = json.dumps(asdict(self.note)).encode()
        os.pwrite(self._descriptor, data, 0)
        os.ftruncate(self._descriptor, len(data))


def folder_of(job: str) -> Path:
    """Where the notes of a job lie."""
    return Path(tempfile.gettempdir(), f"kafkatx-tasks-{job}")


def notes_left(job: str) -> Iterator[Note]:
    """Yield the notes of a job's tasks on this machine that did not end; what is no note is left out."""
    with contextlib.suppress(OSError):
        for path in sorted(folder_of(job).glob("*.json")):
            with contextlib.suppress(OSError, ValueError, TypeError):
                yield read_note(path.read_text("utf-8"))


def read_note(text: str) -> Note:
    """Read a note; raises ValueError or TypeError for what is none."""
    told = json.loads(text)
    return Note(**{one.name: told[one.name] for one in fields(Note)} if isinstance(told, dict) else {})


def forget(job: str) -> None:
    """Remove the notes of a job on this machine."""
    with contextlib.suppress(OSError):
        for path in folder_of(job).glob("*.json"):
            path.unlink()
        folder_of(job).rmdir()


def worker_name() -> str:
    """Name this machine."""
    return socket.gethostname()


def _task() -> int:
    """The number of the task that runs here, as Spark tells it in its errors; -1 outside of one."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return -1 if context is None else int(context.taskAttemptId())


def _memory_bytes() -> int | None:
    """What this process holds now, where the system tells."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE
    except (OSError, ValueError, IndexError):
        return None
