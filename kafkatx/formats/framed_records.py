"""Records of topics whose values are API messages in a frame: `__cluster_metadata` and `__remote_log_metadata`.

Bytes     no key; value: varint 1 (version of this frame), varint api key, varint version of the record, then the record
          itself (schemas/cluster_metadata.txt, schemas/remote_log_metadata.txt).
Limits    an api key, or a version of a record, that is not declared comes from a later release: its fields are unknown.
Source    AbstractApiMessageSerde (Kafka 3.0 to 4.3); KIP-631, KIP-405.
"""

from __future__ import annotations

from typing import Any

from kafkatx.formats.layout import Malformed
from kafkatx.formats.message_schemas import by_number
from kafkatx.formats.messages import read_message, read_uvarint
from kafkatx.terms.records import dataclass

FRAME_VERSION = 1


@dataclass(frozen=True, slots=True)
class FramedRecord:
    """A record: `name` as Kafka's schemas call it, None for an api key that is not declared.

    `fields` are None where the record or its version is not declared.
    """

    number: int
    version: int
    name: str | None
    fields: dict[str, Any] | None


def read_framed_record(component: str, data: bytes) -> FramedRecord:
    """Read the value of a record of a component (a file of `schemas/`).

    Raises:
        Malformed: the bytes are no frame of version 1, or not the record that it announces.
    """
    number, version, at = _frame(data)
    message = by_number(component, "record").get(number)
    if message is None or version not in message.versions:
        return FramedRecord(number, version, message.name if message else None, None)
    fields, behind = read_message(message, version, data, at)
    if behind != len(data):
        raise Malformed(f"Found {len(data) - behind} byte(s) of garbage after {message.name}")
    return FramedRecord(number, version, message.name, fields)


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
