"""Records as Arrow columns: keys and values as views into the buffer that they were read from, nothing copied.

A view is what Arrow calls one (columnar format 1.4, variable-size binary view): 16 bytes, the length, then up to 12
bytes themselves, or their first four, the number of a buffer (0: the one that was read) and the place in it.
"""

from typing import Any

import numpy as np

from kafkatx.kernels.bytes import varint_at
from kafkatx.kernels.crc32c import crc32c
from kafkatx.kernels.engine import kernel_after, kernel_inlined, kernel_lean
from kafkatx.kernels.loads import HALF_BYTES, WORD_BYTES, ask_for, half_at, put_word, word_at
from kafkatx.kernels.records import (
    FARTHEST,
    LARGEST_INT32,
    LARGEST_INT64,
    LEFT_OVER,
    NO_RECORD,
    note_problem,
    read_any_record,
    read_common_record,
    wrapped_sum,
)
from kafkatx.kernels.rows import VALID

INLINE = 12
"""Bytes that a view holds itself."""
FIRST_MS, LAST_MS = 0, 253_402_300_799_999
"""What a column of times can hold: those of kafkatx.tables.columns."""
ABSENT = -1
"""A time outside of them."""


def _masks(counts: list[int]) -> np.ndarray[Any, Any]:
    """What of a word belongs to a string: so many of its low bytes; as bytes, for `word_at`."""
    return np.array([(1 << 8 * count) - 1 for count in counts], "<u8").view(np.uint8)


LENGTHS = range(-1, INLINE + 1)
FIRST_OF = _masks([max(length, 0) if length < HALF_BYTES else WORD_BYTES for length in LENGTHS])
REST_OF = _masks([max(length - HALF_BYTES, 0) for length in LENGTHS])
"""For each length: what of its first four bytes, and of the eight behind them, is its own."""


@kernel_inlined
def some_bytes(data: Any, start: int, count: int) -> int:
    """Up to eight bytes as a word, read one by one: where a load of eight could go past the end."""
    word = 0
    for at in range(count):
        byte = data[start + at] * 1
        word += (byte - 256 if at == 7 and byte >= 128 else byte) << 8 * at
    return word


@kernel_inlined
def write_view(data: Any, start: int, length: int, out: Any, at: int) -> None:
    """Write the view of data[start : start + length] to out[at] and the word behind it; a length of -1 means null."""
    if length > INLINE:
        put_word(out, at, length + half_at(data, start) * 4294967296)
        put_word(out, at + 1, start * 4294967296)
    elif start + INLINE <= len(data):
        of_length = WORD_BYTES * (length + 1)
        put_word(out, at, length + (half_at(data, start) & word_at(FIRST_OF, of_length)) * 4294967296)
        put_word(out, at + 1, word_at(data, start + 4) & word_at(REST_OF, of_length))
    else:
        first = some_bytes(data, start, min(max(length, 0), 4))
        put_word(out, at, length + (first - 4294967296 if first >= 2147483648 else first) * 4294967296)
        put_word(out, at + 1, some_bytes(data, start + 4, max(length - 4, 0)))


@kernel_lean
def time_of(milliseconds: int) -> int:
    """A time in microseconds, ABSENT where a column can't hold it."""
    return milliseconds * 1000 if FIRST_MS <= milliseconds <= LAST_MS else ABSENT


FROM_CRC = 40
"""Bytes of a header that its CRC is over: from the attributes on."""
WRONG_CRC = -1
"""In place of a record where to go on: the batch is not what was written; neither it nor what follows was read."""
AHEAD, FAR_AHEAD, LINE = 2048, 32768, 64
"""How far ahead of a record bytes are asked for (where CRCs are looked at: a batch, but no more than so many), and how
many come at once."""
WORDS = 7
"""Words of a record in the columns of `walk_columns`."""


@kernel_inlined
def bases_of(batches: Any, number: int) -> tuple[int, int, int, int, int]:
    """What the offsets and times of a batch's records are told from.

    Returns (offset, time; -1 where a record has a time of its own, 0 where all have that one; the least and the most
    of a time's delta with which no sum leaves int64 and the time fits its column, nothing where an offset may leave).
    """
    base_offset = int(batches["base_offset"][number])
    base_timestamp = int(batches["base_timestamp"][number])
    of_record = -1
    if int(batches["attributes"][number]) & 8:
        base_timestamp = int(batches["max_timestamp"][number])
        of_record = 0
    near = base_offset <= LARGEST_INT64 - LARGEST_INT32 and base_offset > -LARGEST_INT64 + LARGEST_INT32
    if near and FIRST_MS <= base_timestamp <= LAST_MS:
        return base_offset, base_timestamp, of_record, FIRST_MS - base_timestamp, LAST_MS - base_timestamp
    return base_offset, base_timestamp, of_record, 1, 0


@kernel_inlined
def write_parts(
    data: Any, key: int, key_length: int, value: int, value_length: int, start: int, out: Any, room: int, row: int
) -> None:
    """Write the views of a record, and where its headers stand."""
    write_view(data, key, key_length, out, 2 * room + 2 * row)
    write_view(data, value, value_length, out, 4 * room + 2 * row)
    put_word(out, 6 * room + row, start)


@kernel_inlined
def write_common_record(
    data: Any, at: int, limit: int, base_offset: int, base_timestamp: int, of_record: int, least: int, most: int,
    out: Any, room: int, row: int,
) -> tuple[int, int]:  # fmt: skip
    """Write a record as nearly all are to a row of the columns; the numbers are those of `bases_of`.

    Returns (position behind it, -1 where it is another; its lengths, below 0 where its key is null).
    """
    behind, timestamp_delta, offset_delta, key, key_length, value, value_length = read_common_record(data, at, limit)
    timestamp_delta &= of_record
    if behind < 0 or timestamp_delta < least or timestamp_delta > most:
        return -1, 0
    put_word(out, row, base_offset + offset_delta)
    put_word(out, room + row, (base_timestamp + timestamp_delta) * 1000)
    write_parts(data, key, key_length, value, value_length, behind, out, room, row)
    return behind, key_length | value_length


@kernel_inlined
def write_any_record(
    data: Any, at: int, end: int, base_offset: int, base_timestamp: int, of_record: int, out: Any, room: int, row: int
) -> tuple[int, int, int, bool]:
    """As `write_common_record`, of records of any size and shape.

    Returns (position, -1 where there is none; lengths, below 0 where its key or value is null; how many headers it
    has; whether its time is ABSENT).
    """
    behind, timestamp_delta, offset_delta, key, key_length, value, value_length, start, header_count = read_any_record(
        data, at, end
    )
    if behind < 0:
        return -1, 0, 0, False
    time = time_of(wrapped_sum(base_timestamp, timestamp_delta & of_record))
    put_word(out, row, wrapped_sum(base_offset, offset_delta))
    put_word(out, room + row, time)
    start += header_count * 4294967296
    write_parts(data, key, key_length, value, value_length, start, out, room, row)
    return behind, key_length | value_length, header_count, time == ABSENT


@kernel_inlined
def has_right_crc(data: Any, batches: Any, number: int, start: int, end: int) -> bool:
    """Whether a batch whose records lie in data[start:end], behind its header, is what was written: it is marked so."""
    if crc32c(data, start - FROM_CRC, end, 0) != int(batches["crc"][number]):
        return False
    batches["crc_valid"][number] = VALID
    return True


@kernel_lean
def walk_columns(
    data: Any,
    batches: Any,
    starts: Any,
    ends: Any,
    first_batch: int,
    first_record: int,
    at: int,
    out: Any,
    rows_behind: Any,
    problems: Any,
    check: bool,
) -> tuple[int, int, int, int, int, bool, bool, int]:
    """Read records as `walk_records` does, into columns; those of batches[n] lie in data[starts[n] : ends[n]].

    `out` (int64) has room for len(out) // WORDS rows, and holds one column behind the other: offsets, times in
    microseconds or ABSENT, views of keys, views of values, and where a record's first header stands with how many there
    are above it (32 bits each). `rows_behind[n]` gets the row behind the last of batches[n].
    With `check` headers of batches stand in front of their records, and each batch's CRC is looked at before these are
    read, so that memory is read once; the first wrong one ends the walk, with WRONG_CRC as the record.
    Returns (rows, problems, batch row, record, position; whether a key or value is null, whether a time is ABSENT, how
    many headers there are).
    """
    room = len(out) // WORDS
    row = 0
    bad = 0
    signs = 0
    absent = False
    headed = 0
    for number in range(first_batch, len(batches)):
        rows_behind[number] = row
        if starts[number] < 0:
            continue
        if at < 0:
            at = int(starts[number])
        end = int(ends[number])
        if check and first_record == 0:
            if row == room:  # also one that claims no records is looked at before anything is said of it
                return row, bad, number, 0, -1, signs < 0, absent, headed
            if not has_right_crc(data, batches, number, at, end):
                return row, bad, number, WRONG_CRC, -1, signs < 0, absent, headed
        limit = min(end, len(data) - FARTHEST)
        ahead = min(end - int(starts[number]), FAR_AHEAD) if check else AHEAD
        base_offset, base_timestamp, of_record, least, most = bases_of(batches, number)
        begun = row - first_record
        stop = begun + int(batches["record_count"][number])
        last = min(stop, room)
        while row < last:
            behind, lengths = write_common_record(
                data, at, limit, base_offset, base_timestamp, of_record, least, most, out, room, row
            )
            ask_for(data, at + ahead)
            ask_for(data, at + ahead + LINE)
            if behind < 0:
                behind, lengths, header_count, is_absent = write_any_record(
                    data, at, end, base_offset, base_timestamp, of_record, out, room, row
                )
                if behind < 0:
                    break
                headed += header_count
                absent = absent or is_absent
            signs |= lengths
            at = behind
            row += 1
        rows_behind[number] = row
        if row < last:
            bad = note_problem(problems, bad, number, row - begun, at, NO_RECORD)
        elif row < stop:
            return row, bad, number, row - begun, at, signs < 0, absent, headed
        elif row == stop and at != end:
            bad = note_problem(problems, bad, number, row - begun, at, LEFT_OVER)
        at = -1
        first_record = 0
    return row, bad, len(batches), 0, -1, signs < 0, absent, headed


@kernel_after(walk_columns)
def count_right(data: Any, batches: Any, starts: Any, ends: Any) -> int:
    """How many batches stand before the first whose CRC is wrong, of those that lie in `data` and have a CRC-32C.

    Each that is right is marked so.
    """
    for number in range(len(batches)):
        end = int(ends[number])
        is_asked = batches["magic"][number] >= 2 and batches["crc_valid"][number] < 0 and end <= len(data)
        if is_asked and not has_right_crc(data, batches, number, int(starts[number]), end):
            return number
    return len(batches)


@kernel_lean
def walk_header_columns(data: Any, headers: Any, out: Any) -> int:
    """Write views of the headers that `walk_columns` has found: all keys, then all values, to `out` (int64).

    `headers` is the last column of it. Returns how many values are null.
    """
    at_key = 0
    at_value = len(out) // 2
    null_values = 0
    for record in range(len(headers)):
        at = headers[record] & 4294967295
        for _ in range(headers[record] >> 32):
            key_length, key = varint_at(data, at, len(data))
            value_length, value = varint_at(data, key + key_length, len(data))
            write_view(data, key, key_length, out, at_key)
            write_view(data, value, value_length, out, at_value)
            null_values += value_length < 0
            at = value + max(value_length, 0)
            at_key += 2
            at_value += 2
    return null_values


@kernel_lean
def columns_of_rows(data: Any, records: Any, out: Any) -> tuple[bool, bool]:
    """Write RECORD rows that another kernel filled as columns, with room for no more than them and no headers.

    Returns whether a key or value is null, and whether a time is ABSENT.
    """
    room = len(records)
    signs = 0
    absent = False
    for row in range(room):
        key_length = int(records["key_length"][row])
        value_length = int(records["value_length"][row])
        time = time_of(int(records["timestamp"][row]))
        put_word(out, row, int(records["offset"][row]))
        put_word(out, room + row, time)
        write_view(data, int(records["key_start"][row]), key_length, out, 2 * room + 2 * row)
        write_view(data, int(records["value_start"][row]), value_length, out, 4 * room + 2 * row)
        put_word(out, 6 * room + row, 0)
        signs |= key_length | value_length
        absent = absent or time == ABSENT
    return signs < 0, absent
