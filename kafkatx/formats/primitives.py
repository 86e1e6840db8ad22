"""Encodings that Kafka's messages are made of.

Bytes     int8 to int64 are construct's `Int8sb` to `Int64sb`: big-endian, two's complement. uvarint: base-128 groups,
          lowest first, high bit = more follow; at most 5 bytes, 32 bits. varint, varlong: zig-zag (0, -1, 1, -2, ...),
          then groups as above; at most 5 and 10 bytes. string, bytes: int16 / int32 length, then UTF-8 / bytes; length
          -1 is null, 0 is empty. compact_*: the same with uvarint(length + 1); 0 is null. array: int32 count, then the
          items; -1 is null. compact_array: uvarint(count + 1); 0 is null. tagged_fields: uvarint count, then per field
          uvarint tag, uvarint size, size bytes.
Versions  varint and varlong stand inside records of batch v2 only; compact forms and tags in flexible message versions
          (KIP-482).
Meaning   null and empty differ everywhere. A tag that is not known must be kept or skipped by its size, never refused.
Limits    Kafka writes the shortest form of a number; a longer form of it is read, but not built again. Bytes that are
          no UTF-8 are kept as lone surrogates (Python's surrogateescape), so that a text can be written back as it
          was.
Source    ByteUtils.java, Protocol types in Type.java, RawTaggedField.java (Kafka 0.11 to 4.3); KIP-482.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, BinaryIO

from kafkatx.formats.layout import Int16sb, Int32sb, Layout, Malformed, coded, take
from kafkatx.terms.records import dataclass

MAX_VARINT_BYTES, MAX_VARLONG_BYTES = 5, 10


@dataclass(frozen=True, slots=True)
class TaggedField:
    """A field of a flexible message as it stands in the bytes: its number and its content."""

    tag: int
    data: bytes


def _read_groups(stream: BinaryIO, bits: int) -> int:
    value, shift, more = 0, 0, True
    while more:
        if shift >= bits:
            raise Malformed(f"a varint that goes on after {shift // 7} bytes")
        byte = take(stream, 1)[0]
        value |= (byte & 0x7F) << shift
        shift, more = shift + 7, byte > 0x7F
    if value >> bits:
        raise Malformed(f"a varint of more than {bits} bits")
    return value


def _groups(value: int, bits: int) -> bytes:
    if value < 0 or value >> bits:
        raise Malformed(f"{value} does not fit a varint of {bits} bits")
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*groups, value])


def _zig_zag(bits: int) -> Any:
    def read(stream: BinaryIO) -> int:
        folded = _read_groups(stream, bits)
        return (folded >> 1) ^ -(folded & 1)

    def write(value: int) -> bytes:
        return _groups(value * 2 if value >= 0 else -value * 2 - 1, bits)

    return coded(read, write)


UVarint = coded(lambda stream: _read_groups(stream, 32), lambda value: _groups(value, 32))
Varint = _zig_zag(32)
Varlong = _zig_zag(64)


def _read_compact(stream: BinaryIO) -> int:
    return _read_groups(stream, 32) - 1


CompactLength = coded(_read_compact, lambda length: _groups(length + 1, 32))
"""A length or count of a compact form: what is written is one more, so that 0 can mean null (-1 here)."""


def _sized_bytes(length: Any) -> Any:
    size = Layout.of(length)

    def read(stream: BinaryIO) -> bytes | None:
        count = size.read(stream)
        return None if count == -1 else take(stream, count)

    def write(value: bytes | None) -> bytes:
        return size.written(-1) if value is None else size.written(len(value)) + value

    return coded(read, write)


def _text(content: Any) -> Any:
    inner = Layout.of(content)

    def read(stream: BinaryIO) -> str | None:
        data = inner.read(stream)
        return None if data is None else data.decode("utf-8", "surrogateescape")

    def write(value: str | None) -> bytes:
        return inner.written(None if value is None else value.encode("utf-8", "surrogateescape"))

    return coded(read, write)


def _counted(count: Any, item: Any) -> Any:
    number, entry = Layout.of(count), Layout.of(item)

    def read(stream: BinaryIO) -> tuple[Any, ...] | None:
        items = number.read(stream)
        if items < -1:
            raise Malformed(f"an array of {items} entries")
        return None if items == -1 else tuple(entry.read(stream) for _ in range(items))

    def write(value: Sequence[Any] | None) -> bytes:
        if value is None:
            return number.written(-1)
        return number.written(len(value)) + b"".join(entry.written(item) for item in value)

    return coded(read, write)


def not_null(content: Any) -> Any:
    """Return a construct for a value that may not be null where its encoding could say so."""
    inner = Layout.of(content)

    def read(stream: BinaryIO) -> Any:
        value = inner.read(stream)
        if value is None:
            raise Malformed("null where a value is required")
        return value

    def write(value: Any) -> bytes:
        if value is None:
            raise Malformed("null where a value is required")
        return inner.written(value)

    return coded(read, write)


Bytes = _sized_bytes(Int32sb)
CompactBytes = _sized_bytes(CompactLength)
VarintBytes = _sized_bytes(Varint)
"""Key or value of a record of batch v2."""

String = _text(_sized_bytes(Int16sb))
CompactString = _text(CompactBytes)
VarintString = not_null(_text(VarintBytes))
"""Key of a record header: never null."""


def array_of(item: Any) -> Any:
    """Return an array with an int32 count; None is the null array, () the empty one."""
    return _counted(Int32sb, item)


def compact_array_of(item: Any) -> Any:
    """Return an array with a compact count; None is the null array, () the empty one."""
    return _counted(CompactLength, item)


def varint_array_of(item: Any) -> Any:
    """Return an array with a varint count (the headers of a record): never null."""
    return not_null(_counted(Varint, item))


def _read_tagged_field(stream: BinaryIO) -> TaggedField:
    tag = _read_groups(stream, 32)
    return TaggedField(tag, take(stream, _read_groups(stream, 32)))


def _tagged_field(field: TaggedField) -> bytes:
    return _groups(field.tag, 32) + _groups(len(field.data), 32) + field.data


TaggedFields = not_null(_counted(UVarint, coded(_read_tagged_field, _tagged_field)))
"""The tagged fields that end a struct of a flexible version, raw and in the order of the bytes."""


def tagged_value(fields: Iterable[TaggedField], tag: int, content: Any) -> Any:
    """Return the value of a tagged field of fixed size, None if absent; of repeated ones the last counts, as in Kafka.

    A field of another size than that of `content` is none of the known ones (a later release may reuse the number).
    """
    size = Layout.of(content).sizeof()
    found = [field.data for field in fields if field.tag == tag and len(field.data) == size]
    return Layout.of(content).parse(found[-1]) if found else None
