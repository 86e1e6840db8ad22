"""Entries of the brokers' own layout as columns of events, a window at a time and without an object a line.

The kernel (kernels/templates.py) recognises lines and leaves spans; here they become numbers and codes. What it leaves
to the slow path (other shapes, texts of clients, blocks of settings, requests, long traces) is told by its row number.
An event with a stack trace has `PENDING` in place of its trace: its text is read once more if the event is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kafkatx.kernels import templates as kernels
from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.held_texts import held_in, texts_of
from kafkatx.segments.interning import Interner
from kafkatx.terms.catalogue.entries import EventTemplate
from kafkatx.terms.events import EventKind, Level, Side
from kafkatx.terms.records import dataclass
from kafkatx.text.logs.contexts import MARKERS, NOTHING, Context, sends_markers, split_context
from kafkatx.text.logs.filling import COLUMNS, NUMBERS, empty_row, fill_field, no_events
from kafkatx.text.logs.matching import patterns
from kafkatx.text.logs.meaning import OF_CONNECTIONS, names_of, side_by
from kafkatx.text.logs.signs import SEPARATOR
from kafkatx.text.logs.spans import Spans, codes
from kafkatx.text.logs.strings import Strings
from kafkatx.text.logs.tables import kinds, sides, signs, slow_texts, texts, vague

PENDING = -2
"""Code of a trace that has not been read yet."""
OPEN = ord("[")
MESSAGE = "Message"
"""What stands for any message where a context is read."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """Logger and context of some lines, and how many they are."""

    logger: str
    context: Context
    side: Side
    lines: int


@dataclass(frozen=True, slots=True)
class Columns:
    """Events of a window, the entries that the slow path must read, and who spoke.

    `position` of an event is the place of its entry in the window, `line` its line there, from 0;
    `lowest_level` is the least severe level of the entries that were read.
    """

    events: Any
    slow: Any
    speakers: tuple[Speaker, ...]
    lowest_level: int


def is_fast() -> bool:
    """Whether the kernels run compiled: only then the columns are faster than the slow path."""
    return kernels.take_apart.is_compiled


def read_columns(data: bytes, entries: Any, strings: Strings) -> Columns:
    """Read entries (kernels/literals.py) of a window."""
    times, out = np.empty(len(entries), np.int64), np.empty((len(entries), kernels.WIDTH), np.int32)
    _recognise(data, entries, times, out)
    shown = _Signs(data, out)
    contexts = _Contexts(data, out)
    _leave_old_partitions(data, out)
    done = np.flatnonzero(out[:, kernels.STATUS] == kernels.DONE)
    events = _events(data, out if len(done) == len(out) else out[done], strings)
    events["signs_code"] = shown.codes(done, strings)
    events["position"], events["line"], events["at"] = entries[done, 0], entries[done, 3], times[done]
    speakers = tuple(contexts.write(events, out[done, kernels.CONTEXT], strings))
    is_slow = out[:, kernels.STATUS] == kernels.SLOW
    lowest = int(out[~is_slow, kernels.LEVEL].min(initial=Level.error))
    return Columns(events, np.flatnonzero(is_slow), speakers, lowest if not is_slow.all() else Level.unknown)


def _recognise(data: bytes, entries: Any, times: Any, out: Any) -> None:
    """Take entries apart, recognise their texts, and decide which of them the slow path must read."""
    view = kernels.take_apart.view(data)
    kernels.take_apart(view, entries, times, out)
    recognise = kernels.recognise_texts
    recognise(view, texts(), 0, out, kernels.MESSAGE, kernels.SPANS, kernels.PATTERN)
    recognise(view, texts(), 1, out, kernels.THROWN_TEXT, kernels.THROWN_SPANS, kernels.THROWN)
    is_open, shown = out[:, kernels.STATUS] == kernels.OPEN, out[:, kernels.SHOWN]
    head, thrown = out[:, kernels.PATTERN], out[:, kernels.THROWN]
    is_known = (head >= 0) | (thrown >= 0)
    is_doubtful = (shown == 1) | (out[:, kernels.LEVEL] > Level.info) | (out[:, kernels.DOUBT] == 1)
    is_slow = (shown < 0) | slow_texts()[head] | (~is_known & is_doubtful)
    done = np.where(is_known, kernels.DONE, kernels.NOTHING)
    out[:, kernels.STATUS] = np.where(is_open, np.where(is_slow, kernels.SLOW, done), kernels.SLOW)


def _events(data: bytes, out: Any, strings: Strings) -> Any:
    """Events of recognised entries: all but place, time and context."""
    events = no_events(len(out))
    head, thrown, shown = out[:, kernels.PATTERN], out[:, kernels.THROWN], out[:, kernels.THROWN_CLASS + 1] > 0
    is_storage = kinds()[thrown] == EventKind.storage_failed
    counts = (thrown >= 0) & ((head < 0) | vague()[head] | is_storage)
    events["level"] = out[:, kernels.LEVEL]
    events["kind"] = np.where(counts, kinds()[thrown], kinds()[head])
    events["side"] = np.where(head >= 0, sides()[head], Side.unknown)
    spans = Spans()
    spans.add("logger", np.arange(len(out)), out[:, kernels.LOGGER : kernels.LOGGER + 2])
    constants: list[tuple[Any, EventTemplate]] = []
    for numbers, first in ((head, kernels.SPANS), (np.where(counts, thrown, -1), kernels.THROWN_SPANS)):
        for number in distinct(numbers[numbers >= 0]).tolist():
            rows, entry = np.flatnonzero(numbers == number), patterns()[number].entry
            constants.append((rows, entry))
            for place, name in enumerate(entry.fields):
                spans.add(name, rows, out[rows, first + 2 * place : first + 2 * place + 2])
    spans.write(data, events, strings)
    for rows, entry in constants:
        _write_constants(events, rows, entry, strings)
    _write_thrown(data, events, out, np.flatnonzero(shown), strings)
    return events


def _write_constants(events: Any, rows: Any, entry: EventTemplate, strings: Strings) -> None:
    """Write what a text says by itself."""
    for name, value in entry.constants:
        row = empty_row()
        fill_field(row, name, value, strings)
        column = name if name in NUMBERS else f"{name}_code"
        events[column][rows] = row[COLUMNS[column]]


def _write_thrown(data: bytes, events: Any, out: Any, rows: Any, strings: Strings) -> None:
    """Write class and text of the exceptions under lines where nothing else fills the columns; their traces wait."""
    for column, first in (("error_code", kernels.THROWN_CLASS), ("detail_code", kernels.THROWN_TEXT)):
        wanted = rows[events[column][rows] < 0]
        events[column][wanted] = codes(strings.interner, data, out[wanted, first], out[wanted, first + 1])
    events["trace_code"][rows] = PENDING


def _leave_old_partitions(data: bytes, out: Any) -> None:
    """Leave lines that name a partition as `[topic,0]` to the slow path."""
    view = np.frombuffer(data, np.uint8)
    for column, first in ((kernels.PATTERN, kernels.SPANS), (kernels.THROWN, kernels.THROWN_SPANS)):
        for number in distinct(out[out[:, kernels.STATUS] == kernels.DONE, column]).tolist():
            fields = patterns()[number].entry.fields if number >= 0 else ()
            if "topic_partition" in fields:
                rows = np.flatnonzero((out[:, kernels.STATUS] == kernels.DONE) & (out[:, column] == number))
                at = out[rows, first + 2 * fields.index("topic_partition")]
                out[rows[view[at] == OPEN], kernels.STATUS] = kernels.SLOW


class _Signs:
    """The texts of known defects that lines of a window show (text/logs/signs.py), each set of them looked at once.

    What a stack trace shows is read with it.
    """

    def __init__(self, data: bytes, out: Any) -> None:
        """Look for them; a line that shows some and is of no known text goes the slow way."""
        self.texts, held = signs()
        self._sets, self._numbers = Interner(), np.full(len(out), -1, np.int32)
        rows = np.flatnonzero(out[:, kernels.STATUS] != kernels.SLOW)
        marks = np.zeros((0, 0), np.int64)
        for column in (kernels.LOGGER, kernels.MESSAGE):
            found = held_in(held, data, out[rows, column], out[rows, column + 1])
            marks = found if not len(marks) else marks | found
        rows, marks = rows[marks.any(axis=1)], marks[marks.any(axis=1)]
        size = marks.itemsize * marks.shape[1]
        self._numbers[rows] = codes(self._sets, marks.tobytes(), size * np.arange(len(rows)), np.full(len(rows), size))
        out[rows[out[rows, kernels.STATUS] == kernels.NOTHING], kernels.STATUS] = kernels.SLOW

    def codes(self, rows: Any, strings: Strings) -> Any:
        """Codes of what lines show, -1 of nothing."""
        sets = (texts_of(np.frombuffer(marks, np.int64)) for marks in self._sets.values)
        found = [strings.code(SEPARATOR.join(self.texts[number] for number in one)) for one in sets]
        return np.array([*found, -1], np.int32)[self._numbers[rows]]


class _Contexts:
    """The brackets before the messages of a window, each text looked at once."""

    def __init__(self, data: bytes, out: Any) -> None:
        """Put the number of its context into each row; what the framer sees otherwise goes the slow way."""
        interner = Interner()
        done = np.flatnonzero(out[:, kernels.STATUS] == kernels.DONE)
        numbers = codes(interner, data, out[done, kernels.CONTEXT], out[done, kernels.CONTEXT + 1])
        parts = [split_context(text.decode("utf-8", "replace") + MESSAGE) for text in interner.values]
        self.contexts = [*(context for context, _ in parts), NOTHING]
        fits = np.array([*(rest == MESSAGE for _, rest in parts), True])
        out[done, kernels.CONTEXT] = numbers
        out[done[~fits[numbers]], kernels.STATUS] = kernels.SLOW

    def write(self, events: Any, numbers: Any, strings: Strings) -> Iterator[Speaker]:
        """Write the names that contexts give, and the sides that nothing else tells; yield who spoke."""
        if not len(events):
            return
        loggers = events["logger_code"].astype(np.int64)
        pairs, places = np.unique((numbers.astype(np.int64) << 32) + loggers, return_inverse=True)
        counts = np.bincount(places, minlength=len(pairs))
        order = np.argsort(places, kind="stable")
        groups = np.split(order, np.cumsum(counts)[:-1])
        for pair, rows, count in zip(pairs.tolist(), groups, counts.tolist(), strict=True):
            context = self.contexts[pair >> 32]
            logger = strings.interner.values[pair & 0xFFFFFFFF].decode("utf-8", "replace")
            side = side_by(logger, context)
            events["side"][rows[events["side"][rows] == Side.unknown]] = side
            self._name(events, rows, context, strings)
            yield Speaker(logger, context, side, count)

    def _name(self, events: Any, rows: Any, context: Context, strings: Strings) -> None:
        for name, value in names_of(context):
            if not value:
                continue
            row = empty_row()
            fill_field(row, name, value, strings)
            column = "topic_code" if name == "topic_partition" else f"{name}_code"
            wanted = rows[events[column][rows] < 0]
            events[column][wanted] = row[COLUMNS[column]]
            if name == "topic_partition":
                events["partition"][wanted] = row[COLUMNS["partition"]]
        if sends_markers(context):
            row = empty_row()
            fill_field(row, "api", MARKERS, strings)
            lost = np.isin(events["kind"][rows], OF_CONNECTIONS) & (events["api_code"][rows] < 0)
            events["api_code"][rows[lost]] = row[COLUMNS["api_code"]]
