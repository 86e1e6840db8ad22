"""Records of `__cluster_metadata` as bytes, by their declarations."""

from collections.abc import Mapping
from typing import Any

from kafkatx.formats import control_record
from kafkatx.formats.message_schemas import MessageField, by_name
from kafkatx.formats.messages import NUMBERS
from tests.building import batch, record
from tests.formats.message_writing import uvarint

METADATA, QUORUM = by_name("cluster_metadata"), by_name("control_records")
KRAFT_CONTROL = 0x20


def framed(number: int, version: int, content: bytes, frame: int = 1) -> bytes:
    """Return the value of a record."""
    return uvarint(frame) + uvarint(number) + uvarint(version) + content


def said(name: str, version: int = 0, /, **values: Any) -> bytes:
    """Return the value of a record by the name of its schema; fields that are not given are zero or empty."""
    message = METADATA[name]
    assert message.number is not None
    return framed(message.number, version, struct_bytes(message.fields, version, values))


def struct_bytes(fields: tuple[MessageField, ...], version: int, values: Mapping[str, Any]) -> bytes:
    """Return the fields of a flexible version; tagged ones only where a value is given."""
    known = [field for field in fields if version in field.versions]
    tags = {field.tag: field_bytes(field, version, values[field.name]) for field in known
            if field.tag is not None and field.name in values}  # fmt: skip
    plain = b"".join(field_bytes(field, version, values.get(field.name)) for field in known if field.tag is None)
    tagged = b"".join(uvarint(tag) + uvarint(len(data)) + data for tag, data in sorted(tags.items()))
    return plain + uvarint(len(tags)) + tagged


def field_bytes(field: MessageField, version: int, value: Any) -> bytes:
    """Return a field; None is null where the field may be, else empty."""
    if field.is_array:
        if value is None and field.is_nullable:
            return uvarint(0)
        return uvarint(len(value or ()) + 1) + b"".join(_element(field, version, one) for one in value or ())
    return _element(field, version, value)


def _element(field: MessageField, version: int, value: Any) -> bytes:
    if field.kind in NUMBERS:
        return NUMBERS[field.kind].pack(value or 0)
    if field.kind == "bool":
        return bytes([bool(value)])
    if field.kind == "uuid":
        return bytes(value or bytes(16))
    if field.kind == "struct":
        return struct_bytes(field.fields, version, value or {})
    if value is None and field.is_nullable:
        return uvarint(0)
    data = value.encode() if isinstance(value, str) else bytes(value or b"")
    return uvarint(len(data) + 1) + data


def noted(base_offset: int, *values: bytes | None, **fields: int) -> bytes:
    """Return a batch of the metadata log, a record each."""
    content = b"".join(record(number, value) for number, value in enumerate(values))
    return batch(base_offset, content=content, records_count=len(values), **fields)


def control(offset: int, number: int, content: bytes, **fields: int) -> bytes:
    """Return a batch with one control record of KRaft."""
    key = control_record.ControlRecordKey.build({"version": 0, "type": number})
    return batch(offset, content=record(0, content, key), records_count=1, attributes=KRAFT_CONTROL, **fields)


def quorum(name: str, version: int = 0, /, **values: Any) -> bytes:
    """Return the value of a control record of KRaft."""
    return struct_bytes(QUORUM[name].fields, version, values)
