"""Messages of magic 0 and 1 out of a buffer, one row each: a message that stands alone, or those inside a wrapper.

Must equal the declarations in formats/legacy.py. Kafka's own reader: AbstractLegacyRecordBatch (0.11 to 4.4).
"""

from typing import Any

from kafkatx.kernels.bytes import int32_at, int64_at
from kafkatx.kernels.engine import kernel

LOG_OVERHEAD, MAGIC_AT, TIMESTAMP_AT = 12, 16, 18


@kernel
def read_field(data: Any, at: int, end: int) -> tuple[int, int]:
    """Length (-1: null) and start of a key or value whose length stands at `at`; -2 if it goes past `end`."""
    if end - at < 4:
        return -2, at
    length = int32_at(data, at)
    return (length if -1 <= length <= end - at - 4 else -2), at + 4


@kernel
def walk_messages(data: Any, at: int, end: int, batch_row: int, out: Any) -> tuple[int, int]:
    """Read messages in data[at:end] up to the first that is none or until `out` is full: (rows, position behind them).

    Fills RECORD rows: `offset` and `timestamp` as they stand in the message (timestamp -1 with magic 0), sequence and
    header_count -1; `headers_start` is where the message begins, `record_size` its size with offset and size field.
    """
    row = 0
    while row < len(out) and end - at > MAGIC_AT + 1:
        size = LOG_OVERHEAD + int32_at(data, at + 8)
        magic = int(data[at + MAGIC_AT])
        if magic > 1 or size < (26 if magic == 0 else 34) or size > end - at:
            return row, at
        behind = at + size
        key_length, key_start = read_field(data, at + (TIMESTAMP_AT if magic == 0 else TIMESTAMP_AT + 8), behind)
        if key_length < -1:
            return row, at
        value_length, value_start = read_field(data, key_start + max(key_length, 0), behind)
        if value_length < -1 or value_start + max(value_length, 0) != behind:
            return row, at
        out["batch_row"][row] = batch_row
        out["offset"][row] = int64_at(data, at)
        out["timestamp"][row] = int64_at(data, at + TIMESTAMP_AT) if magic == 1 else -1
        out["sequence"][row] = -1
        out["key_start"][row] = key_start
        out["key_length"][row] = key_length
        out["value_start"][row] = value_start
        out["value_length"][row] = value_length
        out["headers_start"][row] = at
        out["header_count"][row] = -1
        out["record_size"][row] = size
        at = behind
        row += 1
    return row, at
