"""Batches out of the text of kafka-dump-log: lines as the tool prints them, one log, nothing left out between them.

Must equal the reader of lines (text/dump/records.py, columns.py), which reads all else. A batch is taken where its line
and those of its records have the shape that was asked for, its numbers fit their columns, it begins where the one
before it ends, and another batch follows; the first that is otherwise ends a run.
Shapes  batches of 0.11 and later, records of 2.2 and later; magic 2 (text/printed/eras.tsv).
"""

from typing import Any

import numpy as np

from kafkatx.kernels.dumped_words import (
    BASE,
    BASE_AGAIN,
    BASE_SEQUENCE,
    BATCH_SIZE,
    CODECS,
    COMMIT,
    COMPRESSION,
    CRC,
    CREATE_TIME,
    DECODED,
    DELETED,
    EMPTY,
    EPOCH,
    FIRST_CODEC,
    FIRST_TYPE,
    HEADER_KEYS,
    HORIZON,
    KEY,
    KEY_SIZE,
    LAST,
    LAST_SEQUENCE,
    LEADER_EPOCH,
    MAGIC,
    OFFSET,
    OLD_KEY_SIZE,
    PAYLOAD,
    POSITION,
    SEQUENCE,
    SIZE,
    TITLED,
    TRANSACTIONAL,
    TRUE,
    UNTITLED,
    VALID_FIRST,
    VALID_RECORD,
    VALIDITY,
    after,
    one_of,
    read_field,
    read_number,
)
from kafkatx.kernels.engine import kernel_lean
from kafkatx.kernels.loads import byte_at
from kafkatx.kernels.rows import VALID

HAS_HORIZON, HAS_CAPITALS, IS_DEEP, HAS_CONTENTS, IS_DECODED, IS_UNTITLED = 1, 2, 4, 8, 16, 32
LACKS_COUNT, IS_VALID_EARLY, REPEATS_BATCH = 64, 128, 256
"""What lines of a text look like: `deleteHorizonMs`, `keySize` (before: `keysize`), lines of records, their contents as
they are, contents that a decoder printed (as JSON, or states since 2.4.1 under a title; states without one); neither
`count` nor `isControl` (to 1.1), `isvalid` before `size` (to 2.1), records that say what their batch says (2.8)."""

NUMBERS = 12
LARGEST_INT32, LARGEST_INT16, LARGEST_CRC = (1 << 31) - 1, (1 << 15) - 1, (1 << 32) - 1
LONGEST_CONTENT = 1 << 16
ID_BEHIND = 4
"""Bytes of a transactional.id's key in front of the id: version and length."""
IS_PLAIN = np.array([32 <= byte <= 126 and byte not in b"\\&" for byte in range(256)])
"""Bytes that are printed as they are, and that no hand that pastes a text escapes."""


@kernel_lean
def read_batch(data: Any, at: int, end: int, shape: int, rows: Any, row: int, numbers: Any) -> int:
    """Read the line of a batch into a row; position behind it, -1 if it is not for us."""
    for column in range(8):
        if column == 2 and shape & LACKS_COUNT:
            numbers[2] = -1
        else:
            at = read_field(data, at, end, BASE + column, numbers, column)
    if at < 0 or numbers[0] < 0 or numbers[1] < numbers[0]:
        return -1
    least = 0
    if shape & LACKS_COUNT:
        least = 0 if shape & IS_DEEP else -1  # how many lines of records are its own, it does not tell
    if not least <= numbers[2] <= LARGEST_INT32 or not -LARGEST_INT32 <= numbers[3] <= LARGEST_INT32:
        return -1
    if not -LARGEST_INT16 <= numbers[6] <= LARGEST_INT16 or not -LARGEST_INT32 <= numbers[7] <= LARGEST_INT32:
        return -1
    rows["base_offset"][row] = numbers[0]
    rows["last_offset"][row] = numbers[1]
    rows["record_count"][row] = numbers[2]
    rows["base_sequence"][row] = numbers[3]
    rows["producer_id"][row] = numbers[5]
    rows["producer_epoch"][row] = numbers[6]
    rows["leader_epoch"][row] = numbers[7]
    attributes = 0
    for turn in range(1 if shape & LACKS_COUNT else 2):
        at = after(data, at, end, TRANSACTIONAL + turn)
        flag = one_of(data, at, end, TRUE, 2)
        if flag < 0:
            return -1
        attributes += 0 if flag else (16 if turn == 0 else 32)
        at = after(data, at, end, TRUE + flag)
    rows["base_timestamp"][row] = -1
    if shape & HAS_HORIZON:
        at = after(data, at, end, HORIZON)
        if 0 <= at < end and data[at] == 91:
            at = read_number(data, at + 1, end, numbers, 0)
            if at < 0 or numbers[0] < 0 or at >= end or data[at] != 93:
                return -1
            at += 1
            attributes += 64
            rows["base_timestamp"][row] = numbers[0]
        else:
            at = after(data, at, end, EMPTY)
    at = read_field(data, at, end, POSITION, numbers, 0)
    time = one_of(data, at, end, CREATE_TIME, 3)
    if time < 0:
        return -1
    attributes += 8 if time == 1 else 0
    at = read_field(data, at, end, CREATE_TIME + time, numbers, 1)
    if shape & IS_VALID_EARLY:
        at = after(data, at, end, VALID_FIRST)
    at = after(data, read_field(data, at, end, SIZE, numbers, 2), end, MAGIC)
    codec = one_of(data, at, end, FIRST_CODEC, CODECS)
    if codec < 0:
        return -1
    at = read_field(data, after(data, at, end, FIRST_CODEC + codec), end, CRC, numbers, 3)
    if not shape & IS_VALID_EARLY:
        at = after(data, at, end, VALIDITY)
    elif 0 <= at < end and byte_at(data, at) == 10:
        at += 1
    else:
        return -1
    if at < 0 or numbers[0] < 0 or not 0 <= numbers[2] <= LARGEST_INT32 or not 0 <= numbers[3] <= LARGEST_CRC:
        return -1
    rows["position"][row] = numbers[0]
    rows["max_timestamp"][row] = numbers[1]
    rows["size"][row] = numbers[2]
    rows["crc"][row] = numbers[3]
    rows["attributes"][row] = attributes + codec
    rows["magic"][row] = 2
    rows["crc_valid"][row] = VALID
    rows["control_type"][row] = -1
    rows["coordinator_epoch"][row] = -1
    return at


@kernel_lean
def end_of_plain(data: Any, at: int, end: int) -> int:
    """End of a line of printable ASCII in which nothing can have been escaped; -1 for another."""
    while at < end and IS_PLAIN[byte_at(data, at)]:
        at += 1
    if at >= end or byte_at(data, at) != 10:
        return -1
    return -1 if byte_at(data, at - 1) == 62 and after(data, at - len(b"<DELETE>"), end, DELETED) < 0 else at


@kernel_lean
def end_of_id(data: Any, at: int, end: int, shape: int, key_size: int) -> int:
    """End of the id in a key as decoders print it up to 4.0, as long as declared, a value behind it; -1 for another."""
    begin = after(data, at, end, UNTITLED if shape & IS_UNTITLED else TITLED)
    if begin < 0 and shape & IS_UNTITLED and shape & IS_DECODED:
        begin = after(data, at, end, TITLED)
    if begin < 0 or key_size < ID_BEHIND or after(data, begin + key_size - ID_BEHIND, end, PAYLOAD) < 0:
        return -1
    return begin + key_size - ID_BEHIND


@kernel_lean
def end_of_contents(data: Any, at: int, end: int, shape: int, key_size: int, value_size: int) -> int:
    """End of the line of a record whose contents begin at `at`; -1 where they are not as declared."""
    stop = end_of_plain(data, at, end)
    if stop < 0:
        return -1
    if shape & IS_DECODED and after(data, at, stop, DECODED) >= 0:
        return stop
    if shape & (IS_DECODED | IS_UNTITLED) and end_of_id(data, at, stop, shape, key_size) >= 0:
        return stop
    if not shape & HAS_CONTENTS or key_size < -1 or value_size < -1 or max(key_size, value_size) > LONGEST_CONTENT:
        return -1
    if key_size >= 0:
        at = after(data, at, stop, KEY)
        at = -1 if at < 0 else at + key_size
    if value_size >= 0:
        at = after(data, at, stop, PAYLOAD)
        at = -1 if at < 0 else at + value_size
    return stop if at == stop else -1


@kernel_lean
def read_fields_of_batch(data: Any, at: int, end: int, numbers: Any) -> int:
    """Read the same of a record of 2.8, among which its batch's stand once more: these are passed over."""
    at = after(data, read_field(data, at, end, OFFSET, numbers, 0), end, VALID_RECORD)
    at = read_field(data, at, end, KEY_SIZE, numbers, 2)
    at = read_field(data, at, end, KEY_SIZE + 1, numbers, 3)
    time = one_of(data, at, end, CREATE_TIME, 3)
    if time < 0:
        return -1
    at = read_field(data, at, end, CREATE_TIME + time, numbers, 1)
    at = read_field(data, at, end, BASE_AGAIN, numbers, 9)
    at = read_field(data, at, end, LAST, numbers, 9)
    at = read_field(data, at, end, BASE_SEQUENCE, numbers, 9)
    at = read_field(data, at, end, LAST_SEQUENCE, numbers, 9)
    at = read_field(data, at, end, EPOCH, numbers, 9)
    at = read_field(data, at, end, LEADER_EPOCH, numbers, 9)
    at = after(data, read_field(data, at, end, BATCH_SIZE, numbers, 9), end, COMPRESSION)
    codec = one_of(data, at, end, FIRST_TYPE, CODECS)
    if codec < 0:
        return -1
    at = read_field(data, after(data, at, end, FIRST_TYPE + codec), end, POSITION, numbers, 9)
    return after(data, read_field(data, at, end, SEQUENCE, numbers, 4), end, HEADER_KEYS)


@kernel_lean
def read_fields(data: Any, at: int, end: int, shape: int, numbers: Any) -> int:
    """Read the fields of a record: offset, time, sizes, sequence; position behind them, -1 if they are not for us."""
    if shape & REPEATS_BATCH:
        return read_fields_of_batch(data, at, end, numbers)
    at = read_field(data, at, end, OFFSET, numbers, 0)
    time = one_of(data, at, end, CREATE_TIME, 3)
    if time < 0:
        return -1
    at = read_field(data, at, end, CREATE_TIME + time, numbers, 1)
    word = KEY_SIZE if shape & HAS_CAPITALS else OLD_KEY_SIZE
    at = read_field(data, at, end, word, numbers, 2)
    at = read_field(data, at, end, word + 1, numbers, 3)
    return after(data, read_field(data, at, end, SEQUENCE, numbers, 4), end, HEADER_KEYS)


@kernel_lean
def read_record(data: Any, at: int, end: int, shape: int, is_control: bool, numbers: Any) -> int:
    """Read the line of a record: its fields, type and epoch of a marker; position behind it, else -1."""
    at = read_fields(data, at, end, shape, numbers)
    if at < 0 or at >= end:
        return -1
    if is_control:
        kind = one_of(data, at, end, COMMIT, 2)
        if kind < 0:
            return -1
        at = read_field(data, at, end, COMMIT + kind, numbers, 6)
        numbers[5] = 1 - kind
        if at < 0 or not -LARGEST_INT32 <= numbers[6] <= LARGEST_INT32 or at >= end or data[at] != 10:
            return -1
        return at + 1
    if data[at] == 10:
        is_empty = numbers[2] == -1 and numbers[3] == -1
        return at + 1 if is_empty or not shape & (HAS_CONTENTS | IS_DECODED | IS_UNTITLED) else -1
    stop = end_of_contents(data, at, end, shape, numbers[2], numbers[3])
    return -1 if stop < 0 else stop + 1


@kernel_lean
def read_records(data: Any, at: int, end: int, shape: int, rows: Any, row: int, numbers: Any) -> int:
    """Read the lines of a batch's records; position behind them, -1 if they are not for us.

    numbers[7] is the offset of the last of them, or that before the batch; numbers[8] whether base_timestamp is told.
    """
    count, last = int(rows["record_count"][row]), int(rows["base_offset"][row]) - 1
    attributes = int(rows["attributes"][row])
    if not shape & IS_DEEP:
        count = 0
    is_control = (attributes & 32) != 0
    numbers[8] = 1 if attributes & 64 else 0
    if is_control and count > 0 and (count != 1 or not attributes & 16):
        return -1
    for number in range(count):
        at = read_record(data, at, end, shape, is_control, numbers)
        if at < 0 or numbers[0] <= last or numbers[0] > rows["last_offset"][row]:
            return -1
        if number == 0:
            if is_control:
                rows["control_type"][row] = numbers[5]
                rows["coordinator_epoch"][row] = numbers[6]
            if not attributes & (64 | 8) and numbers[0] == last + 1:
                rows["base_timestamp"][row] = numbers[1]
                numbers[8] = 1
        last = numbers[0]
    numbers[7] = last
    return at


@kernel_lean
def read_run(
    data: Any,
    at: int,
    end: int,
    shape: int,
    last_offset: int,
    next_position: int,
    rows: Any,
    places: Any,
    numbers: Any,
) -> tuple[int, int, int]:
    """Read batches into `rows` (BATCH); returns (batches, position behind them, lines).

    `places` gets of each the byte and the line, from the first of all, at which it begins, its last record's
    offset, and whether its base_timestamp is told.
    """
    row, lines = 0, 0
    while row < len(rows):
        place = read_batch(data, at, end, shape, rows, row, numbers)
        if place < 0 or rows["base_offset"][row] <= last_offset or rows["position"][row] != next_position:
            break
        place = read_records(data, place, end, shape, rows, row, numbers)
        if after(data, place, end, BASE) < 0:
            break
        places[row, 0] = at
        places[row, 1] = lines
        places[row, 2] = numbers[7]
        places[row, 3] = numbers[8]
        last_offset = rows["last_offset"][row]
        next_position = rows["position"][row] + rows["size"][row]
        lines += 1 + (rows["record_count"][row] if shape & IS_DEEP else 0)
        at = place
        row += 1
    return row, at, lines
