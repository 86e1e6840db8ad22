"""The record walk: records of batches of magic 2 out of buffers that hold them without compression, one row each.

Must equal the declaration in formats/record.py. Kafka's own reader: DefaultRecord, DefaultRecordBatch (0.11 to 4.4).
"""

from typing import Any

import numpy as np

from kafkatx.kernels.bytes import varint_at
from kafkatx.kernels.engine import kernel_inlined, kernel_lean
from kafkatx.kernels.loads import byte_at, word_at

PROBLEM = np.dtype([("batch_row", "i8"), ("record", "i8"), ("start", "i8"), ("outcome", "i8")])
"""A record that is none: its batch, its number in the batch, where in the buffer it should begin, and why."""

NO_RECORD, LEFT_OVER = 1, 2
"""Outcomes: bytes that are no record (what follows in the batch is not read); bytes behind the last record."""

SMALLEST_RECORD = 7
"""Bytes of a record without key, value and headers."""

LARGEST_INT64, LARGEST_INT32, LARGEST_SEQUENCE = (1 << 63) - 1, (1 << 31) - 1, (1 << 31) - 1
VARINT_BYTES, VARLONG_BYTES = 5, 10


@kernel_lean
def is_varlong(data: Any, at: int, behind: int) -> bool:
    """Whether the bytes from `at` up to `behind` are a whole varint of at most 64 bits."""
    size = behind - at
    return 0 < size <= VARLONG_BYTES and data[behind - 1] < 128 and (size < VARLONG_BYTES or data[behind - 1] <= 1)


@kernel_lean
def is_varint(data: Any, at: int, behind: int, value: int) -> bool:
    """Whether the bytes from `at` up to `behind` are a whole varint of at most 32 bits that says `value`."""
    return is_varlong(data, at, behind) and behind - at <= VARINT_BYTES and -LARGEST_INT32 - 1 <= value <= LARGEST_INT32


@kernel_inlined
def wrapped_sum(left: int, right: int) -> int:
    """Sum of two int64 as Java has it: past the largest comes the smallest. No intermediate value leaves int64."""
    if right > 0 and left > LARGEST_INT64 - right:
        return (left - LARGEST_INT64 - 1) + (right - LARGEST_INT64 - 1)
    if right < 0 and left < -LARGEST_INT64 - 1 - right:
        return (left + LARGEST_INT64 + 1) + (right + LARGEST_INT64 + 1)
    return left + right


@kernel_lean
def read_length(data: Any, at: int, end: int, smallest: int) -> tuple[int, int]:
    """Length that stands at `at` and the position behind it; -2 if it is none, below `smallest` or goes past `end`."""
    value, behind = varint_at(data, at, end)
    if not is_varint(data, at, behind, value) or value < smallest or value > end - behind:
        return -2, at
    return value, behind


@kernel_lean
def end_of_headers(data: Any, at: int, end: int, count: int) -> int:
    """Position behind `count` headers, -1 if they run past `end`."""
    for _ in range(count):
        length, at = read_length(data, at, end, 0)
        if length < 0:
            return -1
        length, at = read_length(data, at + length, end, -1)
        if length < -1:
            return -1
        if length > 0:
            at += length
    return at


FARTHEST = 16
"""No word of a record is read from farther than this behind its end, nor goes as far."""
NO_RECORD_HERE = -1, 0, 0, 0, 0, 0, 0, 0, 0


@kernel_lean
def read_any_record(data: Any, at: int, end: int) -> tuple[int, int, int, int, int, int, int, int, int]:
    """As `read_record`, of records of any size and shape."""
    length, body = read_length(data, at, end, 0)
    if length < 0:
        return NO_RECORD_HERE
    end = body + length
    place = body + 1
    timestamp_delta, behind = varint_at(data, place, end)
    if not is_varlong(data, place, behind):
        return NO_RECORD_HERE
    offset_delta, place = varint_at(data, behind, end)
    if not is_varint(data, behind, place, offset_delta):
        return NO_RECORD_HERE
    key_length, key = read_length(data, place, end, -1)
    if key_length < -1:
        return NO_RECORD_HERE
    value_length, value = read_length(data, key + max(key_length, 0), end, -1)
    if value_length < -1:
        return NO_RECORD_HERE
    behind = value + max(value_length, 0)
    count, headers = varint_at(data, behind, end)
    if not is_varint(data, behind, headers, count) or count < 0 or end_of_headers(data, headers, end, count) != end:
        return NO_RECORD_HERE
    return end, timestamp_delta, offset_delta, key, key_length, value, value_length, headers, count


@kernel_inlined
def read_common_record(data: Any, at: int, limit: int) -> tuple[int, int, int, int, int, int, int]:
    """Read one record as nearly all are: lengths and deltas of one or two bytes, a value, and no headers.

    Returns (position behind it, -1 where it is another; timestamp delta, offset delta; start and length of its key, of
    its value). It is read by words of eight bytes, and a number's second byte is a branch, which a processor foresees
    as long as records are alike. `odd` gathers what speaks against it: a number of three bytes or more, or one below 0
    that should not be. `limit`: as far as its batch goes, but FARTHEST from the end of `data`.
    """
    if at >= limit:
        return NOT_COMMON
    word = word_at(data, at)
    if word & 128:
        odd = word & ODD_OF_TWO
        behind = at + 2 + (two_bytes(word) >> 1)
        place = at + 3
        word >>= 24
    else:
        odd = word & 1
        behind = at + 1 + (word >> 1 & 63)
        place = at + 2
        word >>= 16
    if word & 128:
        odd |= word & MORE_THAN_TWO
        timestamp_delta = two_bytes(word)
        place += 2
        word >>= 16
    else:
        timestamp_delta = word & 127
        place += 1
        word >>= 8
    if word & 128:
        odd |= word & ODD_OF_TWO
        offset_delta = two_bytes(word) >> 1
        place += 2
    else:
        odd |= word & 1
        offset_delta = word >> 1 & 63
        place += 1
    word = word_at(data, place)
    if word & 128:
        odd |= word & ODD_OF_TWO
        key_length = two_bytes(word) >> 1
        key = place + 2
        place = key + key_length
    elif word & 1:
        odd |= word & 126
        key_length = -1
        key = place + 1
        place = key
    else:
        key_length = word >> 1 & 63
        key = place + 1
        place = key + key_length
    if odd or behind > limit or place >= behind:
        return NOT_COMMON
    word = word_at(data, place)
    if word & 128:
        odd = word & ODD_OF_TWO
        value_length = two_bytes(word) >> 1
        value = place + 2
    else:
        odd = word & 1
        value_length = word >> 1 & 63
        value = place + 1
    if odd or value + value_length + 1 != behind or byte_at(data, behind - 1):
        return NOT_COMMON
    return behind, timestamp_delta >> 1 ^ -(timestamp_delta & 1), offset_delta, key, key_length, value, value_length


@kernel_inlined
def two_bytes(word: int) -> int:
    """The number that a varint of two bytes holds, as it stands at the begin of a word."""
    return word & 127 | word >> 1 & 16256


NOT_COMMON = -1, 0, 0, 0, 0, 0, 0
MORE_THAN_TWO, ODD_OF_TWO = 0x8000, 0x8001
"""Of a varint's two bytes: that there is a third one; and that the number is below 0."""


@kernel_inlined
def read_record(data: Any, at: int, end: int) -> tuple[int, int, int, int, int, int, int, int, int]:
    """Read one record.

    Returns (position behind it, -1 where there is none; timestamp delta, offset delta; start and length of its key, of
    its value; start and number of its headers).
    """
    behind, timestamp_delta, offset_delta, key, key_length, value, value_length = read_common_record(
        data, at, min(end, len(data) - FARTHEST)
    )
    if behind >= 0:
        return behind, timestamp_delta, offset_delta, key, key_length, value, value_length, behind, 0
    return read_any_record(data, at, end)


@kernel_lean
def note_problem(problems: Any, bad: int, batch_row: int, record: int, start: int, outcome: int) -> int:
    """Note a problem where there is room; returns the number noted."""
    if bad == len(problems):
        return bad
    problems["batch_row"][bad] = batch_row
    problems["record"][bad] = record
    problems["start"][bad] = start
    problems["outcome"][bad] = outcome
    return bad + 1


@kernel_lean
def walk_records(
    data: Any,
    batches: Any,
    starts: Any,
    ends: Any,
    first_batch: int,
    first_record: int,
    at: int,
    out: Any,
    problems: Any,
) -> tuple[int, int, int, int, int]:
    """Read records; those of batches[n] lie in data[starts[n] : ends[n]], a start of -1 leaves a batch out.

    Begins at record `first_record` of batches[first_batch], which stands at data[at] (at -1: where the batch starts).
    Fills `out` (RECORD) and `problems`; returns (rows, problems, batch row, record, position), the last three being
    where to go on; the batch row equals len(batches) when all is read. At the first record of a batch that is none the
    walk goes on with the next batch.
    """
    row = 0
    bad = 0
    for number in range(first_batch, len(batches)):
        if starts[number] < 0:
            continue
        if at < 0:
            at = int(starts[number])
        end = int(ends[number])
        count = int(batches["record_count"][number])
        base_offset = int(batches["base_offset"][number])
        base_timestamp = int(batches["base_timestamp"][number])
        base_sequence = int(batches["base_sequence"][number])
        append_time = (int(batches["attributes"][number]) & 8) != 0
        record = first_record
        while record < count:
            if row == len(out):
                return row, bad, number, record, at
            behind, timestamp_delta, offset_delta, key, key_length, value, value_length, headers, headed = read_record(
                data, at, end
            )
            if behind < 0:
                bad = note_problem(problems, bad, number, record, at, NO_RECORD)
                break
            out["batch_row"][row] = number
            out["offset"][row] = wrapped_sum(base_offset, offset_delta)
            out["timestamp"][row] = (
                int(batches["max_timestamp"][number]) if append_time else wrapped_sum(base_timestamp, timestamp_delta)
            )
            out["sequence"][row] = -1 if base_sequence < 0 else (base_sequence + offset_delta) & LARGEST_SEQUENCE
            out["key_start"][row] = key
            out["key_length"][row] = key_length
            out["value_start"][row] = value
            out["value_length"][row] = value_length
            out["headers_start"][row] = headers
            out["header_count"][row] = headed
            out["record_size"][row] = behind - at
            at = behind
            row += 1
            record += 1
        if record == count and at != end:
            bad = note_problem(problems, bad, number, record, at, LEFT_OVER)
        at = -1
        first_record = 0
    return row, bad, len(batches), 0, -1


HEADER = np.dtype(
    [("record_row", "i8"), ("key_start", "i4"), ("key_length", "i4"), ("value_start", "i4"), ("value_length", "i4")],
    align=True,
)
"""A header of a record; places in the buffer that its record was read from, a value length of -1 is null."""


@kernel_lean
def walk_headers(data: Any, records: Any, out: Any) -> int:
    """Find the headers of records that `walk_records` has read; `out` (HEADER) has room for all. Returns how many."""
    row = 0
    for number in range(len(records)):
        at = int(records["headers_start"][number])
        for _ in range(records["header_count"][number]):
            key_length, key_start = varint_at(data, at, len(data))
            value_length, value_start = varint_at(data, key_start + key_length, len(data))
            out["record_row"][row] = number
            out["key_start"][row] = key_start
            out["key_length"][row] = key_length
            out["value_start"][row] = value_start
            out["value_length"][row] = value_length
            at = value_start + max(value_length, 0)
            row += 1
    return row
