"""Random record messages and their bytes by their declarations, so that readers can be held against something."""

import base64
import random
import struct
from typing import Any

from kafkatx.formats.message_schemas import Message, MessageField
from kafkatx.formats.messages import NUMBERS

TEXTS = ("", "a", "schlüssel", 'quote " \\ /', "line\nend\ttab\x1f\x0b\x7f", "日本", "x" * 130)


def uvarint(value: int) -> bytes:
    groups = bytearray()
    while value > 127:
        groups.append(value & 127 | 128)
        value >>= 7
    return bytes([*groups, value])


def random_message(message: Message, version: int, dice: random.Random) -> tuple[dict[str, Any], bytes]:
    """A value of a message as its reader must give it back, and its bytes."""
    return random_struct(message.fields, version, version in message.flexible, dice)


def random_struct(
    fields: tuple[MessageField, ...], version: int, flexible: bool, dice: random.Random
) -> tuple[Any, bytes]:
    values, data, tagged = {}, b"", {}
    for field in fields:
        if version not in field.versions:
            continue
        if field.tag is None:
            values[field.name], written = random_field(field, version, flexible, dice)
            data += written
        elif dice.random() < 0.7:
            value, written = random_field(field, version, flexible, dice)
            tagged[field.tag] = written
            if value != default(field):
                values[field.name] = value
    if flexible:
        if dice.random() < 0.2:
            tagged[99] = b"unknown"
        data += uvarint(len(tagged))
        for tag in sorted(tagged):
            data += uvarint(tag) + uvarint(len(tagged[tag])) + tagged[tag]
    return values, data


def default(field: MessageField) -> Any:
    if field.default is not None:
        return None if field.default == "null" else int(field.default)
    if field.is_array:
        return []
    if field.kind == "struct":
        return {inner.name: default(inner) for inner in field.fields if inner.tag is None}
    return {"string": "", "bool": False, "uuid": "A" * 22, "bytes": ""}.get(field.kind, 0)


def random_field(field: MessageField, version: int, flexible: bool, dice: random.Random) -> tuple[Any, bytes]:
    is_null = field.is_nullable and dice.random() < 0.3
    if field.is_array:
        if is_null:
            return None, uvarint(0) if flexible else struct.pack(">i", -1)
        items = [random_element(field, version, flexible, dice) for _ in range(dice.randrange(3))]
        count = uvarint(len(items) + 1) if flexible else struct.pack(">i", len(items))
        return [value for value, _ in items], count + b"".join(data for _, data in items)
    if field.kind == "struct" and field.is_nullable:
        absent, present = (b"\0", b"\1") if field.tag is not None else (b"\xff", b"\1")
        if is_null:
            return None, absent
        value, data = random_element(field, version, flexible, dice)
        return value, present + data
    return random_element(field, version, flexible, dice, is_null)


def random_element(
    field: MessageField, version: int, flexible: bool, dice: random.Random, is_null: bool = False
) -> tuple[Any, bytes]:
    if field.kind == "struct":
        return random_struct(field.fields, version, flexible, dice)
    if field.kind in NUMBERS:
        return random_number(field.kind, dice)
    if field.kind == "bool":
        value = dice.random() < 0.5
        return value, bytes([value])
    if field.kind == "uuid":
        data = dice.choice((bytes(16), dice.randbytes(16)))
        return base64.urlsafe_b64encode(data).decode().rstrip("="), data
    is_text = field.kind == "string"
    if is_null:
        return None, uvarint(0) if flexible else struct.pack(">h" if is_text else ">i", -1)
    text = dice.choice(TEXTS)
    data = text.encode() if is_text else dice.randbytes(dice.randrange(5))
    size = uvarint(len(data) + 1) if flexible else struct.pack(">h" if is_text else ">i", len(data))
    return text if is_text else base64.b64encode(data).decode(), size + data


def random_number(kind: str, dice: random.Random) -> tuple[Any, bytes]:
    form = NUMBERS[kind]
    if kind == "float64":
        value = dice.choice((0.0, 1.5, 1048576.0, 10485760.0, -1e22, 0.0001, 123456789.125))
    else:
        bits = 8 * form.size
        low, high = (0, 1 << bits) if kind.startswith("u") else (-(1 << bits - 1), 1 << bits - 1)
        value = dice.choice((max(low, -1), 0, 1, 7, low, high - 1, dice.randrange(low, high)))
    return value, form.pack(value)
