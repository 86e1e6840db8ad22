"""A finding: what a rule concludes, with the places that prove it. Data only; outputs render it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from typing import Any

from kafkatx.terms.records import dataclass
from kafkatx.terms.times import parse_time
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explained import Actor, Considered, EvidenceRef, Remedy, Step

UNEXPLAINED = "unexplained_failure"
"""The rule that tells failures without a cause: proved that they happened, nothing about why."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One of the things that a finding with a count is about."""

    transactional_id: str | None = None
    producer_id: int | None = None
    topic: str | None = None
    partition: int | None = None
    first_offset: int | None = None
    last_offset: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Whom and what a finding is about (or `count` alike ones); times are milliseconds of brokers' clocks.

    Columns that are single-valued are None where the subjects differ. `nodes` are the brokers that a finding about
    brokers is about, `against` what speaks against it.
    """

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
    against: tuple[EvidenceRef, ...] = ()
    nodes: tuple[int, ...] = ()

    def columns(self) -> dict[str, Any]:
        """Return these columns by name."""
        return {one.name: getattr(self, one.name) for one in fields(About)}


@dataclass(frozen=True, slots=True)
class Finding(About):
    """What a rule concludes: `who` it is about, `title` what of them in a few words, `summary` in a sentence.

    `facts` are the values that its sentences are made of, as plain data; `has_zone` says whether its times are of a
    known zone (else they are as printed, taken for UTC).
    """

    rule: str
    verdict: Verdict
    severity: Severity
    title: str
    summary: str
    who: str | None = None
    actors: tuple[Actor, ...] = ()
    steps: tuple[Step, ...] = ()
    considered: tuple[Considered, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict, hash=False)
    has_zone: bool = True

    @property
    def is_unexplained(self) -> bool:
        """Whether it tells a failure and leaves open its cause."""
        return self.rule == UNEXPLAINED

    @property
    def moment(self) -> int | None:
        """When what the title says happened: `at` of its facts, where they have it, else when it began."""
        at = self.facts.get("at")
        return parse_time(at) if isinstance(at, str) else self.since

    def places(self) -> list[EvidenceRef]:
        """Every place the finding cites, once, in order."""
        cited = [place for step in self.steps for place in step.places]
        cited += [place for other in self.considered for place in other.places]
        return list(dict.fromkeys([*cited, *self.against]))


EVERYWHERE = "the cluster"
"""Where a rule could not look, if nowhere."""


@dataclass(frozen=True, slots=True)
class NotCheckable:
    """A rule that could not look: about what, and what is missing."""

    rule: str
    scope: str
    missing: str
