"""What a control record says, as kafka-dump-log 4.3 prints it: the end of a transaction, or a record of KRaft."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from kafkatx.formats.control_record import ControlType, coordinator_epoch_of, ends_transaction, type_of
from kafkatx.formats.layout import Malformed
from kafkatx.formats.message_schemas import by_name
from kafkatx.formats.messages import read_message
from kafkatx.outputs.dump_json import jackson

MESSAGES = {
    ControlType.LEADER_CHANGE: ("LeaderChangeMessage", "LeaderChange:"),
    ControlType.SNAPSHOT_HEADER: ("SnapshotHeaderRecord", "SnapshotHeader"),
    ControlType.SNAPSHOT_FOOTER: ("SnapshotFooterRecord", "SnapshotFooter"),
    ControlType.KRAFT_VERSION: ("KRaftVersionRecord", "KRaftVersion"),
    ControlType.KRAFT_VOTERS: ("VotersRecord", "KRaftVoters"),
}
"""Name of the message and what the line calls it."""


@lru_cache(maxsize=4096)
def control_text(key: bytes | None, value: bytes | None) -> str:
    """Return what stands behind the metadata of a control record's line; markers say the same again and again."""
    control_type = type_of(key)
    if control_type is None:
        return " controlType: UNKNOWN(-1)"
    if ends_transaction(control_type):
        epoch = coordinator_epoch_of(value)
        return f" endTxnMarker: {ControlType(control_type).name} coordinatorEpoch: {-1 if epoch is None else epoch}"
    content = control_content(control_type, value)
    if content is None:
        name = ControlType(control_type).name if control_type in MESSAGES else "UNKNOWN"
        return f" controlType: {name}({control_type})"
    return f" {MESSAGES[ControlType(control_type)][1]} {jackson(content)}"


def control_content(control_type: int, value: bytes | None) -> dict[str, Any] | None:
    """Return the fields of a control record of KRaft, None for another type or a value that is no such record.

    The version stands in the record's first field, and decides how the rest is read.
    """
    if control_type not in MESSAGES or value is None:
        return None
    message = by_name("control_records")[MESSAGES[ControlType(control_type)][0]]
    version = int.from_bytes(value[:2], "big", signed=True)
    try:
        return read_message(message, min(version, message.versions.highest), value)[0]
    except Malformed:
        return None


@lru_cache(maxsize=4096)
def control_fields(key: bytes | None, value: bytes | None) -> dict[str, Any]:
    """Return the same as fields of an object."""
    control_type = type_of(key)
    if control_type is None:
        return {"control_type": None}
    known = control_type in ControlType._value2member_map_
    return {
        "control_type": ControlType(control_type).name if known else control_type,
        "coordinator_epoch": coordinator_epoch_of(value) if ends_transaction(control_type) else None,
        "content": control_content(control_type, value),
    }
