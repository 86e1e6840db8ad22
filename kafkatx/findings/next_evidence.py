"""What to bring next: the evidence that would decide what findings leave open, best first.

Open     a failure without a cause, and a finding that is only likely or possible: its own mechanism, and those that it
         does not rule out.
Order    by the findings, the worst first; of one finding what decides its likeliest candidates first. What is at hand
         is not asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafkatx.findings.brokers_release import brokers_release
from kafkatx.findings.conditions import TRANSACTIONAL_ID
from kafkatx.findings.diagnosis import Diagnosed, NextEvidence
from kafkatx.findings.finding import Finding
from kafkatx.findings.named_errors import SPOKEN_OF
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.records import dataclass
from kafkatx.terms.times import iso
from kafkatx.terms.topics import CONSUMER_OFFSETS, INTERNAL, OFFSETS_PARTITIONS, UNNAMED, partition_for
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.asked import DECIDES, Ask, Asked, AskFacts, answerable, asked

STATE_PARTITIONS = 50
"""Default of transaction.state.log.num.partitions."""
WAITING_GROUP = "pending_offset_commit"
"""The rule that is about offsets of a group, which lie in the group's partition, not in those that it reads."""
ANSWERS = {
    Ask.find_hanging: EventKind.hanging_found,
    Ask.describe_producers: EventKind.transaction_open,
}
"""What tools answer that were asked of a topic."""
UNKNOWN = (Ask.client_log, Ask.broker_logs)
"""What shows the cause of a failure that points to none."""
MOST_OF_ONE = 3
"""Things that are asked for one finding."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A mechanism that may be behind a finding: what speaks for it and against it, and the evidence that decides."""

    rule: str
    speaks_for: str | None
    against: str | None
    decided_by: tuple[Ask, ...]


def candidates_of(finding: Finding) -> tuple[Candidate, ...]:
    """What may be behind a finding that is open, the likeliest first; nothing of one that is decided."""
    open_ones = [
        Candidate(other.rule, other.because, other.against, DECIDES.get(other.rule, ()))
        for other in finding.considered
        if not other.refuted and other.rule in DECIDES
    ]
    if finding.is_unexplained or finding.verdict is Verdict.proved:
        return tuple(open_ones)
    return (Candidate(finding.rule, finding.title, None, DECIDES.get(finding.rule, ())), *open_ones)


def next_evidence(model: CaptureModel, findings: Sequence[Diagnosed]) -> list[NextEvidence]:
    """Return what to bring, best first."""
    found: dict[Asked, list[str]] = {}
    for diagnosed in sorted(findings, key=lambda one: _order(one.finding)):
        finding = diagnosed.finding
        if finding.severity is Severity.info and not finding.is_unexplained:
            continue
        if finding.facts.get("named") == SPOKEN_OF:
            continue  # nothing happened that evidence could show
        if finding.facts.get("solved"):
            continue  # who wrote it asks for nothing any more
        for ask in _of_one(model, finding):
            found.setdefault(ask, []).append(diagnosed.id)
    return [NextEvidence(ask, tuple(ids)) for ask, ids in found.items()]


def _of_one(model: CaptureModel, finding: Finding) -> list[Asked]:
    """What decides one finding."""
    facts = _facts(model, finding)
    release = brokers_release(model)
    at_hand = [Ask.client_log] if _has_clients_log(model, finding) or _is_between_brokers(model, finding) else []
    kinds = dict.fromkeys(
        kind
        for wanted in _kinds(finding)
        for kind in answerable(wanted, release)
        if kind not in at_hand and not _is_at_hand(model, kind, facts) and not _has_settings(model, kind, finding)
    )
    return [ask for kind in kinds if (ask := asked(kind, facts)) is not None][:MOST_OF_ONE]


def _kinds(finding: Finding) -> Iterator[Ask]:
    """Kinds of evidence, in the order of the candidates: the best of each first."""
    asks = [candidate.decided_by for candidate in candidates_of(finding)]
    if finding.is_unexplained and not asks:
        asks = [UNKNOWN]
    for place in range(max(map(len, asks), default=0)):
        yield from (kinds[place] for kinds in asks if place < len(kinds))


def _has_settings(model: CaptureModel, kind: Ask, finding: Finding) -> bool:
    """Whether settings are asked for that are there: those of the brokers, and of every id that a finding is about."""
    names = {finding.transactional_id, *(subject.transactional_id for subject in finding.subjects)} - {None}
    settings = model.logs.facts.settings
    given = {one.value for one in settings if one.name == TRANSACTIONAL_ID}
    is_whole = any(one.scope == "broker" for one in settings) and names <= given
    return kind is Ask.client_settings and bool(names) and is_whole


def _is_between_brokers(model: CaptureModel, finding: Finding) -> bool:
    """Whether brokers alone tell a finding about brokers: there is no client whose log could be asked for."""
    return bool(finding.nodes) and finding.transactional_id is None and not model.logs.clients


def _has_clients_log(model: CaptureModel, finding: Finding) -> bool:
    """Whether the log of a client of the id is there from its making on until what the finding is about, or its close.

    Of a finding about brokers the clients that saw it are at hand where their logs begin with their making.
    """
    name, since = finding.transactional_id, finding.since
    if finding.nodes and name is None:
        return any(one.has_start for one in model.logs.clients)
    if name is None or since is None:
        return False
    lives = [one for one in model.logs.clients_of(name) if one.has_start and one.since is not None]
    ends = {one.number: one.until if one.closed_at is None else since for one in lives}
    return any((one.since or 0) <= since <= (ends[one.number] or 0) for one in lives)


def _is_at_hand(model: CaptureModel, kind: Ask, facts: AskFacts) -> bool:
    """Whether there is such evidence already; what was there decided what it could."""
    if kind is Ask.state_rows:
        return model.id_code(facts.transactional_id) >= 0
    if kind in (Ask.coordinator_log, Ask.broker_logs, Ask.leader_log):
        return model.logs.has_side(Side.broker)
    if kind is Ask.partition_dump:
        whole = (one for one in model.log_extents.values() if not one.is_torn and not one.has_gaps)
        return (facts.topic, facts.partition) in {(one.topic, one.partition) for one in whole}
    if kind is Ask.describe:
        told = model.latest[model.latest["id_code"] == model.id_code(facts.transactional_id)]
        return bool(((told["updated_at"] < 0) & (told["timeout_ms"] >= 0)).any())  # a list has no timeouts
    if kind in ANSWERS:
        rows = model.logs.of_kind(ANSWERS[kind]).tolist()
        return any(model.logs.string(row, "topic") == facts.topic for row in rows)
    return False


def _facts(model: CaptureModel, finding: Finding) -> AskFacts:
    name, count = finding.transactional_id, model.state_partition_count
    number = count or STATE_PARTITIONS
    home = model.state_partition_of(name)
    topic, partition = _place(finding)
    return AskFacts(
        transactional_id=name,
        producer_id=finding.producer_id,
        topic=topic,
        partition=partition,
        state_partition=home if home is not None or name is None else partition_for(name, number),
        partitions=number,
        is_counted=home is not None or count is not None,
        when=iso(finding.since) if finding.has_zone else None,
        client_until=_client_until(model, finding) if finding.has_zone else None,
    )


def _client_until(model: CaptureModel, finding: Finding) -> str | None:
    """Where the log ends that has the id's last client before what a finding is about, from its making on."""
    name, since = finding.transactional_id, finding.since
    if name is None or since is None:
        return None
    ended = [one.until for one in model.logs.clients_of(name) if one.has_start and one.until is not None]
    before = [until for until in ended if until < since]
    return iso(max(before)) if before else None


def _place(finding: Finding) -> tuple[str | None, int | None]:
    """Where the data lie that a finding is about; a group's offsets by the default number of partitions."""
    if finding.rule == WAITING_GROUP and finding.topic != CONSUMER_OFFSETS:
        group = finding.facts.get("group")
        return (CONSUMER_OFFSETS, partition_for(group, OFFSETS_PARTITIONS)) if group else (None, None)
    is_data = finding.topic is not None and finding.topic not in {*INTERNAL, UNNAMED}
    if is_data or finding.rule == WAITING_GROUP:
        return finding.topic, finding.partition
    return None, None


def _order(finding: Finding) -> tuple[int, int, int]:
    return -finding.severity, not finding.is_unexplained, finding.since if finding.since is not None else 1 << 62
