"""Lines of kafka-dump-log out of rows of batches and records of magic 2, into a byte buffer.

Must equal outputs/dump_lines.py, which says what they look like and prints what these leave to it.
"""

from typing import Any

from kafkatx.kernels.batches import walk_batches
from kafkatx.kernels.bytes import int16_at, int32_at, varint_at
from kafkatx.kernels.dump_states import AS_STATE, AS_TEXT, put_state
from kafkatx.kernels.dump_words import (
    BAR,
    BATCH,
    BLANK,
    CLOSE,
    CODEC,
    COMMA,
    CONTENTS,
    FLAGS,
    HEADER_KEYS,
    MARKER,
    NEWLINE,
    NO_HORIZON,
    OF_BATCH,
    OF_PLACE,
    OF_RECORD,
    OPEN,
    PLACE,
    RECORD,
    VALIDITY,
    put_field,
    put_fields,
    put_word,
)
from kafkatx.kernels.engine import kernel_after, kernel_lean
from kafkatx.kernels.printing import put_text
from kafkatx.kernels.records import walk_records
from kafkatx.kernels.rows import VALID

DONE, FULL, APART = 0, 1, 2
"""Why printing stopped: all is printed; there is no room for what comes next; the next record is not printed here."""
BATCH_ROOM, RECORD_ROOM = 768, 1024
"""Bytes that the line of a batch takes at most, and that of a record beside what its own bytes become."""
LOG_APPEND_TIME, IS_TRANSACTIONAL, IS_CONTROL, HAS_DELETE_HORIZON = 8, 16, 32, 64
CODECS = 8
NUMBERS = 8
"""Most numbers that follow one another in a line."""

LARGEST_SEQUENCE = (1 << 31) - 1


@kernel_lean
def put_batch(out: Any, at: int, batches: Any, row: int, numbers: Any) -> int:
    """Write the line of a batch; returns the place behind it, as all of these do."""
    attributes = int(batches["attributes"][row])
    base_sequence = int(batches["base_sequence"][row])
    numbers[0] = batches["base_offset"][row]
    numbers[1] = batches["last_offset"][row]
    numbers[2] = batches["record_count"][row]
    numbers[3] = base_sequence
    numbers[4] = -1 if base_sequence < 0 else (base_sequence + numbers[1] - numbers[0]) & LARGEST_SEQUENCE
    numbers[5] = batches["producer_id"][row]
    numbers[6] = batches["producer_epoch"][row]
    numbers[7] = batches["leader_epoch"][row]
    at = put_fields(out, at, BATCH, numbers, OF_BATCH)
    at = put_word(out, at, FLAGS + (attributes & (IS_TRANSACTIONAL | IS_CONTROL)) // IS_TRANSACTIONAL)
    if attributes & HAS_DELETE_HORIZON:
        at = put_word(out, put_field(out, at, OPEN, batches["base_timestamp"][row]), CLOSE)
    else:
        at = put_word(out, at, NO_HORIZON)
    numbers[0] = batches["position"][row]
    numbers[1] = batches["max_timestamp"][row]
    numbers[2] = batches["size"][row]
    numbers[3] = batches["magic"][row]
    at = put_fields(out, at, PLACE + (OF_PLACE if attributes & LOG_APPEND_TIME else 0), numbers, OF_PLACE)
    at = put_field(out, at, CODEC + attributes % CODECS, batches["crc"][row] * 1)
    return put_word(out, at, VALIDITY + (1 if batches["crc_valid"][row] == VALID else 0))


@kernel_lean
def put_header_keys(out: Any, at: int, data: Any, start: int, count: int) -> int:
    """Write the keys of headers, commas between them."""
    for number in range(count):
        size, start = varint_at(data, start, len(data))
        if number:
            at = put_word(out, at, COMMA)
        at = put_text(out, at, data, start, size)
        size, start = varint_at(data, start + size, len(data))
        start += max(size, 0)
    return at


@kernel_lean
def put_marker(out: Any, at: int, data: Any, records: Any, row: int) -> int:
    """Write what a transaction marker says; -1 for any other control record."""
    key, value = int(records["key_start"][row]), int(records["value_start"][row])
    if records["key_length"][row] < 4:
        return -1
    kind = int16_at(data, key + 2)
    if kind != 0 and kind != 1:
        return -1
    epoch = int32_at(data, value + 2) if records["value_length"][row] >= 6 else -1
    return put_field(out, at, MARKER + kind, epoch)


@kernel_lean
def put_contents(out: Any, at: int, data: Any, records: Any, row: int, prefix: int) -> int:
    """Write key and value as text, what is null left out."""
    start, size = int(records["key_start"][row]), int(records["key_length"][row])
    for word in range(CONTENTS, CONTENTS + 2):
        if size >= 0:
            at = put_text(out, put_word(out, put_word(out, at, prefix), word), data, start, size)
            prefix = BLANK
        start, size = int(records["value_start"][row]), int(records["value_length"][row])
    return at


@kernel_lean
def put_metadata(out: Any, at: int, data: Any, records: Any, row: int, attributes: int, numbers: Any) -> int:
    """Write the fields of a record, and what a marker says; -1 for any other control record."""
    numbers[0] = records["offset"][row]
    numbers[1] = records["timestamp"][row]
    numbers[2] = records["key_length"][row]
    numbers[3] = records["value_length"][row]
    numbers[4] = records["sequence"][row]
    at = put_fields(out, at, RECORD + (OF_RECORD if attributes & LOG_APPEND_TIME else 0), numbers, OF_RECORD)
    at = put_word(out, at, HEADER_KEYS)
    at = put_header_keys(out, at, data, int(records["headers_start"][row]), int(records["header_count"][row]))
    at = put_word(out, at, CLOSE)
    return put_marker(out, at, data, records, row) if attributes & IS_CONTROL else at


@kernel_lean
def put_record(
    out: Any,
    at: int,
    data: Any,
    records: Any,
    row: int,
    attributes: int,
    has_contents: bool,
    has_metadata: bool,
    numbers: Any,
) -> int:
    """Write the line of a record; -1 where it is not for us."""
    prefix = BAR
    if has_metadata:
        prefix = BLANK
        at = put_metadata(out, at, data, records, row, attributes, numbers)
    if at >= 0 and has_contents and not attributes & IS_CONTROL:
        at = put_contents(out, at, data, records, row, prefix)
    return at if at < 0 else put_word(out, at, NEWLINE)


@kernel_lean
def put_state_record(
    out: Any, at: int, data: Any, records: Any, row: int, attributes: int, has_metadata: bool, numbers: Any
) -> int:
    """Write the line of a record of `__transaction_state`; -1 where it is not for us."""
    if attributes & IS_CONTROL:
        return -1
    prefix = BAR
    if has_metadata:
        prefix = BLANK
        at = put_metadata(out, at, data, records, row, attributes, numbers)
    at = put_state(out, put_word(out, at, prefix), data, records, row, numbers)
    return at if at < 0 else put_word(out, at, NEWLINE)


@kernel_after(walk_batches)
def print_batches(batches: Any, row: int, behind: int, out: Any, at: int, numbers: Any) -> tuple[int, int]:
    """Write the lines of batches[row:behind] while there is room; returns (next row, place in `out`).

    `numbers` is room for NUMBERS int64.
    """
    while row < behind and len(out) - at >= BATCH_ROOM:
        at = put_batch(out, at, batches, row, numbers)
        row += 1
    return row, at


@kernel_lean
def has_room(out: Any, at: int, records: Any, row: int, times: int) -> bool:
    """Whether the line of a record has room, of which each byte becomes at most `times` as many."""
    return len(out) - at >= RECORD_ROOM + times * int(records["record_size"][row])


@kernel_after(walk_records)
def print_records(
    data: Any,
    batches: Any,
    records: Any,
    printed: int,
    behind: int,
    row: int,
    has_contents: bool,
    has_metadata: bool,
    out: Any,
    at: int,
    numbers: Any,
) -> tuple[int, int, int, int]:
    """Write records[row:] below the lines of their batches, and those of all batches up to `behind`.

    `printed` is the first batch whose line is still to be written. Returns (that, record to go on with, place in
    `out`, why it stopped).
    """
    while row < len(records):
        batch = int(records["batch_row"][row])
        printed, at = print_batches(batches, printed, batch + 1, out, at, numbers)
        if printed <= batch or not has_room(out, at, records, row, AS_TEXT):
            return printed, row, at, FULL
        attributes = int(batches["attributes"][batch])
        place = put_record(out, at, data, records, row, attributes, has_contents, has_metadata, numbers)
        if place < 0:
            return printed, row, at, APART
        at = place
        row += 1
    printed, at = print_batches(batches, printed, behind, out, at, numbers)
    return printed, row, at, FULL if printed < behind else DONE


@kernel_after(walk_records)
def print_states(
    data: Any,
    batches: Any,
    records: Any,
    printed: int,
    behind: int,
    row: int,
    has_contents: bool,
    has_metadata: bool,
    out: Any,
    at: int,
    numbers: Any,
) -> tuple[int, int, int, int]:
    """Do what `print_records` does where records are those of `__transaction_state`, to be decoded.

    (It stands apart because it takes as long to compile.)
    """
    while row < len(records):
        batch = int(records["batch_row"][row])
        printed, at = print_batches(batches, printed, batch + 1, out, at, numbers)
        if printed <= batch or not has_room(out, at, records, row, AS_STATE):
            return printed, row, at, FULL
        place = put_state_record(out, at, data, records, row, int(batches["attributes"][batch]), has_metadata, numbers)
        if place < 0:
            return printed, row, at, APART
        at = place
        row += 1
    printed, at = print_batches(batches, printed, behind, out, at, numbers)
    return printed, row, at, FULL if printed < behind else DONE
