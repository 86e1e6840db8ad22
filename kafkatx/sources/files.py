"""Evidence files: opened for reading only, read by position, never mapped.

A live broker truncates files while we look. A path may lie in an archive, and a compressed file is opened unpacked
(sources/archives.py).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from kafkatx.sources.archives import real_path, real_path_of_content


@dataclass(frozen=True, slots=True)
class FileName:
    """A file that was met: the path as the user may open it, and its size in bytes when it was met."""

    path: str
    size: int

    @property
    def name(self) -> str:
        """Last component of the path."""
        return Path(self.path).name

    @property
    def folder(self) -> str:
        """Name of the folder that holds the file."""
        return Path(self.path).absolute().parent.name


BLOCK = 4096
"""Bytes given up at once where a disk refuses to read."""


class OpenFile:
    """A file open for positional reads. What lies behind the size at opening is not read: the file may be growing.

    Blocks that the disk refuses to give (bad sectors) read as zeros; `is_unreadable` tells them from real ones.
    """

    def __init__(self, path: str) -> None:
        """Open `path`; raises OSError."""
        self.path = path
        self._descriptor = _opened(real_path(path))
        content = real_path_of_content(path, self._descriptor)
        if content is not None:
            os.close(self._descriptor)
            self._descriptor = _opened(content)
        self.size = os.fstat(self._descriptor).st_size
        self.problem: str | None = None
        self._unreadable: set[int] = set()

    def read(self, position: int, length: int) -> bytes:
        """Up to `length` bytes from `position`; fewer at the end or where the file has shrunk."""
        buffer = bytearray(max(0, min(length, self.size - position)))
        return bytes(buffer[: self.read_into(memoryview(buffer), position)])

    def read_into(self, buffer: memoryview, position: int) -> int:
        """Fill `buffer` from `position`; returns the bytes read, fewer only at the end."""
        wanted = min(len(buffer), max(0, self.size - position))
        done = 0
        while done < wanted:
            got = self._read_some(buffer[done:wanted], position + done)
            if got == 0:
                break
            done += got
        return done

    def is_unreadable(self, position: int, length: int) -> bool:
        """Whether the disk refused to give some of these bytes when they were read."""
        return any(position < (block + 1) * BLOCK and block * BLOCK < position + length for block in self._unreadable)

    def _read_some(self, buffer: memoryview, position: int) -> int:
        try:
            return _read_at(self._descriptor, buffer, position)
        except OSError as error:
            self.problem = error.strerror
            self._unreadable.add(position // BLOCK)
            refused = min(len(buffer), BLOCK - position % BLOCK)
            buffer[:refused] = bytes(refused)
            return refused

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _opened(path: str) -> int:
    return os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))


def _read_at(descriptor: int, buffer: memoryview, position: int) -> int:
    """Read into a buffer without moving the file's position; systems without preadv (macOS before 11) pay a copy."""
    if hasattr(os, "preadv"):
        return os.preadv(descriptor, [buffer], position)
    data = os.pread(descriptor, len(buffer), position)
    buffer[: len(data)] = data
    return len(data)


def read_small(path: str, limit: int = 64 << 20) -> bytes:
    """First `limit` bytes of a small file; raises OSError."""
    with OpenFile(path) as file:
        return file.read(0, limit)
