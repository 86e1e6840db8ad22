"""The result of a diagnosis: findings with their places opened, coverage, what could not be checked. Data only."""

from __future__ import annotations

from dataclasses import field
from urllib.parse import quote

from kafkatx.evidence.coverage import Coverage
from kafkatx.findings.finding import Finding, NotCheckable
from kafkatx.segments.damage import Damage
from kafkatx.terms.records import dataclass
from kafkatx.terms.topics import INTERNAL
from kafkatx.words.asked import Asked
from kafkatx.words.explained import EvidenceRef

MOST_NAMED = 20
"""Names of each kind that are offered where limits name what does not occur."""


@dataclass(frozen=True, slots=True)
class OpenedRef:
    """A place and where it was found.

    `source` is None where no file holds it any more; in a file of a broker `position` counts bytes, in a text `line`
    counts lines from 1 (the other one is None).
    """

    place: EvidenceRef
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
    evidence: list[OpenedRef]
    caused_by: str | None
    contributing: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The incident: cluster/rule/who/producer id/epoch/transaction, each quoted as in a URL, empty where unknown.

        Who is the transactional.id, else the partition, else the brokers; the transaction is the first offset of the
        data. Nothing in it is a time, a count or a path, nor what stands for a cluster without a cluster.id, so more or
        less evidence of the same incident gives the same key as long as these are known. Findings may share one.
        """
        finding = self.finding
        place = finding.topic if finding.partition is None else f"{finding.topic}-{finding.partition}"
        who = finding.transactional_id or place or ",".join(map(str, finding.nodes))
        is_data = finding.first_offset is not None and finding.topic is not None and finding.topic not in INTERNAL
        transaction = f"{place}@{finding.first_offset}" if is_data else None
        parts = (self.cluster_id, finding.rule, who, finding.producer_id, finding.producer_epoch, transaction)
        return "/".join("" if part is None else quote(str(part), safe="@,") for part in parts)


@dataclass(frozen=True, slots=True)
class Examined:
    """What was looked at; transactions without the coordinator's rows are counted as few as they can be.

    `groups` are those that logs name; `since` and `until` the first and the last time of a broker or a log (without
    these of a record) in milliseconds, None where there is none; `unread_segments` are segments of data that are at
    hand and were not read, since nothing made them suspect; `has_zone`: the times are not of logs alone of which
    nothing tells the zone; `clients` are producers that lines show at work without any id.
    """

    transactions: int = 0
    transactional_ids: int = 0
    producers: int = 0
    groups: int = 0
    since: int | None = None
    until: int | None = None
    unread_segments: int = 0
    has_zone: bool = True
    clients: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether there was nothing of transactions, producers or groups."""
        return not (self.transactions or self.transactional_ids or self.producers or self.groups)

    def __add__(self, other: Examined) -> Examined:
        since = [time for time in (self.since, other.since) if time is not None]
        until = [time for time in (self.until, other.until) if time is not None]
        return Examined(
            self.transactions + other.transactions,
            self.transactional_ids + other.transactional_ids,
            self.producers + other.producers,
            self.groups + other.groups,
            min(since, default=None),
            max(until, default=None),
            self.unread_segments + other.unread_segments,
            (self.has_zone or self.since is None) and (other.has_zone or other.since is None),
            self.clients + other.clients,
        )


@dataclass(frozen=True, slots=True)
class Selected:
    """What the limits of a selection left: findings, of how many that were judged.

    `occurs` says whether what the limits name is in the evidence at all; `may_hide` that by rule or severity findings
    about the same were left out, or not looked for. `transactional_ids`, `producer_ids` and `topics` are what a limit
    could have named: the first ones, where what they do name does not occur.
    """

    findings: int
    of: int
    occurs: bool
    may_hide: bool
    transactional_ids: tuple[str, ...] = ()
    producer_ids: tuple[int, ...] = ()
    topics: tuple[str, ...] = ()

    def __add__(self, other: Selected) -> Selected:
        return Selected(
            self.findings + other.findings,
            self.of + other.of,
            self.occurs or other.occurs,
            self.may_hide or other.may_hide,
            tuple(sorted({*self.transactional_ids, *other.transactional_ids})[:MOST_NAMED]),
            tuple(sorted({*self.producer_ids, *other.producer_ids})[:MOST_NAMED]),
            tuple(sorted({*self.topics, *other.topics})[:MOST_NAMED]),
        )


@dataclass(frozen=True, slots=True)
class FailureCounts:
    """How many failures were told, and what became of them; one that is only guessed at is not explained."""

    told: int = 0
    explained: int = 0
    unexplained: int = 0
    excused: int = 0

    def __add__(self, other: FailureCounts) -> FailureCounts:
        return FailureCounts(
            self.told + other.told,
            self.explained + other.explained,
            self.unexplained + other.unexplained,
            self.excused + other.excused,
        )


@dataclass(frozen=True, slots=True)
class NextEvidence:
    """One thing to bring, and the ids of the findings that it decides."""

    asked: Asked
    decides: tuple[str, ...]


@dataclass(slots=True)
class Diagnosis:
    """Result of `diagnose`: findings by severity, verdict, time, id; what was covered; what could not be checked.

    `examined` is all that was looked at; `selected` what limits left of it, None where there were none. `failures`
    counts the failures that were told and what became of them; `next` is what to bring, best first.
    """

    findings: list[Diagnosed] = field(default_factory=list)
    coverage: list[Coverage] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)
    not_checkable: list[tuple[str, NotCheckable]] = field(default_factory=list)
    examined: Examined = field(default_factory=Examined)
    selected: Selected | None = None
    failures: FailureCounts = field(default_factory=FailureCounts)
    next: list[NextEvidence] = field(default_factory=list)


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
        return finding.severity >= self.min_severity and self.is_about(finding)

    def is_about(self, finding: Finding) -> bool:
        """Whether a finding is about what the limits name, whatever its rule and severity."""
        names = {finding.transactional_id, *(subject.transactional_id for subject in finding.subjects)}
        producers = {finding.producer_id, *(subject.producer_id for subject in finding.subjects)}
        return (
            self.transactional_id in (None, *names)
            and self.producer_id in (None, *producers)
            and (self.topic is None or finding.topic in (None, self.topic))
            and (self.partition is None or finding.partition in (None, self.partition))
            and self.touches(finding.since, finding.until)
        )

    def touches(self, since: int | None, until: int | None) -> bool:
        """Whether a stretch of time lies within the limits at least in part; an unknown end is no obstacle."""
        begins_late = self.since is not None and until is not None and until < self.since
        ends_early = self.until is not None and since is not None and since > self.until
        return not begins_late and not ends_early
