"""What a control record says, as kafka-dump-log 4.3 prints it: the end of a transaction, or a record of KRaft."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from kafkatx.formats.control_record import ControlType, coordinator_epoch_of, ends_transaction, type_of
from kafkatx.formats.metadata_log import read_quorum_record
from kafkatx.outputs.dump_json import jackson

TITLES = {
    ControlType.LEADER_CHANGE: "LeaderChange:",
    ControlType.SNAPSHOT_HEADER: "SnapshotHeader",
    ControlType.SNAPSHOT_FOOTER: "SnapshotFooter",
    ControlType.KRAFT_VERSION: "KRaftVersion",
    ControlType.KRAFT_VOTERS: "KRaftVoters",
}
"""What the line calls a control record of KRaft."""


@lru_cache(maxsize=4096)
def control_text(key: bytes | None, value: bytes | None) -> str:
    """Return what stands behind the metadata of a control record's line; markers say the same again and again."""
    control_type = type_of(key)
    if control_type is None:
        return " controlType: UNKNOWN(-1)"
    if ends_transaction(control_type):
        epoch = coordinator_epoch_of(value)
        return f" endTxnMarker: {ControlType(control_type).name} coordinatorEpoch: {-1 if epoch is None else epoch}"
    content = read_quorum_record(control_type, value)
    if content is None:
        name = ControlType(control_type).name if control_type in TITLES else "UNKNOWN"
        return f" controlType: {name}({control_type})"
    return f" {TITLES[ControlType(control_type)]} {jackson(content)}"


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
        "content": read_quorum_record(control_type, value),
    }
