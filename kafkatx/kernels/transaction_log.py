"""Records of `__transaction_state` out of whole batches, one row each (declaration: formats/transaction_log.py).

Kafka's own: TransactionLog.readTxnRecordKey/readTxnRecordValue (0.11 to 3.9), TransactionLogValue (4.x).
"""

from typing import Any

import numpy as np

from kafkatx.kernels.bytes import int8_at, int16_at, int32_at, int64_at, uvarint_at, varint_at
from kafkatx.kernels.engine import kernel_inlined, kernel_lean

ID_START, ID_LENGTH, LIST_START, LIST_LENGTH, TAGS_START, TAGS_LENGTH = 0, 1, 2, 3, 4, 5
KINDS_OF_PLACES = 6
"""Lines of a table of places: where the variable parts of each row lie in the buffer; a length of -1 is "none"."""

READ, NO_RECORD, BAD_KEY, UNKNOWN_KEY, BAD_VALUE, UNKNOWN_VALUE, NOT_HELD = 0, 1, 2, 3, 4, 5, 6
"""Outcome of reading one record."""

HEADER_SIZE = 61
MOST_MS = 1 << 61
"""No time or difference of times is larger, so that their sum stays within int64."""


@kernel_lean
def end_of_partitions_v0(data: Any, at: int, end: int) -> int:
    """Position behind a partition list of version 0, -1 if it runs past `end`."""
    if at + 4 > end:
        return -1
    topics = int32_at(data, at)
    at += 4
    if topics < -1:
        return -1
    for _ in range(topics):
        if at + 2 > end:
            return -1
        length = int16_at(data, at)
        at += 2
        if length < 0 or length + 4 > end - at:
            return -1
        count = int32_at(data, at + length)
        at += length + 4
        if count < -1 or count > (end - at) // 4:
            return -1
        at += 4 * max(count, 0)
    return at


@kernel_lean
def end_of_tags(data: Any, at: int, end: int) -> int:
    """Position behind a block of tagged fields, -1 if it runs past `end`."""
    count, at = uvarint_at(data, at, end)
    if count < 0:
        return -1
    for _ in range(count):
        _, at = uvarint_at(data, at, end)
        size, at = uvarint_at(data, at, end)
        if size < 0 or size > end - at:
            return -1
        at += size
    return at


@kernel_lean
def end_of_partitions_v1(data: Any, at: int, end: int) -> int:
    """Position behind a partition list of version 1 (compact), -1 if it runs past `end`."""
    topics, at = uvarint_at(data, at, end)
    if topics < 0:
        return -1
    for _ in range(topics - 1):
        length, at = uvarint_at(data, at, end)
        if length < 1 or length - 1 > end - at:
            return -1
        at += length - 1
        count, at = uvarint_at(data, at, end)
        if count < 0 or (count > 1 and count - 1 > (end - at) // 4):
            return -1
        if count > 1:
            at += 4 * (count - 1)
        at = end_of_tags(data, at, end)
        if at < 0:
            return -1
    return at


@kernel_lean
def read_tags(data: Any, at: int, end: int, out: Any, row: int, places: Any) -> bool:
    """Read the tagged fields of a value of version 1; False if they don't end exactly at `end`."""
    start = at
    unknown = False
    count, at = uvarint_at(data, at, end)
    for _ in range(count):
        tag, at = uvarint_at(data, at, end)
        size, at = uvarint_at(data, at, end)
        if tag < 0 or size < 0 or size > end - at:
            return False
        if tag == 0 and size == 8:
            out["previous_producer_id"][row] = int64_at(data, at)
        elif tag == 1 and size == 8:
            out["next_producer_id"][row] = int64_at(data, at)
        elif tag == 2 and size == 2:
            out["client_transaction_version"][row] = int16_at(data, at)
        elif tag == 3 and size == 2:
            out["next_producer_epoch"][row] = int16_at(data, at)
        else:
            unknown = True
        at += size
    if unknown:
        places[TAGS_START, row] = start
        places[TAGS_LENGTH, row] = end - start
    return count >= 0 and at == end


@kernel_inlined
def clear_row(out: Any, places: Any, row: int) -> None:
    """Set a row to "absent"."""
    out["producer_id"][row] = -1
    out["previous_producer_id"][row] = -1
    out["next_producer_id"][row] = -1
    out["started_at"][row] = -1
    out["updated_at"][row] = -1
    out["partitions_code"][row] = -1
    out["unknown_tags_code"][row] = -1
    out["timeout_ms"][row] = -1
    out["producer_epoch"][row] = -1
    out["next_producer_epoch"][row] = -1
    out["client_transaction_version"][row] = -1
    out["value_version"][row] = -1
    out["state"][row] = -1
    out["is_tombstone"][row] = 0
    places[LIST_LENGTH, row] = -1
    places[TAGS_LENGTH, row] = -1


@kernel_inlined
def read_value(data: Any, at: int, end: int, out: Any, row: int, places: Any) -> int:
    """Read a transaction state value in data[at:end]; returns READ, BAD_VALUE or UNKNOWN_VALUE."""
    if end - at < 21:
        return BAD_VALUE
    version = int16_at(data, at)
    if version < 0 or version > 1:
        return UNKNOWN_VALUE
    out["value_version"][row] = version
    out["producer_id"][row] = int64_at(data, at + 2)
    out["producer_epoch"][row] = int16_at(data, at + 10)
    out["timeout_ms"][row] = int32_at(data, at + 12)
    out["state"][row] = int8_at(data, at + 16)
    at += 17
    places[LIST_START, row] = at
    if version == 0:
        null = int32_at(data, at) < 0
        behind = end_of_partitions_v0(data, at, end)
    else:
        null = uvarint_at(data, at, end)[0] == 0
        behind = end_of_partitions_v1(data, at, end)
    if behind < 0 or behind + 16 > end:
        return BAD_VALUE
    if not null:
        places[LIST_LENGTH, row] = behind - at
    out["updated_at"][row] = int64_at(data, behind)
    out["started_at"][row] = int64_at(data, behind + 8)
    behind += 16
    if version == 0:
        return READ if behind == end else BAD_VALUE
    out["client_transaction_version"][row] = 0
    return READ if read_tags(data, behind, end, out, row, places) else BAD_VALUE


@kernel_inlined
def read_record(data: Any, at: int, end: int, out: Any, row: int, places: Any) -> int:
    """Read the key and value of the record whose key length stands at `at`; returns the outcome."""
    clear_row(out, places, row)
    key_length, at = varint_at(data, at, end)
    if key_length < 4 or key_length > end - at:
        return BAD_KEY
    if int16_at(data, at) != 0:
        return UNKNOWN_KEY
    id_length = int16_at(data, at + 2)
    if id_length < 0 or id_length + 4 != key_length:
        return BAD_KEY
    places[ID_START, row] = at + 4
    places[ID_LENGTH, row] = id_length
    value_length, at = varint_at(data, at + key_length, end)
    if value_length < -1 or value_length > end - at:
        return BAD_VALUE
    if value_length == -1:
        out["is_tombstone"][row] = 1
        return READ
    return read_value(data, at, at + value_length, out, row, places)


@kernel_inlined
def note_problem(problems: Any, bad: int, batch_row: int, offset: int, outcome: int) -> int:
    """Note that something at `offset` could not be read, while there is room; returns the number of problems."""
    if bad == len(problems):
        return bad
    problems["batch_row"][bad] = batch_row
    problems["offset"][bad] = offset
    problems["outcome"][bad] = outcome
    return bad + 1


@kernel_lean
def walk_states(
    data: Any, start: int, batches: Any, first_batch: int, skip_records: int, out: Any, places: Any, problems: Any
) -> tuple[int, int, int, int]:
    """Read the records of uncompressed batches; `start` is the place in `data` of file position 0 (usually negative).

    Fills `out` (STATE; every column of a row, whatever stood there) and `places` (int64, a line for each of
    KINDS_OF_PLACES); `problems` gets rows (batch row, offset, outcome). Returns (rows, problems, batch row to go on
    with, records of it already done); the batch row equals len(batches) when all is read.
    """
    row = 0
    bad = 0
    for number in range(first_batch, len(batches)):
        at = start + batches["position"][number] + HEADER_SIZE
        end = start + batches["position"][number] + batches["size"][number]
        count = batches["record_count"][number]
        base_offset = batches["base_offset"][number]
        if batches["magic"][number] != 2 or (batches["attributes"][number] & 0x27) != 0:
            continue
        if at < 0 or end > len(data):
            bad = note_problem(problems, bad, number, base_offset, NOT_HELD)
            continue
        append_time = (batches["attributes"][number] & 8) != 0
        highest = batches["last_offset"][number] - base_offset
        base_time = batches["base_timestamp"][number]
        previous = -1
        for record in range(count):
            length, at = varint_at(data, at, end)
            if length < 0 or length > end - at:
                bad = note_problem(problems, bad, number, base_offset, NO_RECORD)
                break
            record_end = at + length
            if record >= skip_records:
                if row == len(out):
                    return row, bad, number, record
                delta, place = varint_at(data, at + 1, record_end)
                offset_delta, place = varint_at(data, place, record_end)
                outcome = NO_RECORD
                if previous < offset_delta <= highest and -MOST_MS < delta < MOST_MS and -MOST_MS < base_time < MOST_MS:
                    outcome = read_record(data, place, record_end, out, row, places)
                    previous = offset_delta
                else:
                    offset_delta = 0
                if outcome == READ:
                    out["position"][row] = batches["position"][number]
                    out["offset"][row] = base_offset + offset_delta
                    out["timestamp"][row] = batches["max_timestamp"][number] if append_time else base_time + delta
                    out["leader_epoch"][row] = batches["leader_epoch"][number]
                    out["crc"][row] = batches["crc"][number]
                    row += 1
                else:
                    bad = note_problem(problems, bad, number, base_offset + offset_delta, outcome)
            at = record_end
        skip_records = 0
    return row, bad, len(batches), 0


PROBLEM = np.dtype([("batch_row", "i8"), ("offset", "i8"), ("outcome", "i8")])
