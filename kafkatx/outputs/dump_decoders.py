"""What keys and values of internal topics mean, in the shape of kafka-dump-log's decoders.

Shape   coordinators: key {"type": "N", "data": {...}}, value {"version": "N", "data": {...}} or `<DELETE>`; metadata:
        no key, value {"type": NAME, "version": N, "data": {...}}; remote log: no key, value as Java prints it. What
        can't be read becomes a sentence in its place.
Hidden  values of secret settings and SCRAM credentials in the metadata log, which the tool prints.
Source  DumpLogSegments, CoordinatorRecordSerde, MetadataRecordSerde, RemoteLogMetadataSerde (Kafka 4.1 to 4.3; shapes
        of 4.3.1).
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable
from typing import Any

from kafkatx.formats.framed_records import FramedRecord, read_framed_record
from kafkatx.formats.layout import Malformed
from kafkatx.formats.message_schemas import Message, by_name, by_number
from kafkatx.formats.messages import read_message
from kafkatx.formats.metadata_log import read_metadata_record
from kafkatx.outputs.dump_remote_log import object_text
from kafkatx.terms.java_text import java_text

Decoded = tuple[Any, Any]
"""Key and value as text or as Content; None where nothing is printed."""
Decoder = Callable[[bytes | None, bytes | None, int], Decoded]
"""From key, value and offset of a record."""


class Problem(str):
    """What stands in the place of a key or value that could not be read."""


class Content(dict[str, Any]):
    """What a key or value holds; `text` is its JSON once somebody has made it (a key is met many times)."""

    text: str | None = None


DELETED = "<DELETE>"
REMEMBERED_KEYS = 10_000


def plain_decoder(key: Callable[[bytes], str] = java_text, value: Callable[[bytes], str] = java_text) -> Decoder:
    """Return a decoder that shows key and value as text of their own."""

    def decode(key_data: bytes | None, value_data: bytes | None, offset: int) -> Decoded:
        return (
            None if key_data is None else key(key_data),
            None if value_data is None else value(value_data),
        )

    return decode


def coordinator_decoder(component: str) -> Decoder:
    """Return the decoder of the topic of a coordinator: `transaction_coordinator`, `group_...` or `share_...`."""
    keys, values = by_number(component, "key"), by_number(component, "value")
    known: dict[bytes, Content] = {}

    def key_of(data: bytes) -> Content:
        if len(known) > REMEMBERED_KEYS:
            known.clear()
        if data not in known:
            known[data] = _read_key(keys, data)
        return known[data]

    def decode(key: bytes | None, value: bytes | None, offset: int) -> Decoded:
        if key is None:
            return Problem(f"Error at offset {offset}, skipping. The record has no key."), None
        try:
            found = key_of(key)
            return found, DELETED if value is None else _read_value(values[int(found["type"])], value)
        except UnknownType as unknown:
            return Problem(f"Unknown record type {unknown} at offset {offset}, skipping."), None
        except Malformed as error:
            return Problem(f"Error at offset {offset}, skipping. {error}"), None

    return decode


class UnknownType(Exception):
    """A key of a type that no release up to 4.3 knows."""


def _read_key(keys: dict[int, Message], data: bytes) -> Content:
    number = _int16(data, "key")
    if number not in keys:
        raise UnknownType(number)
    return Content(type=str(number), data=read_message(keys[number], 0, data, 2)[0])


def _read_value(message: Message, data: bytes) -> Content:
    version = _int16(data, "value")
    fields, _ = read_message(message, version, data, 2)
    if message.name == "GroupMetadataValue" and fields["protocolType"] == "consumer":
        for member in fields["members"]:
            _open_embedded(member, "subscription", "ConsumerProtocolSubscription")
            _open_embedded(member, "assignment", "ConsumerProtocolAssignment")
    return Content(version=str(version), data=fields)


def _open_embedded(member: dict[str, Any], field: str, name: str) -> None:
    """Replace base64 by what it holds: a message of the consumer protocol. What holds none stays."""
    data = b64decode(member[field])
    try:
        member[field] = read_message(by_name("consumer_protocol")[name], _int16(data, field), data, 2)[0]
    except Malformed:
        return


def _int16(data: bytes, what: str) -> int:
    if len(data) < 2:
        raise Malformed(f"Could not read version from {what}'s buffer.")
    return int.from_bytes(data[:2], "big", signed=True)


def metadata_decoder() -> Decoder:
    """Return the decoder of `__cluster_metadata` and of KRaft's snapshots."""

    def decode(key: bytes | None, value: bytes | None, offset: int) -> Decoded:
        try:
            return None, _read_metadata(value or b"")
        except Malformed as error:
            return None, Problem(f"Error at {offset}, skipping. {error}")

    return decode


def _read_metadata(data: bytes) -> Content:
    content = _framed(read_metadata_record(data))
    return Content(content | {"type": record_type(content["type"])})


def _framed(found: FramedRecord) -> Content:
    if found.name is None:
        raise Malformed(f"Unknown metadata id {found.number}")
    if found.fields is None:
        raise Malformed(f"{found.name} has no version {found.version}")
    return Content(type=found.name, version=found.version, data=found.fields)


def remote_log_decoder() -> Decoder:
    """Return the decoder of `__remote_log_metadata`: as text Kafka's objects, as JSON the fields of the records."""

    def decode(key: bytes | None, value: bytes | None, offset: int) -> Decoded:
        try:
            return None, _read_remote_log(value or b"")
        except Malformed as error:
            return None, Problem(f"Error at offset {offset}, skipping. {error}")

    return decode


def _read_remote_log(data: bytes) -> Content:
    content = _framed(read_framed_record("remote_log_metadata", data))
    content.text = object_text(content["type"], content["data"])
    return content


def record_type(name: str) -> str:
    """Return the name of a metadata record type: `NoOpRecord` is NO_OP_RECORD."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).upper()


def integer_text(data: bytes) -> str:
    """Return what Kafka's IntegerDecoder and LongDecoder print: a big-endian number."""
    return str(int.from_bytes(data, "big", signed=True))
