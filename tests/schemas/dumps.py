"""Schema of a line of `dump --format json`: a file, a batch, a record, an entry, a line of text, or damage.

Keys and values of internal topics (`decoded_key`, `decoded_value`, `content`) are as Kafka's own schemas have them:
objects of any fields here.
"""

from __future__ import annotations

from kafkatx.evidence.item import Kind
from kafkatx.segments.damage import Damage
from tests.schemas.shapes import (
    BOOLEAN,
    COUNT,
    DRAFT,
    INTEGER,
    STRING,
    Schema,
    Shapes,
    array,
    choice,
    or_null,
    record,
    values_of,
)
from tests.schemas.shared import DAMAGES, place, producer

CONTENT: Schema = {"type": ["object", "null"]}


def dump() -> Schema:
    """Return the schema of each line of `dump --format json`."""
    shapes = Shapes()
    damage = shapes.as_it_is(Damage, kind=DAMAGES)
    shapes.definitions["Damage"] = record({"object": {"const": "damage"}, **shapes.definitions["Damage"]["properties"]})
    lines = {
        "File": _line("file", {"kind": values_of(Kind), **place(), "base_offset": or_null(COUNT), "bytes": COUNT}),
        "Batch": _line("batch", {**place(), **_batch()}),
        "Record": _record(),
        **_entries(),
        "Line": _line("line", {"number": COUNT, "text": STRING}),
    }
    found = [*(shapes.define(name, schema) for name, schema in lines.items()), damage]
    title = "What a line of kafkatx dump --format json holds"
    return {"$schema": DRAFT, "title": title, "oneOf": found, "$defs": dict(sorted(shapes.definitions.items()))}


def _line(name: str, own: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    return record({"object": {"const": name}, "path": STRING, **own}, optional)


def _batch() -> dict[str, Schema]:
    return {
        "position": COUNT,
        "base_offset": INTEGER,
        "last_offset": INTEGER,
        "record_count": or_null(COUNT),
        "magic": INTEGER,
        "codec": STRING,
        "is_transactional": BOOLEAN,
        "is_control": BOOLEAN,
        "timestamp_type": STRING,
        "leader_epoch": or_null(INTEGER),
        **producer(),
        "base_sequence": or_null(INTEGER),
        "last_sequence": or_null(INTEGER),
        "max_timestamp_ms": or_null(INTEGER),
        "delete_horizon_ms": or_null(INTEGER),
        "crc": COUNT,
        "crc_valid": BOOLEAN,
        "size": COUNT,
    }


def _record() -> Schema:
    told = {
        **place(),
        "batch_position": COUNT,
        "offset": INTEGER,
        "timestamp_ms": or_null(INTEGER),
        "sequence": or_null(INTEGER),
        **producer(),
        "is_transactional": BOOLEAN,
        "key_size": or_null(COUNT),
        "value_size": or_null(COUNT),
    }
    of_messages = {"crc": COUNT, "crc_valid": BOOLEAN}
    of_control = {"control_type": {"type": ["string", "integer", "null"]}, "coordinator_epoch": or_null(INTEGER)}
    headers = array(record({"key": or_null(STRING), "value": or_null(STRING)}, _in_base64()))
    payload = {"key": or_null(STRING), "value": or_null(STRING), **_in_base64(), "headers": headers}
    decoded = {"decoded_key": CONTENT, "decoded_value": CONTENT, "decode_problem": STRING}
    return _line("record", told, {**of_messages, **of_control, "content": CONTENT, **payload, **decoded})


def _in_base64() -> dict[str, Schema]:
    """Bytes that are no text."""
    return {"key_base64": STRING, "value_base64": STRING}


def _entries() -> dict[str, Schema]:
    offsets = {"first_offset": INTEGER, "last_offset": INTEGER, "last_stable_offset": INTEGER}
    producer_state = {
        "producer_id": INTEGER,
        "producer_epoch": INTEGER,
        "first_sequence": or_null(INTEGER),
        "last_sequence": or_null(INTEGER),
        "last_offset": or_null(INTEGER),
        "timestamp_ms": INTEGER,
        "coordinator_epoch": or_null(INTEGER),
        "open_since_offset": or_null(INTEGER),
    }
    return {
        "AbortedTransaction": _entry(Kind.TXNINDEX, {"version": INTEGER, "producer_id": INTEGER, **offsets}),
        "ProducerState": _entry(Kind.SNAPSHOT, producer_state),
        "OffsetEntry": _entry(Kind.INDEX, {"offset": INTEGER, "position": INTEGER}),
        "TimeEntry": _entry(Kind.TIMEINDEX, {"timestamp_ms": INTEGER, "offset": INTEGER}),
    }


def _entry(kind: Kind, own: dict[str, Schema]) -> Schema:
    return _line("entry", {"kind": choice(kind.value), **own})
