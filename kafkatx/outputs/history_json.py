"""Histories as one JSON document: absent is null, times in ISO 8601 UTC.

Written timeline by timeline, so its size needs no memory.
"""

from __future__ import annotations

import dataclasses
import json
from enum import Enum, IntEnum
from typing import Any, TextIO

from kafkatx.histories.events import Event, LogLine, Part, Transaction
from kafkatx.histories.overview import overview
from kafkatx.histories.result import CaptureHistory, Histories
from kafkatx.histories.timeline import Timeline
from kafkatx.outputs.history_words import sentence
from kafkatx.outputs.json_document import coverage_row
from kafkatx.terms.times import iso
from kafkatx.terms.transaction_states import state_name

SCHEMA = 1
NAMES = {
    "Initialisation": "initialisation",
    "Expiry": "expired",
    "Transaction": "transaction",
    "Leftover": "leftover",
    "LogLine": "log_line",
    "ProtocolChange": "protocol_change",
    "Idle": "idle",
    "RowsMissing": "rows_missing",
}
TIMES = {"at", "until", "started_at", "decided_at", "completed_at", "last_marker_at", "first_at", "last_at"}
"""Fields that are times in milliseconds."""
RENAMED = {"first_at": "from", "last_at": "to"}


def write_json(stream: TextIO, histories: Histories, version: str) -> None:
    """Write the whole document, an event a line."""
    stream.write(f'{{\n "kafkatx": {json.dumps(version)},\n "schema": {SCHEMA},\n "histories": [')
    separator = "\n"
    for capture in histories.captures:
        for timeline in capture.book.timelines():
            stream.write(separator)
            _write_history(stream, capture, timeline)
            separator = ",\n"
    stream.write("\n ],\n")
    coverage = [coverage_row(entry) for entry in histories.coverage]
    damage = [dataclasses.asdict(entry) for entry in histories.damage]
    stream.write(f' "coverage": {_indented(coverage)},\n "damage": {_indented(damage)}\n}}\n')


def _write_history(stream: TextIO, capture: CaptureHistory, timeline: Timeline) -> None:
    head = _indented(heading(capture, timeline)).removesuffix("\n }")
    stream.write(f'{head},\n  "events": [')
    separator = "\n   "
    for entry in timeline.events():
        stream.write(separator + json.dumps(event(entry)))
        separator = ",\n   "
    stream.write("\n  ]\n }")


def _indented(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, indent=1).replace("\n", "\n ")


def heading(capture: CaptureHistory, timeline: Timeline) -> dict[str, Any]:
    """Return what is said of a timeline as a whole."""
    return {
        "capture": capture.capture,
        "cluster_id": capture.cluster_id,
        "transactional_id": timeline.transactional_id,
        "producer_ids": timeline.producer_ids,
        "state_partition": timeline.state_partition,
        **fields(overview(timeline)),
        "latest": _latest(timeline),
        **({"clocks": _clocks(timeline)} if timeline.clocks else {}),
    }


def event(entry: Event) -> dict[str, Any]:
    """Return one event as plain data, with the sentence that text output prints."""
    if isinstance(entry, LogLine):
        return _log_line(entry)
    row = {"event": NAMES[type(entry).__name__], "text": sentence(entry), **fields(entry)}
    if isinstance(entry, Transaction):
        row.pop("row")
        row["decision_to_last_marker_ms"] = entry.decision_to_last_marker_ms
    return row


def _log_line(entry: LogLine) -> dict[str, Any]:
    return {
        "event": NAMES[type(entry).__name__],
        "text": sentence(entry),
        "at": iso(entry.at),
        "source": entry.path,
        "line": entry.line,
        "lines": entry.lines,
        "kind": entry.kind.name,
        "level": entry.level.name,
        "side": entry.side.name,
        "client_id": entry.client_id,
        "exception": entry.failure.exception if entry.failure is not None else None,
        "call": entry.failure.call if entry.failure is not None else None,
    }


def _clocks(timeline: Timeline) -> list[dict[str, Any]]:
    paths = [source.path for source in timeline.model.logs.facts.sources]
    return [{"source": paths[number], **dataclasses.asdict(clock)} for number, clock in timeline.clocks]


def fields(value: Any) -> dict[str, Any]:
    """Return a dataclass's fields: times as text, enumerations by name, nested ones alike."""
    found = ((name, getattr(value, name)) for name in type(value).__dataclass_fields__)
    return {RENAMED.get(name, name): iso(item) if name in TIMES else _plain(item) for name, item in found}


def _plain(value: Any) -> Any:
    if value is None or type(value) in (int, str, bool):
        return value
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Enum):
        return value.name if isinstance(value, IntEnum) else value.value
    if dataclasses.is_dataclass(value):
        row = fields(value)
        return {**row, "status": row["status"].lower()} if isinstance(value, Part) else row
    return value


def _latest(timeline: Timeline) -> dict[str, Any] | None:
    row = timeline.latest
    if row is None:
        return None
    return {
        "offset": int(row["offset"]),
        "at": iso(int(row["timestamp"])),
        "state": None if row["state"] < 0 else state_name(int(row["state"])),
        "is_tombstone": bool(row["state"] < 0),
        "producer_id": _known(row["producer_id"]),
        "producer_epoch": _known(row["producer_epoch"]),
        "timeout_ms": _known(row["timeout_ms"]),
        "updated_at": iso(int(row["updated_at"])),
    }


def _known(value: Any) -> int | None:
    return int(value) if value >= 0 else None
