"""Records of `__cluster_metadata` and of its snapshots: what a controller noted, and KRaft's own control records.

Bytes     no key; value: varint 1 (version of this frame), varint api key, varint version of the record, then the record
          itself (schemas/cluster_metadata.txt). A control record has a key (control_record.py) and, as value, a message
          of schemas/control_records.txt whose first field is its version.
Hidden    values of secret settings, and SCRAM credentials: they leave this module as `[hidden]`.
Limits    an api key, or a version of a record, that is not declared comes from a later release: its fields are unknown.
Source    MetadataRecordSerde, AbstractApiMessageSerde, ControlRecordUtils (Kafka 3.3 to 4.3); KIP-631, -630, -853.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from kafkatx.formats.control_record import ControlType
from kafkatx.formats.layout import Malformed
from kafkatx.formats.message_schemas import Message, by_name, by_number
from kafkatx.formats.messages import read_message, read_uvarint
from kafkatx.terms.secrets import HIDDEN, shown_value

FRAME_VERSION = 1
QUORUM_MESSAGES = {
    ControlType.LEADER_CHANGE: "LeaderChangeMessage",
    ControlType.SNAPSHOT_HEADER: "SnapshotHeaderRecord",
    ControlType.SNAPSHOT_FOOTER: "SnapshotFooterRecord",
    ControlType.KRAFT_VERSION: "KRaftVersionRecord",
    ControlType.KRAFT_VOTERS: "VotersRecord",
}
"""What the value of each control record of KRaft is."""
CREDENTIALS = ("salt", "storedKey", "serverKey")


@dataclass(frozen=True, slots=True)
class MetadataRecord:
    """A record: `name` as Kafka's schemas call it, None for an api key that is not declared.

    `fields` are None where the record or its version is not declared; secrets among them are hidden.
    """

    number: int
    version: int
    name: str | None
    fields: dict[str, Any] | None


def read_metadata_record(data: bytes) -> MetadataRecord:
    """Read the value of a record.

    Raises:
        Malformed: the bytes are no frame of version 1, or not the record that it announces.
    """
    number, version, at = _frame(data)
    message = _records().get(number)
    if message is None or version not in message.versions:
        return MetadataRecord(number, version, message.name if message else None, None)
    fields, behind = read_message(message, version, data, at)
    if behind != len(data):
        raise Malformed(f"Found {len(data) - behind} byte(s) of garbage after {message.name}")
    hide_secrets(message.name, fields)
    return MetadataRecord(number, version, message.name, fields)


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


@cache
def _records() -> dict[int, Message]:
    return by_number("cluster_metadata", "record")


def _frame(data: bytes) -> tuple[int, int, int]:
    """Api key, version, and where the record begins."""
    try:
        frame, at = read_uvarint(data, 0)
        number, at = read_uvarint(data, at)
        version, at = read_uvarint(data, at)
    except IndexError:
        raise Malformed("The frame of a metadata record ends early.") from None
    if frame != FRAME_VERSION:
        raise Malformed(f"Unsupported frame version {frame}.")
    return number, version, at


def hide_secrets(name: str, fields: dict[str, Any]) -> None:
    """Replace what nobody should see of a record, whose fields are of their declared types."""
    if name == "ConfigRecord" and fields["value"] is not None:
        fields["value"] = shown_value(fields["name"], fields["value"])
    if name == "UserScramCredentialRecord":
        fields |= dict.fromkeys(CREDENTIALS, HIDDEN)
