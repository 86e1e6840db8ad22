"""What the JSON documents of all commands share: their frame, the files of the coverage, a time as text."""

from __future__ import annotations

import json
from typing import Any

from kafkatx.evidence.coverage import Coverage
from kafkatx.terms.errors import EngineError
from kafkatx.terms.times import iso


def to_text(document: dict[str, Any]) -> str:
    """Render a whole document, one value a line."""
    return json.dumps(document, ensure_ascii=True, indent=1) + "\n"


def coverage_row(entry: Coverage) -> dict[str, Any]:
    """One file of the coverage."""
    return {
        "capture": entry.capture,
        "path": entry.path,
        "kind": entry.kind,
        "cluster_id": entry.cluster_id,
        "broker_id": entry.broker_id,
        "topic": entry.topic,
        "partition": entry.partition,
        "first_offset": entry.first_offset,
        "last_offset": entry.last_offset,
        "from": iso(entry.first_timestamp),
        "to": iso(entry.last_timestamp),
        "bytes": entry.bytes,
        "verified": entry.verified,
        "status": entry.status,
        "note": entry.note,
    }


def error_row(error: EngineError) -> dict[str, Any]:
    """Return what is told of an engine that failed: what, and where as far as that is known."""
    where = {name: getattr(error, name) for name in ("stage", "file", "worker", "memory_bytes")}
    return {"kind": type(error).__name__, "text": str(error), **where}
