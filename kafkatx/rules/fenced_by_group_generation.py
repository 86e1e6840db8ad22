"""Offsets of a transaction were refused since the consumer behind them had lost its place in the group.

Mechanism    sendOffsetsToTransaction carries the member id and generation of the consumer (KIP-447). If the group has
             gone on without that member (it polled too late, was replaced, or rebalanced away), the group coordinator
             refuses the offsets, so that two members can't both commit the same input. The transaction has to be
             aborted; the producer stays usable and its epoch stays.
Evidence     CommitFailedException "Transaction offset Commit failed due to consumer group metadata mismatch", or
             FencedInstanceIdException of a static member, out of sendOffsetsToTransaction or as the reason of the
             abortable state; before it the consumer's late poll or a rebalance. On disk alone: an aborted transaction
             that lists a partition of __consumer_offsets in which it has no record.
Against      the producer itself is refused (ProducerFencedException, InvalidProducerEpochException).
Look-alikes  fenced_by_new_instance and transaction_timed_out (the producer's epoch is old, not the group's generation);
             CommitFailedException of a plain commitSync, which has no transaction; an abort by choice after the offsets
             had been accepted.
Remedy       poll in time: fewer records a poll or a longer max.poll.interval.ms by the longest processing measured;
             static membership; a cooperative assignor. After the abort read again from the committed offsets.
Source       KIP-447, KIP-345; TransactionManager.TxnOffsetCommitHandler (2.5 to 4.3), GroupCoordinator.
"""

from __future__ import annotations

import numpy as np

from kafkatx.findings.client_lines import (
    aborted_after,
    advised_of,
    by_client,
    by_transaction,
    columns,
    only,
    producer_at,
    runs_by_itself,
    seen,
    times_of,
)
from kafkatx.findings.grouping import by_transactional_id, spread, subjects_of
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.ended import TransactionEnd
from kafkatx.histories.endings import EndedBy, Protocol
from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.transaction_partitions import Status
from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.growing import Array
from kafkatx.kernels.transactions import PREPARE_ABORT
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS
from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.records import dataclass
from kafkatx.terms.topics import CONSUMER_OFFSETS
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.error_messages.sayings import Saying
from kafkatx.words.evidence_refs import begin_row, decision_row, marker_ref
from kafkatx.words.explanation import (
    ActorWords,
    Bound,
    Phrase,
    Words,
    included,
    left_open,
    measure,
    remedy,
    ruled_out,
    step,
)
from kafkatx.words.facts import client_name
from kafkatx.words.log_refs import event_refs
from kafkatx.words.proposals import Lasted, Remedies
from kafkatx.words.remedies import max_poll
from kafkatx.words.template import pick
from kafkatx.words.values import ClientName, Count, Duration, Refs, facts

OFFSETS_CALL = "sendOffsetsToTransaction"
HOUR_MS = 3_600_000
MANY_AN_HOUR = 3
"""More than that in an hour is no chance meeting of a rebalance, but a consumer that polls too late."""
BEFORE_MS = 60_000
"""How long before the refusal its cause is looked for in the consumer's lines."""
GROUP_EVENTS = (EventKind.poll_timeout, EventKind.group_lost, EventKind.member_removed)
"""Lines of a consumer, or of the group's coordinator, that tell why a member lost its place."""


@facts
class Facts:
    """Refusals that the logs of one client tell; the first is explained. `group` is None where they name several."""

    client: ClientName
    count: Count
    group: str | None
    framework: str | None
    polled_late: bool
    is_of_task: bool
    producer: Bound[ActorWords] | None
    before: Refs
    refused: Refs
    last_refused: Refs
    aborted: Refs
    longer: Remedies


@facts
class OnDisk:
    """Transactions that the disk alone shows: of them the first is explained."""

    id: str
    count: Count
    rows: Refs


@dataclass(frozen=True, slots=True)
class _Refusal:
    """One refusal: the rows that show it, and what the consumers of the same log said before it."""

    client: ClientInstance | None
    rows: tuple[int, ...]
    before: tuple[int, ...]


def find(model: CaptureModel) -> Found:
    """One case for each client; of ids without a client's log what the disk alone lets guess."""
    groups: dict[ClientName, list[_Refusal]] = {}
    for client, rows in by_client(model, _rows(model)):
        apart = by_transaction(model.logs, client, rows)
        refusals = [_Refusal(client, tuple(some), _before(model.logs, client, some[0])) for some in apart]
        groups.setdefault(client_name(client), []).extend(refusals)
    for name, refusals in groups.items():
        yield _case(model, name, refusals)
    logged = {client.transactional_id for client in model.logs.clients}
    for transactional_id, transactions in by_transactional_id(model, _without_offsets(model)):
        if transactional_id not in logged:
            yield _guess(model, transactional_id, transactions)


def _rows(model: CaptureModel) -> list[int]:
    """Lines that show offsets of a transaction refused for the group's sake."""
    logs = model.logs
    rows = set(logs.saying(Saying.GROUP_MISMATCH).tolist())
    lost = set(logs.saying(Saying.MEMBER_LOST).tolist())
    rows |= {row for row in lost if logs.kind(row) is EventKind.to_abortable or logs.says(row, Saying.OFFSETS_REFUSED)}
    rows |= lost & set(logs.saying(Saying.TASK_MIGRATED).tolist())
    for client in logs.clients:
        calls = [failure for failure in client.failures if failure.call == OFFSETS_CALL]
        rows |= {row for failure in calls for row in (failure.row, *failure.rows) if row in lost}
    return sorted(rows)


def _before(logs: LogModel, client: ClientInstance | None, row: int) -> tuple[int, ...]:
    """What consumers of the same log, or the coordinator of their groups, said of the group shortly before."""
    at = logs.at(row)
    if client is None or at is None:
        return ()
    events = logs.of_kind(*GROUP_EVENTS)
    of_source = logs.events["source"] == client.source
    groups = distinct(logs.events["group_code"][of_source])
    is_theirs = of_source[events] | np.isin(logs.events["group_code"][events], groups[groups >= 0])
    near = events[is_theirs & (logs.times[events] >= at - BEFORE_MS) & (logs.times[events] <= at + CLIENT_TOLERANCE_MS)]
    return tuple(number for number in near.tolist() if number < row or logs.events["source"][number] != client.source)


def _case(model: CaptureModel, name: ClientName, refusals: list[_Refusal]) -> Case:
    logs = model.logs
    rows = [row for refusal in refusals for row in refusal.rows]
    since, until = times_of(logs, [row for refusal in refusals for row in (refusal.rows[0], refusal.rows[-1])])
    given = [producer_at(refusal.client, refusal.rows[0]) for refusal in refusals]
    return Case(
        facts=_facts(model, name, refusals),
        verdict=Verdict.proved,
        severity=Severity.warning if _is_often(logs, refusals) or _polled_late(logs, refusals[0]) else Severity.info,
        since=since,
        until=until,
        **columns(logs, name, given, rows),
    )


def _polled_late(logs: LogModel, refusal: _Refusal) -> list[int]:
    """Lines by which its consumer had left the group since it polled too late: that comes again until it is mended."""
    return [row for row in refusal.before if logs.kind(row) is EventKind.poll_timeout]


def _is_often(logs: LogModel, refusals: list[_Refusal]) -> bool:
    """Whether more than MANY_AN_HOUR came within an hour."""
    times = sorted(at for refusal in refusals if (at := logs.at(refusal.rows[0])) is not None)
    return any(later - one <= HOUR_MS for one, later in zip(times, times[MANY_AN_HOUR:], strict=False))


def _facts(model: CaptureModel, name: ClientName, refusals: list[_Refusal]) -> Facts:
    logs, first = model.logs, refusals[0]
    named = (logs.string(row, "group") for refusal in refusals for row in refusal.rows)
    late = _polled_late(logs, first)
    return Facts(
        client=name,
        count=Count(len(refusals)),
        group=only(group for group in named if group is not None),
        framework=_framework(model, first.client),
        is_of_task=_is_of_task(logs, first),
        polled_late=bool(late),
        producer=seen(model, first.client),
        before=event_refs(model, late or first.before, 3),
        refused=event_refs(model, first.rows, 3),
        last_refused=event_refs(model, first.rows, 1),
        aborted=event_refs(model, aborted_after(logs, first.client, first.rows[0])),
        longer=_longer(model, first.client) if late else (),
    )


def _is_of_task(logs: LogModel, refusal: _Refusal) -> bool:
    """Whether it is told as a task of Kafka Streams that moved on, and nothing speaks of a transaction."""
    of_producer = refusal.client is not None and refusal.client.transactional_id is not None
    return all(logs.says(row, Saying.TASK_MIGRATED) for row in refusal.rows) and not of_producer


def _framework(model: CaptureModel, client: ClientInstance | None) -> str | None:
    """The framework that repeats the work by itself."""
    found = runs_by_itself(model, client)
    return str(found.name) if found is not None else None


def _longer(model: CaptureModel, client: ClientInstance | None) -> Remedies:
    """More time between two polls: by numbers where it is known how much there was."""
    whom = advised_of(model, client)
    interval = whom.in_force("max.poll.interval.ms")
    lasted = Lasted(Duration(interval.number or 0))
    if not interval.is_known or interval.number is None:
        return (POLL_SOONER.of(lasted),)
    return max_poll(whom, interval.number, POLLED_LATE.of(lasted))


def _without_offsets(model: CaptureModel) -> Array:
    """Transactions aborted by their client that list a partition of __consumer_offsets and have no record there."""
    ended = model.ends.rows()
    by_client_itself = (ended.ended_by == EndedBy.client) & (ended.protocol == Protocol.classic)
    aborted = by_client_itself & (model.transactions["decision"] == PREPARE_ABORT)
    empty = _empty_offsets(model)
    return distinct(empty[aborted[empty]])


def _empty_offsets(model: CaptureModel) -> Array:
    """Transactions with a marker but no record in a partition of __consumer_offsets whose log is whole; repeated."""
    extents = [one for one in model.log_extents.values() if one.topic == CONSUMER_OFFSETS and one.is_whole]
    found = [np.zeros(0, np.int64)]
    for one in extents:
        parts = model.parts.rows[model.parts.rows["partition_code"] == one.partition_code]
        parts = parts[(parts["span"] < 0) & (parts["marker"] >= 0) & (parts["status"] == Status.MARKED)]
        found.append(parts["transaction"][model.spans["marker_offset"][parts["marker"]] >= one.first_dirty])
    return np.concatenate(found)


def _guess(model: CaptureModel, name: str, rows: list[int]) -> Case:
    end = TransactionEnd(model, rows[0])
    markers = [marker_ref(model, span) for span in end.markers[:3]]
    facts = OnDisk(name, Count(len(rows)), (*begin_row(end.row), *decision_row(end.row), *markers))
    return Case(
        facts=facts,
        verdict=Verdict.possible,
        severity=Severity.info,
        transactional_id=name,
        count=len(rows),
        subjects=subjects_of(model, rows),
        **spread(model, rows),
    )


NOT_THE_EPOCH = "the error names the consumer group, not the producer's epoch"
POLLED_LATE = Phrase(Lasted, measure("poll() came later than max.poll.interval.ms ({time})"))
POLL_SOONER = Phrase(
    Lasted,
    remedy(
        "Poll again within max.poll.interval.ms (300000 unless it was set): take fewer records a poll "
        "(max.poll.records) or make the work on them shorter. Else raise max.poll.interval.ms above the longest work",
        "client",
        cost="with a higher interval the group notices a consumer that hangs that much later",
    ),
)
WORDS = Words(
    Facts,
    title=(
        "{count:offset commit} refused: ",
        pick("polled_late", {True: "its consumer polled too late"}, "stale group membership"),
    ),
    summary=(
        pick("count", {1: "The offset commit"}, "{count:offset commit}"),
        "[ of {client.transactional_id}] {count:was|were} refused[ by group {group}]: ",
        pick(
            "polled_late",
            {True: "its consumer had polled too late and left the group. "},
            "stale member or generation. ",
        ),
        pick(
            "is_of_task",
            {True: "Kafka Streams gave its tasks up and joined the group again by itself."},
            (
                pick("count", {1: "The transaction"}, "Each transaction"),
                " could only be aborted; the producer stays usable.",
            ),
        ),
    ),
    who=pick("client.transactional_id", {None: "[client {client.client_id}]"}),
    actors=(included("producer"),),
    steps=(
        step(
            pick(
                "polled_late",
                {True: "The consumer polled too late and left its group"},
                "A consumer lost its membership in the group",
            ),
            "a line of the same log or of the group's coordinator, shortly before",
            cites="before",
            needs="before",
        ),
        step(
            ("The group coordinator refused the offsets", pick("is_of_task", {True: ""}, " of the transaction")),
            "the error names the group's member, generation or instance",
            cites="refused",
        ),
        step(
            "P aborted the transaction and can go on under its epoch: the error is abortable",
            cites="aborted",
            needs="aborted",
        ),
    ),
    considered=(
        ruled_out("fenced_by_new_instance", NOT_THE_EPOCH, cites="last_refused"),
        ruled_out("transaction_timed_out", NOT_THE_EPOCH, cites="last_refused"),
    ),
    remedies=(
        remedy(
            "Nothing to do for the records: {framework} reads again from the committed offsets by itself",
            "application",
        ),
        remedy(
            "Read again from the group's committed offsets and repeat the work. The transaction was aborted; the "
            "producer stays usable",
            "application",
            needs="aborted",
            unless="framework is_of_task",
        ),
        remedy(
            pick(
                "nothing_open",
                {True: "Read again from the group's committed offsets. The producer stays usable"},
                "Abort the transaction, then read again from the group's committed offsets. The producer stays usable",
            ),
            "application",
            unless="aborted framework is_of_task",
        ),
        remedy(
            "Nothing to do for the records: Kafka Streams reads again from the committed offsets by itself",
            "application",
            needs="is_of_task",
            unless="framework",
        ),
        remedy(
            "Whoever got the partitions processes the same records again: what the work does outside of Kafka (calls, "
            "databases) must bear being done twice",
            "application",
            needs="polled_late",
        ),
        included("longer"),
        remedy(
            text="Prevent it: give consumers a group.instance.id (static membership) and a cooperative assignor: "
            "restarts and rebalances then take partitions away less often",
            where="client",
            config="group.instance.id",
            proposed="one per consumer, stable over restarts",
            cost="a member that dies is noticed only after session.timeout.ms",
            restart_needed=True,
            unless="longer",
        ),
    ),
)

DISK_WORDS = Words(
    OnDisk,
    title="{count:aborted transaction} without offsets",
    summary="{count:transaction} of {id} added an offsets partition and {count:was|were} aborted with no offset there. "
    "The consumer group may have refused the offsets.",
    steps=(
        step(
            "The transaction added a partition of __consumer_offsets and was aborted without offsets in it",
            "the partition has its ABORT marker and no record of it",
            cites="rows",
        ),
    ),
    considered=(
        left_open(
            "aborted_by_client",
            "it may have aborted before it sent the offsets",
            decided_by="the log of {id}'s client",
        ),
    ),
    remedies=(
        remedy(
            "Look for CommitFailedException in the log of {id}'s client. If it is there, read again from the group's "
            "committed offsets",
            "application",
        ),
    ),
)

RULE = Rule(find=find, words=(WORDS, DISK_WORDS), depth=3, decided_by=(Side.client, Side.broker))
