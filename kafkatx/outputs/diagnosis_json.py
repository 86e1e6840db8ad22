"""A diagnosis as the JSON document of the contract.

One object, absent is null, times in ISO 8601 UTC with milliseconds. docs/json.md explains it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, Protocol

from kafkatx.findings.diagnosis import Diagnosed, Diagnosis, Examined, NextEvidence, OpenedRef
from kafkatx.findings.finding import Finding
from kafkatx.findings.next_evidence import Candidate, candidates_of
from kafkatx.outputs.answer import answer
from kafkatx.outputs.json_document import coverage_row, to_text
from kafkatx.terms.times import iso
from kafkatx.words.explained import Considered, EvidenceRef, Step

SCHEMA = 2


def to_json(diagnosis: Diagnosis, version: str) -> str:
    """Render the whole document."""
    return to_text(document(diagnosis, version))


def document(diagnosis: Diagnosis, version: str) -> dict[str, Any]:
    """Return the document as plain data."""
    return {
        "kafkatx": version,
        "schema": SCHEMA,
        "answer": _answer(diagnosis),
        "next": [_next(one) for one in diagnosis.next],
        "coverage": [coverage_row(entry) for entry in diagnosis.coverage],
        "findings": [_finding(found, diagnosis.next) for found in diagnosis.findings],
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


def _next(one: NextEvidence) -> dict[str, Any]:
    asked = one.asked
    return {
        "what": asked.what,
        "why": asked.why,
        "where": asked.where,
        "command": asked.command,
        "decides": list(one.decides),
    }


class Told(Protocol):
    """A finding with what places it: of a diagnosis made here, or of one that was saved."""

    @property
    def id(self) -> str:
        """What names it on its evidence."""

    @property
    def key(self) -> str:
        """The incident."""

    @property
    def capture(self) -> str:
        """The capture that it is of."""

    @property
    def cluster_id(self) -> str | None:
        """The cluster that it is of."""

    @property
    def finding(self) -> Finding:
        """What is found."""


def finding_head(found: Told) -> dict[str, Any]:
    """Return what names a finding, whom it is about, and what it says in short."""
    finding = found.finding
    return {
        "id": found.id,
        "key": found.key,
        "rule": finding.rule,
        "verdict": finding.verdict.name,
        "severity": finding.severity.name,
        "capture": found.capture,
        "cluster_id": found.cluster_id,
        **subject(finding),
        "who": finding.who,
        "title": finding.title,
        "summary": finding.summary,
    }


def _finding(found: Diagnosed, to_bring: list[NextEvidence]) -> dict[str, Any]:
    finding = found.finding
    number = {opened.place: at for at, opened in enumerate(found.evidence)}
    against = set(finding.against)
    return {
        **finding_head(found),
        "actors": [asdict(actor) for actor in finding.actors],
        "steps": [_step(step, number) for step in finding.steps],
        "evidence": [_evidence(opened) for opened in found.evidence],
        "against": [_evidence(opened) for opened in found.evidence if opened.place in against],
        "considered": [_considered(other, number) for other in finding.considered],
        "caused_by": found.caused_by,
        "contributing": list(found.contributing),
        "remedies": [asdict(remedy) for remedy in finding.remedies],
        "facts": dict(finding.facts),
        "candidates": [_candidate(one, found.id, to_bring) for one in candidates_of(finding)],
    }


def _candidate(candidate: Candidate, id: str, to_bring: list[NextEvidence]) -> dict[str, Any]:
    decided_by = [
        number for number, one in enumerate(to_bring) if id in one.decides and one.asked.kind in candidate.decided_by
    ]
    return {
        "rule": candidate.rule,
        "for": candidate.speaks_for,
        "against": candidate.against,
        "decided_by": decided_by,
    }


def subject(finding: Finding) -> dict[str, Any]:
    """Whom and what a finding is about, where, when, and how often."""
    return {
        "transactional_id": finding.transactional_id,
        "producer_id": finding.producer_id,
        "producer_epoch": finding.producer_epoch,
        "topic": finding.topic,
        "partition": finding.partition,
        "first_offset": finding.first_offset,
        "last_offset": finding.last_offset,
        "from": iso(finding.since),
        "to": iso(finding.until),
        "has_zone": finding.has_zone,
        "count": finding.count,
        "subjects": [asdict(subject) for subject in finding.subjects],
    }


def _step(step: Step, number: dict[EvidenceRef, int]) -> dict[str, Any]:
    return {"text": step.text, "because": step.because, "evidence": _numbers(step.places, number)}


def _considered(other: Considered, number: dict[EvidenceRef, int]) -> dict[str, Any]:
    return {
        "rule": other.rule,
        "because": other.because,
        "refuted": other.refuted,
        "decided_by": other.decided_by,
        "evidence": _numbers(other.places, number),
    }


def _numbers(places: Iterable[EvidenceRef], number: dict[EvidenceRef, int]) -> list[int]:
    return list(dict.fromkeys(number[place] for place in places))


def _evidence(opened: OpenedRef) -> dict[str, Any]:
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
