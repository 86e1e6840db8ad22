"""The table of cluster events: what the metadata log of a KRaft cluster tells, record by record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

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

NODES = pa.list_(INT32)
PRINTED = "a control record of which only a print is at hand"
NOT_SAID = "not said by this kind of record"

SAID = (
    Column(
        "topic",
        STRING,
        "topic, where the record names it",
        null="it gives an id only (a TopicRecord names it), or none",
    ),
    Column("topic_id", STRING, "id of the topic", null=NOT_SAID),
    Column("partition", INT32, "partition", null=NOT_SAID),
    Column("leader", INT32, "node that leads the partition from now on; -1: none does", null="not said, or unchanged"),
    Column("leader_epoch", INT32, "leader epoch of the partition", null="not said; each change of the leader adds 1"),
    Column("partition_epoch", INT32, "epoch of the partition's state", null="not said; each change adds 1"),
    Column("replicas", NODES, "nodes that hold the partition", null="not said, or unchanged"),
    Column("isr", NODES, "nodes in sync", null="not said, or unchanged"),
    Column("node_id", INT32, "the broker or controller that it is about, or that asked", null=NOT_SAID),
    Column("broker_epoch", INT64, "epoch of the broker's registration", null=NOT_SAID),
    Column(
        "next_producer_id", INT64, "first producer id behind the block of 1,000 that `node_id` was given", null=NOT_SAID
    ),
    Column("feature", STRING, "feature: metadata.version, transaction.version, group.version, ...", null=NOT_SAID),
    Column("feature_level", INT16, "its level from now on", null=NOT_SAID),
    Column("resource_type", STRING, "what a setting is of: topic, broker, ...", null=NOT_SAID),
    Column("resource", STRING, "which one; of all brokers it is empty", null=NOT_SAID),
    Column("config", STRING, "name of the setting", null=NOT_SAID),
    Column(
        "config_value",
        STRING,
        "its value from now on; secrets are `[hidden]`",
        null="the setting was removed, or not said",
    ),
)
"""Columns that a record fills or not: segments/metadata_columns.py says which, by these names."""

CLUSTER_EVENTS = Table(
    "cluster_events",
    "a record of `__cluster_metadata`, or of a snapshot of it; KRaft's control records too: they tell which controller "
    "was active when, and an offset without a row is a gap",
    (
        *IN_BATCH_OR_LINE,
        Column(
            "kind",
            STRING,
            "the record as Kafka's schemas call it: TopicRecord, ProducerIdsRecord, LeaderChangeMessage, ...; "
            "unknown(KEY) for one that 4.3 has not",
        ),
        Column(
            "event_time",
            TIME,
            "when it was written, by the controller's clock; in a snapshot the newest time that it covers",
        ),
        Column("record_offset", INT64, "offset; in a snapshot the number of the record in it", field="offset"),
        Column("controller_epoch", INT32, "epoch of the active controller: leader epoch of the batch", null="a print"),
        Column("is_snapshot", BOOL, "tells a state, not an event: stands in a .checkpoint"),
        Column(
            "snapshot_offset",
            INT64,
            "offset up to which (exclusive) the snapshot is",
            null="the log, or bootstrap.checkpoint",
        ),
        *SAID,
        Column("record_version", INT16, "version of the record", null=f"unknown(KEY), or {PRINTED}"),
        Column(
            "fields",
            STRING,
            "all fields as JSON, by Kafka's names; secrets are `[hidden]`",
            null=f"unknown(KEY), a version that 4.3 has not, or {PRINTED}",
        ),
    ),
    SortOrder(
        ("kind", "capture", "event_time", "is_snapshot", "snapshot_offset", "record_offset", "path", "position"),
        "most questions are about a kind of record, often in a stretch of time",
    ),
    Example(
        "Which broker was given which block of producer ids, and when?",
        """\
SELECT c.event_time, c.node_id,
       c.next_producer_id - 1000 AS first_producer_id, c.next_producer_id - 1 AS last_producer_id
FROM cluster_events c
WHERE c.kind = 'ProducerIdsRecord' AND NOT c.is_snapshot
ORDER BY c.event_time, c.record_offset""",
    ),
    Identity(
        ("kind", "capture", "event_time", "is_snapshot", "snapshot_offset", "record_offset"),
        copies=True,
        day=("event_time",),
    ),
)


def cluster_events(records: Any, batches: Any, codes: Any, said: Mapping[str, Any], common: Mapping[str, Any]) -> Any:
    """A RecordBatch of `cluster_events` from rows of dtype RECORD, with the BATCH row of each.

    `said` are lists of what the distinct records say, by column; `codes` say which of them a row is. `common` are the
    columns that all rows share.
    """
    taken = pa.array(np.ascontiguousarray(codes), INT32)
    columns = {
        name: pa.array(values, CLUSTER_EVENTS.schema.field(name).type).take(taken) for name, values in said.items()
    }
    place = {"position": batches["position"], "event_time": records["timestamp"], "record_offset": records["offset"]}
    epoch = {"controller_epoch": batches["leader_epoch"]}
    return CLUSTER_EVENTS.batch(len(records), {**common, **columns, **place, **epoch})
