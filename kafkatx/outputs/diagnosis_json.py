"""A diagnosis as the JSON document of the contract.

One object, absent is null, times in ISO 8601 UTC with milliseconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from kafkatx.evidence.coverage import Coverage
from kafkatx.rules.diagnosis import Diagnosed, Diagnosis, OpenedPlace
from kafkatx.rules.finding import Subject
from kafkatx.terms.times import iso
from kafkatx.words.explained import Considered, Place, Remedy, Step

SCHEMA = 1


def to_json(diagnosis: Diagnosis, version: str) -> str:
    """Render the whole document."""
    return json.dumps(document(diagnosis, version), ensure_ascii=True, indent=1) + "\n"


def document(diagnosis: Diagnosis, version: str) -> dict[str, Any]:
    """Return the document as plain data."""
    return {
        "kafkatx": version,
        "schema": SCHEMA,
        "coverage": [coverage_row(entry) for entry in diagnosis.coverage],
        "findings": [_finding(found) for found in diagnosis.findings],
        "not_checkable": [
            {"rule": entry.rule, "scope": entry.scope, "missing": entry.missing, "capture": capture}
            for capture, entry in diagnosis.not_checkable
        ],
        "damage": [
            {
                "kind": damage.kind,
                "path": damage.path,
                "position": damage.position,
                "bytes": damage.bytes,
                "expected": damage.expected,
                "found": damage.found,
            }
            for damage in diagnosis.damage
        ],
    }


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


def _finding(found: Diagnosed) -> dict[str, Any]:
    finding = found.finding
    number = {opened.place: at for at, opened in enumerate(found.evidence)}
    against = set(finding.against)
    return {
        "id": found.id,
        "rule": finding.rule,
        "verdict": finding.verdict.name,
        "severity": finding.severity.name,
        "capture": found.capture,
        "cluster_id": found.cluster_id,
        "transactional_id": finding.transactional_id,
        "producer_id": finding.producer_id,
        "producer_epoch": finding.producer_epoch,
        "topic": finding.topic,
        "partition": finding.partition,
        "first_offset": finding.first_offset,
        "last_offset": finding.last_offset,
        "from": iso(finding.since),
        "to": iso(finding.until),
        "count": finding.count,
        "subjects": [_subject(subject) for subject in finding.subjects],
        "summary": finding.summary,
        "actors": [{"name": actor.name, "what": actor.what} for actor in finding.actors],
        "steps": [_step(step, number) for step in finding.steps],
        "evidence": [_evidence(opened) for opened in found.evidence],
        "against": [_evidence(opened) for opened in found.evidence if opened.place in against],
        "considered": [_considered(other, number) for other in finding.considered],
        "caused_by": found.caused_by,
        "contributing": list(found.contributing),
        "remedies": [_remedy(remedy) for remedy in finding.remedies],
    }


def _subject(subject: Subject) -> dict[str, Any]:
    return {
        "transactional_id": subject.transactional_id,
        "producer_id": subject.producer_id,
        "topic": subject.topic,
        "partition": subject.partition,
        "first_offset": subject.first_offset,
        "last_offset": subject.last_offset,
    }


def _step(step: Step, number: dict[Place, int]) -> dict[str, Any]:
    return {"text": step.text, "because": step.because, "evidence": _numbers(step.places, number)}


def _considered(other: Considered, number: dict[Place, int]) -> dict[str, Any]:
    return {"rule": other.rule, "because": other.because, "evidence": _numbers(other.places, number)}


def _numbers(places: Iterable[Place], number: dict[Place, int]) -> list[int]:
    return list(dict.fromkeys(number[place] for place in places))


def _evidence(opened: OpenedPlace) -> dict[str, Any]:
    place = opened.place
    return {
        "source": opened.source,
        "position": opened.position,
        "line": opened.line,
        "topic": place.topic,
        "partition": place.partition,
        "offset": place.offset,
        "at": iso(place.at),
        "text": place.text,
    }


def _remedy(remedy: Remedy) -> dict[str, Any]:
    return {
        "text": remedy.text,
        "where": remedy.where,
        "config": remedy.config,
        "current": remedy.current,
        "proposed": remedy.proposed,
        "derived_from": remedy.derived_from,
        "command": remedy.command,
        "cost": remedy.cost,
        "restart_needed": remedy.restart_needed,
    }
