"""A transaction coordinator could not serve: it was loading, could not write its log, or was not to be found.

Mechanism    The leader of a partition of `__transaction_state` coordinates the ids of that partition. While it has no
             leader, is being loaded by a new one, or can't be appended to (fewer replicas in sync than min.insync),
             every transactional request of those ids is answered with COORDINATOR_NOT_AVAILABLE,
             COORDINATOR_LOAD_IN_PROGRESS or NOT_COORDINATOR and tried again; commits time out, transactions become
             overdue.
Evidence     the broker's lines: elected and loading until finished loading, appends to `__transaction_state` that fail,
             a rollback that fails for that reason; clients that find the coordinator over and over, or name the error.
Against      the id stands in PrepareCommit or PrepareAbort: then its coordinator answers CONCURRENT_TRANSACTIONS, and
             only markers are missing.
Look-alikes  stuck_prepare and concurrent_transactions_storm (a client that waits for InitProducerId in vain prints the
             same text); a failover of a few seconds during a rolling restart (info); broker_unreachable, its usual
             cause.
Remedy       three replicas of `__transaction_state` with min.insync.replicas 2, a cleaner that works (load time grows
             with the log), max.block.ms above the failover that was measured.
Source       TransactionStateManager, TransactionCoordinator (0.11 to 4.4); KIP-98.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from kafkatx.findings.conditions import same_time
from kafkatx.findings.finding import Subject
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.coordinator_unavailability import Absence, absences
from kafkatx.histories.logs.broker_outages import outages
from kafkatx.terms.clocks import MAX_BLOCK_MS
from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.topics import TRANSACTION_STATE
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.config_context import advised
from kafkatx.words.explanation import Phrase, Words, actor, considered, included, measure, step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.proposals import Lasted, Remedies
from kafkatx.words.remedies import max_block, state_log_replication
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Duration, Instant, NameList, Refs, TopicPartition, facts

SHORT_MS = 10_000
"""A failover below this is no harm (info)."""
OFTEN = 3
"""More absences of a partition than this are one finding."""
BY_BROKER, WAITING = frozenset({"loading", "writing"}), frozenset({"waiting"})
MOST_NAMED, MOST_WAITING = 3, 6
"""Ids that the summary names, and those that are actors."""


class Sign(Enum):
    """What lines tell of an absence."""

    loading = auto()
    writing = auto()
    refused = auto()
    looked_for = auto()
    waited = auto()


SIGNS = {
    Sign.loading: (EventKind.coordinator_elected, EventKind.coordinator_loading, EventKind.coordinator_loaded),
    Sign.writing: (EventKind.state_append_failed, EventKind.timeout_rollback_failed, EventKind.append_refused),
    Sign.refused: (EventKind.init_refused, EventKind.add_refused, EventKind.end_refused, EventKind.failure),
    Sign.looked_for: (EventKind.coordinator_found,),
    Sign.waited: (EventKind.await_timeout,),
}


@dataclass(frozen=True, slots=True)
class ToldLines:
    """Lines of one kind, and when the first of them was."""

    sign: Sign
    at: Instant
    lines: Count
    rows: Refs


@facts
class Facts:
    """An absence, the longest of `count` alike ones; `names` are the ids that met it, `waiting` those of all."""

    partition: TopicPartition | None
    names: NameList
    waiting: tuple[str, ...]
    count: Count
    since: Instant
    lasted: Duration
    until: Instant
    is_over: bool
    could_not_write: bool
    by_broker: bool
    is_wait_alone: bool
    told: tuple[ToldLines, ...]
    remedies: Remedies

    @property
    def named(self) -> NameList:
        """Those ids that the summary names."""
        return NameList(self.names[:MOST_NAMED])

    @property
    def has_more(self) -> bool:
        """Whether there are more of them."""
        return len(self.names) > MOST_NAMED


def find(model: CaptureModel) -> Found:
    """One case for each time that a coordinator was away, one for partitions of which that happened often."""
    groups: dict[tuple[int | None, Verdict], list[Absence]] = {}
    for absence in absences(model, outages(model.logs)):
        groups.setdefault((absence.partition, _verdict(absence)), []).append(absence)
    for alike in groups.values():
        if len(alike) > OFTEN:
            yield _case(model, max(alike, key=lambda absence: absence.duration_ms), alike)
        else:
            yield from (_case(model, absence, [absence]) for absence in alike)


def _case(model: CaptureModel, absence: Absence, alike: list[Absence]) -> Case:
    """Tell of an absence, the longest of those that are alike."""
    names = list(dict.fromkeys(name for one in alike for name in one.names))
    return Case(
        facts=_facts(model, absence, len(alike), names[:MOST_WAITING]),
        verdict=_verdict(absence),
        severity=_severity(model, absence),
        topic=TRANSACTION_STATE if absence.partition is not None else None,
        partition=absence.partition,
        since=min(one.since for one in alike),
        until=max(one.until for one in alike),
        count=len(alike),
        subjects=tuple(Subject(name) for name in names[:3]) if len(names) > 1 else (),
    )


def _facts(model: CaptureModel, absence: Absence, count: int, waiting: list[str]) -> Facts:
    return Facts(
        partition=TopicPartition(TRANSACTION_STATE, absence.partition) if absence.partition is not None else None,
        names=NameList(absence.names),
        waiting=tuple(waiting),
        count=Count(count),
        since=Instant(absence.since),
        lasted=Duration(absence.duration_ms),
        until=Instant(absence.until),
        is_over=absence.is_over,
        could_not_write="writing" in absence.told_by,
        by_broker=bool(absence.told_by & BY_BROKER),
        is_wait_alone=absence.told_by == WAITING,
        told=tuple(_told(model, absence)),
        remedies=_remedies(model, absence),
    )


def _verdict(absence: Absence) -> Verdict:
    """A broker's own line proves it; clients' lines make it likely; a wait alone has another reading."""
    if absence.told_by & BY_BROKER:
        return Verdict.proved
    return Verdict.possible if absence.told_by == WAITING else Verdict.likely


def _severity(model: CaptureModel, absence: Absence) -> Severity:
    if absence.told_by == WAITING:
        return Severity.warning
    limits = [_max_block(model), *model.transactions["timeout_ms"][model.transactions["timeout_ms"] > 0].tolist()]
    if absence.duration_ms > min(limits):
        return Severity.error
    return Severity.warning if absence.duration_ms > SHORT_MS else Severity.info


def _max_block(model: CaptureModel) -> int:
    return model.logs.settings.value("producer", "max.block.ms").number or MAX_BLOCK_MS


def _told(model: CaptureModel, absence: Absence) -> Iterator[ToldLines]:
    logs = model.logs
    for sign, kinds in SIGNS.items():
        rows = sorted((row for row in absence.rows if logs.kind(row) in kinds), key=lambda row: (logs.times[row], row))
        if rows:
            lines = Count(sum(1 + max(0, int(logs.events["repeats"][row])) for row in rows))
            yield ToldLines(sign, Instant(logs.times[rows[0]]), lines, event_refs(model, rows, 4))


def _remedies(model: CaptureModel, absence: Absence) -> Remedies:
    if absence.told_by == WAITING:
        return ()
    measured = AWAY.of(Lasted(Duration(absence.duration_ms)))
    whom = advised(model, absence.names[0] if absence.names else None)
    replicas = state_log_replication(whom, model.facts.brokers, measured) if "writing" in absence.told_by else ()
    return (*replicas, *max_block(whom, absence.duration_ms, measured))


NAMED = pick("names", {(): ""}, (" ({named}", pick("has_more", {True: " and more)"}, ")")))
SERVED_NOT = (
    "the transaction coordinator[ of {partition}] ",
    pick("could_not_write", {True: "could not write its log"}, "did not serve"),
    NAMED,
    " for {lasted} from {since}",
    pick("is_over", {True: ""}, " at least"),
)
NO_ANSWER = (
    "initTransactions",
    NAMED,
    " got no answer for {lasted} from {since}: its coordinator may have been away",
)
AWAY = Phrase(Lasted, measure("the coordinator was away for {time}"))
WORDS = Words(
    Facts,
    summary=(
        pick("is_wait_alone", {True: NO_ANSWER}, SERVED_NOT),
        pick("count", {1: ""}, ", {count:time} in all"),
    ),
    actors=(actor("{each}", "waited for its coordinator", each="waiting"),),
    steps=(
        step(
            (
                "from {each.at} ",
                pick(
                    "each.sign",
                    {
                        Sign.loading: "a new leader loaded the coordinator's log",
                        Sign.writing: "rows could not be written to the coordinator's log",
                        Sign.refused: "requests were answered with the coordinator's absence",
                        Sign.looked_for: "a client looked for its coordinator over and over",
                        Sign.waited: "initTransactions waited in vain",
                    },
                ),
                " ({each.lines:line})",
            ),
            pick(
                "each.sign",
                {
                    Sign.loading: "until it is loaded requests are answered with COORDINATOR_LOAD_IN_PROGRESS",
                    Sign.writing: "the broker's own log says so",
                    Sign.refused: "the error is named",
                    Sign.looked_for: "each answer named a broker that did not serve",
                    Sign.waited: "no answer came within max.block.ms",
                },
            ),
            cites="each.rows",
            each="told",
        ),
        step("it served again at {until}", "the load ended, or a row was written", needs="is_over"),
    ),
    considered=(
        considered(
            "stuck_prepare",
            "not refuted: an id in Prepare* keeps its owner waiting in the same words while its coordinator answers",
            needs="is_wait_alone",
        ),
        considered("stuck_prepare", "the coordinator itself tells that it could not serve", needs="by_broker"),
    ),
    remedies=(included("remedies"),),
)

RULE = Rule(
    find=find,
    words=(WORDS,),
    depth=2,
    caused_by=(("broker_unreachable", same_time),),
    decided_by=(Side.client, Side.broker),
)
