"""Records of `__cluster_metadata` and of its snapshots: what a controller noted, and KRaft's own control records.

Bytes     records of schemas/cluster_metadata.txt in a frame (framed_records.py). A control record has a key
          (control_record.py) and, as value, a message of schemas/control_records.txt whose first field is its version.
Hidden    values of secret settings, and SCRAM credentials: they leave this module as `[hidden]`.
Source    MetadataRecordSerde, ControlRecordUtils (Kafka 3.3 to 4.3); KIP-631, -630, -853.
"""

from __future__ import annotations

from typing import Any

from kafkatx.formats.control_record import ControlType
from kafkatx.formats.framed_records import FramedRecord, read_framed_record
from kafkatx.formats.layout import Malformed
from kafkatx.formats.message_schemas import by_name
from kafkatx.formats.messages import read_message
from kafkatx.terms.secrets import HIDDEN, shown_value

QUORUM_MESSAGES = {
    ControlType.LEADER_CHANGE: "LeaderChangeMessage",
    ControlType.SNAPSHOT_HEADER: "SnapshotHeaderRecord",
    ControlType.SNAPSHOT_FOOTER: "SnapshotFooterRecord",
    ControlType.KRAFT_VERSION: "KRaftVersionRecord",
    ControlType.KRAFT_VOTERS: "VotersRecord",
}
"""What the value of each control record of KRaft is."""
CREDENTIALS = ("salt", "storedKey", "serverKey")


def read_metadata_record(data: bytes) -> FramedRecord:
    """Read the value of a record; secrets among its fields are hidden.

    Raises:
        Malformed: the bytes are no frame of version 1, or not the record that it announces.
    """
    found = read_framed_record("cluster_metadata", data)
    if found.name is not None and found.fields is not None:
        hide_secrets(found.name, found.fields)
    return found


def read_quorum_record(control_type: int, value: bytes | None) -> dict[str, Any] | None:
    """Return the fields of a control record of KRaft, None for another type or a value that is no such record.

    The version stands in the record's first field, and decides how the rest is read.
    """
    if control_type not in QUORUM_MESSAGES or value is None:
        return None
    message = by_name("control_records")[QUORUM_MESSAGES[ControlType(control_type)]]
    version = int.from_bytes(value[:2], "big", signed=True)
    try:
        return read_message(message, min(version, message.versions.highest), value)[0]
    except Malformed:
        return None


def hide_secrets(name: str, fields: dict[str, Any]) -> None:
    """Replace what nobody should see of a record, whose fields are of their declared types."""
    if name == "ConfigRecord" and fields["value"] is not None:
        fields["value"] = shown_value(fields["name"], fields["value"])
    if name == "UserScramCredentialRecord":
        fields |= dict.fromkeys(CREDENTIALS, HIDDEN)
