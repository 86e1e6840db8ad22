"""Tables of the coordinator: its rows, and the transactions put together of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kafkatx.tables.columns import (
    BINARY,
    BOOL,
    COMMON,
    IN_BATCH,
    INT16,
    INT32,
    INT64,
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

STATES = (
    "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead", "PrepareEpochFence",
)  # fmt: skip

TRANSACTION_STATES = Table(
    "transaction_states",
    "a record of `__transaction_state`",
    (
        *IN_BATCH,
        Column("partition", INT32, "partition of `__transaction_state`"),
        Column("record_offset", INT64, "offset", field="offset"),
        Column("timestamp", TIME, "when the row was written, by the coordinator's clock"),
        Column("transactional_id", STRING, "transactional.id; bytes that are no UTF-8 become U+FFFD"),
        Column("is_tombstone", BOOL, "the coordinator forgot the id; all that follows is null then"),
        Column("producer_id", INT64, "producer id"),
        Column("previous_producer_id", INT64, "producer id before this step", null="not recorded (before 4.3)"),
        Column("next_producer_id", INT64, "producer id that follows an exhausted one", null="none, or not recorded"),
        Column("producer_epoch", INT16, "producer epoch"),
        Column("next_producer_epoch", INT16, "epoch after this step (KIP-939)", null="not recorded"),
        Column("timeout_ms", INT32, "transaction.timeout.ms that the client asked for", "milliseconds"),
        Column("state", STRING, "state, as Kafka names it", null="a tombstone, or a number that stands for none"),
        Column(
            "topic_partitions",
            struct_list(topic=STRING, partition=INT32),
            "partitions of the transaction",
            null="a null list",
        ),
        Column("started_at", TIME, "start of the transaction", null="none is open"),
        Column("updated_at", TIME, "last update of the state"),
        Column(
            "client_transaction_version", INT16, "protocol that asked for this step: 0 to 2", null="value version 0"
        ),
        Column("value_version", INT16, "version of the value", null="a tombstone"),
        Column("leader_epoch", INT32, "epoch of the coordinator"),
        Column(
            "unknown_tagged_fields",
            BINARY,
            "the value's tagged fields as they stand, where one is unknown to 4.4",
            null="none is",
        ),
    ),
    SortOrder(
        ("transactional_id", "capture", "partition", "record_offset", "path"),
        "most questions are about one id; its partition follows from its hash and tells nothing",
    ),
    Example(
        "What did the coordinator note of an id?",
        """\
SELECT s.record_offset, s.timestamp, s.state, s.producer_id, s.producer_epoch
FROM transaction_states s
WHERE s.transactional_id = 'payments-eu-1'
ORDER BY s.record_offset""",
    ),
    Identity(
        ("transactional_id", "capture", "partition", "record_offset"),
        copies=True,
        best=("leader_epoch",),
        day=("timestamp", "updated_at"),
    ),
)

TRANSACTIONS = Table(
    "transactions",
    "a transaction, interpreted; path and broker_id are null: it is put together of many files",
    (
        *COMMON,
        Column("transactional_id", STRING, "transactional.id"),
        Column("producer_id", INT64, "producer id it began under"),
        Column("producer_epoch", INT16, "epoch of its data", null="neither its rows nor its data are at hand"),
        Column("protocol", STRING, "classic or v2", null="not to be seen"),
        Column("started_at", TIME, "start, by the coordinator's clock"),
        Column("decided_at", TIME, "when commit or abort was decided", null="not decided"),
        Column("completed_at", TIME, "when all markers were written", null="not complete"),
        Column(
            "outcome",
            STRING,
            "committed, aborted; committing, aborting: decided, not complete; open; lost: no row ends it",
        ),
        Column("ended_by", STRING, "client, timeout, new_instance, operator, unknown", null="not decided"),
        Column("verdict", STRING, "how sure ended_by is: proved, likely, possible", null="not decided"),
        Column("timeout_ms", INT32, "transaction.timeout.ms", "milliseconds"),
        Column(
            "partitions",
            struct_list(
                topic=STRING, partition=INT32, first_offset=INT64, last_offset=INT64, records=INT64, marker_offset=INT64
            ),
            "partitions with data and marker; offsets are null where none is at hand",
        ),
        Column("records", INT64, "records in all partitions at hand"),
        Column("bytes", INT64, "bytes of their batches", "bytes"),
        Column("state_partition", INT32, "partition of `__transaction_state` that holds its rows"),
        Column("begin_offset", INT64, "offset of its first row", null="not at hand"),
        Column("decision_offset", INT64, "offset of its Prepare row", null="not at hand"),
        Column("completion_offset", INT64, "offset of its Complete row", null="not at hand"),
    ),
    SortOrder(
        ("started_at", "capture", "transactional_id", "producer_id", "begin_offset"),
        "most questions are about a time, like the last month; `transaction_states` is sorted by id",
    ),
    Example(
        "Which transactions that began in an hour lasted longest?",
        """\
SELECT t.transactional_id, t.started_at, t.outcome, t.ended_by, t.completed_at - t.started_at AS lasted
FROM transactions t
WHERE t.started_at >= '2026-11-21T10:00:00Z' AND t.started_at < '2026-11-21T11:00:00Z'
ORDER BY lasted DESC
LIMIT 5""",
    ),
    Identity(
        ("capture", "transactional_id", "producer_id", "started_at"),
        best=("completed_at", "decided_at", "records"),
        day=("decided_at", "started_at"),
    ),
)


def transaction_states(rows: Any, columns: Mapping[str, Any]) -> Any:
    """A RecordBatch of `transaction_states` from rows of dtype STATE.

    `columns` are the shared ones and those that need the capture's names: transactional_id, topic_partitions,
    unknown_tagged_fields.
    """
    versioned = np.where(rows["value_version"] > 0, rows["client_transaction_version"], -1)
    told = {"state": names(rows["state"], STATES), "client_transaction_version": versioned}
    return TRANSACTION_STATES.of_arrays([rows], {**columns, **told})


def transactions(rows: Any, columns: Mapping[str, Any]) -> Any:
    """A RecordBatch of `transactions` from rows of dtype TRANSACTION; `columns` are what the rows alone don't tell."""
    return TRANSACTIONS.of_arrays([rows], {"completed_at": rows["completion_timestamp"], **columns})
