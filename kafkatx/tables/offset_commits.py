"""The table of offset commits: what consumer groups committed, record by record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafkatx.tables.columns import (
    BOOL,
    IN_BATCH_OR_LINE,
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
)
from kafkatx.tables.logs import IS_TRANSACTIONAL, has

NO_VALUE = "a tombstone"

OFFSET_COMMITS = Table(
    "offset_commits",
    "an offset commit in `__consumer_offsets`, or (a tombstone) the removal of one; also one that no group was ever "
    "given, since its transaction was aborted: `markers` tells",
    (
        *IN_BATCH_OR_LINE,
        Column("group_id", STRING, "group.id; bytes that are no UTF-8 become U+FFFD", field="group"),
        Column("topic", STRING, "topic that was consumed"),
        Column("partition", INT32, "partition that was consumed"),
        Column("is_tombstone", BOOL, "the commit was removed: it expired, or somebody deleted group, offset or topic"),
        Column("committed_offset", INT64, "offset that the group goes on with", null=NO_VALUE),
        Column(
            "leader_epoch", INT32, "epoch of the leader that the last record consumed was read of", null="not given"
        ),
        Column("metadata", STRING, "text that the client committed with it", null="none was given"),
        Column(
            "committed_at", TIME, "when it was committed, by the coordinator's clock", null=f"{NO_VALUE}, or a print"
        ),
        Column("expires_at", TIME, "when it expires", null="offsets.retention.minutes decides (since 2.1)"),
        Column("topic_id", STRING, "id of the topic", null="not recorded: before 4.1, or it was not known"),
        Column("is_transactional", BOOL, "part of a transaction: it counts once a COMMIT marker follows"),
        Column("producer_id", INT64, "producer id of the transaction", null="not part of one"),
        Column("producer_epoch", INT16, "producer epoch", null="not part of a transaction"),
        Column("offsets_partition", INT32, "partition of `__consumer_offsets`"),
        Column("record_offset", INT64, "offset in it", null="a print that doesn't say it", field="offset"),
        Column(
            "timestamp", TIME, "when it was written, by the coordinator's clock", null="a print that doesn't say it"
        ),
        Column("value_version", INT16, "version of the value", null="a tombstone, or a print"),
    ),
    SortOrder(
        ("group_id", "topic", "partition", "capture", "offsets_partition", "record_offset", "path", "position"),
        "most questions are about a group and what it consumes; its partition follows from its hash and tells nothing",
    ),
    Example(
        "What did a group commit, when, and in whose transaction?",
        """\
SELECT c.topic, c.partition, c.committed_offset, c.committed_at, c.producer_id, c.producer_epoch
FROM offset_commits c
WHERE c.group_id = 'settlement' AND NOT c.is_tombstone
ORDER BY c.topic, c.partition, c.record_offset""",
    ),
    Identity(
        ("group_id", "topic", "partition", "capture", "offsets_partition", "record_offset"),
        copies=True,
        day=("timestamp", "committed_at"),
    ),
)


def offset_commits(rows: Any, records: Any, batches: Any, columns: Mapping[str, Any]) -> Any:
    """A RecordBatch of `offset_commits` from rows of dtype COMMIT, with the RECORD and BATCH row of each.

    `columns` are the shared ones and those that lie in the records' bytes: group_id, topic, metadata, topic_id.
    """
    given = {**columns, "is_transactional": has(batches, IS_TRANSACTIONAL)}
    return OFFSET_COMMITS.of_arrays([rows, records, batches], given)
