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
from kafkatx.findings.one_failure import (
    OF_WHOM,
    FailureFacts,
    alike_by,
    failure_case,
    failure_facts,
    is_of,
    known_as,
)
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.findings.told_failures import ToldFailure
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.coordinator_unavailability import Absence, absences
from kafkatx.histories.logs.broker_outages import outages
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.rules.answers.leaderless import LEADERLESS_WORDS, TOO_FEW_WORDS, leaderless_told
from kafkatx.terms.clocks import MAX_BLOCK_MS
from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.topics import TRANSACTION_STATE
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.sayings import Saying
from kafkatx.words.config_context import advised
from kafkatx.words.explanation import Phrase, Words, actor, included, left_open, measure, remedy, ruled_out, step
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
MOST_WAITING = 6
"""Ids that are actors."""


class Sign(Enum):
    """What lines tell of an absence."""

    loading = auto()
    writing = auto()
    refused = auto()
    looked_for = auto()
    waited = auto()


class Reason(Enum):
    """How a failure names the coordinator."""

    named = "the error says that the coordinator was not available, moved, or was loading"
    searched = "its lines before show no coordinator that served"
    no_ids = "the controller gave it no producer ids"
    not_loaded = "the broker could not load its partition of __transaction_state"


BY_NAME = ("COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR")
NO_TRANSACTION = frozenset({"poll", "commitSync"})
"""Calls of consumers, which have a coordinator of their own."""
LOST = (EventKind.connection_failed, EventKind.node_disconnected, EventKind.request_timed_out)
SEARCH = (EventKind.request_enqueued, EventKind.coordinator_found, EventKind.producer_id_set, *LOST)
NAMING = (EventKind.request_enqueued, *LOST)
LOOKUP = "FindCoordinator"
"""The request that a client asks its way to the coordinator with: a second one says that the first led nowhere."""
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


@facts
class NamedByError(FailureFacts):
    """Calls that failed with an error that names the coordinator; `search` are lines of the client's search for it."""

    why: Reason
    search: Refs

    @property
    def is_not_loaded(self) -> bool:
        """Whether a broker failed while it loaded."""
        return self.why is Reason.not_loaded


def find(model: CaptureModel) -> Found:
    """One case for each time that a coordinator was away, one for partitions of which that happened often.

    Where lines have no times, or a call gave up beside lines that name the coordinator, one for the failure itself.
    """
    found = absences(model, outages(model.logs))
    told = {row for absence in found if absence.told_by != WAITING for row in absence.rows}
    named = list(_by_the_error(model, told))
    yield from (case for case, _ in named)
    known = {row for _, rows in named for row in rows}
    yield from leaderless_told(model)
    groups: dict[tuple[int | None, Verdict], list[Absence]] = {}
    for absence in found:
        if absence.told_by == WAITING and known.issuperset(absence.rows):
            continue
        groups.setdefault((absence.partition, _verdict(absence)), []).append(absence)
    for group in groups.values():
        if len(group) > OFTEN:
            yield _case(model, max(group, key=lambda absence: absence.duration_ms), group)
        else:
            yield from (_case(model, absence, [absence]) for absence in group)


def _by_the_error(model: CaptureModel, told: set[int]) -> Iterator[tuple[Case, list[int]]]:
    """Failures that name the coordinator themselves, or beside which lines do; and brokers without producer ids."""
    for why, found in alike_by(model, lambda one: _reason(model, one)):
        if told.isdisjoint(found.rows):
            search = _search(model.logs, found.first) if why is Reason.searched else []
            facts = NamedByError(**failure_facts(model, found), why=why, search=event_refs(model, search, 3))
            yield failure_case(model, found, facts, Verdict.likely, Severity.error), found.rows


def _reason(model: CaptureModel, told: ToldFailure) -> Reason | None:
    logs = model.logs
    if is_of(logs, told, EventKind.id_allocation_failed):
        return Reason.no_ids
    if is_of(logs, told, EventKind.coordinator_load_failed):
        return Reason.not_loaded
    if told.is_brokers or told.call in NO_TRANSACTION:
        return None
    if known_as(told, *BY_NAME):
        return Reason.named
    has_waited = any(logs.says(row, Saying.TIMED_OUT) or "Timeout" in logs.words(row) for row in told.rows)
    return Reason.searched if has_waited and _search(logs, told) else None


def _search(logs: LogModel, told: ToldFailure) -> list[int]:
    """Lines before a call gave up that show its client without a coordinator: named as such, or found and not reached.

    Those of another client, and of another source, do not count.
    """
    first, source = told.rows[0], int(logs.events["source"][told.rows[0]])
    owners = {-1, int(logs.owners[first])} if logs.owners[first] >= 0 else None
    rows = [
        row
        for row in logs.of_kind(*SEARCH).tolist()
        if row < first and logs.events["source"][row] == source and (owners is None or int(logs.owners[row]) in owners)
    ]
    answered = [row for row in rows if logs.kind(row) in NAMING and _names_it(logs, row)]
    found = [row for row in rows if logs.kind(row) is EventKind.coordinator_found]
    nodes = {logs.number(row, "node") for row in found} - {None}
    lost = [row for row in rows if logs.kind(row) in LOST and logs.number(row, "node") in nodes]
    given = [row for row in rows if logs.kind(row) is EventKind.producer_id_set]
    since = max(given[-1] if given else -1, -1)
    asked = [row for row in rows if row > since and logs.string(row, "api") == LOOKUP]
    named = [row for row in answered if row > since] or (asked if len(asked) > 1 else [])
    return named or (sorted([*found, *lost]) if len(lost) > 1 else [])


def _names_it(logs: LogModel, row: int) -> bool:
    """Whether a line names the coordinator: librdkafka calls its connection to it so."""
    return "oordinator" in f"{logs.string(row, 'detail') or ''}{logs.string(row, 'api') or ''}".replace(LOOKUP, "")


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


def _remedies(model: CaptureModel, absence: Absence) -> Remedies:
    if absence.told_by == WAITING:
        return ()
    measured = AWAY.of(Lasted(Duration(absence.duration_ms)))
    whom = advised(model, absence.names[0] if absence.names else None)
    replicas = state_log_replication(whom, model.facts.brokers, measured) if "writing" in absence.told_by else ()
    return (*replicas, *max_block(whom, absence.duration_ms, measured))


ERROR_WORDS = Words(
    NamedByError,
    who=pick("name.transactional_id", {None: pick("is_brokers", {True: "a broker"}, "[client {name.client_id}]")}),
    title=pick(
        "why",
        {
            Reason.no_ids: "brokers got no producer ids from the controller",
            Reason.not_loaded: "the coordinator could not load[ {place}]",
        },
        "no transaction coordinator[ for {name.transactional_id}]",
    ),
    summary=pick(
        "why",
        {
            Reason.no_ids: "The controller gave no producer ids. No new producer gets one until it answers; its "
            "initTransactions[ {perhaps}] waits or fails.",
            Reason.not_loaded: "The broker could not load[ {place}], so[ {perhaps}] the ids of that partition have no "
            "coordinator that serves: clients are answered COORDINATOR_LOAD_IN_PROGRESS for as long.",
            Reason.named: (
                pick("call", {None: "A call"}, "{call}"),
                OF_WHOM,
                " failed: its transaction coordinator was[ {perhaps}] not available, moving or loading.",
            ),
        },
        (
            pick("call", {None: "A call"}, "{call}"),
            OF_WHOM,
            " timed out: its transaction coordinator[ {perhaps}] could not be reached or did not serve.",
        ),
    ),
    actors=(included("client"),),
    steps=(
        step("The client found no coordinator that served", cites="search", needs="search"),
        step(
            pick(
                "why",
                {
                    Reason.no_ids: "The controller did not answer the broker, {count:time}",
                    Reason.not_loaded: "The broker failed while it loaded the partition",
                },
                "The call failed",
            ),
            "{why.value}",
            cites="lines",
        ),
    ),
    considered=(
        left_open(
            "what kept it from serving",
            "clients can't see whether it was loading, without a leader, or could not write",
            decided_by="the logs of the brokers at that time, and kafka-topics.sh --describe of __transaction_state",
            unless="is_not_loaded",
        ),
        left_open(
            "whether another broker loaded it since",
            "the line tells of this broker only",
            decided_by="the logs of the other brokers, and kafka-topics.sh --describe of __transaction_state",
            needs="is_not_loaded",
        ),
    ),
    remedies=(
        remedy(
            "Look at the controller and the broker's connection to it",
            "operator",
            needs="is_brokers",
            unless="is_not_loaded",
        ),
        remedy(
            "Move the leadership of that partition of __transaction_state to another broker, or restart this one: the "
            "partition is loaded anew. Keep the log for an issue if it fails again",
            "operator",
            needs="is_not_loaded",
        ),
        remedy(
            "Check that every partition of __transaction_state has a leader and enough in-sync replicas. On a cluster "
            "of one broker transaction.state.log.replication.factor must be 1",
            "operator",
            unless="is_brokers",
        ),
        remedy("Then call it again: after initTransactions timed out the same producer may repeat it", "application"),
    ),
)
UNTIL = pick(
    "is_moment",
    {True: " at {since}"},
    (" from {since} ", pick("is_over", {True: "to"}, "until at least"), " {until} ({lasted})"),
)
THEIRS = pick("met", {None: "Its transactions"}, "Transactions of {met:3}")
NOT_SERVING = (
    "The transaction coordinator[ of {partition}] ",
    pick("could_not_write", {True: "[{perhaps} ]could not write its log"}, "was[ {perhaps}] unavailable"),
    pick("count", {1: ""}, " {count:time}, the longest"),
    UNTIL,
    pick("by_broker", {True: (". ", THEIRS, " could not begin or end meanwhile.")}, "."),
)
NO_ANSWER = ("initTransactions[ of {met:3}] got no answer", UNTIL, ": its coordinator was[ {perhaps}] unavailable.")
AWAY = Phrase(Lasted, measure("the coordinator was away for {time}"))
WORDS = Words(
    Facts,
    who=pick("partition", {None: "transaction coordinator[ of {met:1}]"}, "coordinator of {partition}"),
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
            "The coordinator served again at {until}",
            pick("could_not_write", {True: "a record was written"}, "the load ended"),
            needs="is_over",
        ),
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
                pick("partition", {None: "every partition of __transaction_state"}, "{partition}"),
                " has a leader and enough replicas in sync (min.insync.replicas)",
            ),
            "operator",
            command=f"kafka-topics.sh --bootstrap-server HOST:PORT --describe --topic {TRANSACTION_STATE}",
            unless="is_over is_wait_alone",
        ),
        remedy(
            "Nothing to do for the coordinator: it served again at {until}",
            "operator",
            needs="is_over",
            unless="remedies",
        ),
        included("remedies"),
    ),
)

RULE = Rule(
    find=find,
    words=(WORDS, ERROR_WORDS, LEADERLESS_WORDS, TOO_FEW_WORDS),
    depth=2,
    caused_by=(("broker_unreachable", same_time),),
    decided_by=(Side.client, Side.broker),
)
