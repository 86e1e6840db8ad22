"""Entries of a long log that have been read before: the same lines to the letter, but for the time of the first one.

What loops writes the same again and again, with the same stack trace under it: that is read once. It means the same
wherever it stands, unless lines of its trace stand below the next entries (entries.py, `_strays_behind`): an entry
before such ones is always read.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.text.logs.alike import CutLines, Kinds
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
    """Bytes [start, end) of a window that are an entry, whatever stands around them, and what they are known by.

    `number` is that of its first line in the window.
    """

    start: int
    end: int
    key: bytes
    number: int


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
    """What the entries of a block say that is read again: first lines, those below, and rows.

    `at`: their time, which is that of the rows but not of the first lines; and the same as it is printed.
    """

    entries: list[tuple[Framed, tuple[str, ...], Row | None]]
    at: int
    own_time: int


class Repeated:
    """The blocks that one log has shown so far, and what they said."""

    def __init__(self, kinds: Kinds) -> None:
        self.kinds = kinds
        self._known: dict[bytes, tuple[Times, tuple[Told, ...]]] = {}
        self._strays: dict[bytes, bool] = {}
        self._lines: CutLines | None = None
        self._ends: dict[int, int] = {}
        self._ends_without_strays: dict[int, int] = {}
        self._keys: dict[int, bytes] = {}
        self._coded: dict[int, tuple[Strings, Row]] = {}

    def block(self, lines: CutLines, number: int) -> Block | None:
        """The block that a line is in; None where none is sure, or what follows may belong to it."""
        if lines is not self._lines:
            self._lines, self._ends, self._ends_without_strays, self._keys = lines, {}, {}, {}
        head = self._head(lines, number)
        end = self._end(lines, head) if head >= 0 else -1
        if end < 0 or lines.starts[end] - lines.starts[head] > LONGEST_BLOCK:
            return None
        behind = end
        for _ in range(MOST_LINES_BETWEEN):
            behind = self._end_without_strays(lines, behind)
            if behind < 0:
                return None
        return Block(lines.starts[head], lines.starts[end], self._key(lines, head, end), head)

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
        told = [(one.framed, one.tail, self._row(one, at, strings)) for one in entries]
        return Again(told, at, times.own_of(line))

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

    def _head(self, lines: CutLines, number: int) -> int:
        """The line that begins the entry that a line is in; -1 where that is far above, or has been shown before."""
        lowest = max(lines.cut.window.known, lines.starts[number] - LONGEST_BLOCK)
        for above in range(number, number - MOST_LINES_ABOVE, -1):
            if above < 0 or lines.starts[above] < lowest:
                return -1
            if lines.begins(above):
                return above
        return -1

    def whole(self, cut: Cut, start: int, end: int, number: int) -> Block | None:
        """The block of all lines of an entry, the first of which is line `number`; None where it is long."""
        return None if end - start > LONGEST_BLOCK else Block(start, end, _key(cut.data[start:end]), number)

    def _key(self, lines: CutLines, number: int, end: int) -> bytes:
        """What the entry is known by that begins with a line and ends above another."""
        if number not in self._keys:
            self._keys[number] = _key(lines.cut.data[lines.starts[number] : lines.starts[end]])
        return self._keys[number]

    def _end(self, lines: CutLines, number: int) -> int:
        """The next line that begins an entry; -1 if the window shows none, or no whole one."""
        if number not in self._ends:
            self._ends[number] = lines.next_begin(number, lines.starts[number] + LONGEST_BLOCK + 1)
        return self._ends[number]

    def _end_without_strays(self, lines: CutLines, number: int) -> int:
        """Where the entry ends that begins with a line; -1 if it has lines of another's trace, or no end."""
        end = self._end(lines, number)
        if number not in self._ends_without_strays:
            self._ends_without_strays[number] = -1 if end < 0 or self._has_strays(lines, number, end) else end
        return self._ends_without_strays[number]

    def _has_strays(self, lines: CutLines, number: int, end: int) -> bool:
        """Whether the entry that begins with a line and ends above another has lines of another's trace."""
        if end == number + 1:
            return False
        key = self._key(lines, number, end)
        has_strays = self._strays.get(key)
        if has_strays is None:
            has_strays = lines.cut.has_strays(lines.starts[number], lines.starts[end])
            if len(self._strays) < MOST_REMEMBERED:
                self._strays[key] = has_strays
        return has_strays


def _key(entry: bytes) -> bytes:
    """What the lines of an entry are known by: all but the times of the first."""
    head, _, tail = entry.partition(b"\n")
    return blake2b(without_times(head) + b"\n" + tail, digest_size=16).digest()


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
