"""Offset commits out of the records of `__consumer_offsets`, one row each.

Must equal the messages OffsetCommitKey and OffsetCommitValue of formats/schemas/group_coordinator.txt, as
formats/messages.py reads them. Kafka's own: GroupMetadataManager.readMessageKey/readOffsetMessageValue (0.11 to 3.9),
CoordinatorRecordSerde (4.x).
"""

from typing import Any

from kafkatx.kernels.bytes import int16_at, int32_at, int64_at, uvarint_at
from kafkatx.kernels.engine import kernel
from kafkatx.kernels.transaction_log import note_problem

READ, OTHER, BAD_KEY, BAD_VALUE, UNKNOWN_VALUE = 0, 1, 2, 3, 4
"""Outcome of reading one record; OTHER is a record of a group that is no commit."""

LAST_COMMIT_KEY, LAST_VALUE_VERSION = 1, 4
UUID_SIZE = 16


@kernel
def text_at(data: Any, at: int, end: int) -> tuple[int, int]:
    """Length and start of a text whose length has 16 bits; a length of -1 if it is null or goes past `end`."""
    if end - at < 2:
        return -1, at
    length = int16_at(data, at)
    return (length if length <= end - at - 2 else -1), at + 2


@kernel
def compact_text_at(data: Any, at: int, end: int) -> tuple[int, int]:
    """Length and start of a text of a flexible version; a length of -1 if it is null or goes past `end`."""
    length, at = uvarint_at(data, at, end)
    return (length - 1 if 1 <= length <= end - at + 1 else -1), at


@kernel
def read_commit_key(data: Any, at: int, end: int, out: Any, row: int) -> int:
    """Read a key in data[at:end]; returns READ, OTHER or BAD_KEY."""
    if end - at < 2:
        return BAD_KEY
    version = int16_at(data, at)
    if version > LAST_COMMIT_KEY:
        return OTHER
    group_length, group_start = text_at(data, at + 2, end)
    if version < 0 or group_length < 0:
        return BAD_KEY
    topic_length, topic_start = text_at(data, group_start + group_length, end)
    if topic_length < 0 or topic_start + topic_length + 4 != end:
        return BAD_KEY
    out["group_start"][row] = group_start
    out["group_length"][row] = group_length
    out["topic_start"][row] = topic_start
    out["topic_length"][row] = topic_length
    out["partition"][row] = int32_at(data, end - 4)
    return READ


@kernel
def read_commit_tags(data: Any, at: int, end: int, out: Any, row: int) -> bool:
    """Read the tagged fields of a value of version 4; False if they don't end exactly at `end`."""
    count, at = uvarint_at(data, at, end)
    for _ in range(count):
        tag, at = uvarint_at(data, at, end)
        size, at = uvarint_at(data, at, end)
        if tag < 0 or size < 0 or size > end - at:
            return False
        if tag == 0 and size == UUID_SIZE:
            out["topic_id_start"][row] = at
        at += size
    return count >= 0 and at == end


@kernel
def read_commit_value(data: Any, at: int, end: int, out: Any, row: int) -> int:
    """Read a value in data[at:end]; returns READ, BAD_VALUE or UNKNOWN_VALUE."""
    if end - at < 2:
        return BAD_VALUE
    version = int16_at(data, at)
    if version < 0 or version > LAST_VALUE_VERSION:
        return UNKNOWN_VALUE
    metadata_at = at + (10 if version < 3 else 14)
    if metadata_at > end:
        return BAD_VALUE
    out["value_version"][row] = version
    out["committed_offset"][row] = int64_at(data, at + 2)
    if version >= 3:
        out["leader_epoch"][row] = int32_at(data, at + 10)
    if version < 4:
        length, start = text_at(data, metadata_at, end)
    else:
        length, start = compact_text_at(data, metadata_at, end)
    behind = start + length + (16 if version == 1 else 8)
    if length < 0 or behind > end:
        return BAD_VALUE
    out["metadata_start"][row] = start
    out["metadata_length"][row] = length
    out["committed_at"][row] = int64_at(data, start + length)
    if version == 1:
        out["expires_at"][row] = int64_at(data, start + length + 8)
    if version < 4:
        return READ if behind == end else BAD_VALUE
    return READ if read_commit_tags(data, behind, end, out, row) else BAD_VALUE


@kernel
def clear_commit(out: Any, row: int) -> None:
    """Set what only a value tells to "absent"."""
    out["committed_offset"][row] = -1
    out["committed_at"][row] = -1
    out["expires_at"][row] = -1
    out["metadata_start"][row] = 0
    out["metadata_length"][row] = -1
    out["topic_id_start"][row] = -1
    out["leader_epoch"][row] = -1
    out["value_version"][row] = -1
    out["is_tombstone"][row] = 0


@kernel
def read_commit(data: Any, records: Any, number: int, out: Any, row: int) -> int:
    """Read the commit that a record is into a row; returns the outcome."""
    clear_commit(out, row)
    key_length = records["key_length"][number]
    if key_length < 0:
        return BAD_KEY
    key_start = records["key_start"][number]
    outcome = read_commit_key(data, key_start, key_start + key_length, out, row)
    if outcome != READ:
        return outcome
    out["record_row"][row] = number
    value_length = records["value_length"][number]
    if value_length < 0:
        out["is_tombstone"][row] = 1
        return READ
    value_start = records["value_start"][number]
    return read_commit_value(data, value_start, value_start + value_length, out, row)


@kernel
def walk_commits(data: Any, batches: Any, records: Any, out: Any, problems: Any) -> tuple[int, int]:
    """Read the commits among records (dtype RECORD), whose batches are given; `out` (COMMIT) has room for all of them.

    Control records and what else a group writes are passed over. `problems` gets rows (batch row, offset, outcome)
    while there is room. Returns (rows, problems).
    """
    row = 0
    bad = 0
    for number in range(len(records)):
        batch = records["batch_row"][number]
        if batches["magic"][batch] == 2 and (batches["attributes"][batch] & 0x20) != 0:
            continue
        outcome = read_commit(data, records, number, out, row)
        if outcome == READ:
            row += 1
        elif outcome != OTHER:
            bad = note_problem(problems, bad, batch, records["offset"][number], outcome)
    return row, bad
