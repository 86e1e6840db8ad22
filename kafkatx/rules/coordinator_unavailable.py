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
from enum import Enum, auto

from kafkatx.findings.conditions import same_failure, same_time
from kafkatx.findings.finding import Subject
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.coordinator_unavailability import Absence, absences
from kafkatx.histories.logs.broker_outages import outages
from kafkatx.rules.answers.leaderless import LEADERLESS_WORDS, TOO_FEW_WORDS, leaderless_told
from kafkatx.rules.coordinators.held import HELD_STEP, TOO_FEW_LATER, Held, held_by, unwritable_until
from kafkatx.rules.coordinators.named import ERROR_WORDS, WAITED_WORDS, by_the_error, waited_in_vain
from kafkatx.rules.coordinators.shared_words import AWAY, NO_ANSWER, NOT_SERVING
from kafkatx.terms.clocks import MAX_BLOCK_MS
from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.records import dataclass
from kafkatx.terms.topics import TRANSACTION_STATE
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.config_context import advised
from kafkatx.words.explanation import Words, actor, included, left_open, remedy, ruled_out, step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.proposals import Lasted, Remedies
from kafkatx.words.remedies import max_block, state_log_replication
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Duration, Instant, NameList, Refs, TopicPartitions, facts

SHORT_MS = 10_000
"""A failover below this is no harm (info)."""
OFTEN = 3
"""More absences of a partition than this are one finding."""
PROVING, WAITING = frozenset({"loading", "writing"}), frozenset({"waiting"})
BY_BROKER = PROVING | {"begun"}
MOST_WAITING = 6
"""Ids that are actors."""


class Sign(Enum):
    """What lines tell of an absence."""

    loading = auto()
    writing = auto()
    refused = auto()
    looked_for = auto()
    waited = auto()


SIGNS = {
    Sign.loading: (EventKind.coordinator_elected, EventKind.coordinator_loading, EventKind.coordinator_loaded),
    Sign.writing: (
        EventKind.state_append_failed,
        EventKind.timeout_rollback_failed,
        EventKind.append_refused,
        EventKind.expiry_failed,
    ),
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
    """An absence, the longest of `count` alike ones; `names` are the ids that met it, `waiting` those of all.

    `number` is how many coordinators it is about, at least one. `unwritable_until` is when a broker last could not
    write to another partition of `__transaction_state`, of one that had only been loaded: whether it could is open.
    """

    partitions: TopicPartitions | None
    number: Count
    names: NameList
    waiting: tuple[str, ...]
    count: Count
    at: Instant
    since: Instant
    lasted: Duration
    until: Instant
    is_over: bool
    could_not_write: bool
    by_broker: bool
    is_wait_alone: bool
    held: Held | None
    unwritable_until: Instant | None
    is_empty: bool
    told: tuple[ToldLines, ...]
    remedies: Remedies

    @property
    def met(self) -> NameList | None:
        """Those ids, None where lines name none."""
        return self.names or None

    @property
    def first(self) -> str | None:
        """The first of them."""
        return next(iter(self.names), None)

    @property
    def is_moment(self) -> bool:
        """Whether lines of one time are all there is."""
        return self.lasted == 0

    @property
    def is_lookup_alone(self) -> bool:
        """Whether only a client's search for its coordinator tells it."""
        return not self.is_wait_alone and all(one.sign in (Sign.looked_for, Sign.waited) for one in self.told)


def find(model: CaptureModel) -> Found:
    """One case for each time that a coordinator was away, one for partitions of which that happened often.

    Where lines have no times, or a call gave up beside lines that name the coordinator, one for the failure itself.
    """
    found = absences(model, outages(model.logs))
    told = {row for absence in found if absence.told_by != WAITING for row in absence.rows}
    named = list(by_the_error(model, told))
    yield from (case for case, _ in named)
    known = {row for _, rows in named for row in rows}
    yield from leaderless_told(model)
    yield from waited_in_vain(model, {*told, *(row for _, rows in named for row in rows)})
    groups: dict[tuple[frozenset[int], Verdict], list[Absence]] = {}
    for absence in found:
        if absence.told_by == WAITING and known.issuperset(absence.rows):
            continue
        groups.setdefault((absence.partitions, _verdict(absence)), []).append(absence)
    for group in groups.values():
        if len(group) > OFTEN:
            yield _case(model, max(group, key=lambda absence: absence.duration_ms), group, found)
        else:
            yield from (_case(model, absence, [absence], found) for absence in group)


def _case(model: CaptureModel, absence: Absence, alike: list[Absence], found: list[Absence]) -> Case:
    """Tell of an absence, the longest of those that are alike, of all that were `found`."""
    names = list(dict.fromkeys(name for one in alike for name in one.names))
    told = _facts(model, absence, len(alike), names[:MOST_WAITING], unwritable_until(absence, found))
    held_since = [int(told.held.decided_at)] if told.held is not None else []
    return Case(
        facts=told,
        verdict=_verdict(absence),
        severity=_severity(model, absence),
        topic=TRANSACTION_STATE if absence.partitions else None,
        partition=absence.partition,
        since=min((*held_since, *(one.since for one in alike))),
        until=max(one.until for one in alike),
        count=len(alike),
        subjects=tuple(Subject(name) for name in names[:3]) if len(names) > 1 else (),
    )


def _facts(
    model: CaptureModel, absence: Absence, count: int, waiting: list[str], unwritable_until: int | None
) -> Facts:
    held = held_by(model, absence)
    return Facts(
        partitions=TopicPartitions(TRANSACTION_STATE, tuple(sorted(absence.partitions)))
        if absence.partitions
        else None,
        number=Count(max(len(absence.partitions), 1)),
        names=NameList(absence.names),
        waiting=tuple(waiting),
        count=Count(count),
        at=Instant(absence.since),
        since=Instant(absence.since),
        lasted=Duration(absence.duration_ms),
        until=Instant(absence.until),
        is_over=absence.is_over,
        could_not_write="writing" in absence.told_by,
        by_broker=bool(absence.told_by & BY_BROKER),
        is_wait_alone=absence.told_by == WAITING,
        held=held,
        unwritable_until=None if unwritable_until is None else Instant(unwritable_until),
        is_empty=not absence.names and all(_is_empty(model, one) for one in absence.partitions or (-1,)),
        told=tuple(_told(model, absence)),
        remedies=_remedies(model, absence, held),
    )


def _is_empty(model: CaptureModel, partition: int) -> bool:
    """Whether a partition of __transaction_state is at hand, whole, and holds no record: then nobody waited for it."""
    extent = model.state_log_extents.get(partition)
    return extent is not None and extent.is_whole and extent.log_end <= 0


def _verdict(absence: Absence) -> Verdict:
    """A broker's own line proves it; clients' lines make it likely; a wait alone has another reading.

    That a load did not end is told by no line: a log that lost the line of its end looks the same.
    """
    if absence.told_by & PROVING:
        return Verdict.proved
    return Verdict.possible if absence.told_by == WAITING else Verdict.likely


def _severity(model: CaptureModel, absence: Absence) -> Severity:
    if absence.told_by == WAITING:
        return Severity.warning
    limits = [_max_block(model), *model.transactions["timeout_ms"][model.transactions["timeout_ms"] > 0].tolist()]
    if absence.duration_ms > min(limits):
        return Severity.error
    is_still_away = not absence.is_over and "writing" in absence.told_by
    return Severity.warning if absence.duration_ms > SHORT_MS or is_still_away else Severity.info


def _max_block(model: CaptureModel) -> int:
    return model.logs.settings.value("producer", "max.block.ms").number or MAX_BLOCK_MS


def _told(model: CaptureModel, absence: Absence) -> Iterator[ToldLines]:
    logs = model.logs
    for sign, kinds in SIGNS.items():
        rows = sorted((row for row in absence.rows if logs.kind(row) in kinds), key=lambda row: (logs.times[row], row))
        if rows:
            lines = Count(sum(1 + max(0, int(logs.events["repeats"][row])) for row in rows))
            yield ToldLines(sign, Instant(logs.times[rows[0]]), lines, event_refs(model, rows, 4))


def _remedies(model: CaptureModel, absence: Absence, held: Held | None) -> Remedies:
    if absence.told_by == WAITING:
        return ()
    away_ms = absence.duration_ms if held is None else held.completed_at - held.decided_at
    measured = AWAY.of(Lasted(Duration(away_ms)))
    whom = advised(model, absence.names[0] if absence.names else None)
    replicas = state_log_replication(whom, model.facts.brokers, measured) if "writing" in absence.told_by else ()
    return (*replicas, *max_block(whom, away_ms, measured))


WORDS = Words(
    Facts,
    who=pick(
        "partitions",
        {None: "transaction coordinator[ of {met:1}]"},
        "{number:coordinator|coordinators} of {partitions}",
    ),
    title=(
        "",
        pick("could_not_write", {True: "unable to write its log"}, "unavailable"),
        pick(
            "count",
            {
                1: pick(
                    "is_moment",
                    {True: ""},
                    pick("is_over", {True: " for {lasted}, then back"}, " for at least {lasted}"),
                )
            },
            " {count:time}, up to {lasted}",
        ),
    ),
    summary=pick("is_wait_alone", {True: NO_ANSWER}, NOT_SERVING),
    actors=(actor("{each}", "waited for its coordinator", each="waiting"),),
    steps=(
        step(
            pick(
                "each.sign",
                {
                    Sign.loading: "A new leader loaded the coordinator's log (__transaction_state) at {each.at}",
                    Sign.writing: "The coordinator could not write to __transaction_state from {each.at} on",
                    Sign.refused: "The coordinator refused requests from {each.at} on",
                    Sign.looked_for: "A client looked up its coordinator again and again from {each.at} on",
                    Sign.waited: "initTransactions gave up at {each.at}",
                },
            ),
            pick(
                "each.sign",
                {
                    Sign.loading: "{each.lines:line} on election and loading",
                    Sign.writing: "{each.lines:line} on failed appends",
                    Sign.refused: "{each.lines:line} with COORDINATOR_NOT_AVAILABLE or COORDINATOR_LOAD_IN_PROGRESS",
                    Sign.looked_for: "{each.lines:answer} to FindCoordinator",
                    Sign.waited: "no answer within max.block.ms in {each.lines:line}",
                },
            ),
            cites="each.rows",
            each="told",
        ),
        step(
            pick(
                "could_not_write",
                {True: "The coordinator served again at {until}"},
                "The {number:coordinator|last of the coordinators} had loaded its log at {until}",
            ),
            pick("could_not_write", {True: "a record was written"}, "the load ended"),
            needs="is_over",
        ),
        HELD_STEP,
    ),
    considered=(
        left_open(
            "stuck_prepare",
            "a client whose transaction stands in Prepare* waits with the same error",
            decided_by="the latest record[ of {met:1}] in __transaction_state, or the coordinator's server.log",
            needs="is_wait_alone",
        ),
        left_open(
            "the client's network to the coordinator",
            "a client that cannot connect looks up its coordinator again too",
            decided_by="the coordinator's server.log from {since} to {until}",
            needs="is_lookup_alone",
        ),
        TOO_FEW_LATER,
        left_open(
            pick("by_broker", {True: "a move of the coordinator"}, "the client's network to the coordinator"),
            pick(
                "by_broker",
                {True: "a broker that takes a partition over, or gives it up, writes the same for a moment"},
                "clients alone tell of it",
            ),
            decided_by="the server.log of all brokers[ from {since} to {until}]",
            needs="perhaps",
            unless="is_wait_alone is_lookup_alone",
        ),
        ruled_out("stuck_prepare", "the coordinator's own log shows that it could not serve", needs="by_broker"),
    ),
    remedies=(
        remedy(
            "Look up the state of the transaction[ of {first}]. PrepareCommit or PrepareAbort: it waits for markers, "
            "bring back the partitions that it lists. Another state or no answer: bring back its coordinator, the "
            "leader of its partition of __transaction_state",
            "operator",
            command="kafka-transactions.sh --bootstrap-server HOST:PORT describe --transactional-id {first}",
            needs="is_wait_alone",
        ),
        remedy(
            (
                "Check that ",
                pick("partitions", {None: "every partition of __transaction_state"}, "{partitions}"),
                pick("number", {1: " has a leader"}, " have a leader each"),
                " and enough replicas in sync (min.insync.replicas)",
            ),
            "operator",
            command=f"kafka-topics.sh --bootstrap-server HOST:PORT --describe --topic {TRANSACTION_STATE}",
            unless="is_over is_wait_alone",
        ),
        remedy(
            (
                "Nothing to do for the {number:coordinator|coordinators}: ",
                pick(
                    "could_not_write",
                    {True: "{number:it|they} served again at {until}"},
                    "{number:it was|they were} loaded at {until}",
                ),
            ),
            "operator",
            needs="is_over",
            unless="remedies",
        ),
        included("remedies"),
    ),
)

RULE = Rule(
    find=find,
    words=(WORDS, ERROR_WORDS, WAITED_WORDS, LEADERLESS_WORDS, TOO_FEW_WORDS),
    depth=2,
    caused_by=(("misconfiguration", same_failure), ("broker_unreachable", same_time)),
    decided_by=(Side.client, Side.broker),
)
