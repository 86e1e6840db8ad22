"""A finding: what a rule concludes, with the places that prove it. Data only; outputs render it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kafkatx.terms.verdicts import Severity, Verdict


@dataclass(frozen=True, slots=True)
class Place:
    """A batch, an entry or a line that one can open; `at` in milliseconds (None: unknown), `text` what stands there.

    Batches and entries are named by topic, partition and offset (`local/` finds the file); lines by source and line
    number.
    """

    topic: str | None
    partition: int | None
    offset: int | None
    at: int | None
    text: str
    source: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Actor:
    """Somebody the steps speak of."""

    name: str
    what: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the explanation, with its reason and what it rests on."""

    text: str
    because: str
    places: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class Considered:
    """An explanation that was refuted (or could not be), and by what."""

    rule: str
    because: str
    places: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class Remedy:
    """What to do. `where` is client, broker, topic, application or operator; numbers name what they derive from."""

    text: str
    where: str
    config: str | None = None
    current: str | None = None
    proposed: str | None = None
    derived_from: str | None = None
    command: str | None = None
    cost: str | None = None
    restart_needed: bool | None = None


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

    `nodes` are the brokers that a finding about brokers is about; `facts` the values that its sentences are made of, by
    name, for programs: numbers, text, truth, None, and lists and mappings of these; times in milliseconds.
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
    against: tuple[Place, ...] = ()
    considered: tuple[Considered, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    nodes: tuple[int, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def places(self) -> list[Place]:
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
