"""Which lines of a log hold one of many literals: an Aho-Corasick automaton over a block of bytes, one pass.

Automaton   a state a prefix of a literal, one dense row of next states each, over classes of bytes (all that
            no literal holds are one), so that the rows in use stay in the cache. A line's end leads back to the start.
Entries     a line that begins one (`[20..` where the layout is the brokers' own; else every line) and the lines behind
            it up to the next that does. An entry is told if any of its lines holds a literal.
Open ends   in the brokers' layout the message is over where ` (logger)` ends a line. A line that looks like a new entry
            before that is part of the message (text of somebody's payload), and ends it if it ends so itself.
Cost        one look-up in the table a byte, whatever the bytes are, and some steps a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kafkatx.kernels.engine import kernel

NEWLINE, RETURN, BLANK, OPEN, CLOSE, BRACKET = 10, 13, 32, 40, 41, 91
EVERY_LINE, BROKER, BROKER_WITH_LOGGERS = 0, 1, 2
"""What begins an entry: every line; a line `[dd...`; the same, and messages end with ` (logger)`."""
LONGEST_LOGGER = 200
ENTRY_COLUMNS = 4
"""Of an entry: its first byte, the end of its first line, its own end, and the number of its first line in the block
(from 0)."""
_BEGINS = re.compile(rb"^\[[0-9][0-9]", re.MULTILINE)


@dataclass(frozen=True)
class Automaton:
    """The automaton of some literals.

    `classes` leads from byte to class; `table` from state (the index of its row's first cell) plus class to the next
    state; states from `accepting` on have met a literal, `line_end` is the one behind the end of a line.
    """

    literals: tuple[bytes, ...]
    classes: Any
    table: Any
    accepting: int
    line_end: int

    @cached_property
    def pattern(self) -> re.Pattern[bytes]:
        """The same as a regular expression, for texts too short for a compiler."""
        return re.compile(_trie_pattern(self.literals))


def automaton(literals: tuple[bytes, ...]) -> Automaton:
    """Build the automaton. Literals hold no line ends; one that holds another is of no use and left out."""
    wanted = tuple(one for one in sorted(set(literals)) if not any(o != one and o in one for o in literals))
    classes, count = _classes(wanted)
    children, is_end = _trie(wanted)
    nodes = len(children)
    rows = np.zeros((nodes, count), np.int32)
    order, fallback = [0], [0] * nodes
    for node in order:
        rows[node] = rows[fallback[node]] if node else 0
        for byte, child in children[node].items():
            fallback[child] = int(rows[fallback[node], classes[byte]]) if node else 0
            is_end[child] = is_end[child] or is_end[fallback[child]]
            rows[node, classes[byte]] = child
            order.append(child)
    return _renumbered(wanted, classes, rows, np.array(is_end))


def _classes(literals: tuple[bytes, ...]) -> tuple[Any, int]:
    """Class of each byte: 0 of all that no literal holds, 1 of the end of a line, then one a byte."""
    used = sorted({byte for literal in literals for byte in literal})
    classes = np.zeros(256, np.uint8)
    classes[NEWLINE] = 1
    classes[used] = np.arange(2, 2 + len(used))
    return classes, 2 + len(used)


def _trie(literals: tuple[bytes, ...]) -> tuple[list[dict[int, int]], list[bool]]:
    children: list[dict[int, int]] = [{}]
    is_end = [False]
    for literal in literals:
        node = 0
        for byte in literal:
            if byte not in children[node]:
                children[node][byte] = len(children)
                children.append({})
                is_end.append(False)
            node = children[node][byte]
        is_end[node] = True
    return children, is_end


def _renumbered(literals: tuple[bytes, ...], classes: Any, rows: Any, is_end: Any) -> Automaton:
    """Number accepting states last, add the state of a line's end (a copy of the start), multiply by the row's size."""
    nodes, count = rows.shape
    rows = np.concatenate([rows, rows[:1]])
    rows[:, 1] = nodes
    order = np.concatenate([np.flatnonzero(~is_end), np.flatnonzero(is_end), [nodes]])
    number = np.empty(nodes + 1, np.int32)
    number[order] = np.arange(nodes + 1, dtype=np.int32)
    table = np.ascontiguousarray((number[rows[order]] * count).astype(np.int32).reshape(-1))
    return Automaton(literals, classes, table, int((~is_end).sum()) * count, nodes * count)


def _trie_pattern(literals: tuple[bytes, ...]) -> bytes:
    """Write literals as a regular expression that looks at each byte about once."""
    children, is_end = _trie(literals)

    def write(node: int) -> bytes:
        if is_end[node] or not children[node]:
            return b""
        parts = [re.escape(bytes([byte])) + write(child) for byte, child in sorted(children[node].items())]
        return parts[0] if len(parts) == 1 else b"(?:" + b"|".join(parts) + b")"

    return write(0)


@kernel
def begins_entry(data: Any, at: int, end: int) -> bool:
    """Whether a line of the brokers' layout begins at `at`: `[` and two digits."""
    if at + 2 >= end or data[at] != 91:
        return False
    is_digit: bool = 48 <= data[at + 1] <= 57 and 48 <= data[at + 2] <= 57
    return is_digit


@kernel
def without_return(data: Any, start: int, end: int) -> int:
    """Where the line [start, end) ends without its carriage return."""
    return end - 1 if end > start and data[end - 1] == 13 else end


@kernel
def name_start(data: Any, lowest: int, at: int) -> int:
    """Last place up to `at` that is not of the name of a logger; `lowest` or below if there is none."""
    while at > lowest:
        byte = data[at]
        if not (97 <= byte <= 122 or 65 <= byte <= 90 or 45 <= byte <= 58 or byte == 36 or byte == 95) or byte == 47:
            return at
        at -= 1
    return at


@kernel
def logger_start(data: Any, start: int, end: int) -> int:
    """Where ` (logger)` begins that ends the line [start, end), or -1."""
    end = without_return(data, start, end)
    if end - start < 4 or data[end - 1] != 41:
        return -1
    lowest = max(start, end - LONGEST_LOGGER)
    at = name_start(data, lowest, end - 2)
    is_logger = lowest < at < end - 2 and data[at] == 40 and data[at - 1] == 32
    return at - 1 if is_logger else -1


@kernel
def find_entries(
    data: Any, start: int, end: int, classes: Any, table: Any, accepting: int, line_end: int, mode: int, found: Any
) -> tuple[int, int, int]:
    """Fill `found` with the entries of data[start:end) that hold a literal and that another entry follows.

    Returns how many, where the first entry begins that is not done (the last one, which may go on behind `end`, or an
    earlier one where `found` is full) and its line from 0. The caller gives that entry again.
    """
    state = line_end
    count = 0
    line = 0
    line_start = start
    entry_start, entry_line, head_end = start, 0, -1
    holds = False
    line_holds = False
    is_open = False
    for at in range(start, end):
        state = table[state + classes[data[at]]]
        if state < accepting:
            continue
        if state != line_end:
            line_holds = True
            continue
        if not is_open and (mode == EVERY_LINE or begins_entry(data, line_start, at)):
            if holds:
                if count == len(found):
                    return count, entry_start, entry_line
                found[count, 0] = entry_start
                found[count, 1] = head_end
                found[count, 2] = line_start
                found[count, 3] = entry_line
                count += 1
            entry_start, entry_line, head_end = line_start, line, at
            holds = False
            is_open = mode == BROKER_WITH_LOGGERS
        if is_open:
            is_open = logger_start(data, line_start, at) < 0
        if head_end < 0:
            head_end = at
        holds = holds or line_holds
        line_holds = False
        line += 1
        line_start = at + 1
    return count, entry_start, entry_line


def entries(data: bytes, automaton: Automaton, mode: int) -> tuple[Any, int, int]:
    """Entries of a block of whole lines that hold a literal and that another entry follows.

    Returns them (ENTRY_COLUMNS columns), where the last entry of the block begins, and its line from 0.
    """
    find_entries.count(len(data) >> 10)
    if not find_entries.is_compiled:
        return _plain_entries(data, automaton, mode)
    found = np.empty((max(16, len(data) >> 7), ENTRY_COLUMNS), np.int64)
    parts, start, line = [], 0, 0
    while True:
        count, at, lines = find_entries(
            find_entries.view(data), start, len(data), automaton.classes, automaton.table, automaton.accepting,
            automaton.line_end, mode, found,
        )  # fmt: skip
        parts.append(found[:count] + np.array([0, 0, 0, line]))
        start, line = at, line + lines
        if count < len(found):
            return np.concatenate(parts), start, line


def _plain_entries(data: bytes, automaton: Automaton, mode: int) -> tuple[Any, int, int]:
    """The same as `entries`, by regular expressions: faster than the kernel's loop where that is not compiled."""
    starts = _every_start(data) if mode == EVERY_LINE else _broker_starts(data, mode)
    bounds = [0, *(start for start in starts if start)]
    rows: list[tuple[int, int, int, int]] = []
    line, counted, number = 0, 0, 0
    for hit in automaton.pattern.finditer(data):
        while number + 1 < len(bounds) and bounds[number + 1] <= hit.start():
            number += 1
        if rows and rows[-1][0] == bounds[number]:
            continue
        line, counted = line + data.count(b"\n", counted, bounds[number]), bounds[number]
        if number + 1 < len(bounds):
            rows.append((counted, data.index(b"\n", counted), bounds[number + 1], line))
    line += data.count(b"\n", counted, bounds[-1])
    return np.array(rows, np.int64).reshape(-1, ENTRY_COLUMNS), bounds[-1], line


def _every_start(data: bytes) -> list[int]:
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == NEWLINE)
    return (ends[:-1] + 1).tolist() if len(ends) else []


def _broker_starts(data: bytes, mode: int) -> list[int]:
    """Where entries begin: lines that look so, but for those within a message that no ` (logger)` has ended yet."""
    starts: list[int] = []
    is_open, looked = False, 0
    for found in _BEGINS.finditer(data):
        end = data.find(b"\n", found.start())
        if end < 0:
            break
        if not is_open or _has_logger(data, looked, found.start()):
            starts.append(found.start())
            is_open = mode == BROKER_WITH_LOGGERS
        is_open = is_open and not _has_logger(data, found.start(), end)
        looked = end + 1
    return starts


def _has_logger(data: bytes, start: int, end: int) -> bool:
    """Whether one of the lines [start, end) ends with ` (logger)`."""
    return any(
        logger_start.plain(data, at, stop) >= 0
        for at, stop in _lines(data, start, end)
        if data[stop - 2 : stop].rstrip(b"\r").endswith(b")")
    )


def _lines(data: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end:
        stop = data.find(b"\n", start, end)
        stop = end if stop < 0 else stop
        yield start, stop
        start = stop + 1
