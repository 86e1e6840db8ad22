"""The batch walk: headers of record batches v2 (and of v0/v1 messages) out of a buffer, one row each.

Must equal the declarations in formats/record_batch.py and formats/control_record.py. Kafka's own reader: FileRecords,
DefaultRecordBatch (0.11 to 4.4).
"""

from typing import Any

import numpy as np

from kafkatx.kernels.bytes import int16_at, int32_at, int64_at, uint32_at, varint_at
from kafkatx.kernels.crc32c import crc32c
from kafkatx.kernels.engine import kernel_inlined, kernel_lean

MORE_DATA, FULL, END, DAMAGED, TORN, WRONG_CRC = 0, 1, 2, 3, 4, 5
"""Why a walk stopped: the buffer ends inside a needed part; no room for rows; nothing is left; not a batch; a batch
that goes
past the end of the file; a batch whose CRC is wrong."""

CHECK_NONE, CHECK_CONTROL, CHECK_ALL = 0, 1, 2
"""Which CRCs a walk checks: none; control batches and batches whose producer id, epoch or sequence was not to be
expected; all.
"""

SEEN_PRODUCERS = 4096
"""Slots of the table of producers already seen; a collision costs one more CRC, nothing else."""

SEEN = np.dtype([("producer_id", "i8"), ("next_sequence", "i8"), ("producer_epoch", "i8")])
HEADER_SIZE, LOG_OVERHEAD, SMALLEST_LENGTH = 61, 12, 49
MAGIC_AT = 16
SEGMENT_OFFSETS = 1 << 31
"""A segment spans fewer offsets than this: its indexes hold them as int32 (formats/offset_index.py)."""
SMALLEST_V0, SMALLEST_V1 = 26, 34
"""Bytes of the smallest whole message of magic 0 and 1 (formats/legacy.py)."""


def seen_producers() -> np.ndarray[Any, Any]:
    """Return an empty table of producers for `walk_batches`."""
    table = np.zeros(SEEN_PRODUCERS, SEEN)
    table["producer_id"] = -1
    return table


@kernel_inlined
def follows(offset: int, last_offset: int, offset_limit: int) -> bool:
    """Whether an offset can come next in a segment: above the last one, not too far, and below the limit."""
    near = last_offset < 0 or offset - last_offset <= SEGMENT_OFFSETS
    return last_offset < offset < offset_limit and near


@kernel_inlined
def is_plausible(data: Any, at: int, last_offset: int, offset_limit: int, leader_epoch: int) -> bool:
    """Whether the 61 bytes at `at` can be the header of a batch v2 that follows `last_offset` below `offset_limit`."""
    if data[at + MAGIC_AT] != 2 or int32_at(data, at + 8) < SMALLEST_LENGTH:
        return False
    attributes = int16_at(data, at + 21)
    if attributes < 0 or attributes > 127 or (attributes & 7) > 4:
        return False
    base_offset = int64_at(data, at)
    delta = int32_at(data, at + 23)
    if delta < 0 or not follows(base_offset, last_offset, offset_limit) or delta >= offset_limit - base_offset:
        return False
    epoch = int32_at(data, at + 12)
    count = int32_at(data, at + 57)
    return epoch >= -1 and (epoch < 0 or epoch >= leader_epoch) and 0 <= count <= delta + 1


@kernel_inlined
def is_expected(data: Any, at: int, seen: Any) -> bool:
    """Whether a data batch continues its producer's sequence in the same epoch (or has no producer).

    A batch without records is not: the cleaner leaves such ones, and so do zeros over the end of a header. Nor is one
    that names no producer and has a sequence or a transaction, or a producer id that nobody is given.
    """
    if int32_at(data, at + 57) == 0:
        return False
    producer_id = int64_at(data, at + 43)
    if producer_id < 0:
        is_transactional = (int16_at(data, at + 21) & 0x10) != 0
        return producer_id == -1 and int32_at(data, at + 53) == -1 and not is_transactional
    slot = producer_id % SEEN_PRODUCERS
    return bool(
        seen["producer_id"][slot] == producer_id
        and seen["producer_epoch"][slot] == int16_at(data, at + 51)
        and seen["next_sequence"][slot] == int32_at(data, at + 53)
    )


@kernel_inlined
def note_seen(data: Any, at: int, seen: Any) -> None:
    """Note producer, epoch and next sequence of a data batch."""
    producer_id = int64_at(data, at + 43)
    slot = producer_id % SEEN_PRODUCERS
    seen["producer_id"][slot] = producer_id
    seen["producer_epoch"][slot] = int16_at(data, at + 51)
    seen["next_sequence"][slot] = (int32_at(data, at + 53) + int32_at(data, at + 23) + 1) & 0x7FFFFFFF


@kernel_lean
def write_control(data: Any, at: int, end: int, out: Any, row: int) -> None:
    """Read type and coordinator epoch of a control batch's first record; -1 stays where it does not hold them."""
    length, place = varint_at(data, at + HEADER_SIZE, end)
    if length < 0 or place + length > end:
        return
    _, place = varint_at(data, place + 1, end)
    _, place = varint_at(data, place, end)
    key_length, place = varint_at(data, place, end)
    if key_length < 4 or place + key_length > end:
        return
    out["control_type"][row] = int16_at(data, place + 2)
    value_length, place = varint_at(data, place + key_length, end)
    if 0 <= out["control_type"][row] <= 1 and value_length >= 6 and place + 6 <= end:
        out["coordinator_epoch"][row] = int32_at(data, place + 2)


@kernel_inlined
def write_header(data: Any, at: int, position: int, out: Any, row: int) -> None:
    """Fill a row from a header of magic 2."""
    base_offset = int64_at(data, at)
    out["position"][row] = position
    out["base_offset"][row] = base_offset
    out["last_offset"][row] = base_offset + int32_at(data, at + 23)
    out["size"][row] = LOG_OVERHEAD + int32_at(data, at + 8)
    out["leader_epoch"][row] = int32_at(data, at + 12)
    out["magic"][row] = 2
    out["crc"][row] = uint32_at(data, at + 17)
    out["attributes"][row] = int16_at(data, at + 21)
    out["base_timestamp"][row] = int64_at(data, at + 27)
    out["max_timestamp"][row] = int64_at(data, at + 35)
    out["producer_id"][row] = int64_at(data, at + 43)
    out["producer_epoch"][row] = int16_at(data, at + 51)
    out["base_sequence"][row] = int32_at(data, at + 53)
    out["record_count"][row] = int32_at(data, at + 57)
    out["control_type"][row] = -1
    out["coordinator_epoch"][row] = -1
    out["crc_valid"][row] = -1


@kernel_lean
def write_legacy(data: Any, at: int, position: int, out: Any, row: int) -> None:
    """Fill a row from a message (or wrapper) of magic 0 or 1: it has no producer, no epoch and one offset."""
    magic = data[at + MAGIC_AT]
    out["position"][row] = position
    out["base_offset"][row] = int64_at(data, at)
    out["last_offset"][row] = int64_at(data, at)
    out["size"][row] = LOG_OVERHEAD + int32_at(data, at + 8)
    out["leader_epoch"][row] = -1
    out["magic"][row] = magic
    out["crc"][row] = uint32_at(data, at + 12)
    out["attributes"][row] = data[at + 17]
    timestamp = int64_at(data, at + 18) if magic == 1 else -1
    out["base_timestamp"][row] = timestamp
    out["max_timestamp"][row] = timestamp
    out["producer_id"][row] = -1
    out["producer_epoch"][row] = -1
    out["base_sequence"][row] = -1
    out["record_count"][row] = 1
    out["control_type"][row] = -1
    out["coordinator_epoch"][row] = -1
    out["crc_valid"][row] = -1


@kernel_inlined
def is_plausible_legacy(data: Any, at: int, last_offset: int, offset_limit: int) -> bool:
    """Whether a message of magic 0 or 1 can stand here."""
    magic = data[at + MAGIC_AT]
    smallest = (SMALLEST_V0 if magic == 0 else SMALLEST_V1) - LOG_OVERHEAD
    offset = int64_at(data, at)
    if magic > 1 or data[at + 17] >= 16 or int32_at(data, at + 8) < smallest:
        return False
    return follows(offset, last_offset, offset_limit)


@kernel_lean
def walk_batches(
    data: Any,
    at: int,
    data_end: int,
    data_position: int,
    file_end: int,
    last_offset: int,
    offset_limit: int,
    leader_epoch: int,
    check: int,
    seen: Any,
    out: Any,
    row: int,
) -> tuple[int, int, int, int, int]:
    """Walk from data[at] (whose file position is data_position + at) and fill rows from `row` on.

    Returns (rows filled so far, position in the buffer of the next batch, why it stopped, last offset, leader epoch).
    A batch whose
    body is not needed may lie partly or wholly behind the buffer; then the next position is behind `data_end` too.
    """
    capacity = len(out)
    while True:
        position = data_position + at
        left = file_end - position
        if left <= 0:
            return row, at, END, last_offset, leader_epoch
        if left <= MAGIC_AT:
            return row, at, TORN, last_offset, leader_epoch
        if row == capacity:
            return row, at, FULL, last_offset, leader_epoch
        have = data_end - at
        if have <= MAGIC_AT or (have < HEADER_SIZE and have < left):
            return row, at, MORE_DATA, last_offset, leader_epoch
        size = LOG_OVERHEAD + int32_at(data, at + 8)
        legacy = data[at + MAGIC_AT] < 2
        if legacy:
            if left < (SMALLEST_V0 if data[at + MAGIC_AT] == 0 else SMALLEST_V1):
                return row, at, TORN, last_offset, leader_epoch
            if not is_plausible_legacy(data, at, last_offset, offset_limit):
                return row, at, DAMAGED, last_offset, leader_epoch
        else:
            if left < HEADER_SIZE:
                return row, at, TORN, last_offset, leader_epoch
            if not is_plausible(data, at, last_offset, offset_limit, leader_epoch):
                return row, at, DAMAGED, last_offset, leader_epoch
        if size > left:
            return row, at, TORN, last_offset, leader_epoch
        if legacy:
            write_legacy(data, at, position, out, row)
        else:
            control = (data[at + 22] & 0x20) != 0
            needed = check == CHECK_ALL or (check == CHECK_CONTROL and (control or not is_expected(data, at, seen)))
            if (needed or control) and have < size:
                return row, at, MORE_DATA, last_offset, leader_epoch
            if needed and crc32c(data, at + 21, at + size, 0) != uint32_at(data, at + 17):
                return row, at, WRONG_CRC, last_offset, leader_epoch
            if check == CHECK_CONTROL and not control:
                note_seen(data, at, seen)
            write_header(data, at, position, out, row)
            if needed:
                out["crc_valid"][row] = 1
            if control and data[at + 22] & 7 == 0 and out["record_count"][row] > 0:
                write_control(data, at, at + size, out, row)
            if out["leader_epoch"][row] >= 0:
                leader_epoch = int(out["leader_epoch"][row])
        last_offset = int(out["last_offset"][row])
        at += size
        row += 1
