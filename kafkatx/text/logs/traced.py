"""Events of brokers whose stack traces nobody has looked at yet: one entry of a kind is read, the others by its places.

Kind     an entry with a zero in place of each digit of its first line and of the message of its exception; everything
         below stays as it is, since the numbers of lines tell releases.
Learnt   as lines of a kind are (text/logs/alike.py): a kind that has been met some times is read with other digits. So
         it is seen which bytes its columns and the messages of its trace are; where that is not clear, or a digit may
         decide (an error's number, a date), the entries of the kind are read one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

import numpy as np

from kafkatx.kernels.event_columns import PENDING
from kafkatx.kernels.growing import chosen
from kafkatx.sources.files import OpenFile
from kafkatx.terms.regex import regex
from kafkatx.terms.secrets import may_hold_secrets
from kafkatx.text.events import Thrown, Trace
from kafkatx.text.logs.alike import (
    LONGEST,
    TRIES,
    ZEROS,
    Learnt,
    Part,
    ReadAlone,
    has_own_digits,
    other_numbers,
    part_of,
)
from kafkatx.text.logs.entries import SHORT_ENTRY, entry_at, is_one_entry
from kafkatx.text.logs.filling import COLUMNS, LARGEST, NUMBERS
from kafkatx.text.logs.framing import Framer
from kafkatx.text.logs.meaning import event_of
from kafkatx.text.logs.requests import is_request
from kafkatx.text.logs.strings import CODE_COLUMNS, Strings

FRONT = 25
"""Bytes of a time as brokers print it, `[2026-11-21 10:23:51,003]`."""
_NEXT = regex(rb"\n\[\d\d")
_TELLING = regex(
    r"\[Error \d|\[\d{1,4}\] [A-Z]|(?:[Cc]ode|errno|err)\W{0,4}-?\d|,val=|key: ?\d|\d\d:\d\d:\d\d|\d{4}-\d\d-\d\d"
)
"""Digits that may say which error it is, or that a line was quoted."""
_OWN = ("position", "line", "at", "source", "repeats", "trace_code")
"""Columns that no kind tells: events have them, or the trace is made for each."""


class _Kind(NamedTuple):
    """What entries have in common: columns that do not vary (texts where they have codes) and those that do, the trace.

    `messages` are the bytes of an entry that are the messages of its exceptions, None of those that do not vary.
    """

    columns: dict[str, Any]
    words: tuple[Part, ...]
    numbers: tuple[Part, ...]
    trace: Trace
    messages: tuple[Part | None, ...]

    def trace_of(self, text: str) -> Trace:
        """The trace of an entry."""
        chain = (
            one if part is None else Thrown(one.exception, text[part.at : part.at + part.size])
            for one, part in zip(self.trace.chain, self.messages, strict=True)
        )
        return Trace(tuple(chain), self.trace.calls, self.trace.releases)


class Traced:
    """Reads the traces of events that have `PENDING` in their place."""

    def __init__(self, file: OpenFile, framer: Framer) -> None:
        self.file, self.framer = file, framer
        self._learnt = Learnt(self._learn)

    def read(self, events: Any, strings: Strings) -> Any:
        """Write all that the entries of these events say into them; return those that are events."""
        kept = np.ones(len(events), bool)
        groups: dict[int, tuple[_Kind, list[int], list[str]]] = {}
        pending = np.flatnonzero(events["trace_code"] == PENDING)
        for number, position in zip(pending.tolist(), events["position"][pending].tolist(), strict=True):
            text = self._text(position)
            kind = self._kind(text) if text else None
            if kind is not None:
                group = groups.setdefault(id(kind), (kind, [], []))
                group[1].append(number)
                group[2].append(text.decode("ascii"))
            else:
                kept[number] = self._read_one(events, number, strings)
        for kind, numbers, texts in groups.values():
            _write(events, np.array(numbers), kind, texts, strings)
        if len(pending):
            self.framer.pass_by(int(events["at"][pending[-1]]))
        return chosen(events, kept)

    def _read_one(self, events: Any, number: int, strings: Strings) -> bool:
        """Read one entry; whether it is an event."""
        event = events[number]
        row = event_of(entry_at(self.file, self.framer, int(event["position"]), int(event["line"])), strings)
        if row is None:
            return False
        row[COLUMNS["source"]], row[COLUMNS["repeats"]] = int(event["source"]), int(event["repeats"])
        events[number] = tuple(row)
        return True

    def _text(self, position: int) -> bytes:
        """The lines of an entry; nothing where it is long, or no other one follows it."""
        block = self.file.read(position, SHORT_ENTRY)
        behind = _NEXT.search(block)
        return block[: behind.start()] if behind else b""

    def _kind(self, text: bytes) -> _Kind | None:
        """The kind of an entry, None where it is not known (yet)."""
        head, exception, message, below = _parts(text)
        key = head[FRONT:].translate(ZEROS) + exception + message.translate(ZEROS) + below
        return self._learnt.of(text, key)

    def _learn(self, text: bytes, key: bytes) -> _Kind | None:
        if not text.isascii() or b"\r" in text or len(text) > LONGEST or not is_one_entry(text):
            return None
        head, exception, message, below = (part.decode("ascii") for part in _parts(text))
        if has_own_digits(key.decode("ascii")) or _TELLING.search(head[FRONT:] + message) or is_request(head[FRONT:]):
            return None
        random = Random(text)
        others = [
            head[:FRONT] + other_numbers(head[FRONT:], random) + exception + other_numbers(message, random) + below
            for _ in range(TRIES)
        ]
        return _kind_of([ReadAlone(one, self.framer) for one in (text.decode("ascii"), *others)])


def _parts(text: bytes) -> tuple[bytes, bytes, bytes, bytes]:
    """An entry cut into its first line, the class of its exception, the message of that, and what stands below."""
    head, end, tail = text.partition(b"\n")
    line, behind, below = tail.partition(b"\n")
    exception, colon, message = line.partition(b": ")
    return head, end + exception + colon, message, behind + below


def _kind_of(read: list[ReadAlone]) -> _Kind | None:
    """What entries of a kind have in common, given some that have no digit in common; None where that is not clear."""
    if not all(one.columns and one.traces for one in read):
        return None
    columns: dict[str, Any] = {}
    parts: list[Part] = []
    for name in read[0].columns:
        values = [one.columns[name] for one in read]
        if name in _OWN:
            continue
        if all(value == values[0] for value in values):
            columns[name] = values[0]
        elif (part := part_of(name, values, read)) is not None and _is_clean(part, read[0]):
            parts.append(part)
        else:
            return None
    traces = [one.traces[0] for one in read]
    messages = tuple(_messages(traces, read))
    if any(len(one.traces) > 1 for one in read) or False in messages:
        return None
    words = tuple(part for part in parts if part.column in CODE_COLUMNS)
    numbers = tuple(part for part in parts if part.column in NUMBERS)
    return _Kind(columns, words, numbers, traces[0], messages)


def _is_clean(part: Part, read: ReadAlone) -> bool:
    """Whether no entry of the kind has a secret there: what shows one are letters."""
    return part.column in NUMBERS or not may_hold_secrets(read.text[part.at : part.at + part.size])


def _messages(traces: list[Trace], read: list[ReadAlone]) -> Iterator[Any]:
    """The parts of an entry that are messages of its exceptions, None for one that does not vary, else False."""
    if any(_without_messages(one) != _without_messages(traces[0]) for one in traces):
        yield False
        return
    for number, link in enumerate(traces[0].chain):
        told = [one.chain[number].message for one in traces]
        part = None if all(one == link.message for one in told) else part_of("detail_code", told, read)
        is_found = part is not None and _is_clean(part, read[0])
        yield part if is_found or all(one == link.message for one in told) else False


def _without_messages(trace: Trace) -> tuple[Any, ...]:
    return tuple(link.exception for link in trace.chain), trace.calls, trace.releases


def _write(events: Any, rows: Any, kind: _Kind, texts: list[str], strings: Strings) -> None:
    """Write what entries of one kind say."""
    for name, value in kind.columns.items():
        events[name][rows] = strings.code(value) if isinstance(value, str) else value
    for column, at, size in kind.words:
        events[column][rows] = [strings.clean_code(text[at : at + size]) for text in texts]
    for column, at, size in kind.numbers:
        values = np.array([int(text[at : at + size]) for text in texts], np.int64)
        events[column][rows] = np.where(values <= LARGEST[column], values, -1)
    events["trace_code"][rows] = [strings.clean_trace_code(kind.trace_of(text)) for text in texts]
