"""Key and value of a control record: what a transaction marker (or a control batch of KRaft) says.

Bytes     key: version int16, type int16. Value of ABORT and COMMIT: version int16, coordinator_epoch int32. Big-endian.
Versions  key and marker value 0 in 0.11 to 4.4. A higher version is longer: read these first bytes and ignore the rest.
          LEADER_CHANGE since 2.7, SNAPSHOT_* since 3.0, KRAFT_* since 3.8.
Meaning   a marker ends the transaction of the batch's producer id on this partition; coordinator_epoch is the leader
          epoch of the `__transaction_state` partition whose leader decided. Types of KRaft say nothing about
          transactions.
Limits    a marker batch holds one record, is never compressed and has 78 bytes (80 with a delete horizon); emptied by
          the cleaner it has no record and tells no type any more. Any other type number is unknown: skip it.
Source    ControlRecordType.java, EndTransactionMarker.java (Kafka 0.11 to 4.3); KIP-98, KIP-595, KIP-853.
"""

from enum import IntEnum

from kafkatx.formats.layout import Int16sb, Int32sb, Layout

ControlRecordKey = Layout(
    "version" / Int16sb,
    "type" / Int16sb,
)
KEY_SIZE = ControlRecordKey.sizeof()  # 4

EndTxnMarker = Layout(
    "version" / Int16sb,
    "coordinator_epoch" / Int32sb,
)
END_TXN_MARKER_SIZE = EndTxnMarker.sizeof()  # 6
MARKER_BATCH_SIZE = 78


class ControlType(IntEnum):
    """Type of a control record, as Kafka names it."""

    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6


def ends_transaction(control_type: int) -> bool:
    """Whether a control record of this type is a transaction marker."""
    return control_type in (ControlType.ABORT, ControlType.COMMIT)


def type_of(key: bytes | None) -> int | None:
    """Return the type number that a control record's key carries; None if the key is too short to have one."""
    if key is None or len(key) < KEY_SIZE:
        return None
    return int(ControlRecordKey.parse_at(key)[0].type)


def coordinator_epoch_of(value: bytes | None) -> int | None:
    """Return the coordinator epoch that a marker's value carries; None if the value is too short to have one."""
    if value is None or len(value) < END_TXN_MARKER_SIZE:
        return None
    return int(EndTxnMarker.parse_at(value)[0].coordinator_epoch)
