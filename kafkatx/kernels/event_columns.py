"""Events of brokers' lines out of the spans that kernels/templates.py has left: one pass, a row at a time.

Fields     of a text are steps, in the order of its placeholders: what to read (WORD, NUMBER, PARTITION), the column of
           the event, the largest number that it takes (text/logs/tables.py). Then what the text says by itself.
Columns    events are given three times: as rows, and as their words of four and of eight bytes, since a column whose
           number is told when the kernel runs can be written in no other way.
Codes      of strings are those of an interner's table (kernels/interning.py). What a step has read last is compared
           first: lines of one text most often have one logger, one exception, one error.
"""

from typing import Any

from kafkatx.kernels.engine import kernel_inlined, kernel_lean
from kafkatx.kernels.interning import NO_ROOM, code_of, is_value
from kafkatx.kernels.literals import find_entries
from kafkatx.kernels.loads import byte_at
from kafkatx.kernels.templates import (
    CONTEXT,
    DONE,
    DOUBT,
    LEVEL,
    LOGGER,
    NOTHING,
    OPEN,
    PATTERN,
    SHOWN,
    SLOW,
    SPANS,
    STATUS,
    THROWN,
    THROWN_CLASS,
    THROWN_SPANS,
    THROWN_TEXT,
    digits,
)

FILLED, UNTOLD = 0, 2
"""Why filling stopped, beside NO_ROOM: all rows are filled; nobody has told what a text says by itself."""
SKIP, WORD, NUMBER, WIDE_NUMBER, PARTITION = 0, 1, 2, 3, 4
"""What a step reads; wide numbers have columns of eight bytes."""
READ, COLUMN, LARGEST = 0, 1, 2
"""Columns of a step."""
INFO, NONE = 2, -2
PENDING = -2
"""Code of a trace that has not been read yet."""


@kernel_lean
def number_at(data: Any, at: int, length: int) -> int:
    """Number as Java and Scala print it (`5`, `Some(5)`, `OptionalInt[5]`); -1 for what is none or negative."""
    end = at + length
    while at < end and data[at] == 32:
        at += 1
    while end > at and data[end - 1] == 32:
        end -= 1
    if end - at > 5 and data[at] == 83 and data[at + 1] == 111 and data[at + 2] == 109 and data[at + 3] == 101:
        at += 4
    elif end - at > 9 and data[at] == 79 and data[at + 1] == 112 and data[at + 2] == 116 and data[at + 7] == 108:
        at += 8
        while at < end and (97 <= data[at] <= 122 or 65 <= data[at] <= 90):
            at += 1
    if at < end and (data[at] == 40 or data[at] == 91):
        at += 1
    if end > at and (data[end - 1] == 41 or data[end - 1] == 93):
        end -= 1
    return digits(data, at, end - at) if 0 < end - at < 19 else -1


@kernel_lean
def topic_length(data: Any, start: int, length: int) -> int:
    """Length of the topic in `topic-partition`; -1 where there is no partition."""
    end = start + length
    at = end
    while at > start and 48 <= byte_at(data, at - 1) <= 57:
        at -= 1
    is_partition = 0 < end - at < 11 and at > start and data[at - 1] == 45
    return at - 1 - start if is_partition else -1


@kernel_inlined
def names_old_partition(data: Any, out: Any, number: int, text: int, spans: int, partitions: Any) -> bool:
    """Whether a line names its partition as `[topic,0]`; `partitions` has the place of that of each text, or -1."""
    if text < 0 or partitions[text] < 0:
        return False
    return bool(data[out[number, spans + 2 * partitions[text]]] == 91)


@kernel_lean
def decide(data: Any, out: Any, slow: Any, partitions: Any) -> int:
    """Turn open entries into DONE, NOTHING or SLOW ones; return how many are DONE.

    `slow` says of each text whether its columns are for the slow path.
    """
    count = 0
    for number in range(len(out)):
        if out[number, STATUS] != OPEN:
            out[number, STATUS] = SLOW
            continue
        head, thrown, shown = int(out[number, PATTERN]), int(out[number, THROWN]), int(out[number, SHOWN])
        is_doubtful = shown == 1 or out[number, LEVEL] > INFO or out[number, DOUBT] == 1
        status = NOTHING
        if shown < 0 or (head >= 0 and slow[head]):
            status = SLOW
        elif head < 0 and thrown < 0:
            status = SLOW if is_doubtful else NOTHING
        elif names_old_partition(data, out, number, head, SPANS, partitions):  # noqa: SIM114 (a line of both is too long)
            status = SLOW
        elif names_old_partition(data, out, number, thrown, THROWN_SPANS, partitions):
            status = SLOW
        else:
            status = DONE
            count += 1
        out[number, STATUS] = status
    return count


@kernel_lean
def code_by(
    data: Any, start: int, length: int, longest: int, slots: Any, known: Any, ends: Any, count: int, lasts: Any,
    place: int,
) -> int:  # fmt: skip
    """The code of a text, -1 of an empty one, NONE where there is no room; `lasts[place]` was given there last."""
    if length <= 0:
        return -1
    length = min(length, longest)
    last = int(lasts[place])
    if last >= 0 and is_value(data, start, length, known, ends, last):
        return last
    code = code_of(data, start, length, slots, known, ends, count)
    if code < 0:
        return NONE
    lasts[place] = code
    return code


@kernel_inlined
def fill_fields(
    data: Any, out: Any, row: int, spans: int, first: int, last: int, steps: Any, longest: int, lasts: Any,
    slots: Any, known: Any, ends: Any, count: int, words: Any, wide: Any, number: int, named: Any,
) -> int:  # fmt: skip
    """Write what steps `first` to `last` (excluded) read from the spans of a text; return how many strings are known.

    -1 less that where there is no room for more. A topic and its partition go into `named`, since they win over fields
    of their own.
    """
    for step in range(first, last):
        at = spans + 2 * (step - first)
        start, length = int(out[row, at]), int(out[row, at + 1])
        read, column = steps[step, READ], steps[step, COLUMN]
        if read == NUMBER or read == WIDE_NUMBER:  # noqa: SIM109 (numba would make a tuple)
            value = number_at(data, start, length)
            value = value if value <= steps[step, LARGEST] else -1
            if read == NUMBER:
                words[number, column] = value
            else:
                wide[number, column] = value
        elif read == PARTITION:
            size = topic_length(data, start, length)
            partition = digits(data, start + size + 1, length - size - 1) if size >= 0 else -1
            length = size if size >= 0 else length
            code = code_by(data, start, length, longest, slots, known, ends, count, lasts, step)
            if code == NONE:
                return -1 - count
            count = max(count, code + 1)
            named[0], named[1], named[2] = 1, code, partition if partition <= steps[step, LARGEST] else -1
        elif read == WORD:
            code = code_by(data, start, length, longest, slots, known, ends, count, lasts, step)
            if code == NONE:
                return -1 - count
            count = max(count, code + 1)
            words[number, column] = code
    return count


@kernel_inlined
def fill_constants(first: int, last: int, constants: Any, words: Any, wide: Any, number: int) -> None:
    """Write what a text says by itself."""
    for constant in range(first, last):
        column, value = constants[constant, 1], constants[constant, 2]
        if constants[constant, 0] == WIDE_NUMBER:
            wide[number, column] = value
        else:
            words[number, column] = value


@kernel_inlined
def fill_thrown(
    data: Any, out: Any, row: int, longest: int, lasts: Any, place: int, apart: int, slots: Any, known: Any, ends: Any,
    count: int, events: Any, number: int,
) -> int:  # fmt: skip
    """Write class and text of the exception under a line where nothing else has filled their columns; as fill_fields.

    Its trace waits.
    """
    if events["error_code"][number] < 0:
        start, length = int(out[row, THROWN_CLASS]), int(out[row, THROWN_CLASS + 1])
        code = code_by(data, start, length, longest, slots, known, ends, count, lasts, place)
        if code == NONE:
            return -1 - count
        count = max(count, code + 1)
        events["error_code"][number] = code
    if events["detail_code"][number] < 0:
        start, length = int(out[row, THROWN_TEXT]), int(out[row, THROWN_TEXT + 1])
        code = code_by(data, start, length, longest, slots, known, ends, count, lasts, place + apart)
        if code == NONE:
            return -1 - count
        count = max(count, code + 1)
        events["detail_code"][number] = code
    events["trace_code"][number] = PENDING
    return count


@kernel_lean
def fill_events(
    data: Any, entries: Any, times: Any, out: Any, rows: Any, shown: Any, first: int, texts: Any, first_step: Any,
    steps: Any, first_constant: Any, constants: Any, is_told: Any, empty: Any, longest: int, lasts: Any, named: Any,
    slots: Any, known: Any, ends: Any, count: int, events: Any, words: Any, wide: Any,
) -> tuple[int, int, int]:  # fmt: skip
    """Fill the events of rows[first:] of `out`: all but what the context of a line says.

    `texts` has of each text its kind, its side, whether an exception below says more, and whether it says more than
    any line above; the last row is that of none. `constants` are how, where and what a text says by itself, of those
    that `is_told`; `shown` are the codes of each row's signs. `lasts` has a place for each step, and three for each
    text. Returns (why it stopped, the event to go on with, how many strings are known).
    """
    none = len(texts) - 1
    for number in range(first, len(rows)):
        row = int(rows[number])
        head, thrown = int(out[row, PATTERN]), int(out[row, THROWN])
        own = head if head >= 0 else none
        counts = thrown >= 0 and (head < 0 or texts[own, 2] != 0 or texts[thrown, 3] != 0)
        if (head >= 0 and not is_told[head]) or (counts and not is_told[thrown]):
            return UNTOLD, number, count
        for column in range(len(empty)):
            words[number, column] = empty[column]
        start, length, place = int(out[row, LOGGER]), int(out[row, LOGGER + 1]), len(steps) + own
        code = code_by(data, start, length, longest, slots, known, ends, count, lasts, place)
        if code == NONE:
            return NO_ROOM, number, count
        count = max(count, code + 1)
        events["logger_code"][number] = code
        named[0] = 0
        for turn in range(2):
            text, spans = (head, SPANS) if turn == 0 else (thrown if counts else -1, THROWN_SPANS)
            if text >= 0:
                more = fill_fields(
                    data, out, row, spans, first_step[text], first_step[text + 1], steps, longest, lasts, slots, known,
                    ends, count, words, wide, number, named,
                )  # fmt: skip
                if more < 0:
                    return NO_ROOM, number, -1 - more
                count = more
        if named[0] == 1:
            events["topic_code"][number], events["partition"][number] = named[1], named[2]
        if head >= 0:
            fill_constants(first_constant[head], first_constant[head + 1], constants, words, wide, number)
        if counts:
            fill_constants(first_constant[thrown], first_constant[thrown + 1], constants, words, wide, number)
        if out[row, THROWN_CLASS + 1] > 0:
            more = fill_thrown(
                data, out, row, longest, lasts, place + len(texts), len(texts), slots, known, ends, count, events,
                number,
            )  # fmt: skip
            if more < 0:
                return NO_ROOM, number, -1 - more
            count = more
        events["level"][number] = out[row, LEVEL]
        events["kind"][number] = texts[thrown if counts else own, 0]
        events["side"][number] = texts[own, 1]
        events["position"][number], events["line"][number] = entries[row, 0], entries[row, 3]
        events["at"][number] = times[row]
        events["signs_code"][number] = shown[row]
    return FILLED, len(rows), count


@kernel_lean
def number_pairs(first: Any, second: Any, slots: Any, numbers: Any, examples: Any, sizes: Any) -> int:
    """Number the pairs (first[n], second[n]) in order of first sight; return how many there are.

    `numbers` gets the number of each, `examples` and `sizes` the first place of each pair and how many places it has;
    `slots` (int32, a power of two, more than there are places) are -1.
    """
    mask = len(slots) - 1
    count = 0
    for place in range(len(first)):
        one, other = int(first[place]), int(second[place])
        slot = (one * 40503 + other * 31) & mask
        while slots[slot] >= 0:
            example = examples[slots[slot]]
            if first[example] == one and second[example] == other:
                break
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            slots[slot] = count
            examples[count] = place
            sizes[count] = 0
            count += 1
        numbers[place] = slots[slot]
        sizes[slots[slot]] += 1
    return count


@kernel_lean
def write_names(events: Any, words: Any, numbers: Any, sides: Any, first_name: Any, names: Any) -> None:
    """Write what the group of each event says where the event itself says nothing.

    `sides` has the side of each group. A row of `names` is a column and its code, a column to be written with it and
    its value (-1: none), and two kinds that it is for (-1: all).
    """
    for number in range(len(events)):
        group = numbers[number]
        if events["side"][number] < 0:
            events["side"][number] = sides[group]
        for name in range(first_name[group], first_name[group + 1]):
            column, also, kind = names[name, 0], names[name, 2], names[name, 4]
            if words[number, column] >= 0:
                continue
            if kind >= 0 and events["kind"][number] != kind and events["kind"][number] != names[name, 5]:
                continue
            words[number, column] = names[name, 1]
            if also >= 0:
                words[number, also] = names[name, 3]


for _kernel in (decide, fill_events, number_pairs, write_names):
    _kernel.follows = find_entries

__all__ = [
    "CONTEXT", "FILLED", "LARGEST", "NUMBER", "PARTITION", "SKIP", "UNTOLD", "WIDE_NUMBER", "WORD", "decide",
    "fill_events", "number_at", "number_pairs", "topic_length", "write_names",
]  # fmt: skip
