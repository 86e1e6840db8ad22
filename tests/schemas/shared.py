"""Schemas of what several documents hold: files of the coverage, damage, what to bring next."""

from __future__ import annotations

from kafkatx.evidence.item import Kind
from kafkatx.evidence.verification import DAMAGED, EMPTY, TORN, UNREADABLE, WHOLE
from tests.schemas.shapes import COUNT, INTEGER, STRING, TIME, Schema, Shapes, array, choice, or_null, record, values_of

STATUSES = choice(WHOLE, TORN, DAMAGED, EMPTY, UNREADABLE, "left out", "noted")
DAMAGES = choice("crc", "header", "torn", "hidden", "entry", "diverged", "unreadable")


def head(version: int) -> dict[str, Schema]:
    """Return the first two fields of every document: the release that wrote it, and the version of its shape."""
    return {"kafkatx": STRING, "schema": {"const": version}}


def place() -> dict[str, Schema]:
    """Return the fields that name a partition, where there is one."""
    return {"topic": or_null(STRING), "partition": or_null(INTEGER)}


def producer() -> dict[str, Schema]:
    """Return the fields that name a producer, where it is known."""
    return {"producer_id": or_null(INTEGER), "producer_epoch": or_null(INTEGER)}


def coverage_row(**more: Schema) -> Schema:
    """Return the schema of `outputs/json_document.coverage_row`, with what a command adds to it."""
    shown = {
        "capture": or_null(STRING),
        "path": STRING,
        "kind": values_of(Kind),
        "cluster_id": or_null(STRING),
        "broker_id": or_null(INTEGER),
        **place(),
        "first_offset": or_null(INTEGER),
        "last_offset": or_null(INTEGER),
        "from": or_null(TIME),
        "to": or_null(TIME),
        "bytes": COUNT,
        "verified": or_null(STRING),
        "status": STATUSES,
        "note": or_null(STRING),
    }
    return record(shown | more)


def next_evidence(shapes: Shapes) -> Schema:
    """Return the schema of an entry of `next`."""
    shown = {"what": STRING, "why": STRING, "where": STRING, "command": or_null(STRING), "decides": array(STRING)}
    return shapes.define("Next", record(shown))


def failure(shapes: Shapes) -> Schema:
    """Return the schema of `error`, which only a document has whose engine failed (exit code 5)."""
    error = {"kind": STRING, "text": STRING, **dict.fromkeys(("stage", "file", "worker"), or_null(STRING))}
    return shapes.define("Error", record({**error, "memory_bytes": or_null(COUNT)}))
