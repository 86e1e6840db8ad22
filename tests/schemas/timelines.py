"""Schemas of what tells histories: the document of `history`, and that of `locate`, which shows events of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from enum import Enum, IntEnum
from typing import Any, get_args, get_type_hints

from kafkatx.histories.endings import EndedBy
from kafkatx.histories.events import Event, Leftover, LogLine, Part, Transaction
from kafkatx.histories.location import BatchFacts, Copy, Neighbour
from kafkatx.histories.logs.log_model import Clock
from kafkatx.histories.overview import Overview
from kafkatx.histories.visibility import Sight
from kafkatx.outputs import history_json, locate_json
from kafkatx.outputs.history_json import NAMES, RENAMED, TIMES
from kafkatx.segments.damage import Damage
from kafkatx.terms.events import EventKind, Level, Side
from tests.schemas.shapes import (
    BOOLEAN,
    COUNT,
    INTEGER,
    STRING,
    TIME,
    Schema,
    Shapes,
    array,
    document,
    names_of,
    or_null,
    record,
    values_of,
)
from tests.schemas.shared import DAMAGES, coverage_row, head, producer


def _enumeration(kind: type[Enum]) -> Schema:
    return names_of(kind) if issubclass(kind, IntEnum) else values_of(kind)


class _Events(Shapes):
    """Classes as `outputs/history_json.fields` writes them: times as text, enumerations by name."""

    def __init__(self) -> None:
        super().__init__(_enumeration)

    def as_it_is(self, kind: type[Any], /, **instead: Schema) -> Schema:
        """Return the schema of a class of an event or of a part of one."""
        shown = self.fields_of(kind) | instead
        if kind is Part:
            shown["status"] = {"enum": [name.lower() for name in shown["status"]["enum"]]}
        return self.define(kind.__name__, record(shown))

    def fields_of(self, kind: type[Any]) -> dict[str, Schema]:
        """Return the fields of a class."""
        hints = get_type_hints(kind)
        return {
            RENAMED.get(one.name, one.name): or_null(TIME) if one.name in TIMES else self.of(hints[one.name])
            for one in fields(kind)
        }


def history() -> Schema:
    """Return the schema of `history --format json`."""
    shapes, plain = _Events(), Shapes()
    timeline = record(_heading(shapes) | {"events": array(_any_of(_events(shapes, get_args(Event))))}, _clocks(plain))
    shown = {
        **head(history_json.SCHEMA),
        "histories": array(shapes.define("History", timeline)),
        "coverage": array(shapes.define("Coverage", coverage_row())),
        "damage": array(plain.as_it_is(Damage, kind=DAMAGES)),
    }
    shapes.definitions |= plain.definitions
    return document("What kafkatx history --format json prints", shown, shapes)


def location() -> Schema:
    """Return the schema of `locate --format json`."""
    shapes, plain = _Events(), Shapes()
    shown = {
        **head(locate_json.SCHEMA),
        "topic": STRING,
        "partition": INTEGER,
        "offset": INTEGER,
        "locations": array(shapes.define("Location", _location(shapes, plain))),
        "coverage": array(shapes.define("Coverage", coverage_row())),
    }
    shapes.definitions |= plain.definitions
    return document("What kafkatx locate --format json prints", shown, shapes)


def _any_of(schemas: Iterable[Schema]) -> Schema:
    return {"oneOf": list(schemas)}


def _heading(shapes: _Events) -> dict[str, Schema]:
    return {
        "capture": STRING,
        "cluster_id": or_null(STRING),
        "transactional_id": or_null(STRING),
        "producer_ids": array(INTEGER),
        "state_partition": or_null(INTEGER),
        **shapes.fields_of(Overview),
        "ended_by": record({}, {ender.name: COUNT for ender in EndedBy}),
        "latest": or_null(shapes.define("LatestRow", _latest())),
    }


def _latest() -> Schema:
    return record(
        {
            "offset": COUNT,
            "at": or_null(TIME),
            "state": or_null(STRING),
            "is_tombstone": BOOLEAN,
            **producer(),
            "timeout_ms": or_null(INTEGER),
            "updated_at": or_null(TIME),
        }
    )


def _clocks(shapes: Shapes) -> dict[str, Schema]:
    clock = shapes.as_it_is(Clock)
    shapes.definitions["Clock"] = record({"source": STRING, **shapes.definitions["Clock"]["properties"]})
    return {"clocks": array(clock)}


def _events(shapes: _Events, kinds: Iterable[type[Any]]) -> list[Schema]:
    return [_event(shapes, kind) for kind in kinds]


def _event(shapes: _Events, kind: type[Any]) -> Schema:
    told = {"event": {"const": NAMES[kind.__name__]}, "text": STRING}
    own = _line() if kind is LogLine else shapes.fields_of(kind)
    if kind is Transaction:
        own = {name: schema for name, schema in own.items() if name != "row"}
        own["decision_to_last_marker_ms"] = or_null(INTEGER)
    return shapes.define(kind.__name__, record(told | own))


def _line() -> dict[str, Schema]:
    return {
        "at": or_null(TIME),
        "source": STRING,
        "line": COUNT,
        "lines": COUNT,
        "kind": names_of(EventKind),
        "level": names_of(Level),
        "side": names_of(Side),
        "client_id": or_null(STRING),
        "exception": or_null(STRING),
        "call": or_null(STRING),
    }


def _location(shapes: _Events, plain: Shapes) -> Schema:
    transaction, leftover = _events(shapes, (Transaction, Leftover))
    holder = record({"transactional_id": or_null(STRING), **shapes.fields_of(Leftover)})
    neighbour = or_null(plain.as_it_is(Neighbour))
    times = {"base_timestamp": or_null(TIME), "max_timestamp": or_null(TIME)}
    return record(
        {
            "capture": STRING,
            "cluster_id": or_null(STRING),
            "log_start": COUNT,
            "log_end": COUNT,
            "last_stable_offset": COUNT,
            "high_watermark": or_null(INTEGER),
            "visible": or_null(BOOLEAN),
            "why": values_of(Sight),
            "text": STRING,
            "marker_offset": or_null(INTEGER),
            "held_by": or_null(shapes.define("Holder", holder)),
            "record": or_null(shapes.define("Record", _record(shapes))),
            "row": or_null(shapes.define("StateRow", _row())),
            "batch": or_null(plain.as_it_is(BatchFacts, **times)),
            "files": array(plain.as_it_is(Copy)),
            "transactional_id": or_null(STRING),
            "transaction": or_null(transaction),
            "leftover": or_null(leftover),
            "before": neighbour,
            "behind": neighbour,
            "unlisted_in": array(STRING),
            "problems": array(STRING),
        }
    )


def _record(shapes: Shapes) -> Schema:
    payload = or_null(shapes.define("Payload", record({"text": or_null(STRING), "base64": STRING})))
    sizes = {"key_size": or_null(COUNT), "value_size": or_null(COUNT), "header_count": COUNT}
    header = shapes.define("Header", record({"key": payload, "value": payload}))
    return record(
        {"timestamp": or_null(TIME), "sequence": or_null(INTEGER), **sizes},
        {"key": payload, "value": payload, "headers": array(header)},
    )


def _row() -> Schema:
    """A row of `__transaction_state`: a tombstone, and one that can't be decoded, have none of the optional fields."""
    value = {
        "state": STRING,
        "producer_id": INTEGER,
        "producer_epoch": INTEGER,
        "timeout_ms": INTEGER,
        "started_at": or_null(TIME),
        "updated_at": or_null(TIME),
        "previous_producer_id": or_null(INTEGER),
        "next_producer_id": or_null(INTEGER),
        "client_transaction_version": or_null(INTEGER),
        "next_producer_epoch": or_null(INTEGER),
        "version": INTEGER,
        "unknown_tagged_fields": COUNT,
    }
    told = {"transactional_id": or_null(STRING), "is_tombstone": BOOLEAN}
    return record({**told, "topic_partitions": array(STRING), "problem": or_null(STRING)}, value)
