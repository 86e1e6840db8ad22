"""Record messages as values of JSON, read by their declarations (message_schemas.py).

Meaning   a value is a dict in the order of the schema, as Kafka's JSON converters write it: numbers, texts, booleans,
          base64 for bytes, 22 characters for a uuid; a tagged field stands there only if it is not its default.
Limits    a null where none may be, a length or count past the end, and bytes that are too few are `Malformed`; unknown
          tags, and known ones that hold something else than their type, are skipped. Bytes behind the last field are
          left to the caller. Text that is no UTF-8 is shown as Java shows it.
Source    MessageDataGenerator, JsonConverterGenerator (Kafka 4.3); KIP-482.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from kafkatx.formats.layout import Malformed
from kafkatx.formats.message_schemas import Message, MessageField
from kafkatx.terms.java_text import java_text

Reader = Callable[[bytes, int], tuple[Any, int]]
"""From bytes and a position to a value and the position behind it; raises Malformed, struct.error or IndexError."""

NUMBERS = {
    "int8": struct.Struct(">b"),
    "int16": struct.Struct(">h"),
    "int32": struct.Struct(">i"),
    "int64": struct.Struct(">q"),
    "uint16": struct.Struct(">H"),
    "uint32": struct.Struct(">I"),
    "float64": struct.Struct(">d"),
}
UUID_SIZE = 16
ZERO_UUID = "AAAAAAAAAAAAAAAAAAAAAA"


def read_message(message: Message, version: int, data: bytes, at: int = 0) -> tuple[dict[str, Any], int]:
    """Return the fields of a message that begins at `at`, and the position behind it.

    Raises:
        Malformed: the bytes are no such message, or the version is not known.
    """
    if version not in message.versions:
        raise Malformed(f"{message.name} has no version {version}")
    try:
        fields, behind = _reader(message, version)(data, at)
    except (struct.error, IndexError):
        raise Malformed(f"{message.name} ends early") from None
    return fields, behind


def read_uvarint(data: bytes, at: int) -> tuple[int, int]:
    """Return an unsigned varint of at most 32 bits; raises `Malformed` or IndexError."""
    value, shift = 0, 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 28:
            raise Malformed("a varint that goes on after 5 bytes")


@cache
def _reader(message: Message, version: int) -> Reader:
    return _struct_reader(message.fields, version, version in message.flexible)


def _struct_reader(fields: tuple[MessageField, ...], version: int, flexible: bool) -> Reader:
    known = [field for field in fields if version in field.versions]
    steps = [(field.name, _field_reader(field, version, flexible)) for field in known if field.tag is None]
    tagged = {field.tag: (field, _field_reader(field, version, flexible)) for field in known if field.tag is not None}
    names = [field.name for field in known]

    def read(data: bytes, at: int) -> tuple[Any, int]:
        found: dict[str, Any] = {}
        for name, step in steps:
            found[name], at = step(data, at)
        if not flexible:
            return found, at
        count, at = read_uvarint(data, at)
        if count:
            at = _read_tags(data, at, count, tagged, found)
            found = {name: found[name] for name in names if name in found}
        return found, at

    return read


def _read_tags(
    data: bytes, at: int, count: int, tagged: Mapping[int, tuple[MessageField, Reader]], found: dict[str, Any]
) -> int:
    """Put the known tagged fields that are not their default into `found`."""
    for _ in range(count):
        tag, at = read_uvarint(data, at)
        size, at = read_uvarint(data, at)
        if size > len(data) - at:
            raise Malformed(f"a tagged field of {size} bytes where {len(data) - at} are left")
        if tag in tagged:
            field, reader = tagged[tag]
            try:
                value, behind = reader(data[at : at + size], 0)
            except (Malformed, struct.error, IndexError):
                behind = -1
            if behind == size and value != _default(field):
                found[field.name] = value
        at += size
    return at


def _default(field: MessageField) -> Any:
    """Return the value that a tagged field has where it is absent."""
    if field.default is not None:
        return None if field.default == "null" else int(field.default)
    if field.is_array:
        return []
    if field.kind == "struct":
        return {inner.name: _default(inner) for inner in field.fields if inner.tag is None}
    return {"string": "", "bool": False, "uuid": ZERO_UUID, "bytes": ""}.get(field.kind, 0)


def _field_reader(field: MessageField, version: int, flexible: bool) -> Reader:
    if not field.is_array:
        return _element_reader(field, version, flexible, field.is_nullable)
    element = _element_reader(field, version, flexible, False)
    length = _length_reader(flexible, ">i")

    def read(data: bytes, at: int) -> tuple[Any, int]:
        count, at = length(data, at)
        if count < 0 and field.is_nullable:
            return None, at
        if not 0 <= count <= len(data) - at:
            raise Malformed(f"{field.name} with {count} entries where {len(data) - at} bytes are left")
        values = []
        for _ in range(count):
            value, at = element(data, at)
            values.append(value)
        return values, at

    return read


def _element_reader(field: MessageField, version: int, flexible: bool, nullable: bool) -> Reader:
    if field.kind in NUMBERS:
        return _number_reader(NUMBERS[field.kind])
    if field.kind == "bool":
        return _read_bool
    if field.kind == "uuid":
        return _read_uuid
    if field.kind == "struct":
        inner = _struct_reader(field.fields, version, flexible)
        return _nullable_struct_reader(inner, field.tag is not None) if nullable else inner
    return _bytes_reader(field, flexible, nullable)


def _number_reader(form: struct.Struct) -> Reader:
    unpack, size = form.unpack_from, form.size
    return lambda data, at: (unpack(data, at)[0], at + size)


def _read_bool(data: bytes, at: int) -> tuple[bool, int]:
    return data[at] != 0, at + 1


def _read_uuid(data: bytes, at: int) -> tuple[str, int]:
    content = data[at : at + UUID_SIZE]
    if len(content) < UUID_SIZE:
        raise Malformed("a uuid that ends early")
    return base64.urlsafe_b64encode(content).decode().rstrip("="), at + UUID_SIZE


def _nullable_struct_reader(inner: Reader, tagged: bool) -> Reader:
    """Return a reader that looks at the byte before the struct: null is -1 there, in a tagged field 0."""
    if tagged:
        return lambda data, at: (None, at + 1) if data[at] == 0 else inner(data, at + 1)
    return lambda data, at: (None, at + 1) if data[at] > 127 else inner(data, at + 1)


def _length_reader(flexible: bool, form: str) -> Callable[[bytes, int], tuple[int, int]]:
    """Return a reader of a length or count, in its compact form where the version is flexible."""
    if not flexible:
        return _number_reader(struct.Struct(form))

    def read(data: bytes, at: int) -> tuple[int, int]:
        value, at = read_uvarint(data, at)
        return value - 1, at

    return read


def _bytes_reader(field: MessageField, flexible: bool, nullable: bool) -> Reader:
    is_text = field.kind == "string"
    length_of = _length_reader(flexible, ">h" if is_text else ">i")

    def read(data: bytes, at: int) -> tuple[str | None, int]:
        length, at = length_of(data, at)
        if length < 0 and nullable:
            return None, at
        content = data[at : at + length] if length >= 0 else b""
        if length != len(content):
            raise Malformed(f"{field.name} of {length} bytes where {len(data) - at} are left")
        return java_text(content) if is_text else base64.b64encode(content).decode(), at + length

    return read
