"""What is at an offset as one JSON document: absent is null, times in ISO 8601 UTC.

Bytes are base64, and text where they are UTF-8.
"""

from __future__ import annotations

import base64
import dataclasses
from typing import Any

from kafkatx.histories.location import BatchFacts, Location, Locations, RecordFacts, StateFacts
from kafkatx.outputs.history_json import event, fields
from kafkatx.outputs.json_document import coverage_row, to_text
from kafkatx.outputs.locate_words import visible
from kafkatx.terms.times import iso

SCHEMA = 1


def to_json(locations: Locations, version: str) -> str:
    """Render the whole document."""
    return to_text(document(locations, version))


def document(locations: Locations, version: str) -> dict[str, Any]:
    """Return the document as plain data."""
    return {
        "kafkatx": version,
        "schema": SCHEMA,
        "topic": locations.topic,
        "partition": locations.partition,
        "offset": locations.offset,
        "locations": [_location(found) for found in locations.found],
        "coverage": [coverage_row(entry) for entry in locations.coverage],
    }


def _location(found: Location) -> dict[str, Any]:
    seen, holder = found.visibility, found.holder
    return {
        "capture": found.capture,
        "cluster_id": found.cluster_id,
        "log_start": found.log_start,
        "log_end": found.log_end,
        "last_stable_offset": seen.last_stable_offset,
        "high_watermark": found.high_watermark,
        "visible": seen.sees,
        "why": seen.sight.value,
        "text": visible(found),
        "marker_offset": seen.marker_offset,
        "held_by": None if holder is None else {"transactional_id": found.holder_name, **fields(holder)},
        "record": None if found.record is None else _record(found.record),
        "row": None if found.state_row is None else _row(found.state_row),
        "batch": None if found.batch is None else _batch(found.batch),
        "files": [dataclasses.asdict(copy) for copy in found.copies],
        "transactional_id": found.transactional_id,
        "transaction": None if found.transaction is None else event(found.transaction),
        "leftover": None if found.leftover is None else event(found.leftover),
        "before": None if found.before is None else dataclasses.asdict(found.before),
        "behind": None if found.behind is None else dataclasses.asdict(found.behind),
        "unlisted_in": list(found.unlisted_in),
        "problems": list(found.problems),
    }


def _batch(batch: BatchFacts) -> dict[str, Any]:
    times = {"base_timestamp": iso(batch.base_timestamp), "max_timestamp": iso(batch.max_timestamp)}
    return dataclasses.asdict(batch) | times


def _record(record: RecordFacts) -> dict[str, Any]:
    row: dict[str, Any] = {
        "timestamp": iso(record.timestamp),
        "sequence": record.sequence,
        "key_size": record.key_size,
        "value_size": record.value_size,
        "header_count": len(record.header_names),
    }
    if record.headers is not None:
        row["key"], row["value"] = _payload(record.key), _payload(record.value)
        row["headers"] = [{"key": _payload(name), "value": _payload(value)} for name, value in record.headers]
    return row


def _payload(data: bytes | None) -> dict[str, str | None] | None:
    if data is None:
        return None
    try:
        text: str | None = data.decode()
    except UnicodeDecodeError:
        text = None
    return {"text": text, "base64": base64.b64encode(data).decode()}


def _row(row: StateFacts) -> dict[str, Any]:
    return {
        "transactional_id": row.transactional_id,
        "is_tombstone": row.is_tombstone,
        **row.fields,
        "topic_partitions": list(row.partitions),
        "problem": row.problem,
    }
