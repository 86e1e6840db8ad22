"""What `collect` took as one JSON document; absent is null."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from kafkatx.findings.diagnosis import NextEvidence
from kafkatx.outputs.json_document import to_text
from kafkatx.stages.collected import Collected
from kafkatx.terms.times import iso

SCHEMA = 1


def to_json(found: Collected, version: str) -> str:
    """Render the whole document; `next` has the shape that it has in a diagnosis."""
    document = {
        "kafkatx": version,
        "schema": SCHEMA,
        "transactional_ids": list(found.transactional_ids),
        "findings": list(found.findings),
        "bytes": found.bytes,
        "taken": [asdict(one) for one in found.taken],
        "widened": found.widened,
        "is_alike": found.is_alike,
        "as_of": None if found.as_of is None else iso(found.as_of),
        "out": found.out,
        "mapping": found.mapping,
        "notes": found.notes,
        "next": [_next(one) for one in found.missing],
    }
    return to_text(document)


def _next(one: NextEvidence) -> dict[str, Any]:
    asked = one.asked
    told = {"what": asked.what, "why": asked.why, "where": asked.where, "command": asked.command}
    return told | {"decides": list(one.decides)}
