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
from kafkatx.kernels.event_columns import decide, number_pairs, write_names
from kafkatx.kernels.held_texts import held_in_rows, texts_of
from kafkatx.segments.interning import Interner
from kafkatx.terms.events import Level, Side
from kafkatx.terms.records import dataclass
from kafkatx.text.logs.contexts import MARKERS, NOTHING, Context, sends_markers, split_context
from kafkatx.text.logs.filled import Filled, words_of
from kafkatx.text.logs.filling import COLUMNS, empty_row, fill_field
from kafkatx.text.logs.meaning import OF_CONNECTIONS, names_of, side_by
from kafkatx.text.logs.signs import SEPARATOR
from kafkatx.text.logs.strings import LONGEST_STRING, Strings
from kafkatx.text.logs.tables import partitions, signs, slow_texts, step_of, texts

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


def read_columns(data: bytes, entries: Any, strings: Strings, filled: Filled) -> Columns:
    """Read entries (kernels/literals.py) of a window."""
    times, out = np.empty(len(entries), np.int64), np.empty((len(entries), kernels.WIDTH), np.int32)
    _recognise(data, entries, times, out)
    shown = shown_signs(data, out, strings)
    contexts = _Contexts(data, out)
    status = out[:, kernels.STATUS]
    done, is_slow = np.flatnonzero(status == kernels.DONE), status == kernels.SLOW
    events = filled.events(data, entries, times, out, done, shown, strings)
    speakers = tuple(contexts.write(events, strings))
    lowest = int(out[~is_slow, kernels.LEVEL].min(initial=Level.error))
    return Columns(events, np.flatnonzero(is_slow), speakers, lowest if not is_slow.all() else Level.unknown)


def _recognise(data: bytes, entries: Any, times: Any, out: Any) -> None:
    """Take entries apart, recognise their texts, and decide which of them the slow path must read."""
    view = kernels.take_apart.view(data)
    kernels.take_apart(view, entries, times, out)
    recognise = kernels.recognise_texts
    recognise(view, *texts(), 0, out, kernels.MESSAGE, kernels.SPANS, kernels.PATTERN)
    recognise(view, *texts(), 1, out, kernels.THROWN_TEXT, kernels.THROWN_SPANS, kernels.THROWN)
    decide(decide.view(data), out, slow_texts(), partitions())


def codes(interner: Interner, data: bytes, starts: Any, lengths: Any) -> Any:
    """Codes of the texts that stand in spans; -1 of empty ones."""
    lengths = np.where(lengths > 0, np.minimum(lengths, LONGEST_STRING), -1)
    return interner.codes(memoryview(data), np.ascontiguousarray(starts, np.int64), lengths.astype(np.int64))


def shown_signs(data: bytes, out: Any, strings: Strings) -> Any:
    """Codes of the texts of known defects that each line of a window shows (text/logs/signs.py), -1 of nothing.

    Each set of them is looked at once. A line that shows some and is of no known text goes the slow way. What a stack
    trace shows is read with it.
    """
    names, held = signs()
    rows, marks = held_in_rows(held, data, out, (kernels.LOGGER, kernels.MESSAGE), kernels.SLOW)
    found = np.full(len(out), -1, np.int32)
    if len(rows):
        sets, size = Interner(), marks.itemsize * marks.shape[1]
        numbers = codes(sets, marks.tobytes(), size * np.arange(len(rows)), np.full(len(rows), size))
        shown = (texts_of(np.frombuffer(one, np.int64)) for one in sets.values)
        told = [strings.code(SEPARATOR.join(names[number] for number in one)) for one in shown]
        found[rows] = np.array(told, np.int32)[numbers]
        out[rows[out[rows, kernels.STATUS] == kernels.NOTHING], kernels.STATUS] = kernels.SLOW
    return found


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
        out[done[~fits[numbers]], kernels.STATUS] = kernels.SLOW
        self._numbers = numbers[fits[numbers]]

    def write(self, events: Any, strings: Strings) -> Iterator[Speaker]:
        """Write the names that contexts give, and the sides that nothing else tells; yield who spoke."""
        if not len(events):
            return
        numbers, examples, sizes = (np.empty(len(events), np.int32) for _ in range(3))
        slots = np.full(1 << (2 * len(events) - 1).bit_length(), -1, np.int32)
        loggers = np.ascontiguousarray(events["logger_code"])
        count = number_pairs(self._numbers, loggers, slots, numbers, examples, sizes)
        speakers, named = list[Speaker](), list[list[list[int]]]()
        for example, lines in zip(examples[:count].tolist(), sizes[:count].tolist(), strict=True):
            context = self.contexts[self._numbers[example]]
            logger = strings.interner.values[loggers[example]].decode("utf-8", "replace")
            speakers.append(Speaker(logger, context, side_by(logger, context), lines))
            named.append([*_names(context, strings)])
        sides = np.array([speaker.side for speaker in speakers], np.int64)
        first_name = np.cumsum([0, *map(len, named)]).astype(np.int64)
        names = np.array([one for names in named for one in names], np.int64).reshape(-1, 6)
        write_names(events, words_of(events), numbers, sides, first_name, names)
        order = np.argsort(self._numbers[examples[:count]], kind="stable").tolist()
        yield from (speakers[number] for number in order)


def _names(context: Context, strings: Strings) -> Iterator[list[int]]:
    """What a context gives to the events of its lines, as kernels/event_columns.py writes it."""
    for name, value in names_of(context):
        if value:
            yield _named(name, value, strings, -1, -1)
    if sends_markers(context):
        yield _named("api", MARKERS, strings, *OF_CONNECTIONS)


def _named(name: str, value: str, strings: Strings, kind: int, other: int) -> list[int]:
    """One name: its column and code, the partition with a topic, and the kinds of events that it is for."""
    row = empty_row()
    fill_field(row, name, value, strings)
    is_partition = name == "topic_partition"
    column = step_of("topic" if is_partition else name)[1]
    code = row[COLUMNS["topic_code" if is_partition else f"{name}_code"]]
    return [column, code, step_of("partition")[1] if is_partition else -1, row[COLUMNS["partition"]], kind, other]
