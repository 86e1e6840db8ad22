"""A file read through a window of whole lines that moves on as its reader is done with them; bounded memory."""

from __future__ import annotations

from kafkatx.sources.files import OpenFile
from kafkatx.text.lines import LONGEST_LINE

BLOCK = 1 << 20
"""Bytes read at once."""
LARGEST = BLOCK + 2 * LONGEST_LINE
"""Bytes that a window may grow to before its reader has to give some up."""


class Window:
    """Bytes [position, position + len(data)) of a file; line `line` (from 1) begins at the window's first byte."""

    def __init__(self, file: OpenFile, position: int, end: int, line: int) -> None:
        self.file = file
        self.position = position
        self.end = min(end, file.size)
        self.line = line
        self.data = b""
        self._is_inside_line = False

    @property
    def is_last(self) -> bool:
        """Whether the window reaches the end of what is to be read."""
        return self.position + len(self.data) >= self.end

    @property
    def is_done(self) -> bool:
        """Whether everything has been given up."""
        return self.position >= self.end

    @property
    def is_full(self) -> bool:
        """Whether the window must not grow any more."""
        return len(self.data) >= LARGEST

    def grow(self) -> None:
        """Read the next block."""
        at = self.position + len(self.data)
        block = self.file.read(at, min(BLOCK, self.end - at))
        if not block:
            self.end = at
        self.data += block
        if self._is_inside_line:
            self._skip_line()

    def drop(self, count: int, lines: int) -> None:
        """Move on behind `count` bytes, in which `lines` lines end."""
        self.data, self.position, self.line = self.data[count:], self.position + count, self.line + lines

    def drop_all(self) -> None:
        """Move on behind everything; what is left of a line that has not ended is skipped."""
        self._is_inside_line = not self.data.endswith(b"\n")
        self.drop(len(self.data), self.data.count(b"\n"))

    def _skip_line(self) -> None:
        stop = self.data.find(b"\n")
        self._is_inside_line = stop < 0
        self.drop(stop + 1 if stop >= 0 else len(self.data), stop >= 0)
