"""A comparison as one JSON document; absent is null. docs/json.md explains it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from kafkatx.findings.fields import finding_head
from kafkatx.outputs.comparing.compared import Change, Comparison, Matched, Missing
from kafkatx.outputs.comparing.document import DiagnosisDocument, DocumentFinding
from kafkatx.outputs.diagnosis_json import examined_fields
from kafkatx.outputs.json_document import to_text
from kafkatx.terms.verdicts import Severity

SCHEMA = 1


def to_json(found: Comparison, version: str) -> str:
    """Render the whole document."""
    return to_text(document(found, version))


def document(found: Comparison, version: str) -> dict[str, Any]:
    """Return the document as plain data."""
    return {
        "kafkatx": version,
        "schema": SCHEMA,
        "answer": _answer(found),
        "new": [_missing(one) for one in found.new],
        "gone": [_missing(one) | {"has_ended": one.has_ended} for one in found.gone],
        "changed": [_changed(one) for one in found.changed],
        "same": [_both(one) for one in found.same],
    }


def _answer(found: Comparison) -> dict[str, Any]:
    kinds = {
        "new": (one.found for one in found.new),
        "recurred": (one.after for one in found.changed if one.has_recurred),
        "gone": (one.found for one in found.gone),
        "ended": (one.found for one in found.gone if one.has_ended),
        "changed": (one.after for one in found.changed),
        "same": (one.after for one in found.same),
    }
    return {
        "state": found.state,
        "headline": found.headline,
        "counts": {name: _counts(findings) for name, findings in kinds.items()},
        "before": _diagnosis(found.before),
        "after": _diagnosis(found.after),
    }


def _diagnosis(document: DiagnosisDocument) -> dict[str, Any]:
    """What the answer of a diagnosis says, as it does."""
    return {
        "state": document.state,
        "headline": document.headline,
        "counts": _counts(document.findings),
        "examined": examined_fields(document.examined),
        "failures": asdict(document.failures),
        "is_filtered": document.is_filtered,
    }


def _counts(findings: Iterable[DocumentFinding]) -> dict[str, int]:
    counted = Counter(one.finding.severity for one in findings)
    return {severity.name: counted[severity] for severity in reversed(Severity)}


def _missing(one: Missing) -> dict[str, Any]:
    said = one.absence
    told = {"covered": said.covers, "reason": said.reason, "why": said.why, "instead": list(said.instead)}
    return {"finding": _finding(one.found), **told}


def _changed(one: Matched) -> dict[str, Any]:
    changes = {"has_recurred": one.has_recurred, "changes": [_change(change) for change in one.changes]}
    return _both(one) | changes


def _both(one: Matched) -> dict[str, Any]:
    return {"before": one.before.id, "after": one.after.id, "finding": _finding(one.after)}


def _change(change: Change) -> dict[str, Any]:
    before, after = (
        list(map(asdict, value)) if change.name == "remedies" else value for value in (change.before, change.after)
    )
    return {"field": change.name, "before": before, "after": after}


def _finding(found: DocumentFinding) -> dict[str, Any]:
    head = {name: value for name, value in finding_head(found).items() if name != "subjects"}
    return {**head, "caused_by": found.caused_by}
