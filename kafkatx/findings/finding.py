"""A finding: what a rule concludes, with the places that prove it. Data only; outputs render it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explained import Actor, Considered, EvidenceRef, Remedy, Step


@dataclass(frozen=True, slots=True)
class Subject:
    """One of the things that a finding with a count is about."""

    transactional_id: str | None = None
    producer_id: int | None = None
    topic: str | None = None
    partition: int | None = None
    first_offset: int | None = None
    last_offset: int | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule concludes about one subject (or `count` alike ones); times are milliseconds of brokers' clocks.

    `nodes` are the brokers that a finding about brokers is about; `facts` the values that its sentences are made of.
    """

    rule: str
    verdict: Verdict
    severity: Severity
    summary: str
    transactional_id: str | None = None
    producer_id: int | None = None
    producer_epoch: int | None = None
    topic: str | None = None
    partition: int | None = None
    first_offset: int | None = None
    last_offset: int | None = None
    since: int | None = None
    until: int | None = None
    count: int = 1
    subjects: tuple[Subject, ...] = ()
    actors: tuple[Actor, ...] = ()
    steps: tuple[Step, ...] = ()
    against: tuple[EvidenceRef, ...] = ()
    considered: tuple[Considered, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    nodes: tuple[int, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def places(self) -> list[EvidenceRef]:
        """Every place the finding cites, once, in order."""
        cited = [place for step in self.steps for place in step.places]
        cited += [place for other in self.considered for place in other.places]
        return list(dict.fromkeys([*cited, *self.against]))


@dataclass(frozen=True, slots=True)
class NotCheckable:
    """A rule that could not look: about what, and what is missing."""

    rule: str
    scope: str
    missing: str
