"""What is written stays written: errors of a disk or a store as errors of ours, bytes and names that survive a cut."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from kafkatx.sources import places, stores
from kafkatx.terms.errors import OutputError


@contextlib.contextmanager
def writing(path: Path | str) -> Iterator[None]:
    """Turn what a disk refuses into OutputError; only around what writes, never around what reads evidence."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise OutputError(f"{path} could not be written: {reason}") from error


class HashedFile:
    """A new file that is only written to its end; its size and SHA-256 are known when it is closed, and it is on disk.

    It may be an object of a store as well, by its URL. It has what Arrow asks of a Python file. Errors are OSError: see
    `writing`.
    """

    def __init__(self, path: Path | str) -> None:
        self._is_object = places.is_url(str(path))
        self._file: Any = _object(str(path)) if self._is_object else _new(Path(path))
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
                if not self._is_object:
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


def _new(path: Path) -> Any:
    return path.open("xb")


def _object(url: str) -> Any:
    system, path = stores.opened(url)
    return system.open_output_stream(path)


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
