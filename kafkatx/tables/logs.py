"""Tables of segments: batches, records, markers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from kafkatx.tables.columns import (
    BINARY,
    BOOL,
    IN_BATCH,
    INT16,
    INT32,
    INT64,
    PARTITION,
    PLACED,
    STRING,
    TIME,
    Column,
    Example,
    Identity,
    SortOrder,
    Table,
    names,
    struct_list,
)

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
CODEC_MASK, LOG_APPEND_TIME, IS_TRANSACTIONAL, IS_CONTROL, HAS_DELETE_HORIZON = 0x07, 0x08, 0x10, 0x20, 0x40
MAX_SEQUENCE = 2**31 - 1
MODERN = 2

_PRODUCER = (
    Column("producer_id", INT64, "producer id", null="written without one"),
    Column("producer_epoch", INT16, "producer epoch", null="written without a producer id"),
)

BATCHES = Table(
    "batches",
    "a record batch of any magic; of magic 0 and 1 a message, alone or a wrapper",
    (
        *PLACED,
        *PARTITION,
        Column("base_offset", INT64, "first offset as produced; of a wrapper the offset that it carries"),
        Column("last_offset", INT64, "last offset as produced, whatever compaction took"),
        Column("record_count", INT32, "records that are there now"),
        Column("magic", INT16, "format of the batch: 0, 1, 2"),
        Column("codec", STRING, "none, gzip, snappy, lz4, zstd", null="a number that stands for no codec"),
        Column("is_transactional", BOOL, "data or marker of a transaction"),
        Column("is_control", BOOL, "holds control records"),
        Column("timestamp_type", STRING, "CreateTime or LogAppendTime", null="magic 0 has no time"),
        Column("has_delete_horizon", BOOL, "base_timestamp is a delete horizon (KIP-534)"),
        Column("leader_epoch", INT32, "epoch of the leader that appended it", null="magic 0 and 1"),
        *_PRODUCER,
        Column("base_sequence", INT32, "sequence of the first record", null="none given"),
        Column("last_sequence", INT32, "sequence of the last record; after 2147483647 comes 0", null="none given"),
        Column("base_timestamp", TIME, "time that the records' deltas count from", null="none, or one no calendar has"),
        Column("max_timestamp", TIME, "highest time of a record", null="none, or one that no calendar has"),
        Column("crc", INT64, "checksum that the header states"),
        Column("crc_valid", BOOL, "whether the bytes have it", null="not checked"),
        Column("size", INT32, "the whole batch", "bytes"),
    ),
    SortOrder(
        ("topic", "partition", "capture", "base_offset", "path", "position"),
        "most questions are about a partition, or a stretch of its offsets",
    ),
    Example(
        "How much did each producer write to a partition?",
        """\
SELECT b.producer_id, b.producer_epoch, count(*) AS batches, sum(b.record_count) AS records
FROM batches b
WHERE b.topic = 'payments' AND b.partition = 0 AND NOT b.is_control
GROUP BY b.producer_id, b.producer_epoch
ORDER BY b.producer_id, b.producer_epoch""",
    ),
    Identity(
        ("topic", "partition", "capture", "base_offset"),
        copies=True,
        best=("leader_epoch", "record_count"),
        day=("max_timestamp",),
    ),
)

RECORDS = Table(
    "records",
    "a record, also a control record",
    (
        *IN_BATCH,
        *PARTITION,
        Column("record_offset", INT64, "offset", field="offset"),
        Column(
            "timestamp", TIME, "its time: the append's with LogAppendTime", null="none, or one that no calendar has"
        ),
        Column("key", BINARY, "key", null="a null key"),
        Column("value", BINARY, "value", null="a null value (a tombstone)"),
        Column(
            "headers",
            struct_list(key=STRING, value=BINARY),
            "headers in order; bytes of a key that are no UTF-8 become U+FFFD",
            null="old format: it has none",
        ),
        *_PRODUCER,
        Column("sequence", INT32, "sequence", null="none given"),
        Column("is_transactional", BOOL, "belongs to a transaction"),
        Column("is_control", BOOL, "a control record: no consumer is given it"),
        Column("leader_epoch", INT32, "epoch of the leader that appended it", null="old format, or a print"),
    ),
    SortOrder(
        ("topic", "partition", "capture", "record_offset", "path", "position"),
        "most questions are about a partition, or a stretch of its offsets",
    ),
    Example(
        "Who wrote what stands at some offsets?",
        """\
SELECT r.record_offset, r.timestamp, r.producer_id, r.producer_epoch, octet_length(r.value) AS value_bytes
FROM records r
WHERE r.topic = 'payments' AND r.partition = 0 AND r.record_offset BETWEEN 0 AND 9
ORDER BY r.record_offset""",
    ),
    Identity(
        ("topic", "partition", "capture", "record_offset"), copies=True, best=("leader_epoch",), day=("timestamp",)
    ),
)

MARKERS = Table(
    "markers",
    "a control record that ends a transaction",
    (
        *PLACED,
        *PARTITION,
        Column("record_offset", INT64, "offset", field="offset"),
        Column("timestamp", TIME, "when it was written, by the broker's clock", null="none, or one no calendar has"),
        *_PRODUCER,
        Column("kind", STRING, "COMMIT or ABORT"),
        Column("coordinator_epoch", INT32, "epoch of the coordinator that decided"),
        Column("leader_epoch", INT32, "epoch of the partition's leader that appended it", null="a print"),
    ),
    SortOrder(
        ("topic", "partition", "capture", "record_offset", "path", "position"),
        "most questions are about what follows an offset of a partition",
    ),
    Example(
        "Which marker ended the transaction that producer 1 wrote to payments-0 at offset 3?",
        """\
SELECT m.kind, m.record_offset, m.timestamp, m.producer_epoch
FROM markers m
WHERE m.topic = 'payments' AND m.partition = 0 AND m.record_offset > 3 AND m.producer_id = 1
ORDER BY m.record_offset
LIMIT 1""",
    ),
    Identity(
        ("topic", "partition", "capture", "record_offset"), copies=True, best=("leader_epoch",), day=("timestamp",)
    ),
)

MARKER_KINDS = ("ABORT", "COMMIT")


def batches(rows: Any, common: Mapping[str, Any]) -> Any:
    """A RecordBatch of `batches` from rows of dtype BATCH; `common` are the columns that all rows share."""
    append_time = (rows["attributes"] & LOG_APPEND_TIME) != 0
    sequence = rows["base_sequence"].astype(np.int64)
    last = (sequence + rows["last_offset"] - rows["base_offset"]) & MAX_SEQUENCE
    return BATCHES.of_arrays(
        [rows],
        {
            **common,
            "codec": names(rows["attributes"] & CODEC_MASK, CODECS),
            "is_transactional": has(rows, IS_TRANSACTIONAL),
            "is_control": has(rows, IS_CONTROL),
            "timestamp_type": names(np.where(rows["magic"] == 0, -1, append_time), ("CreateTime", "LogAppendTime")),
            "has_delete_horizon": has(rows, HAS_DELETE_HORIZON),
            "last_sequence": np.where(sequence < 0, -1, last),
            "crc": np.where(rows["crc"] == 0, -1, rows["crc"].astype(np.int64)),  # 0: a print that does not say it
        },
    )


def records(rows: Any, batch_rows: Any, payload: Mapping[str, Any], common: Mapping[str, Any]) -> Any:
    """A RecordBatch of `records`.

    `rows` have dtype RECORD and index `batch_rows` (dtype BATCH); `payload` are the columns key, value and headers.
    """
    of = batch_rows[rows["batch_row"]]
    flags = {"is_transactional": has(of, IS_TRANSACTIONAL), "is_control": has(of, IS_CONTROL)}
    return RECORDS.of_arrays([rows, of], {**common, **payload, **flags})


def markers(rows: Any, common: Mapping[str, Any]) -> Any:
    """A RecordBatch of `markers` from rows of dtype BATCH, of which only markers are taken."""
    kind = rows["control_type"]
    rows = rows[has(rows, IS_TRANSACTIONAL) & ((kind == 0) | (kind == 1))]
    kinds = names(rows["control_type"], MARKER_KINDS)
    place = {"record_offset": rows["base_offset"], "timestamp": rows["max_timestamp"]}
    return MARKERS.of_arrays([rows], {**common, **place, "kind": kinds})


def has(batches: Any, attribute: int) -> Any:
    """Which batches (dtype BATCH) have an attribute that only those of magic 2 can have."""
    return (batches["magic"] == MODERN) & ((batches["attributes"] & attribute) != 0)


def binaries(packed: Any, offsets: Any, lengths: Any) -> Any:
    """Byte strings packed one behind the other (`offsets`: int32, one more than there are); a length of -1 is null."""
    valid = pa.array(np.ascontiguousarray(lengths) >= 0)
    validity = valid.buffers()[1]
    return pa.Array.from_buffers(BINARY, len(lengths), [validity, pa.py_buffer(offsets), pa.py_buffer(packed)])
