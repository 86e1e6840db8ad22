"""The result of a diagnosis: findings with their places opened, coverage, what could not be checked. Data only."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafkatx.evidence.coverage import Coverage
from kafkatx.rules.finding import Finding, NotCheckable
from kafkatx.segments.damage import Damage
from kafkatx.words.explained import Place


@dataclass(frozen=True, slots=True)
class OpenedPlace:
    """A place and where it was found.

    `source` is None where no file holds it any more; in a file of a broker `position` counts bytes, in a text `line`
    counts lines from 1 (the other one is None).
    """

    place: Place
    source: str | None
    position: int | None
    crc_valid: bool | None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """A finding of a capture, with its id, its places opened (parallel to finding.places()) and its causes' ids."""

    id: str
    capture: str
    cluster_id: str | None
    finding: Finding
    evidence: list[OpenedPlace]
    caused_by: str | None
    contributing: tuple[str, ...] = ()


@dataclass(slots=True)
class Diagnosis:
    """Result of `diagnose`: findings by severity, verdict, time, id; what was covered; what could not be checked."""

    findings: list[Diagnosed] = field(default_factory=list)
    coverage: list[Coverage] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)
    not_checkable: list[tuple[str, NotCheckable]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Selection:
    """What of a diagnosis is wanted; None: no limit. Times in milliseconds."""

    rules: frozenset[str] | None = None
    min_severity: int = 0
    transactional_id: str | None = None
    producer_id: int | None = None
    topic: str | None = None
    partition: int | None = None
    since: int | None = None
    until: int | None = None

    def wants(self, finding: Finding) -> bool:
        """Whether a finding is inside the limits; what a finding leaves open is not outside."""
        names = {finding.transactional_id, *(subject.transactional_id for subject in finding.subjects)}
        producers = {finding.producer_id, *(subject.producer_id for subject in finding.subjects)}
        return (
            finding.severity >= self.min_severity
            and (self.transactional_id is None or self.transactional_id in names)
            and (self.producer_id is None or self.producer_id in producers)
            and (self.topic is None or finding.topic in (None, self.topic))
            and (self.partition is None or finding.partition in (None, self.partition))
            and (self.since is None or finding.until is None or finding.until >= self.since)
            and (self.until is None or finding.since is None or finding.since <= self.until)
        )
