"""Entries of a log: the line that begins one and the lines that belong to it, for those that hold a literal.

Broker logs  in the brokers' own layout the kernel finds where entries begin (kernels/literals.py).
Others       the kernel tells the lines that hold a literal; what is around them is for the framer to say.
Doubt        a line that belongs to another (of a stack trace, of a message of several lines, of a printed payload) is
             no entry, whatever it says. In the brokers' layout, where ` (logger)` ends a message, what stands before
             that end is part of it, even if it looks like a line of its own.
Threads      a trace that lines of other threads interrupt is put together again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import takewhile
from typing import Any

import numpy as np

from kafkatx.kernels.literals import (
    EVERY_LINE,
    LiteralSearch,
    begins_entry,
    entries,
    find_entries,
)
from kafkatx.sources.files import OpenFile
from kafkatx.terms.events import Level
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.text.lines import LONGEST_LINE
from kafkatx.text.logs.bare import is_told_throw, tells
from kafkatx.text.logs.below import is_quiet, never_throws, of_nobody, printed, settings_in
from kafkatx.text.logs.defect_texts import shows_defect
from kafkatx.text.logs.entry_shapes import EntryShape
from kafkatx.text.logs.framing import MESSAGE_ONLY, REMNANT, Framed, Framer
from kafkatx.text.logs.shown import shows_error
from kafkatx.text.logs.stamps import DATED
from kafkatx.text.logs.telling import telling_lines, with_speaking_entries
from kafkatx.text.logs.traces import (
    begins_trace,
    is_exception,
    is_trace_line,
    is_traceback,
    second_trace,
    strays,
    trace_from,
)
from kafkatx.text.logs.windows import BLOCK, LARGE_BLOCK, Window

MOST_TAIL_LINES = 500
MOST_TAIL_BYTES = 1 << 17
"""What is looked at of the lines behind the first one of an entry."""
_LOGGER = regex(r"(?:^| )\([\w$-]{1,99}(?:\.[\w$-]{1,99}){1,20}(?::\d{1,6})?\)$")
_MAY_BE_TRACE = (b" ", b"\t", b"a", b"C", b"S", b".")
"""First bytes of lines of traces that are not their first one."""
SHORT_ENTRY = 4096
"""Bytes that most entries fit in."""
MOST_LINES_BACK = 300
"""Lines that are looked back for the one that a continuation belongs to."""
MOST_LINES_BETWEEN = 8
"""Entries of other threads that may stand between the lines of one trace."""
SMALL = 1 << 16
"""Bytes of a text of which every line is asked what it says, whether or not it holds a literal."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A line that matters and the lines that belong to it; `position` and `line` are those of the first.

    Of a traceback that no line of a log stands above they are those of its exception: what it shows stands there.
    """

    position: int
    line: int
    framed: Framed
    tail: tuple[str, ...]


_OF_ANOTHER = regex(rf"{DATED}|%[0-7]\|\d{{1,12}}\.\d{{3}}\|")
"""How a line of a client's log begins, which a broker's never does: two logs in one file."""


def cuts(window: Window, framer: Framer, shape: EntryShape, search: LiteralSearch) -> Iterator[tuple[Cut, Any]]:
    """Yield what a window shows, again and again until its end, with the entries or lines that hold a literal."""
    while not window.is_done:
        window.grow(LARGE_BLOCK if find_entries.is_compiled else BLOCK)
        cut = Cut(window, framer, shape)
        found, start, line = entries(cut.data, search, shape.mode, window.still_to_come)
        found = found[found[:, 0] >= window.known]
        if cut.is_final and search.held(cut.data[start:], np.array([0, len(cut.data) - start])):
            last = [[start, _line_end(cut.data, start), len(cut.data), line]]
            found = np.concatenate([found, np.array(last, np.int64)])
        if shape.mode == EVERY_LINE and cut.is_final and len(cut.data) <= SMALL:
            found = telling_lines(cut.data, search)
        elif cut.is_short:
            found = with_speaking_entries(cut.data, found)
        yield cut, found
        if cut.is_final:
            window.drop_all()
        else:
            kept, first, lines = cut.resume(start, line)
            window.drop(kept, lines)
            window.known = first - kept


def entry_at(file: OpenFile, framer: Framer, position: int, line: int) -> Entry:
    """Read the entry of the brokers' layout at a place once more."""
    for size in (SHORT_ENTRY, MOST_TAIL_BYTES):
        head, *tail = file.read(position, size).split(b"\n")[:MOST_TAIL_LINES]
        own = list(takewhile(_is_tail, tail))
        if len(own) < len(tail):
            break
    return Entry(position, line, framer.frame(_text(head)), tuple(_text(text) for text in own if text))


def is_one_entry(text: bytes) -> bool:
    """Whether all lines below the first one would be read with it, were another entry to follow (`entry_at`)."""
    lines = text.split(b"\n")
    return len(lines) < MOST_TAIL_LINES and all(_is_tail(line) for line in lines[1:])


class Cut:
    """What a window shows at one time; positions count from its first byte."""

    def __init__(self, window: Window, framer: Framer, shape: EntryShape) -> None:
        self.window = window
        self.framer = framer
        self.shape = shape
        self.is_final = window.is_last or window.is_full
        self.data = window.data if window.data.endswith(b"\n") or not self.is_final else window.data + b"\n"
        self.is_short = self.is_final and len(self.data) <= SMALL
        self._unfinished: tuple[int, int] | None = None
        self._done = 0

    @property
    def is_of_brokers(self) -> bool:
        """Whether the entries are in the brokers' own layout, and the bytes those of the file."""
        return self.shape.mode != EVERY_LINE and self.window.is_plain

    def entries(self, found: Any) -> Iterator[Entry]:
        """Yield the entries that rows of the kernel stand for."""
        rows = found.tolist()
        yield from self._entries_around(rows) if self.shape.mode == EVERY_LINE else self._broker_entries(rows)

    def _broker_entries(self, rows: list[list[int]]) -> Iterator[Entry]:
        """Yield entries that the kernel has found whole."""
        for start, head_end, end, line in rows:
            framed = self.framer.frame(_text(self.data[start:head_end]))
            if framed.layout and framed.layout != MESSAGE_ONLY:
                tail = tuple(takewhile(_is_of_brokers, self._tail(head_end + 1, end)))
                if self.is_short and tail and begins_trace(tail[0]) and is_quiet(framed):
                    yield self._entry(start, line, framed, ())
                    yield self._entry(head_end + 1, line + 1, printed(framed), tail)
                else:
                    yield self._entry(start, line, framed, tail)

    def _entries_around(self, rows: list[list[int]]) -> Iterator[Entry]:
        """Yield the entries that lines with a literal belong to, each once."""
        done = self.window.known
        for start, _, _, line in rows:
            if start < done:
                continue
            head, number, framed = self._head_of(start, line, done)
            end = self._end_of(head)
            if end < 0:
                self._unfinished = (head, number)
                return
            done = self._done = end
            if not self._begins(framed):
                yield from self._orphan(start, line, head)
            elif self._begins(framed) and not (self.shape.has_loggers and self._is_within_message(head)):
                yield from self._parted(head, number, framed, end)

    def _orphan(self, start: int, line: int, head: int) -> Iterator[Entry]:
        """Yield a trace that no line of a log stands above: it was pasted, or printed, by itself."""
        top, number = start, line
        while top > 0 and self._continues_trace(self._line(self._before(top))):
            top, number = self._before(top), number - 1
        text = self.framer.inside(self._line(top))
        is_shown = shows_error(text) or shows_defect(text)
        if not (begins_trace(text.strip()) or is_trace_line(text) or is_told_throw(text) or is_shown):
            if not (self.is_short and tells(self.framer.inside(self._line(start)))):
                return
            top, number, text = start, line, self.framer.inside(self._line(start))
        framed = replace(self.framer.frame(self._line(top)), layout=REMNANT, message=text.strip())
        yield self._entry(top, number, framed, self._tail(_line_end(self.data, top) + 1, self._end_of(top)))

    def _continues_trace(self, line: str) -> bool:
        """Whether a line stands above another of one trace."""
        return bool(line.strip()) and self.framer.continues(line)

    def _is_within_message(self, head: int) -> bool:
        """Whether the message above the line at `head` has not ended yet: no ` (logger)` since it began."""
        for _ in range(MOST_LINES_BACK):
            if head <= 0:
                break
            head = self._before(head)
            framed = self.framer.frame(self._line(head))
            if framed.logger or _LOGGER.search(framed.message):
                return False
            if framed.layout and framed.layout not in (MESSAGE_ONLY, REMNANT):
                return True
        return False

    def _parted(self, head: int, number: int, framed: Framed, end: int) -> Iterator[Entry]:
        """Yield the entry at `head`, without lines that are another thread's; a trace that is not its own by itself.

        A client's own line at INFO never carries a trace: what stands under it was printed past the logger. Under any
        line at INFO a second trace is another line's, which was lost. Settings stand below their heading: below
        another line they are of another file, and so is what follows them.
        """
        below = _line_end(self.data, head) + 1
        tail = self._tail(below, end)
        count = strays(framed.message, tail)
        if count and self.is_short and framed.layout == MESSAGE_ONLY and not tells(framed.message):
            yield self._pasted_trace(below, number + 1, framed, tail)
            return
        tail = tail[count:]
        if not framed.message.rstrip().endswith(":") and (mixed := settings_in(tail)) >= 0:
            yield self._entry(head, number, framed, tail[:mixed])
            if thrown := tail[trace_from(tail, mixed) :]:
                yield self._entry(below, number + 1, of_nobody(framed), thrown)
            return
        first = -1
        if tail and never_throws(framed):
            first = next((at for at, line in enumerate(tail) if begins_trace(line)), -1)
        if first >= 0:
            yield self._entry(head, number, framed, tail[:first])
            yield self._entry(below, number + 1, printed(framed), (*tail[first:], *self._strays_behind(framed, end)))
        elif framed.level in (Level.debug, Level.info) and (second := second_trace(tail)):
            yield self._entry(head, number, framed, tail[:second])
            yield self._entry(below, number + 1, printed(framed), tail[second:])
        else:
            own = bool(tail) and (is_trace_line(tail[-1]) or begins_trace(tail[0]))
            yield self._entry(head, number, framed, (*tail, *self._strays_behind(framed, end)) if own else tail)

    def _pasted_trace(self, below: int, number: int, framed: Framed, tail: tuple[str, ...]) -> Entry:
        """A trace without its first line, under words that are no line of a log: nobody else's lines are between."""
        while not self._line(below).strip():
            below, number = _line_end(self.data, below) + 1, number + 1
        return self._entry(below, number, replace(printed(framed), layout=REMNANT), tail)

    def _strays_behind(self, framed: Framed, end: int) -> tuple[str, ...]:
        """Rest of the trace of an entry that lines of other threads interrupted."""
        found: list[str] = []
        at = end
        for _ in range(MOST_LINES_BETWEEN):
            if at >= len(self.data) or (stop := self._end_of(at)) < 0:
                break
            other = self.framer.frame(self._line(at))
            if not other.layout or (other.thread and other.thread == framed.thread):
                break
            tail = self._tail(_line_end(self.data, at) + 1, stop)
            count = strays(other.message, tail)
            found += tail[:count]
            if len(tail) > count:
                break
            at = stop
        return tuple(found)

    def _begins(self, framed: Framed) -> bool:
        """Whether a line begins an entry; one that has nothing before its message does where all lines are such."""
        if framed.layout != MESSAGE_ONLY or self.shape.is_bare:
            return bool(framed.layout)
        return self.is_short and (tells(framed.message) or shows_defect(framed.message))

    def resume(self, start: int, line: int) -> tuple[int, int, int]:
        """Where the next window has to begin, which byte of it is new, and its line, given where the last entry begins.

        A line above what is new is shown once more, since the first new one may be its message.
        """
        if self._unfinished:
            head, number = self._unfinished
            return head, head, number
        if self.shape.mode != EVERY_LINE:
            return start, start, line
        for _ in range(MOST_LINES_BACK):
            if start <= 0 or not self.framer.continues(self._line(start)):
                break
            start, line = self._before(start), line - 1
        new = max(start, self._done)
        return (self._before(start), new, line - 1) if start > 0 else (start, new, line)

    def _head_of(self, start: int, line: int, lowest: int) -> tuple[int, int, Framed]:
        """The line that a line belongs to: itself, or one above it."""
        at = start
        for number in range(line, max(-1, line - MOST_LINES_BACK), -1):
            framed = self.framer.frame(self._line(at))
            if framed.layout in (MESSAGE_ONLY, REMNANT) and at > 0:
                framed = self.framer.frame(self._line(at), self._above(at))
            if self._begins(framed):
                return at, number, framed
            if at <= lowest:
                break
            at = self._before(at)
        return start, line, self.framer.frame(self._line(start))

    def _end_of(self, head: int) -> int:
        """Where the lines end that belong to the entry at `head`; -1 if the window shows no line behind them."""
        at = lowest = _line_end(self.data, head) + 1
        is_within_frames = self.data[head : head + 1] in _MAY_BE_TRACE and is_trace_line(self._line(head))
        for _ in range(MOST_TAIL_LINES):
            if at >= len(self.data) or (stop := self.data.find(b"\n", at)) < 0:
                return at if self.is_final else -1
            line = _text(self.data[at:stop])
            if at - lowest > MOST_TAIL_BYTES or not self._belongs(line):
                break
            if is_within_frames and begins_trace(line):
                break
            is_within_frames = is_within_frames or is_trace_line(line)
            at = stop + 1
        return at

    def belongs(self, line: bytes) -> bool:
        """Whether a line belongs to the one above it; its time is not what others are dated by."""
        return self._belongs(_text(line), self.framer.frame_aside)

    def has_strays(self, head: int, end: int) -> bool:
        """Whether the lines below the one at `head`, up to `end`, begin with those of another thread's trace."""
        message = self.framer.frame_aside(self._line(head)).message
        return strays(message, self._tail(_line_end(self.data, head) + 1, end)) > 0

    def _belongs(self, line: str, frame: Callable[[str], Framed] | None = None) -> bool:
        """Whether a line belongs to the one above it."""
        if self.framer.continues(line):
            return True
        frame = frame or self.framer.frame
        return not (self.shape.is_bare or self.framer.has_layout(line) or self._begins(frame(line)))

    def _entry(self, start: int, line: int, framed: Framed, tail: tuple[str, ...]) -> Entry:
        if tail and (not framed.message or is_traceback(framed.message)):
            start, line = self._thrown(start, line)
        return Entry(self.window.place(start, line), self.window.number(line), framed, tail)

    def _thrown(self, start: int, line: int) -> tuple[int, int]:
        """Where the exception of a trace stands that begins at a line: behind the frames in Python's, else its head."""
        at, is_open = start, False
        for number in range(line, line + MOST_TAIL_LINES):
            text = self.framer.inside(self._line(at))
            if is_traceback(text):
                is_open = True
            elif is_exception(text) if is_open else begins_trace(text):
                return at, number
            if (at := _line_end(self.data, at) + 1) >= len(self.data):
                break
        return start, line

    def _tail(self, start: int, end: int) -> tuple[str, ...]:
        lines = self.data[start : min(end, start + MOST_TAIL_BYTES)].split(b"\n", MOST_TAIL_LINES)[:MOST_TAIL_LINES]
        return tuple(self.framer.inside(_text(line)) for line in lines if line)

    def _line(self, start: int) -> str:
        return _text(self.data[start : _line_end(self.data, start)])

    def _above(self, start: int) -> str:
        """The two lines above a line."""
        return _text(self.data[self._before(self._before(start)) : start - 1]).replace("\r\n", "\n")

    def _before(self, start: int) -> int:
        return self.data.rfind(b"\n", 0, max(0, start - 1)) + 1


def _is_of_brokers(line: str) -> bool:
    """Whether a line can stand below an entry of a broker, and is no other program's."""
    return _OF_ANOTHER.match(line) is None


def _is_tail(line: bytes) -> bool:
    return not begins_entry.plain(line, 0, len(line)) and _is_of_brokers(_text(line))


def _line_end(data: bytes, start: int) -> int:
    stop = data.find(b"\n", start)
    return stop if stop >= 0 else len(data)


def _text(line: bytes) -> str:
    return line[:LONGEST_LINE].decode("utf-8", "replace").rstrip("\r")
