"""Lines of a long log that differ in nothing but digits: one of a kind is read as any line is, the others as arrays.

Kind     a line with a zero in place of each digit. Nothing else varies within a kind, so its lines have the same
         layout, text and names; only numbers, and what stands in names as digits, are others.
Learnt   a kind that has been met `MET` times is read again with other digits (the places of times with other times),
         as often as it takes to see which of its digits an event's columns hold; columns that keep their value hold
         none. Where that is not clear the lines of the kind are read one by one, like all others.
Refused  lines of several lines, without a date, of brokers, with an exception or a request, with a text whose own
         digits are part of it; of what is no event all at WARN and above.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import pairwise
from random import Random
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from kafkatx.kernels.rows import EVENT
from kafkatx.terms.catalogue.loading import known_defects
from kafkatx.terms.events import EventKind, Level
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.text.logs.entries import Cut, Entry
from kafkatx.text.logs.exceptions import may_throw, own_words
from kafkatx.text.logs.filling import COLUMNS, LARGEST, NUMBERS
from kafkatx.text.logs.fragments import error_of
from kafkatx.text.logs.framing import MESSAGE_ONLY, REMNANT, Framed, Framer
from kafkatx.text.logs.matching import match_message, patterns
from kafkatx.text.logs.meaning import TO_ERROR, event_of
from kafkatx.text.logs.printed_times import Times, other_time, times_in
from kafkatx.text.logs.requests import is_request
from kafkatx.text.logs.spelled import words
from kafkatx.text.logs.strings import CODE_COLUMNS, Strings

T = TypeVar("T")

MET = 3
"""Lines of a kind that are read one by one before it is learnt."""
MOST_KINDS = 50_000
"""Kinds that are remembered; lines of others are read one by one."""
LONGEST = 4_000
"""Bytes of a line that may be of a kind."""
AS_IT_IS = 2
"""Bytes at the beginning of a line whose digits stay: librdkafka's level stands there (`%7|`)."""
TRIES = 5
"""How often a kind is read with other digits."""
LONG_NUMBER = 5
"""Digits of a number from which on another one in its place begins with 1, so that it fits the same column."""
ZEROS = bytes.maketrans(b"0123456789", b"0" * 10)
_RUNS = regex(r"\d+")
_TRACES = b" \taCS."
_FIXED = ("kind", "level", "side", "of_day", "trace_code")
_PLACED = ("position", "line", "at", "source", "repeats")


class Part(NamedTuple):
    """A column of events and the bytes of their lines that it holds: first byte in the line, and how many."""

    column: str
    at: int
    size: int


@dataclass(frozen=True, slots=True)
class Kind:
    """What the lines of a kind have in common.

    `framed` is one of them; `columns` are the values of the columns that do not vary (texts where they have codes),
    empty where the lines are no events; `words` and `numbers` those that do.
    """

    framed: Framed
    times: Times
    columns: dict[str, Any]
    words: tuple[Part, ...]
    numbers: tuple[Part, ...]

    @property
    def is_event(self) -> bool:
        """Whether the lines are events."""
        return bool(self.columns)

    @property
    def side(self) -> int:
        """Side of the events, as they tell it."""
        return int(self.columns.get("side", -1))


@dataclass(frozen=True, slots=True)
class Alike:
    """Kinds of a window's entries, None of those that are of no known one, and their events.

    Of entries that are no events, though of a known kind, an event has its place and time and nothing else. `own_times`
    are those that loggers have printed, -1 where they have no date.
    """

    kinds: list[Kind | None]
    events: Any
    own_times: Any

    def stretches(self) -> Iterator[tuple[int, int]]:
        """Yield where entries of known kinds and others take turns: first, and behind the last."""
        is_known = np.array([kind is not None for kind in self.kinds], np.bool_)
        bounds = (np.flatnonzero(np.diff(is_known)) + 1).tolist()
        yield from pairwise((0, *bounds, len(self.kinds)) if self.kinds else ())

    def groups(self, first: int, end: int) -> list[tuple[Kind, list[int]]]:
        """Entries of a stretch by kind; last the kind of the last of them that is an event."""
        groups: dict[int, tuple[Kind, list[int]]] = {}
        for number in range(first, end):
            if (kind := self.kinds[number]) is not None:
                groups.setdefault(id(kind), (kind, []))[1].append(number)
        return sorted(groups.values(), key=lambda group: group[1][-1])

    def are_events(self) -> Any:
        """Which entries are events of known kinds."""
        return np.array([kind is not None and kind.is_event for kind in self.kinds], np.bool_)


class Learnt(Generic[T]):
    """What has been learnt of kinds of which enough was met; of no more than MOST_KINDS."""

    def __init__(self, learn: Callable[[bytes, bytes], T | None]) -> None:
        """Prepare to learn a kind, None where it can't be, by one of it and its key."""
        self._learn = learn
        self._known: dict[bytes, T | int | None] = {}

    def of(self, one: bytes, key: bytes) -> T | None:
        """What is known of the kind that one has, None where that is nothing (yet)."""
        known = self._known.get(key, 0)
        if not isinstance(known, int):
            return known
        if known < MET:
            if known or len(self._known) < MOST_KINDS:
                self._known[key] = known + 1
            return None
        found = self._known[key] = self._learn(one, key)
        return found


class CutLines:
    """The lines of a window by number, each with its key: what it has in common with the others of its kind."""

    def __init__(self, cut: Cut, begins: dict[bytes, bool]) -> None:
        """Prepare to look at them; `begins` is what is known of the keys of lines, and grows."""
        self.cut, self._begins = cut, begins
        self.octets = np.frombuffer(cut.data, np.uint8)
        stops = np.flatnonzero(self.octets == ord("\n"))
        self.starts: list[int] = [0, *(stops + 1).tolist()]
        self.keys = _keys(cut.data, self.octets, np.array(self.starts[:-1], np.int64))
        self._known: list[bool | None] = list(map(begins.get, self.keys))

    def begins(self, number: int) -> bool:
        """Whether a line is whole and begins an entry, whatever stands above it."""
        if number >= len(self._known):
            return False
        known = self._known[number]
        return self._asked(number) if known is None else known

    def next_begin(self, number: int, farthest: int) -> int:
        """The next line behind one that begins an entry; -1 where none does up to a place, or in what is shown."""
        known, starts = self._known, self.starts
        for line in range(number + 1, len(known)):
            if starts[line] > farthest:
                break
            begins = known[line]
            if begins or (begins is None and self._asked(line)):
                return line
        return -1

    def _asked(self, number: int) -> bool:
        key = self.keys[number]
        known = self._begins.get(key)
        if known is None:
            known = not self.cut.belongs(self.cut.data[self.starts[number] : self.starts[number + 1] - 1])
            if len(self._begins) < MOST_KINDS:
                self._begins[key] = known
        self._known[number] = known
        return known


def _keys(data: bytes, octets: Any, starts: Any) -> list[bytes]:
    """The keys of whole lines, which begin at some places."""
    zeroed = np.frombuffer(bytearray(data.translate(ZEROS)), np.uint8)
    for at in range(AS_IT_IS):
        places = np.minimum(starts + at, len(octets) - 1)
        zeroed[places] = octets[places]
    return zeroed.tobytes().split(b"\n")[: len(starts)]


class Kinds:
    """The kinds of lines that one log has shown so far."""

    def __init__(self, framer: Framer) -> None:
        self.framer = framer
        self._learnt = Learnt(self._learn)
        self._begins: dict[bytes, bool] = {}

    def lines(self, cut: Cut) -> CutLines:
        """The lines of a window."""
        return CutLines(cut, self._begins)

    def read(self, lines: CutLines, found: Any, strings: Strings) -> Alike:
        """Read the entries of a window that are lines of known kinds."""
        cut, octets = lines.cut, lines.octets
        alike: dict[int, tuple[Kind, list[int]]] = {}
        for number, (start, head_end, _, line) in enumerate(found.tolist()):
            kind = self._learnt.of(cut.data[start:head_end], lines.keys[line])
            if kind is not None and lines.begins(line + 1):
                alike.setdefault(id(kind), (kind, []))[1].append(number)
        kinds: list[Kind | None] = [None] * len(found)
        events = np.full(len(found), -1, np.int64).astype(EVENT)
        own_times = np.full(len(found), -1, np.int64)
        texts: dict[bytes, int] = {}
        for kind, numbers in alike.values():
            rows = np.array(numbers)
            at = kind.times.read(octets, found[rows, 0])
            rows, at = rows[at >= 0], at[at >= 0]
            for number in rows.tolist():
                kinds[number] = kind
            if kind.is_event:
                _write(events, rows, kind, cut.data, octets, found[rows, 0], strings, texts)
            events["at"][rows] = at
            own_times[rows] = kind.times.own(octets, found[rows, 0])
        events["position"], events["line"] = found[:, 0] + cut.window.position, found[:, 3] + cut.window.line
        return Alike(kinds, events, own_times)

    def _learn(self, line: bytes, key: bytes) -> Kind | None:
        if not line.isascii() or len(line) > LONGEST or line[:1] in _TRACES or has_own_digits(key.decode()):
            return None
        text = line.decode().rstrip("\r")
        times = times_in(text)
        if not times:
            return None
        random = Random(text)
        others = [_with_other_digits(text, times, random) for _ in range(TRIES)]
        read = [ReadAlone(other, self.framer) for other in (text, *others)]
        if not all(map(_is_plain, read)):
            return None
        found = Times.told_by([(one.text, one.framed.at) for one in read], times)
        return None if found is None else _kind_of(read, found)


class ReadAlone:
    """An entry that is read by itself: its parts and, by column, what its event holds (nothing where it is none)."""

    def __init__(self, text: str, framer: Framer) -> None:
        head, *tail = text.split("\n")
        self.text, self.framed = text, framer.frame_aside(head)
        strings = Strings()
        row = event_of(Entry(0, 1, self.framed, tuple(filter(None, tail))), strings)
        self.traces = strings.traces
        self.columns: dict[str, Any] = {}
        for name, number in COLUMNS.items() if row is not None else ():
            value = row[number] if row is not None else -1
            is_text = name in CODE_COLUMNS and value >= 0
            self.columns[name] = strings.texts()[value] if is_text else value


def _is_plain(read: ReadAlone) -> bool:
    """Whether a line is one whose digits decide nothing but numbers and names."""
    framed, message = read.framed, read.framed.message
    if framed.layout in ("", MESSAGE_ONLY, REMNANT) or framed.trace or framed.writer or framed.context.broker_id >= 0:
        return False
    if is_request(message) or may_throw(own_words(message)):
        return False
    if not read.columns:
        return framed.level in (Level.trace, Level.debug, Level.info)
    found = match_message(message, framed.logger)
    if found is None or found.kind in (EventKind.failure, EventKind.config_values, EventKind.concurrent_transactions):
        return False
    return found.kind not in TO_ERROR and not error_of(found.pattern) and read.columns["trace_code"] < 0


def _kind_of(read: list[ReadAlone], times: Times) -> Kind | None:
    """What lines of a kind have in common, given some that have no digit in common; None where that is not clear."""
    columns: dict[str, Any] = {}
    parts: list[Part] = []
    for name in read[0].columns:
        values = [one.columns.get(name) for one in read]
        if name in _PLACED:
            continue
        if all(value == values[0] for value in values):
            columns[name] = values[0]
        elif name in _FIXED or (part := part_of(name, values, read)) is None:
            return None
        else:
            parts.append(part)
    if any(bool(one.columns) != bool(read[0].columns) or not _is_same(one, read[0]) for one in read):
        return None
    words = tuple(part for part in parts if part.column in CODE_COLUMNS)
    return Kind(read[0].framed, times, columns, words, tuple(part for part in parts if part.column in NUMBERS))


def _is_same(one: ReadAlone, other: ReadAlone) -> bool:
    mine, its = one.framed, other.framed
    return (mine.layout, mine.level, len(mine.message)) == (its.layout, its.level, len(its.message))


def part_of(name: str, values: list[Any], read: list[ReadAlone]) -> Part | None:
    """The part of a line that a column holds in all of some lines, None if it is not one and only one."""
    if name in CODE_COLUMNS:
        sizes = {len(value) if isinstance(value, str) else 0 for value in values}
        size = max(sizes)
        places = range(len(read[0].text) - size + 1) if len(sizes) == 1 else range(0)
        found = [
            Part(name, at, size)
            for at in places
            if all(one.text.startswith(value, at) for one, value in zip(read, values, strict=True))
        ]
    elif name in NUMBERS:
        found = [
            Part(name, run.start(), len(run[0]))
            for run in _RUNS.finditer(read[0].text)
            if len(run[0]) < 19
            and all(int(one.text[run.start() : run.end()]) == value for one, value in zip(read, values, strict=True))
        ]
    else:
        found = []
    return found[0] if len(found) == 1 else None


def _with_other_digits(text: str, times: list[re.Match[str]], random: Random) -> str:
    """A line with other times, and other digits in all else but its first bytes."""
    pieces, at = [], 0
    for found in times:
        pieces += [other_numbers(text[at : found.start()], random), other_time(found[0], random)]
        at = found.end()
    pieces.append(other_numbers(text[at:], random))
    return text[:AS_IT_IS] + "".join(pieces)[AS_IT_IS:]


def other_numbers(text: str, random: Random) -> str:
    """Return a text with other numbers of as many digits."""
    return _RUNS.sub(lambda run: _other_number(run[0], random), text)


def _other_number(number: str, random: Random) -> str:
    if len(number) == 1:
        return random.choice([digit for digit in "123456789" if digit != number])
    while True:
        first = random.choice("123456789") if len(number) < LONG_NUMBER else "1"
        other = first + "".join(random.choices("0123456789", k=len(number) - 1))
        if other != number:
            return other


def has_own_digits(key: str) -> bool:
    """Whether a line of a kind may hold a text whose digits are part of it."""
    return any(text in key for text in _texts_with_digits())


@cache
def _texts_with_digits() -> tuple[str, ...]:
    pieces = (piece for pattern in patterns() for piece in pattern.template.pieces)
    defects = (text for defect in known_defects() for text in defect.texts)
    texts: Iterable[str] = (*pieces, *words(), *defects)
    return tuple({_RUNS.sub(lambda run: "0" * len(run[0]), text) for text in texts if _RUNS.search(text)})


def _write(
    events: Any, rows: Any, kind: Kind, data: bytes, octets: Any, starts: Any, strings: Strings, texts: dict[bytes, int]
) -> None:
    """Write the events of some lines of one kind: all but place, time and source."""
    same = np.full(1, -1, np.int64).astype(EVENT)
    same["repeats"] = 0
    for name, value in kind.columns.items():
        same[name] = strings.code(value) if isinstance(value, str) else value
    events[rows] = same[0]
    for column, at, size in kind.words:
        events[column][rows] = list(_codes(data, (starts + at).tolist(), size, strings, texts))
    for column, at, size in kind.numbers:
        digits = octets[starts[:, np.newaxis] + np.arange(at, at + size)].astype(np.int64) - ord("0")
        values = digits @ (10 ** np.arange(size - 1, -1, -1, dtype=np.int64))
        events[column][rows] = np.where(values <= LARGEST[column], values, -1)


def _codes(data: bytes, starts: list[int], size: int, strings: Strings, texts: dict[bytes, int]) -> Iterator[int]:
    for at in starts:
        text = data[at : at + size]
        code = texts.get(text)
        if code is None:
            code = texts[text] = strings.code(text.decode())
        yield code
