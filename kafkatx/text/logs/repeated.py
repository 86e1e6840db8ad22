"""Entries of a long log that have been read before: the same lines to the letter, but for the time of the first one.

What loops writes the same again and again, with the same stack trace under it: that is read once. It means the same
wherever it stands, unless lines of its trace stand below the next entries (entries.py, `_strays_behind`): an entry
before such ones is always read.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from typing import Any

from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.text.logs.alike import Kinds
from kafkatx.text.logs.entries import MOST_LINES_BETWEEN, Cut, Entry
from kafkatx.text.logs.filling import COLUMNS, Row
from kafkatx.text.logs.framing import Framed
from kafkatx.text.logs.printed_times import Times, times_in, without_times
from kafkatx.text.logs.strings import CODE_COLUMNS, Strings

MOST_REMEMBERED = 5_000
"""Entries that are remembered, and blocks of which it is known whether lines of another's trace stand in them."""
LONGEST_BLOCK = 1 << 15
"""Bytes of an entry that may be remembered."""
MOST_LINES_ABOVE = 200
"""Lines between the first one of such an entry and one of it that is of interest."""


@dataclass(frozen=True, slots=True)
class Block:
    """Lines [start, end) of a window that are an entry, whatever stands around them, and what they are known by."""

    start: int
    end: int
    key: bytes


@dataclass(frozen=True, slots=True)
class Told:
    """What one entry of a block said: its first line, and its row (None: nothing) with texts in place of codes.

    Its place counts from the block's first byte and line. `tail` are the lines below it where they are settings.
    """

    framed: Framed
    row: tuple[Any, ...] | None
    tail: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Again:
    """What the entries of a block say that is read again: first lines and rows, and the time as it is printed."""

    entries: list[tuple[Framed, tuple[str, ...], Row | None]]
    own_time: int


class Repeated:
    """The blocks that one log has shown so far, and what they said."""

    def __init__(self, kinds: Kinds) -> None:
        self.kinds = kinds
        self._known: dict[bytes, tuple[Times, tuple[Told, ...]]] = {}
        self._strays: dict[bytes, bool] = {}
        self._cut: Cut | None = None
        self._ends: dict[int, int] = {}
        self._ends_without_strays: dict[int, int] = {}
        self._coded: dict[int, tuple[Strings, Row]] = {}

    def block(self, cut: Cut, start: int) -> Block | None:
        """The block that the line at a place is in; None where none is sure, or what follows may belong to it."""
        head = self._head(cut, start)
        found = self._whole(cut, head) if head >= 0 else None
        behind = found.end if found is not None else -1
        for _ in range(MOST_LINES_BETWEEN):
            if behind < 0:
                return None
            behind = self._end_without_strays(cut, behind)
        return found if behind >= 0 else None

    def read(self, cut: Cut, block: Block, strings: Strings) -> Again | None:
        """What a block has said before, at its own time; None if it was not read before."""
        known = self._known.get(block.key)
        if known is None:
            return None
        times, entries = known
        line = cut.data[block.start : cut.data.index(b"\n", block.start)].decode("ascii", "replace")
        at = times.of(line)
        if at < 0:
            return None
        told = [(replace(one.framed, at=at), one.tail, self._row(one, at, strings)) for one in entries]
        return Again(told, times.own_of(line))

    def _row(self, told: Told, at: int, strings: Strings) -> Row | None:
        """The row of an entry at another time; its place counts from the block's first byte and line."""
        if told.row is None:
            return None
        coded = self._coded.get(id(told))
        if coded is None or coded[0] is not strings:
            coded = self._coded[id(told)] = strings, _with_codes(told.row, strings)
        row = [*coded[1]]
        row[COLUMNS["at"]] = at
        return row

    def learn(self, cut: Cut, block: Block, line: int, read: list[tuple[Entry, Row | None]], strings: Strings) -> None:
        """Remember what the entries of a block said; `line` is the number of its first line."""
        text = cut.data[block.start : cut.data.index(b"\n", block.start)]
        is_known = len(self._known) >= MOST_REMEMBERED or not text.isascii()
        if is_known:
            return
        first = text.decode()
        found = times_in(first)
        at = {entry.framed.at for entry, _ in read}
        times = Times.told_by([(first, at.pop())], found) if len(at) == 1 and len(found) == 1 else None
        if times is not None:
            position = cut.window.position + block.start
            for entry, row in read:
                if row is not None:
                    row[COLUMNS["position"]], row[COLUMNS["line"]] = entry.position - position, entry.line - line
            told = tuple(Told(one.framed, _with_texts(row, strings), _settings_below(one, row)) for one, row in read)
            self._known[block.key] = times, told

    def _head(self, cut: Cut, start: int) -> int:
        """Where the entry begins that a line is in; -1 where that is far above, or has been shown before."""
        lowest = max(cut.window.known, start - LONGEST_BLOCK)
        for _ in range(MOST_LINES_ABOVE):
            if start < lowest or self.kinds.begins(cut, start):
                break
            start = cut.data.rfind(b"\n", 0, max(0, start - 1)) + 1 if start > 0 else -1
        else:
            return -1
        return start if start >= lowest else -1

    def _whole(self, cut: Cut, start: int) -> Block | None:
        """The lines of an entry; None where the window does not show its end, or it is long."""
        end = self._end(cut, start)
        return self.whole(cut, start, end) if end >= 0 else None

    def whole(self, cut: Cut, start: int, end: int) -> Block | None:
        """The block of all lines of an entry; None where it is long."""
        if end - start > LONGEST_BLOCK:
            return None
        head, _, tail = cut.data[start:end].partition(b"\n")
        key = blake2b(without_times(head) + b"\n" + tail, digest_size=16).digest()
        return Block(start, end, key)

    def _end(self, cut: Cut, start: int) -> int:
        """Where the next line stands that begins an entry; -1 if the window shows none, or no whole one."""
        if cut is not self._cut:
            self._cut, self._ends, self._ends_without_strays = cut, {}, {}
        if start not in self._ends:
            self._ends[start] = self._next(cut, start)
        return self._ends[start]

    def _next(self, cut: Cut, start: int) -> int:
        at = start
        while (stop := cut.data.find(b"\n", at)) >= 0 and stop - start <= LONGEST_BLOCK:
            at = stop + 1
            if cut.data.find(b"\n", at) < 0:
                return -1
            if self.kinds.begins(cut, at):
                return at
        return -1

    def _end_without_strays(self, cut: Cut, start: int) -> int:
        """Where the entry ends that begins at a place; -1 if it has lines of another's trace, or no end."""
        end = self._end(cut, start)
        if start not in self._ends_without_strays:
            self._ends_without_strays[start] = -1 if end < 0 or self._has_strays(cut, start, end) else end
        return self._ends_without_strays[start]

    def _has_strays(self, cut: Cut, start: int, end: int) -> bool:
        """Whether the entry [start, end) has lines of another's trace."""
        head_end = cut.data.find(b"\n", start) + 1
        if end == head_end:
            return False
        key = blake2b(without_times(cut.data[start:head_end]) + cut.data[head_end:end], digest_size=16).digest()
        has_strays = self._strays.get(key)
        if has_strays is None:
            has_strays = cut.has_strays(start, end)
            if len(self._strays) < MOST_REMEMBERED:
                self._strays[key] = has_strays
        return has_strays


def _settings_below(entry: Entry, row: Row | None) -> tuple[str, ...]:
    return entry.tail if row is not None and row[COLUMNS["kind"]] == EventKind.config_values else ()


def _with_texts(row: Row | None, strings: Strings) -> tuple[Any, ...] | None:
    if row is None:
        return None
    found: list[Any] = list(row)
    texts = strings.interner.values
    for name in CODE_COLUMNS:
        if row[COLUMNS[name]] >= 0:
            found[COLUMNS[name]] = texts[row[COLUMNS[name]]].decode("utf-8", "replace")
    trace = row[COLUMNS["trace_code"]]
    found[COLUMNS["trace_code"]] = strings.traces[trace] if trace >= 0 else None
    return tuple(found)


def _with_codes(row: tuple[Any, ...], strings: Strings) -> Row:
    found: Row = [strings.code(value) if isinstance(value, str) else value for value in row]
    found[COLUMNS["trace_code"]] = strings.trace_code(row[COLUMNS["trace_code"]])
    return found
