"""A file whose bytes are in memory already: fetched, or mapped by who knows that nobody will cut it short."""

from __future__ import annotations

from typing import Any

from kafkatx.sources.files import OpenFile


class HeldFile(OpenFile):
    """Bytes that are read as a file is; what can be taken as it lies there is not copied."""

    def __init__(self, data: Any, path: str = "bytes in memory") -> None:
        """Read `data`, whatever has the buffer protocol; `path` is what damage names."""
        self._bytes = memoryview(data).cast("B").toreadonly()
        self._content = _Held(self._bytes)
        self.path, self.size, self.request_bytes = path, len(self._bytes), 0
        self.problem = None
        self._unreadable = []

    def held(self, position: int, length: int) -> memoryview | None:
        """As of OpenFile; there are always some."""
        return self._bytes[position : min(position + length, self.size)]


class _Held:
    """What is read where a copy is wanted."""

    request_bytes = 0
    descriptor = -1

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self.size = len(data)

    def read_at(self, buffer: memoryview, position: int) -> int:
        """Copy what is there."""
        part = self._data[position : position + len(buffer)]
        buffer[: len(part)] = part
        return len(part)

    def refused(self, position: int, length: int) -> int:
        """Memory refuses nothing."""
        return length

    def next_data(self, position: int) -> int:
        """It has no holes."""
        return position

    def again(self) -> _Held:
        """The same bytes."""
        return _Held(self._data)

    def close(self) -> None:
        """Nothing is held that is not the caller's."""
