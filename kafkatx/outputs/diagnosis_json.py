"""A diagnosis as the JSON document of the contract.

One object, absent is null, times in ISO 8601 UTC with milliseconds. docs/json.md explains it.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from kafkatx.findings.diagnosis import Diagnosis, Examined
from kafkatx.findings.fields import finding_fields, next_fields
from kafkatx.outputs.answer import AnswerState, answer
from kafkatx.outputs.json_document import coverage_row, error_row, to_text
from kafkatx.terms.errors import EngineError
from kafkatx.terms.times import iso

SCHEMA = 2


def to_json(diagnosis: Diagnosis, version: str) -> str:
    """Render the whole document."""
    return to_text(document(diagnosis, version))


def failed_to_json(error: EngineError, version: str) -> str:
    """Render the document of a diagnosis that an engine did not come to the end of: it says that, and nothing else."""
    shown = document(Diagnosis(), version)
    shown["answer"] |= {"state": AnswerState.failed, "headline": str(error)}
    return to_text({**shown, "error": error_row(error)})


def document(diagnosis: Diagnosis, version: str) -> dict[str, Any]:
    """Return the document as plain data."""
    return {
        "kafkatx": version,
        "schema": SCHEMA,
        "answer": _answer(diagnosis),
        "next": [next_fields(one) for one in diagnosis.next],
        "coverage": [coverage_row(entry) for entry in diagnosis.coverage],
        "findings": [finding_fields(found, diagnosis.next) for found in diagnosis.findings],
        "not_checkable": [{**asdict(entry), "capture": capture} for capture, entry in diagnosis.not_checkable],
        "damage": [asdict(damage) for damage in diagnosis.damage],
    }


def _answer(diagnosis: Diagnosis) -> dict[str, Any]:
    found = answer(diagnosis)
    return {
        "state": found.state,
        "headline": found.headline,
        "worst": None if found.worst is None else found.worst.name,
        "counts": {severity.name: count for severity, count in found.counts.items()},
        "root_causes": list(found.root_causes),
        "examined": examined_fields(diagnosis.examined),
        "failures": asdict(diagnosis.failures),
        "selected": None if diagnosis.selected is None else asdict(diagnosis.selected),
    }


def examined_fields(examined: Examined) -> dict[str, Any]:
    """How much was looked at."""
    return {
        "transactions": examined.transactions,
        "transactional_ids": examined.transactional_ids,
        "producers": examined.producers,
        "groups": examined.groups,
        "from": iso(examined.since),
        "to": iso(examined.until),
        "unread_segments": examined.unread_segments,
    }
