"""Lines of a text file, each with its number and place: streamed in bounded memory, whatever the file holds.

Ends of lines    LF, CRLF (a terminal's CR CR LF too); CR alone only where the file begins with CRs and without any
                 LF (else a CR is a character, as in a payload).
Encodings        UTF-8; UTF-16 with a byte order mark (what `>` of Windows PowerShell writes). Bytes that are neither
                 become U+FFFD. A byte order mark is no part of the text.
Limits           A line above `LONGEST_LINE` bytes keeps its head and is flagged; the rest of it is read past.
"""

from __future__ import annotations

import codecs
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Protocol

from kafkatx.terms.records import dataclass

LONGEST_LINE = 1 << 20
"""Bytes of a line that are kept."""
BLOCK = 1 << 18
"""Bytes read at once."""
HEAD = 1 << 16
"""Bytes at the beginning of a file that tell its encoding and its ends of lines."""

SMALL, MOST_WHOLE = 1 << 16, 16
"""Bytes of a text whose lines are remembered, since a dozen readers ask for them, and how many such texts are."""


class Readable(Protocol):
    """What lines are read of: an open file, or a page that is held whole (text/whole_pages.py)."""

    @property
    def size(self) -> int:
        """How many bytes it has."""

    def read(self, position: int, length: int) -> bytes:
        """Up to `length` bytes from `position`."""

    def read_into(self, buffer: memoryview, position: int) -> int:
        """Fill `buffer` from `position`; returns the bytes read, fewer only at the end."""


@dataclass(frozen=True, slots=True)
class Page:
    """The bytes of a page, to be read like a file; two of the same bytes are one."""

    content: bytes

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return len(self.content)

    def read(self, position: int, length: int) -> bytes:
        """Up to `length` bytes from `position`."""
        return self.content[position : position + length]

    def read_into(self, buffer: memoryview, position: int) -> int:
        """Fill `buffer` from `position`; returns the bytes read, fewer only at the end."""
        found = self.content[position : position + len(buffer)]
        buffer[: len(found)] = found
        return len(found)


@dataclass(frozen=True, slots=True)
class Line:
    """A line: its number in the whole file (from 1), its first byte, the byte behind its end, its text without the end.

    `is_cut`: the line was longer than LONGEST_LINE and only its head is here; `is_ended`: an end of line closes it (the
    last line of a file may have none); `size`: bytes of the text in UTF-8, those that are none counted as they stand.
    """

    number: int
    position: int
    text: str
    end: int = -1
    is_cut: bool = False
    is_ended: bool = True
    size: int = -1


@dataclass(frozen=True, slots=True)
class Encoding:
    """How a file writes characters: codec, the bytes that end a line, its byte order mark, bytes of a unit."""

    codec: str
    newline: bytes
    mark: bytes = b""
    unit: int = 1


MARKS = (
    Encoding("utf-8", b"\n", codecs.BOM_UTF8),
    Encoding("utf-16-le", b"\n\x00", codecs.BOM_UTF16_LE, 2),
    Encoding("utf-16-be", b"\x00\n", codecs.BOM_UTF16_BE, 2),
)


def encoding_of(head: bytes) -> Encoding:
    """Tell the encoding from the first bytes of a file."""
    found = next((encoding for encoding in MARKS if head.startswith(encoding.mark)), Encoding("utf-8", b"\n"))
    if found.unit == 1 and b"\n" not in head and b"\r" in head:
        return Encoding(found.codec, b"\r", found.mark)
    return found


def lines(file: Readable, position: int = 0, end: int | None = None, number: int = 1) -> Iterator[Line]:
    """Yield the lines from byte `position`, which begins line `number`, up to byte `end` (default: all of the file)."""
    end = file.size if end is None else min(end, file.size)
    known = _known(file, position, end, number) if file.size <= SMALL else None
    yield from _walked(file, position, end, number) if known is None else known


def _known(file: Readable, position: int, end: int, number: int) -> Sequence[Line] | None:
    """Lines of a short text that was walked before; None where these are other lines than those of the whole."""
    content = file.read(0, file.size)
    if len(content) < file.size:
        return None
    found, places = _whole(content)
    first, last = bisect_left(places, position), bisect_left(places, end)
    if first >= last or found[first].number != number or found[last - 1].end != end:
        return None
    return found[first:last] if position in (0, places[first]) else None


@lru_cache(maxsize=MOST_WHOLE)
def _whole(content: bytes) -> tuple[tuple[Line, ...], tuple[int, ...]]:
    """All lines of a text, and where each begins."""
    found = tuple(_walked(Page(content), 0, len(content), 1))
    return found, tuple(line.position for line in found)


def _walked(file: Readable, position: int, end: int, number: int) -> Iterator[Line]:
    encoding = encoding_of(file.read(0, HEAD))
    start = position = max(position, min(len(encoding.mark), end))
    kept = b""
    for at in range(position, end, BLOCK):
        block = file.read(at, min(BLOCK, end - at))
        begin = 0
        while (stop := _newline(block, encoding, begin)) >= 0:
            begin, raw, kept = stop + encoding.unit, kept + block[begin:stop], b""
            yield _line(number, start, raw, at + begin, encoding, is_ended=True)
            number, start = number + 1, at + begin
        kept = (kept + block[begin:])[: LONGEST_LINE + encoding.unit]
    if start < end:
        yield _line(number, start, kept, end, encoding, is_ended=False)


def _newline(block: bytes, encoding: Encoding, begin: int) -> int:
    """Where the next end of line stands in a block that begins with a whole character, -1 if none does."""
    found = block.find(encoding.newline, begin)
    while found >= 0 and found % encoding.unit:
        found = block.find(encoding.newline, found + 1)
    return found


def _line(number: int, position: int, raw: bytes, end: int, encoding: Encoding, is_ended: bool) -> Line:
    is_cut, raw = len(raw) > LONGEST_LINE, raw[:LONGEST_LINE]
    text = raw.decode(encoding.codec, "replace")
    while text.endswith("\r"):
        text, raw = text[:-1], raw[: -encoding.unit]
    size = len(raw) if encoding.unit == 1 else len(text.encode("utf-8", "replace"))
    return Line(number, position, text, end, is_cut, is_ended, size)
