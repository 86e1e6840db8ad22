"""Row types that kernels fill: one numpy structured dtype each, declared here and nowhere else.

Absent values are -1 (they are null in the Arrow tables). Offsets and positions are int64, times are milliseconds
since the epoch.
"""

import numpy as np

UNCHECKED, INVALID, VALID = -1, 0, 1
"""Values of `crc_valid`: not looked at, wrong, right."""

BATCH = np.dtype(
    [
        ("position", "i8"),
        ("base_offset", "i8"),
        ("last_offset", "i8"),
        ("producer_id", "i8"),
        ("base_timestamp", "i8"),
        ("max_timestamp", "i8"),
        ("crc", "u4"),
        ("size", "i4"),
        ("record_count", "i4"),
        ("leader_epoch", "i4"),
        ("base_sequence", "i4"),
        ("coordinator_epoch", "i4"),
        ("producer_epoch", "i2"),
        ("attributes", "i2"),
        ("control_type", "i2"),
        ("magic", "i1"),
        ("crc_valid", "i1"),
    ],
    align=True,
)
"""A record batch of any magic (formats/record_batch.py). `size` is the whole batch in bytes; `control_type` and
`coordinator_epoch` are read from the first record of a control batch (formats/control_record.py); -1 elsewhere.
Magic 0 and 1 have one row a wrapper: base_offset = last_offset = the offset it carries."""

RECORD = np.dtype(
    [
        ("batch_row", "i8"),
        ("offset", "i8"),
        ("timestamp", "i8"),
        ("sequence", "i4"),
        ("key_start", "i4"),
        ("key_length", "i4"),
        ("value_start", "i4"),
        ("value_length", "i4"),
        ("headers_start", "i4"),
        ("header_count", "i4"),
        ("record_size", "i4"),
    ],
    align=True,
)
"""A record of a batch v2 (formats/record.py). `*_start` index the (decompressed) records buffer; a length of -1 is
null.
"""

STATE = np.dtype(
    [
        ("position", "i8"),
        ("offset", "i8"),
        ("timestamp", "i8"),
        ("producer_id", "i8"),
        ("previous_producer_id", "i8"),
        ("next_producer_id", "i8"),
        ("started_at", "i8"),
        ("updated_at", "i8"),
        ("id_code", "i4"),
        ("partitions_code", "i4"),
        ("unknown_tags_code", "i4"),
        ("timeout_ms", "i4"),
        ("leader_epoch", "i4"),
        ("crc", "u4"),
        ("producer_epoch", "i2"),
        ("next_producer_epoch", "i2"),
        ("client_transaction_version", "i2"),
        ("value_version", "i2"),
        ("state", "i1"),
        ("is_tombstone", "i1"),
    ],
    align=True,
)
"""A record of `__transaction_state` (formats/transaction_log.py). `id_code` and `partitions_code` index the interned
transactional.ids and partition lists of the reader; -1: a null partition list, no unknown tagged field."""
NOT_PRINTED = -2
"""`started_at` of a coordinator's row whose text does not say when the transaction began, nor do the rows before it."""

COMMIT = np.dtype(
    [
        ("record_row", "i8"),
        ("committed_offset", "i8"),
        ("committed_at", "i8"),
        ("expires_at", "i8"),
        ("group_start", "i4"),
        ("group_length", "i4"),
        ("topic_start", "i4"),
        ("topic_length", "i4"),
        ("metadata_start", "i4"),
        ("metadata_length", "i4"),
        ("topic_id_start", "i4"),
        ("partition", "i4"),
        ("leader_epoch", "i4"),
        ("value_version", "i2"),
        ("is_tombstone", "i1"),
    ],
    align=True,
)
"""An offset commit of `__consumer_offsets` (formats/schemas/group_coordinator.txt). `record_row` indexes the RECORD
rows that it was read from, `*_start` their buffer; a length or start of -1 is "none"."""

PRODUCER = np.dtype(
    [
        ("producer_id", "i8"),
        ("first_offset", "i8"),
        ("last_offset", "i8"),
        ("first_timestamp", "i8"),
        ("last_timestamp", "i8"),
        ("records", "i8"),
        ("bytes", "i8"),
        ("plain_records_before", "i8"),
        ("marker_offset", "i8"),
        ("marker_timestamp", "i8"),
        ("batches", "i4"),
        ("producer_epoch", "i2"),
        ("marker_epoch", "i2"),
        ("flags", "i2"),
    ],
    align=True,
)
"""What the span fold remembers of a producer in one partition: the span that is open (first_offset -1: none) and its
last marker.
"""

SPAN = np.dtype(
    [
        ("producer_id", "i8"),
        ("first_offset", "i8"),
        ("last_offset", "i8"),
        ("first_timestamp", "i8"),
        ("last_timestamp", "i8"),
        ("records", "i8"),
        ("bytes", "i8"),
        ("plain_records_before", "i8"),
        ("marker_offset", "i8"),
        ("marker_timestamp", "i8"),
        ("previous_marker_offset", "i8"),
        ("previous_marker_timestamp", "i8"),
        ("coordinator_epoch", "i4"),
        ("leader_epoch", "i4"),
        ("batches", "i4"),
        ("partition_code", "i4"),
        ("producer_epoch", "i2"),
        ("marker_epoch", "i2"),
        ("marker_kind", "i1"),
        ("flags", "i1"),
    ],
    align=True,
)
"""One producer's data in one partition up to the marker that ends it. Without data first_offset is -1, without a marker
marker_offset is -1. `leader_epoch` is that of the leader that wrote the marker, `plain_records_before` counts records
outside transactions in the partition before the span began."""

HIDING_ENTRY = np.dtype(
    [
        ("producer_id", "i8"),
        ("first_offset", "i8"),
        ("last_offset", "i8"),
        ("base_offset", "i8"),
        ("partition_code", "i4"),
    ],
    align=True,
)
"""An entry of a .txnindex (of the segment at `base_offset`) that lists data as aborted which a COMMIT marker ended."""

SEQUENCE_BREAK = np.dtype(
    [
        ("producer_id", "i8"),
        ("first_offset", "i8"),
        ("last_offset", "i8"),
        ("timestamp", "i8"),
        ("before_first_offset", "i8"),
        ("before_last_offset", "i8"),
        ("before_timestamp", "i8"),
        ("missing", "i4"),
        ("first_sequence", "i4"),
        ("last_sequence", "i4"),
        ("before_last_sequence", "i4"),
        ("records", "i4"),
        ("leader_epoch", "i4"),
        ("before_leader_epoch", "i4"),
        ("partition_code", "i4"),
        ("producer_epoch", "i2"),
    ],
    align=True,
)
"""A batch that does not follow its producer's last one of the same epoch in one partition. `missing`: how many
sequences were left out before it; 0 where it has the sequences of a batch that stands before it (`before_*`)."""

TRANSACTION = np.dtype(
    [
        ("producer_id", "i8"),
        ("completed_producer_id", "i8"),
        ("started_at", "i8"),
        ("begin_offset", "i8"),
        ("begin_timestamp", "i8"),
        ("grown_at", "i8"),
        ("decision_offset", "i8"),
        ("decided_at", "i8"),
        ("decision_timestamp", "i8"),
        ("completion_offset", "i8"),
        ("completion_timestamp", "i8"),
        ("next_offset", "i8"),
        ("next_timestamp", "i8"),
        ("next_producer_id", "i8"),
        ("id_code", "i4"),
        ("state_partition", "i4"),
        ("partitions_code", "i4"),
        ("timeout_ms", "i4"),
        ("next_timeout_ms", "i4"),
        ("begin_leader_epoch", "i4"),
        ("decision_leader_epoch", "i4"),
        ("producer_epoch", "i2"),
        ("decision_epoch", "i2"),
        ("completion_epoch", "i2"),
        ("next_epoch", "i2"),
        ("begin_version", "i2"),
        ("decision_version", "i2"),
        ("decision", "i1"),
        ("next_state", "i1"),
        ("flags", "i1"),
    ],
    align=True,
)
"""One transaction as the coordinator recorded it. `decision` is the status code of Prepare* (2, 3; -1: none),
`*_version` the
client transaction version of that row, `next_*` the row of the same id that follows (`next_state` -2: a tombstone,
-1: none)."""

INITIALISATION = np.dtype(
    [
        ("offset", "i8"),
        ("timestamp", "i8"),
        ("producer_id", "i8"),
        ("previous_offset", "i8"),
        ("previous_timestamp", "i8"),
        ("previous_updated_at", "i8"),
        ("previous_producer_id", "i8"),
        ("updated_at", "i8"),
        ("id_code", "i4"),
        ("state_partition", "i4"),
        ("timeout_ms", "i4"),
        ("previous_timeout_ms", "i4"),
        ("producer_epoch", "i2"),
        ("previous_epoch", "i2"),
        ("previous_state", "i1"),
        ("is_tombstone", "i1"),
        ("is_contiguous", "i1"),
    ],
    align=True,
)
"""An Empty row (somebody ran InitProducerId) or a tombstone, with the row of the id before it (`previous_state` -1:
none seen, -2: a
tombstone). `is_contiguous`: no offset is missing between the two."""

ODDITY = np.dtype(
    [
        ("offset", "i8"),
        ("previous_offset", "i8"),
        ("id_code", "i4"),
        ("state_partition", "i4"),
        ("partitions_code", "i4"),
        ("previous_partitions_code", "i4"),
        ("kind", "i1"),
        ("is_contiguous", "i1"),
    ],
    align=True,
)
"""A row that the coordinator's state machine can't write after the one before it."""

LATEST = np.dtype(
    [
        ("offset", "i8"),
        ("timestamp", "i8"),
        ("producer_id", "i8"),
        ("started_at", "i8"),
        ("updated_at", "i8"),
        ("transaction_row", "i8"),
        ("id_code", "i4"),
        ("state_partition", "i4"),
        ("partitions_code", "i4"),
        ("timeout_ms", "i4"),
        ("leader_epoch", "i4"),
        ("producer_epoch", "i2"),
        ("client_transaction_version", "i2"),
        ("state", "i1"),
    ],
    align=True,
)
"""The last row of a transactional.id (`state` -2: a tombstone, -1: none seen); `transaction_row` is its transaction
that has not
completed, -1 if there is none."""

TRANSACTION_PARTITION = np.dtype(
    [("transaction", "i4"), ("partition_code", "i4"), ("span", "i4"), ("marker", "i4"), ("status", "i1")],
    align=True,
)
"""A partition that a transaction lists: rows of its data (`span`) and of its own marker (`marker`) in the table of
spans, -1 for none (they differ where something else ended the data).
`status`: see histories/transaction_partitions.py. Row numbers are 32 bits wide: there are more of these rows than of
any other, and no memory holds 2^31 transactions."""

COUNTED = np.dtype(
    [("producer_id", "i8"), ("transactions", "i8"), ("with_data", "i8"), ("id_code", "i4")],
    align=True,
)
"""How many transactions of an id and producer id are counted instead of held (histories/plain_rows.py), and of how many
of them data are at hand."""

COUNTED_ALONE = np.dtype([("producer_id", "i8"), ("spans", "i8"), ("partition_code", "i4")], align=True)
"""How many spans of a producer in a partition that no row owns are counted, not held (histories/plain_data.py)."""

LISTED = np.dtype([("id_code", "i4"), ("partition_code", "i4")], align=True)
"""A partition that transactions of an id list which are counted instead of held."""

EVENT = np.dtype(
    [
        ("position", "i8"),
        ("line", "i8"),
        ("at", "i8"),
        ("producer_id", "i8"),
        ("offset", "i8"),
        ("number", "i8"),
        ("source", "i4"),
        ("producer_epoch", "i4"),
        ("other_epoch", "i4"),
        ("correlation_id", "i4"),
        ("node", "i4"),
        ("partition", "i4"),
        ("topic_code", "i4"),
        ("transactional_id_code", "i4"),
        ("client_id_code", "i4"),
        ("group_code", "i4"),
        ("thread_code", "i4"),
        ("logger_code", "i4"),
        ("api_code", "i4"),
        ("error_code", "i4"),
        ("detail_code", "i4"),
        ("signs_code", "i4"),
        ("trace_code", "i4"),
        ("repeats", "i4"),
        ("of_day", "i4"),
        ("kind", "i2"),
        ("level", "i1"),
        ("side", "i1"),
    ],
    align=True,
)
"""A line of a log (with the lines that belong to it) that matters: terms/events.py says which columns a kind fills.

`position` and `line` (from 1) lead back to the text of the source numbered `source`; `at` is the printed time as if its
zone were UTC where none is printed, `of_day` milliseconds since midnight where no date is known; `*_code` index the
interned strings (`trace_code` the traces) of the reader.
`repeats`: events of the same kind and names that follow this one and were counted instead of kept; 0 for none."""
