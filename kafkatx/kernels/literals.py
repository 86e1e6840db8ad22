"""Which lines of a log hold one of many literals: one pass over a block of bytes, eight of them at a time.

Search      by groups of bytes (kernels/fingerprints.py; where nothing is compiled kernels/grams.py). Once a line is
            known to hold a literal only its end is looked for.
Entries     a line that begins one (`[20..` where the layout is the brokers' own; else every line) and the lines behind
            it up to the next that does. An entry is told if any of its lines holds a literal.
Open ends   in the brokers' layout the message is over where ` (logger)` ends a line. A line that looks like a new entry
            before that is part of the message (text of somebody's payload), and ends it if it ends so itself.
Cost        some look-ups for eight bytes, and some steps a line.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from kafkatx.kernels.engine import kernel_lean
from kafkatx.kernels.fingerprints import (
    MAY_END,
    MAY_HOLD_NARROW,
    SHORTEST,
    UNKNOWN,
    Fingerprints,
    fingerprints,
    flag_words,
    four_at,
    holds_narrow,
    holds_within,
    words_of,
)
from kafkatx.kernels.grams import Grams
from kafkatx.kernels.loads import byte_at
from kafkatx.terms.regex import regex

NEWLINE, RETURN, BLANK, OPEN, CLOSE, BRACKET = 10, 13, 32, 40, 41, 91
EVERY_LINE, BROKER, BROKER_WITH_LOGGERS = 0, 1, 2
"""What begins an entry: every line; a line `[dd...`; the same, and messages end with ` (logger)`."""
LONGEST_LOGGER = 200
SAMPLE = 1 << 20
"""Bytes of a block that tell which groups of bytes are rare."""
OF_BROKERS, OF_OTHERS = 1 << 10, 1 << 12
"""Bytes that count as a row where it is asked whether compiling pays: other logs have only the search to gain."""
ENTRY_COLUMNS = 4
"""Of an entry: its first byte, the end of its first line, its own end, and the number of its first line in the block
(from 0)."""
_LOGGER = regex(rb" \([A-Za-z0-9:.$_-]+\)")


class LiteralSearch:
    """The search for some literals, in the forms that one asks for.

    Fingerprints are for the kernel, `grams` for blocks where that is not compiled.
    """

    def __init__(self, literals: tuple[bytes, ...], *, are_shortest: bool = False) -> None:
        """Take the literals, of SHORTEST bytes or more and without ends of lines.

        Of two that hold each other the longer one is of no use; `are_shortest` says that none holds another.
        """
        if min(map(len, literals), default=SHORTEST) < SHORTEST:
            raise ValueError(f"a literal of less than {SHORTEST} bytes")
        self.literals = literals if are_shortest else shortest(literals)
        self._fingerprints: Fingerprints | None = None

    def fingerprints(self, data: bytes) -> Fingerprints:
        """The groups of bytes that they are known by: those that are rarest in the first block that is searched."""
        if self._fingerprints is None:
            self._fingerprints = fingerprints(self.literals, data[:SAMPLE])
        return self._fingerprints

    @cached_property
    def grams(self) -> Grams:
        """The search by their rarest groups."""
        return Grams(self.literals)

    def held(self, data: bytes, bounds: Any) -> list[int]:
        """Numbers of the stretches [bounds[n], bounds[n + 1]) of whole lines that hold a literal, in order."""
        return self.grams.held(data, bounds)


def shortest(literals: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """Return the literals that hold no other, in order."""
    known = sorted(set(literals))
    size = min(map(len, known), default=0)
    begins: dict[bytes, list[bytes]] = {}
    for one in known:
        begins.setdefault(one[:size], []).append(one)
    return tuple(one for one in known if not _holds_another(one, begins, size))


def _holds_another(one: bytes, begins: dict[bytes, list[bytes]], size: int) -> bool:
    """Whether a literal holds one of others, which are given by their first `size` bytes."""
    for at in range(len(one) - size + 1):
        for other in begins.get(one[at : at + size], ()):
            if other is not one and one.startswith(other, at):
                return True
    return False


@kernel_lean
def begins_entry(data: Any, at: int, end: int) -> bool:
    """Whether a line of the brokers' layout begins at `at`: `[` and two digits."""
    if at + 2 >= end or data[at] != 91:
        return False
    is_digit: bool = 48 <= data[at + 1] <= 57 and 48 <= data[at + 2] <= 57
    return is_digit


@kernel_lean
def without_return(data: Any, start: int, end: int) -> int:
    """Where the line [start, end) ends without its carriage return."""
    return end - 1 if end > start and data[end - 1] == 13 else end


@kernel_lean
def name_start(data: Any, lowest: int, at: int) -> int:
    """Last place up to `at` that is not of the name of a logger; `lowest` or below if there is none."""
    while at > lowest:
        byte = byte_at(data, at)
        if not (97 <= byte <= 122 or 65 <= byte <= 90 or 45 <= byte <= 58 or byte == 36 or byte == 95) or byte == 47:
            return at
        at -= 1
    return at


@kernel_lean
def logger_start(data: Any, start: int, end: int) -> int:
    """Where ` (logger)` begins that ends the line [start, end), or -1."""
    end = without_return(data, start, end)
    if end - start < 4 or data[end - 1] != 41:
        return -1
    lowest = max(start, end - LONGEST_LOGGER)
    at = name_start(data, lowest, end - 2)
    is_logger = lowest < at < end - 2 and data[at] == 40 and data[at - 1] == 32
    return at - 1 if is_logger else -1


@kernel_lean
def find_entries(
    data: Any, words: Any, flags: Any, start: int, end: int, wide: Any, narrow: Any, masks: Any, buckets: Any,
    groups: Any, text: Any, mode: int, found: Any,
) -> tuple[int, int, int]:  # fmt: skip
    """Fill `found` with the entries of data[start:end) that hold a literal and that another entry follows.

    `words` are the groups of eight bytes of `data`, `flags` what is in them (flag_words). Returns how many, where the
    first entry begins that is not done (the last one, which may go on behind `end`, or an earlier one where `found` is
    full) and its line from 0. The caller gives that entry again.
    """
    count = 0
    line = 0
    line_start = start
    entry_start, entry_line, head_end = start, 0, -1
    holds = False
    line_holds = False
    is_open = False
    for number in range(start // 8, (end + 7) // 8):
        flag = flags[number]
        if flag & MAY_END == 0:
            if flag and not line_holds:
                line_holds = holds_within(
                    data, 8 * number, flag, start, end, words, wide, narrow, masks, buckets, groups, text
                )
            continue
        for at in range(max(8 * number, start), min(8 * number + 8, end)):
            if data[at] != 10:
                if flag & MAY_HOLD_NARROW and not line_holds and at % 4 == 0:
                    four = four_at(data, at, end)
                    line_holds = holds_narrow(data, at, end, four, narrow, masks, buckets, groups, text)
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


@kernel_lean
def has_level_below(data: Any) -> bool:
    """Whether `] D` or `] T` and a blank behind four more bytes stand anywhere; a plain loop, which becomes vectors."""
    found = False
    for at in range(len(data) - 7):
        is_first = (data[at + 2] == 68) | (data[at + 2] == 84)
        found |= (data[at] == 93) & (data[at + 1] == 32) & is_first & (data[at + 7] == 32)
    return found


flag_words.follows = has_level_below.follows = find_entries


def may_show_level_below(data: bytes) -> bool:
    """Whether `] DEBUG ` or `] TRACE ` may stand in a block: one look where that costs less than two."""
    return not has_level_below.is_compiled or has_level_below(has_level_below.view(data))


def entries(data: bytes, search: LiteralSearch, mode: int, still_to_come: int = 0) -> tuple[Any, int, int]:
    """Entries of a block of whole lines that hold a literal and that another entry follows.

    `still_to_come` are bytes that are certain to be read too. Returns the entries (ENTRY_COLUMNS columns), where the
    last one of the block begins, and its line from 0.
    """
    share = OF_BROKERS if mode != EVERY_LINE else OF_OTHERS
    find_entries.count(len(data) // share, still_to_come // share)
    if not find_entries.is_compiled:
        return _plain_entries(data, search, mode)
    found = np.empty((max(16, len(data) >> 7), ENTRY_COLUMNS), np.int64)
    parts, start, line, kept = [], 0, 0, search.fingerprints(data)
    words, flags = words_of(data, is_compiled=True), np.full(len(data) // 8 + 1, UNKNOWN, np.uint8)
    flag_words(words, kept.wide, kept.narrow, kept.masks, flags)
    while True:
        count, at, lines = find_entries(
            find_entries.view(data), words, flags, start, len(data), kept.wide, kept.narrow, kept.masks, kept.buckets,
            kept.groups, kept.text, mode, found,
        )  # fmt: skip
        parts.append(found[:count] + np.array([0, 0, 0, line]))
        start, line = at, line + lines
        if count < len(found):
            return np.concatenate(parts), start, line


def _plain_entries(data: bytes, search: LiteralSearch, mode: int) -> tuple[Any, int, int]:
    """The same as `entries` where the kernel is not compiled: faster than its loop."""
    octets = np.frombuffer(data, np.uint8)
    stops = np.flatnonzero(octets == NEWLINE)
    starts = np.concatenate([[0], stops + 1])
    begins = starts[:-1] if mode == EVERY_LINE else _broker_starts(data, octets, starts[:-1], stops, mode)
    bounds = np.concatenate([[0], begins[begins > 0]])
    lines = np.searchsorted(starts, bounds)
    held = search.held(data, bounds)
    rows = np.stack([bounds[held], stops[lines[held]], bounds[1:][held], lines[held]], axis=1)
    return rows.astype(np.int64), int(bounds[-1]), int(lines[-1])


def _broker_starts(data: bytes, octets: Any, starts: Any, stops: Any, mode: int) -> Any:
    """Where entries begin: lines that look so, but for those within a message that no ` (logger)` has ended yet."""
    head, first, second = (octets.take(starts + at, mode="clip") for at in range(3))
    begins = (head == BRACKET) & _are_digits(first) & _are_digits(second)
    if mode == BROKER:
        return starts[begins]
    last, before = (octets.take(stops - at, mode="clip") for at in (1, 2))
    may_end = (last == CLOSE) | ((last == RETURN) & (before == CLOSE))
    found: list[int] = []
    is_open = False
    lines = np.flatnonzero(begins | may_end)
    columns = (starts[lines], stops[lines], begins[lines], may_end[lines])
    for start, stop, looks_so, has_end in zip(*(column.tolist() for column in columns), strict=True):
        if looks_so and not is_open:
            found.append(start)
            is_open = True
        if is_open and has_end and _ends_with_logger(data, start, stop):
            is_open = False
    return np.array(found, np.intp)


def _are_digits(octets: Any) -> Any:
    return (octets >= ord("0")) & (octets <= ord("9"))


def _ends_with_logger(data: bytes, start: int, end: int) -> bool:
    """The same as `logger_start` that finds one."""
    end -= data[start:end].endswith(b"\r")
    at = data.rfind(b" (", max(start, end - LONGEST_LOGGER), end)
    return at >= 0 and _LOGGER.fullmatch(data, at, end) is not None
