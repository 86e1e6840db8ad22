"""Row types that kernels fill: one numpy structured dtype each, declared here and nowhere else.

Absent values are -1 (they are null in the Arrow tables). Offsets and positions are int64, times are milliseconds since the epoch.
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
"""A record of a batch v2 (formats/record.py). `*_start` index the (decompressed) records buffer; a length of -1 is null."""

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
