"""Records of `__cluster_metadata` as kafka-dump-log's decoder prints them (since 2.8), as what they say.

Shape   payload `{"type":"TOPIC_RECORD","version":0,"data":{...}}`; control records by their type.
Limits  what is not of the declared fields and types is no record: a page may be anybody's. What a control record holds
        besides its type is not read.
Source  DumpLogSegments.ClusterMetadataLogMessageParser (Kafka 2.8 to 4.3).
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from kafkatx.formats.control_record import ControlType
from kafkatx.formats.message_schemas import Message, MessageField, component
from kafkatx.formats.metadata_log import QUORUM_MESSAGES, hide_secrets
from kafkatx.segments.metadata_log import Said
from kafkatx.text.dump.table import TextRecord

PAYLOAD = ' payload: {"type":"'
BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
UNSIGNED = {"uint16": 16, "uint32": 32}
_JSON = json.JSONDecoder()


def metadata_said(record: TextRecord) -> Said | None:
    """Return what a printed record says, None where it says nothing that can be read."""
    if record.control_type is not None:
        return _control(record.control_type)
    if record.printed is None or not record.printed.startswith(PAYLOAD):
        return None
    try:
        found, _ = _JSON.raw_decode(record.printed, len(" payload: "))
        message, version, data = _messages()[found["type"]], found["version"], found["data"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    if type(version) is not int or version not in message.versions or not _is_struct(message.fields, version, data):
        return None
    hide_secrets(message.name, data)
    return Said(message.name, version, data)


def _control(number: int) -> Said:
    known = number in QUORUM_MESSAGES
    return Said(QUORUM_MESSAGES[ControlType(number)] if known else f"unknown control({number})", None, None)


@cache
def _messages() -> dict[str, Message]:
    """Records by the name of their type: `NoOpRecord` is NO_OP_RECORD."""
    return {re.sub(r"(?<!^)([A-Z])", r"_\1", one.name).upper(): one for one in component("cluster_metadata")}


def _is_struct(fields: tuple[MessageField, ...], version: int, value: Any) -> bool:
    """Whether a value has the fields of a version, each of its type; only tagged ones may be left out."""
    if not isinstance(value, dict):
        return False
    known = {field.name: field for field in fields if version in field.versions}
    whole = all(field.name in value or field.tag is not None for field in known.values())
    return whole and all(name in known and _is_field(known[name], version, one) for name, one in value.items())


def _is_field(field: MessageField, version: int, value: Any) -> bool:
    if value is None:
        return field.is_nullable
    if not field.is_array:
        return _is_element(field, version, value)
    return isinstance(value, list) and all(_is_element(field, version, one) for one in value)


def _is_element(field: MessageField, version: int, value: Any) -> bool:
    if field.kind == "struct":
        return _is_struct(field.fields, version, value)
    if field.kind == "bool":
        return isinstance(value, bool)
    if field.kind == "float64":
        return isinstance(value, int | float)
    if field.kind in BITS:
        return type(value) is int and -(1 << BITS[field.kind] - 1) <= value < 1 << BITS[field.kind] - 1
    if field.kind in UNSIGNED:
        return type(value) is int and 0 <= value < 1 << UNSIGNED[field.kind]
    return isinstance(value, str)
