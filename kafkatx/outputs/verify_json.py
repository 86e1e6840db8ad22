"""What `verify` found as one JSON document: coverage and damage as in the contract, absent is null."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from kafkatx.evidence.coverage import Coverage
from kafkatx.evidence.verification import Verification
from kafkatx.outputs.json_document import coverage_row, to_text

SCHEMA = 1


def to_json(found: Verification, version: str) -> str:
    """Render the whole document; `ordinary` has the shape of `damage` and is none."""
    document = {
        "kafkatx": version,
        "schema": SCHEMA,
        "coverage": [_coverage_row(entry) for entry in found.coverage],
        "damage": [asdict(damage) for damage in found.damage],
        "ordinary": [asdict(damage) for damage in found.ordinary],
    }
    return to_text(document)


def _coverage_row(entry: Coverage) -> dict[str, Any]:
    """Return a file of the coverage, with what verify alone counts."""
    counts = {"batches": entry.batches, "records": entry.records, "preallocated_bytes": entry.preallocated}
    return coverage_row(entry) | counts
