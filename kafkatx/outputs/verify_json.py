"""What `verify` found as one JSON document: coverage and damage as in the contract, absent is null."""

from __future__ import annotations

import json
from typing import Any

from kafkatx.evidence.coverage import Coverage
from kafkatx.evidence.verification import Verification
from kafkatx.outputs.diagnosis_json import coverage_row
from kafkatx.segments.damage import Damage

SCHEMA = 1


def to_json(found: Verification, version: str) -> str:
    """Render the whole document; `ordinary` has the shape of `damage` and is none."""
    document = {
        "kafkatx": version,
        "schema": SCHEMA,
        "coverage": [_coverage_row(entry) for entry in found.coverage],
        "damage": [_damage_row(damage) for damage in found.damage],
        "ordinary": [_damage_row(damage) for damage in found.ordinary],
    }
    return json.dumps(document, ensure_ascii=True, indent=1) + "\n"


def _coverage_row(entry: Coverage) -> dict[str, Any]:
    """Return a file of the coverage, with what verify alone counts."""
    counts = {"batches": entry.batches, "records": entry.records, "preallocated_bytes": entry.preallocated}
    return coverage_row(entry) | counts


def _damage_row(damage: Damage) -> dict[str, Any]:
    return {
        "kind": damage.kind,
        "path": damage.path,
        "position": damage.position,
        "bytes": damage.bytes,
        "expected": damage.expected,
        "found": damage.found,
    }
