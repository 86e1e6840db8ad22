"""Tables of the files beside segments: aborted transactions (.txnindex) and producer states (.snapshot)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafkatx.tables.columns import (
    INT16,
    INT32,
    INT64,
    PARTITION,
    PLACED,
    TIME,
    Column,
    Example,
    Identity,
    SortOrder,
    Table,
)

ABORTED_TRANSACTIONS = Table(
    "aborted_transactions",
    "an entry of a .txnindex",
    (
        *PLACED,
        *PARTITION,
        Column("producer_id", INT64, "producer id"),
        Column("first_offset", INT64, "first offset of the transaction; it may lie in an earlier segment"),
        Column("last_offset", INT64, "offset of the ABORT marker"),
        Column("last_stable_offset", INT64, "last stable offset when it was appended"),
        Column("version", INT16, "version of the entry: 0"),
    ),
    SortOrder(
        ("topic", "partition", "capture", "last_offset", "path", "position"),
        "the question is what a consumer skips from an offset of a partition on, as in the index itself",
    ),
    Example(
        "What does a read_committed consumer skip that reads payments-0 from offset 2 on?",
        """\
SELECT DISTINCT a.producer_id, a.first_offset, a.last_offset
FROM aborted_transactions a
WHERE a.topic = 'payments' AND a.partition = 0 AND a.last_offset >= 2
ORDER BY a.last_offset""",
    ),
    Identity(("topic", "partition", "capture", "last_offset"), copies=True),
)

PRODUCER_STATES = Table(
    "producer_states",
    "an entry of a .snapshot",
    (
        *PLACED,
        *PARTITION,
        Column("snapshot_offset", INT64, "offset in the file's name: the state is of the log below it"),
        Column("producer_id", INT64, "producer id"),
        Column("producer_epoch", INT16, "producer epoch"),
        Column("last_sequence", INT32, "last sequence written", null="only markers were written"),
        Column("last_offset", INT64, "last offset written", null="only markers were written"),
        Column("timestamp", TIME, "when the producer last wrote"),
        Column("coordinator_epoch", INT32, "epoch in its last marker", null="no marker yet"),
        Column("open_since_offset", INT64, "first offset of its open transaction", null="none is open"),
    ),
    SortOrder(
        ("producer_id", "capture", "topic", "partition", "snapshot_offset", "path", "position"),
        "the question is where a producer id wrote; `batches` is sorted by partition",
    ),
    Example(
        "Where did a producer id write, and is a transaction of it open there?",
        """\
SELECT p.topic, p.partition, p.snapshot_offset, p.producer_epoch, p.last_offset, p.open_since_offset
FROM producer_states p
WHERE p.producer_id = 1
ORDER BY p.topic, p.partition, p.snapshot_offset""",
    ),
    Identity(("producer_id", "capture", "topic", "partition", "snapshot_offset"), copies=True, day=("timestamp",)),
)


def aborted_transactions(entries: Any, positions: Any, common: Mapping[str, Any]) -> Any:
    """A RecordBatch of `aborted_transactions` from the entries of a file, and where each begins."""
    return ABORTED_TRANSACTIONS.of_arrays([entries], {**common, "position": positions})


def producer_states(entries: Any, positions: Any, common: Mapping[str, Any]) -> Any:
    """A RecordBatch of `producer_states` from the entries of a file; `common` has the snapshot's offset."""
    return PRODUCER_STATES.of_arrays([entries], {**common, "position": positions})
