"""What is written stays written: errors of a disk as errors of ours, bytes and names that survive a power cut."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from kafkatx.terms.errors import OutputError


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what a disk refuses into OutputError; only around what writes, never around what reads evidence."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise OutputError(f"{path} could not be written: {reason}") from error


class HashedFile:
    """A new file that is only written to its end; its size and SHA-256 are known when it is closed, and it is on disk.

    It has what Arrow asks of a Python file. Errors are OSError: see `writing`.
    """

    def __init__(self, path: Path) -> None:
        self._file: Any = path.open("xb")
        self._digest = hashlib.sha256()
        self.size = 0

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return bool(self._file.closed)

    @property
    def sha256(self) -> str:
        """SHA-256 of what was written so far."""
        return self._digest.hexdigest()

    def write(self, data: Any) -> int:
        """Write all of `data`."""
        view = memoryview(data).cast("B")
        self._file.write(view)
        self._digest.update(view)
        self.size += len(view)
        return len(view)

    def tell(self) -> int:
        """Bytes written so far."""
        return self.size

    def flush(self) -> None:
        """Hand what is buffered to the system."""
        self._file.flush()

    def close(self) -> None:
        """Close it; what was written is on disk then."""
        if not self.closed:
            try:
                self._file.flush()
                os.fsync(self._file.fileno())
            finally:
                self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            with contextlib.suppress(OSError):
                self._file.close()


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on disk; a file system that has no such thing is let be."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(path: Path, data: bytes) -> None:
    """Write a small file so that, whatever happens, it holds what it held before or all of `data`."""
    draft = path.with_name(f"{path.name}.new")
    draft.unlink(missing_ok=True)
    with HashedFile(draft) as file:
        file.write(data)
    draft.replace(path)
    sync_folder(path.parent)
