"""Findings as plain data, by the names of the contract: what JSON prints, and what tables are filled from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, Protocol

from kafkatx.findings.diagnosis import Diagnosed, NextEvidence, OpenedRef
from kafkatx.findings.finding import Finding
from kafkatx.findings.next_evidence import Candidate, candidates_of
from kafkatx.terms.times import iso
from kafkatx.words.explained import Considered, EvidenceRef, Step


def next_fields(one: NextEvidence) -> dict[str, Any]:
    """Return one thing to bring, and what it decides."""
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


def finding_fields(found: Diagnosed, to_bring: list[NextEvidence]) -> dict[str, Any]:
    """Return all of a finding; `to_bring` is what its candidates are decided by."""
    finding = found.finding
    number = {opened.place: at for at, opened in enumerate(found.evidence)}
    against = set(finding.against)
    return {
        **finding_head(found),
        "actors": [asdict(actor) for actor in finding.actors],
        "steps": [_step(step, number) for step in finding.steps],
        "evidence": [evidence_fields(opened) for opened in found.evidence],
        "against": [evidence_fields(opened) for opened in found.evidence if opened.place in against],
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


def evidence_fields(opened: OpenedRef) -> dict[str, Any]:
    """Return a place, and where it was found."""
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
