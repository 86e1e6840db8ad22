"""An object of a store, read by position: small reads come out of a block that is read ahead.

Steps     a walk that needs no records steps over large ones (segments/batches.py): what it asks for behind a step is a
          small block.
Requests  an object that stays open for a while is asked for its size once. The first block is small, since names and
          content are told by it; while the reading goes on behind it, blocks grow up to BLOCK.
Changes   an object that is replaced by a shorter one sends fewer bytes than were asked for, and Arrow does not tell how
          many: the last byte of a buffer is marked before, and must be another one behind.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any, TypeVar

from kafkatx.sources import stores

T = TypeVar("T")

FIRST, BLOCK, GROWTH = 64 << 10, 8 << 20, 8
"""Bytes of the first block and of the largest; how many times the one before it a block is."""
REQUEST = 2 << 20
"""Bytes that could be read while a request is answered: stepping over fewer of them saves nothing."""
MOST_OPEN = 256
"""Objects that are kept open, each with its first block."""
AT_ONCE = 16
"""Objects whose first blocks are asked for at once."""
MOST_REFUSALS = 2
"""Reads that a store may refuse before an object is given up: it has tried again by itself."""
MARKS = 0xA5, 0x5A


class _Handle:
    """An object that is open in Arrow."""

    def __init__(self, path: str) -> None:
        """Open it; raises OSError."""
        system, inner = stores.opened(path)
        self.path, self._lock, self._first = path, threading.Lock(), b""
        with stores.told_as(path):
            self._file = system.open_input_file(inner)
            self.size = int(self._file.size())

    @property
    def first(self) -> bytes:
        """The first block; raises OSError."""
        if not self._first and self.size:
            self._first = bytes(self.read(0, FIRST))
        return self._first

    def read(self, position: int, length: int) -> bytearray:
        """Read `length` bytes, or those up to the end; raises OSError where they don't come whole."""
        wanted = max(0, min(length, self.size - position))
        data = bytearray(wanted)
        for mark in MARKS:  # a byte that is equal to one mark is not equal to the other
            data[-1:] = bytes([mark])[:wanted]
            if not wanted or (self._fill(data, position) == wanted and data[-1] != mark):
                return data
        raise OSError(errno.EIO, "the object is shorter than it was", self.path)

    def _fill(self, buffer: bytearray, position: int) -> int:
        with self._lock, stores.told_as(self.path):
            self._file.seek(position)
            return int(self._file.readinto(buffer))


_OPEN: OrderedDict[tuple[str, Any], _Handle] = OrderedDict()
_LOCK = threading.Lock()


def _handle(path: str) -> _Handle:
    """An object that is open already, unless it was listed anew since as another one; else it is opened."""
    key = path, stores.version(path)
    with _LOCK:
        if key in _OPEN:
            _OPEN.move_to_end(key)
            return _OPEN[key]
    made = _Handle(path)
    with _LOCK:
        _OPEN[key] = made
        while len(_OPEN) > MOST_OPEN:
            _OPEN.popitem(last=False)
    return made


def prepare(files: Iterable[tuple[str, T]]) -> Iterator[tuple[str, T]]:
    """Yield what begins with a path as it comes, the first blocks of the objects asked for together.

    What fails is told at opening.
    """
    left = iter(files)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        while some := [*islice(left, MOST_OPEN // 4)]:
            [*threads.map(_try, (path for path, _ in some))]
            yield from some


def _try(path: str) -> None:
    with contextlib.suppress(OSError):
        _ = _handle(path).first


class StoredContent:
    """What an open file reads from, where it is an object of a store."""

    request_bytes = REQUEST
    descriptor = -1

    def __init__(self, path: str) -> None:
        """Open the object of a URL; raises OSError."""
        self._handle: _Handle = _handle(path)
        self._path = path
        self.size = self._handle.size
        self._block: bytes | bytearray = b""
        self._begin, self._ahead = 0, FIRST
        self._refused: list[OSError] = []

    def read_at(self, buffer: memoryview, position: int) -> int:
        """Fill some of `buffer`, at least a byte unless it is at the end; raises OSError where the store refuses."""
        if not len(buffer) or position >= self.size:
            return 0
        if not self._begin <= position < self._begin + len(self._block):
            self._load(position, len(buffer))
        at = position - self._begin
        piece = memoryview(self._block)[at : at + len(buffer)]
        buffer[: len(piece)] = piece
        return len(piece)

    def refused(self, position: int, length: int) -> int:
        """How many bytes are given up where a read is refused: all that were asked for."""
        return length

    def next_data(self, position: int) -> int:
        """`position`: objects have no holes."""
        return position

    def again(self) -> StoredContent:
        """The same object, with what is read ahead of its own."""
        return StoredContent(self._path)

    def close(self) -> None:
        """Forget what was read ahead."""
        self._block = b""

    def _load(self, position: int, length: int) -> None:
        if len(self._refused) >= MOST_REFUSALS:
            raise self._refused[-1]
        is_next = abs(position - self._begin - len(self._block)) <= FIRST  # a walk may step over some bytes, or back
        try:
            if position < min(FIRST, self.size):
                self._begin, self._block, self._ahead = 0, self._handle.first, FIRST
                return
            self._ahead = min(self._ahead * GROWTH, BLOCK) if is_next else FIRST
            self._block = b""
            self._block = self._handle.read(position, min(max(length, self._ahead), BLOCK))
            self._begin = position
        except OSError as error:
            self._refused.append(error)
            self._begin, self._block = position, b""
            with _LOCK:
                for key in [key for key in _OPEN if key[0] == self._path]:
                    del _OPEN[key]
            raise


class StoredStream(io.RawIOBase):
    """An object of a store as a file of Python."""

    def __init__(self, path: str) -> None:
        """Open the object of a URL; raises OSError."""
        self._content, self._at = StoredContent(path), 0

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a position."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._content.size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Fill some of a buffer; none at the end."""
        done = self._content.read_at(memoryview(buffer).cast("B"), self._at)
        self._at += done
        return done
