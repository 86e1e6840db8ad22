"""Evidence files: opened for reading only, read by position, never mapped.

A live broker truncates files while we look. A path may lie in an archive, and a compressed file is opened unpacked
(sources/archives.py); a URL is an object of a store (sources/objects.py).
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Protocol, Self

from kafkatx.sources import places
from kafkatx.sources.archives import real_path, real_path_of_content
from kafkatx.sources.packing import LONGEST_MAGIC

BLOCK = 4096
"""Bytes given up at once where a disk refuses to read."""


Observer = Callable[[str, int, int], None]
"""Called with a path and where what was read of it begins and ends."""
_observer: ContextVar[Observer | None] = ContextVar("kafkatx_observer_of_reads", default=None)


def was_read(path: str, begin: int, end: int) -> None:
    """Tell of what was read elsewhere, as of a read that is done here."""
    if (observer := _observer.get()) is not None:
        observer(path, begin, end)


@contextmanager
def observed(observer: Observer) -> Iterator[None]:
    """Tell `observer` of what is read inside, in this thread."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


class Openings(Protocol):
    """Is told of files that are opened: on another machine than the one that planned some may not be there."""

    def opening(self, path: str) -> None:
        """A file is opened next."""

    def refused(self, path: str, error: OSError) -> None:
        """It could not be."""


_openings: ContextVar[Openings | None] = ContextVar("kafkatx_openings", default=None)


@contextmanager
def openings_told(openings: Openings) -> Iterator[None]:
    """Tell `openings` of files that are opened inside, in this thread; a generator may leave it in another context."""
    _openings.set(openings)
    try:
        yield
    finally:
        _openings.set(None)


class Backing(Protocol):
    """What an open file reads from. `size` in bytes is that at opening.

    `request_bytes`: stepping over fewer bytes costs as much as reading them. `descriptor`: what the system knows it by,
    -1 where it does not.
    """

    size: int
    request_bytes: int
    descriptor: int

    def read_at(self, buffer: memoryview, position: int) -> int:
        """Fill some of `buffer`, at least a byte unless it is at the end; raises OSError."""

    def refused(self, position: int, length: int) -> int:
        """How many bytes to give up where reading up to `length` at `position` was refused."""

    def next_data(self, position: int) -> int:
        """First place from `position` on that may hold anything but zeros; `size` where there is none."""

    def again(self) -> Backing:
        """The same bytes, to be read and closed apart; raises OSError."""

    def close(self) -> None:
        """Give back what is held."""


class _OnDisk:
    """A file of this machine."""

    request_bytes = 0

    def __init__(self, path: str, descriptor: int = -1) -> None:
        """Open `path`, unless there is a descriptor; raises OSError."""
        self._path = path
        self.descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0)) if descriptor < 0 else descriptor
        self.size = os.fstat(self.descriptor).st_size

    def read_at(self, buffer: memoryview, position: int) -> int:
        """Read without moving the file's position; systems without preadv (macOS before 11) pay a copy."""
        if hasattr(os, "preadv"):
            return os.preadv(self.descriptor, [buffer], position)
        data = os.pread(self.descriptor, len(buffer), position)
        buffer[: len(data)] = data
        return len(data)

    def refused(self, position: int, length: int) -> int:
        """Bytes up to the end of the block."""
        return min(length, BLOCK - position % BLOCK)

    def next_data(self, position: int) -> int:
        """The end of the hole at `position`: a sparse file of a terabyte holds no more than its blocks."""
        if not hasattr(os, "SEEK_DATA") or position >= self.size:
            return position
        try:
            return max(position, os.lseek(self.descriptor, position, os.SEEK_DATA))
        except OSError as error:
            return self.size if error.errno == errno.ENXIO else position

    def again(self) -> Backing:
        """The same file, also when its name is gone."""
        return _OnDisk(self._path, os.dup(self.descriptor))

    def close(self) -> None:
        """Close the file."""
        os.close(self.descriptor)


class OpenFile:
    """A file open for positional reads. What lies behind the size at opening is not read: the file may be growing.

    `request_bytes`: stepping over fewer bytes costs as much as reading them; 0 where that costs nothing.

    Blocks that the disk or the store refuses to give read as zeros; `is_unreadable` tells them from real ones.
    """

    def __init__(self, path: str, content: Backing | None = None) -> None:
        """Open `path`, unless its content is open; raises OSError."""
        self.path = path
        self._content = _opening(path) if content is None else content
        self.size = self._content.size
        self.request_bytes = self._content.request_bytes
        self.problem: str | None = None
        self._unreadable: list[tuple[int, int]] = []

    def again(self) -> OpenFile:
        """The same file, to be read and closed apart, by another thread for instance; raises OSError."""
        file = OpenFile(self.path, self._content.again())
        file.size = min(file.size, self.size)
        return file

    def read(self, position: int, length: int) -> bytes:
        """Up to `length` bytes from `position`; fewer at the end or where the file has shrunk."""
        view = memoryview(bytearray(max(0, min(length, self.size - position))))
        return bytes(view[: self.read_into(view, position)])

    def read_into(self, buffer: memoryview, position: int) -> int:
        """Fill `buffer` from `position`; returns the bytes read, fewer only at the end."""
        wanted = min(len(buffer), max(0, self.size - position))
        done = 0
        while done < wanted:
            got = self._read_some(buffer[done:wanted], position + done)
            if got == 0:
                break
            done += got
        was_read(self.path, position, position + done)
        return done

    @property
    def descriptor(self) -> int:
        """What the system knows the file by, for reads that are told to `was_read`; -1 where it does not know it."""
        return self._content.descriptor

    def held(self, position: int, length: int) -> memoryview | None:
        """Up to `length` bytes from `position` as they lie in memory; None where they are read from elsewhere."""
        return None

    def next_data(self, position: int) -> int:
        """First place from `position` on that may hold anything but zeros: holes of sparse files are none."""
        return self._content.next_data(position)

    def is_unreadable(self, position: int, length: int) -> bool:
        """Whether some of these bytes were refused when they were read."""
        return any(position < end and begin < position + length for begin, end in self._unreadable)

    def _read_some(self, buffer: memoryview, position: int) -> int:
        try:
            return self._content.read_at(buffer, position)
        except OSError as error:
            self.problem = error.strerror
            refused = self._content.refused(position, len(buffer))
            self._note(position, position + refused)
            buffer[:refused] = bytes(refused)
            return refused

    def _note(self, begin: int, end: int) -> None:
        """Note refused bytes; those that go on where the last ones ended are one stretch with them."""
        if self._unreadable and self._unreadable[-1][0] <= begin <= self._unreadable[-1][1]:
            begin, end = self._unreadable[-1][0], max(end, self._unreadable.pop()[1])
        self._unreadable.append((begin, end))

    def close(self) -> None:
        """Close the file."""
        self._content.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _opening(path: str) -> Backing:
    """What a path leads to, told to whoever wants to know of it; raises OSError."""
    if (openings := _openings.get()) is None:
        return _content(path)
    openings.opening(path)
    try:
        return _content(path)
    except OSError as error:
        openings.refused(path, error)
        raise


def _content(path: str) -> Backing:
    """What a path leads to, unpacked where it is packed; raises OSError."""
    content = _opened(real_path(path))
    unpacked = real_path_of_content(path, _head(content))
    if unpacked is None:
        return content
    content.close()
    return _opened(unpacked)


def _opened(path: str) -> Backing:
    if not places.is_url(path):
        return _OnDisk(path)
    from kafkatx.sources.objects import StoredContent

    return StoredContent(path)


def _head(content: Backing) -> bytes:
    """The first bytes; none of a pipe, a folder, a bad sector: these are no compressed files."""
    head = bytearray(LONGEST_MAGIC)
    try:
        return bytes(head[: content.read_at(memoryview(head), 0)])
    except OSError:
        return b""


def read_small(path: str, limit: int = 64 << 20) -> bytes:
    """First `limit` bytes of a small file; raises OSError."""
    with OpenFile(path) as file:
        return file.read(0, limit)
