"""A file read through a window of whole lines that moves on as its reader is done with them; bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import replace
from itertools import islice

from kafkatx.sources.files import OpenFile
from kafkatx.text.lines import HEAD, LONGEST_LINE, Line, encoding_of, lines
from kafkatx.text.logs.page_lines import page_lines
from kafkatx.text.logs.talk import explained
from kafkatx.text.pages.part import TextPart
from kafkatx.text.told_lines import told_lines

BLOCK = 1 << 20
"""Bytes read at once."""
LARGE_BLOCK = 1 << 22
"""Bytes read at once where kernels are compiled: what is done for each window by itself is most of their time."""
MOST_KEPT = 2 * LONGEST_LINE
"""Bytes that a window may have beside what was read last before its reader has to give some up."""
LINES_AT_ONCE = 4096
LAST_LINES = 40
LAST_BYTES = 1 << 13
"""Bytes of a source's end that tell when it ends."""
AROUND = 1 << 12
"""Bytes of a page before and behind a part that show whether its lines are of a list that explains errors."""
LARGEST_PAGE = 1 << 18
"""Bytes up to which a part of a text is looked at for what pasting did to it."""


class Window:
    """Bytes [position, position + len(data)) of a file; line `line` (from 1) begins at the window's first byte.

    The first `known` bytes have been shown before: they are what stands above the others.
    """

    is_plain = True
    """Whether the window shows the bytes of the file as they are."""

    def __init__(self, file: OpenFile, part: TextPart) -> None:
        self.file = file
        self.position = part.position
        self.end = min(part.end, file.size)
        self.line = part.line
        self.data = b""
        self.known = 0
        self._block = BLOCK
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
    def still_to_come(self) -> int:
        """Bytes behind the window."""
        return max(0, self.end - self.position - len(self.data))

    @property
    def is_full(self) -> bool:
        """Whether the window must not grow any more."""
        return len(self.data) >= self._block + MOST_KEPT

    def grow(self, size: int = BLOCK) -> None:
        """Read the next `size` bytes, or fewer."""
        self._block = size
        kept = len(self.data)
        at = self.position + kept
        view = memoryview(bytearray(kept + max(0, min(size, self.end - at))))
        view[:kept] = self.data
        read = self.file.read_into(view[kept:], at)
        if not read:
            self.end = at
        self.data = bytes(view[: kept + read])
        if self._is_inside_line:
            self._skip_line()

    def place(self, start: int, line: int) -> int:
        """Position in the file of byte `start` of the window, where its line `line` (from 0) begins."""
        return self.position + start

    def number(self, line: int) -> int:
        """Number in the file of the window's line `line` (from 0)."""
        return self.line + line

    def first_lines(self, count: int) -> list[Line]:
        """The first lines of what is to be read."""
        return [*islice(lines(self.file, self.position, self.end), count)]

    def last_lines(self) -> list[str]:
        """Texts of the last lines of what is to be read."""
        return [line.text for line in lines(self.file, max(self.position, self.end - LAST_BYTES), self.end)]

    def drop(self, count: int, lines: int) -> None:
        """Move on behind `count` bytes, in which `lines` lines end."""
        self.data, self.position, self.line = self.data[count:], self.position + count, self.line + lines

    def drop_all(self) -> None:
        """Move on behind everything; what is left of a line that has not ended is skipped."""
        self._is_inside_line = not self.is_last and not self.data.endswith(b"\n")
        is_open = self.is_last and self.data[-1:] not in (b"\n", b"")
        self.drop(len(self.data), self.data.count(b"\n") + is_open)

    def _skip_line(self) -> None:
        stop = self.data.find(b"\n")
        self._is_inside_line = stop < 0
        self.drop(stop + 1 if stop >= 0 else len(self.data), stop >= 0)


class TurnedWindow(Window):
    """The same of a file in UTF-16, or with other ends of lines: its lines as UTF-8, with the place of each."""

    is_plain = False

    def __init__(self, file: OpenFile, part: TextPart) -> None:
        super().__init__(file, part)
        self._lines = lines(file, part.position, part.end, part.line)
        self._places: list[int] = []
        self._is_read = False

    @property
    def is_last(self) -> bool:
        """Whether the window reaches the end of what is to be read."""
        return self._is_read

    @property
    def is_done(self) -> bool:
        """Whether everything has been given up."""
        return self._is_read and not self.data

    def grow(self, size: int = BLOCK) -> None:
        """Read the next lines."""
        read = list(islice(self._lines, LINES_AT_ONCE))
        self._is_read = len(read) < LINES_AT_ONCE
        self._places += [line.position for line in read]
        self.data += b"".join(line.text.replace("\n", " ").encode("utf-8", "replace") + b"\n" for line in read)

    def place(self, start: int, line: int) -> int:
        """Position in the file of the window's line `line`."""
        return self._places[line]

    def drop(self, count: int, lines: int) -> None:
        """Move on behind some lines."""
        self.data, self.line, self._places = self.data[count:], self.line + lines, self._places[lines:]


class PageWindow(Window):
    """The lines of a log that a page shows (text/logs/page_lines.py), with the place and the number of each."""

    is_plain = False

    def __init__(self, file: OpenFile, part: TextPart, found: list[Line]) -> None:
        super().__init__(file, part)
        self.found = found
        self.last = found[-1].number if found else part.line
        self._is_done = False

    @property
    def is_last(self) -> bool:
        """Whether the window reaches the end of what is to be read: it always holds all of it."""
        return True

    @property
    def is_done(self) -> bool:
        """Whether everything has been given up."""
        return self._is_done

    def grow(self, size: int = BLOCK) -> None:
        """Show all lines."""
        self.data = b"".join(line.text.encode("utf-8", "replace") + b"\n" for line in self.found)

    def place(self, start: int, line: int) -> int:
        """Position in the file of the window's line `line`."""
        return self.found[line].position

    def number(self, line: int) -> int:
        """Number in the file of the window's line `line` (from 0)."""
        return self.found[line].number

    def first_lines(self, count: int) -> list[Line]:
        """The first lines."""
        return self.found[:count]

    def last_lines(self) -> list[str]:
        """Texts of the last lines."""
        return [line.text for line in self.found[-LAST_LINES:]]

    def drop_all(self) -> None:
        """Everything has been read."""
        self.data, self.line, self._is_done = b"", self.last + 1, True


def window_of(file: OpenFile, part: TextPart) -> Window:
    """The window that fits a file's encoding."""
    encoding = encoding_of(file.read(0, HEAD))
    is_plain = encoding.unit == 1 and encoding.newline == b"\n"
    if part.end - part.position <= LARGEST_PAGE:
        around = lines(file, max(0, part.position - AROUND), min(file.size, part.end + AROUND))
        talk = explained([*told_lines(around)])
        told = [*told_lines(lines(file, part.position, part.end, part.line))]
        if [*page_lines(_without(talk, told))] != told:
            found = lines(file, part.position, part.end, part.line)
            return PageWindow(file, part, [*page_lines(_without(talk, found))])
    return Window(file, part) if is_plain else TurnedWindow(file, part)


def _without(talk: Set[int], source: Iterable[Line]) -> list[Line]:
    """Lines with nothing in those that only explain, by their positions."""
    return [replace(line, text="") if line.position in talk else line for line in source]
