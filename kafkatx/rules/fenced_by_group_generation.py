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

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kafkatx.histories.endings import EndedBy, Protocol
from kafkatx.histories.growing import Array
from kafkatx.histories.logs.story import ClientInstance, LogStory
from kafkatx.histories.participations import Status
from kafkatx.histories.story import Story
from kafkatx.kernels.transactions import PREPARE_ABORT
from kafkatx.rules.finding import Finding, Subject
from kafkatx.rules.grouping import by_transactional_id, spread, subjects_of
from kafkatx.rules.in_logs.clients import (
    Who,
    by_client,
    by_transaction,
    only,
    producer_at,
    rows_of,
    subjects,
    times_of,
    uncounted,
    who,
)
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS
from kafkatx.terms.events import EventKind
from kafkatx.terms.times import duration
from kafkatx.terms.topics import CONSUMER_OFFSETS
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.sayings import Saying
from kafkatx.words.advised import advised
from kafkatx.words.explained import Considered, Remedy, Step
from kafkatx.words.explanation import said
from kafkatx.words.log_places import client_actor, event_places
from kafkatx.words.places import begin_row, decision_row, marker_place, parts_of, plural
from kafkatx.words.remedies import max_poll

RULE = "fenced_by_group_generation"
OFFSETS_CALL = "sendOffsetsToTransaction"
HOUR_MS = 3_600_000
MANY_AN_HOUR = 3
"""More than that in an hour is no chance meeting of a rebalance, but a consumer that polls too late."""
BEFORE_MS = 60_000
"""How long before the refusal its cause is looked for in the consumer's lines."""
GROUP_EVENTS = (EventKind.poll_timeout, EventKind.group_lost, EventKind.member_removed)
"""Lines of a consumer, or of the group's coordinator, that tell why a member lost its place."""


@dataclass(frozen=True, slots=True)
class _Case:
    """One refusal: the rows that show it, and what the consumers of the same log said before it."""

    client: ClientInstance | None
    rows: tuple[int, ...]
    before: tuple[int, ...]


def check(story: Story) -> Iterator[Finding]:
    """One finding for each client; of ids without a client's log what the disk alone lets guess."""
    groups: dict[Who, list[_Case]] = {}
    for client, rows in by_client(story, _rows(story)):
        apart = by_transaction(story.logs, client, rows)
        cases = [_Case(client, tuple(some), _before(story.logs, client, some[0])) for some in apart]
        groups.setdefault(who(client), []).extend(cases)
    for name, cases in groups.items():
        yield _finding(story, name, cases)
    logged = {client.transactional_id for client in story.logs.clients}
    for name_of_id, transactions in by_transactional_id(story, _without_offsets(story)):
        if name_of_id not in logged:
            yield _guess(story, name_of_id, transactions)


def _rows(story: Story) -> list[int]:
    """Lines that show offsets of a transaction refused for the group's sake."""
    logs = story.logs
    rows = set(logs.saying(Saying.GROUP_MISMATCH).tolist())
    lost = set(logs.saying(Saying.MEMBER_LOST).tolist())
    rows |= {row for row in lost if logs.kind(row) is EventKind.to_abortable or logs.says(row, Saying.OFFSETS_REFUSED)}
    for client in logs.clients:
        calls = [failure for failure in client.failures if failure.call == OFFSETS_CALL]
        rows |= {row for failure in calls for row in (failure.row, *failure.rows) if row in lost}
    return sorted(rows)


def _before(logs: LogStory, client: ClientInstance | None, row: int) -> tuple[int, ...]:
    """What consumers of the same log, or the coordinator of their groups, said of the group shortly before."""
    at = logs.at(row)
    if client is None or at is None:
        return ()
    events = logs.of_kind(*GROUP_EVENTS)
    of_source = logs.events["source"] == client.source
    groups = np.unique(logs.events["group_code"][of_source])
    is_theirs = of_source[events] | np.isin(logs.events["group_code"][events], groups[groups >= 0])
    near = events[is_theirs & (logs.times[events] >= at - BEFORE_MS) & (logs.times[events] <= at + CLIENT_TOLERANCE_MS)]
    return tuple(number for number in near.tolist() if number < row or logs.events["source"][number] != client.source)


def _finding(story: Story, name: Who, cases: list[_Case]) -> Finding:
    logs, first = story.logs, cases[0]
    given = [producer_at(case.client, case.rows[0]) for case in cases]
    since, until = times_of(logs, [row for case in cases for row in (case.rows[0], case.rows[-1])])
    return Finding(
        rule=RULE,
        verdict=Verdict.proved,
        severity=Severity.warning if _is_often(logs, cases) else Severity.info,
        summary=_summary(logs, name, cases),
        transactional_id=name.transactional_id,
        producer_id=only(producer for producer, _ in given),
        producer_epoch=only(epoch for _, epoch in given),
        since=since,
        until=until,
        count=len(cases) + uncounted(logs, [row for case in cases for row in case.rows]),
        subjects=subjects([Subject(name.transactional_id, producer) for producer, _ in given]),
        actors=(client_actor(story, first.client),) if first.client else (),
        steps=_steps(story, first),
        considered=_considered(story, first),
        remedies=_remedies(story, first),
    )


def _is_often(logs: LogStory, cases: list[_Case]) -> bool:
    """Whether more than MANY_AN_HOUR came within an hour."""
    times = sorted(at for case in cases if (at := logs.at(case.rows[0])) is not None)
    return any(later - one <= HOUR_MS for one, later in zip(times, times[MANY_AN_HOUR:], strict=False))


def _summary(logs: LogStory, name: Who, cases: list[_Case]) -> str:
    groups = {group for case in cases for row in case.rows if (group := logs.string(row, "group")) is not None}
    of = f" of group {sorted(groups)[0]}" if len(groups) == 1 else ""
    times = "" if len(cases) == 1 else f" {len(cases):,} times"
    return (
        f"offsets{of} that {name.phrase} sent to its transaction were refused{times}: its consumer had lost its place"
    )


def _steps(story: Story, case: _Case) -> tuple[Step, ...]:
    logs = story.logs
    steps = []
    if case.before:
        late = [row for row in case.before if logs.kind(row) is EventKind.poll_timeout]
        text = "the consumer polled too late and left its group" if late else "the member lost its place in the group"
        why = "lines of a consumer in the same log, or of its group's coordinator, shortly before"
        steps.append(Step(text, why, event_places(story, late or case.before, 3)))
    steps.append(
        Step(
            "the group coordinator refused the offsets of P's transaction",
            "member, generation or instance that they carried are not the group's any more",
            event_places(story, case.rows, 3),
        )
    )
    aborted = _aborted(logs, case)
    if aborted is not None:
        why = "the error is abortable: the producer goes on under its epoch"
        steps.append(Step("P aborted the transaction, the right answer", why, event_places(story, [aborted])))
    return tuple(steps)


def _aborted(logs: LogStory, case: _Case) -> int | None:
    begun = rows_of(logs, case.client, EventKind.abort_called).tolist() if case.client is not None else []
    return next((row for row in begun if row > case.rows[0]), None)


def _considered(story: Story, case: _Case) -> tuple[Considered, ...]:
    places = event_places(story, case.rows, 1)
    why = "the refusal names the consumer's group, not the producer's epoch"
    return (
        Considered("fenced_by_new_instance", why, places),
        Considered("transaction_timed_out", why, places),
    )


def _remedies(story: Story, case: _Case) -> tuple[Remedy, ...]:
    whom = advised(story, case.client.transactional_id if case.client else None, case.client)
    late = [row for row in case.before if story.logs.kind(row) is EventKind.poll_timeout]
    interval = whom.in_force("max.poll.interval.ms").number or 0
    measured = f"poll() came later than max.poll.interval.ms ({duration(interval)})"
    faster = said(max_poll(whom, interval, measured)) if late and interval else ()
    again = Remedy(
        text="abort the transaction, rejoin the group and read again from the committed offsets; the producer is fine",
        where="application",
    )
    stay = Remedy(
        text="give consumers a group.instance.id (static membership) and a cooperative assignor: restarts and "
        "rebalances then take partitions away less often",
        where="client",
        config="group.instance.id",
        cost="a member that dies is noticed only after session.timeout.ms",
        restart_needed=True,
    )
    return (again, *faster, stay)


def _without_offsets(story: Story) -> Array:
    """Transactions aborted by their client that list a partition of __consumer_offsets and have no record there."""
    ended = story.ends.rows()
    by_client_itself = (ended.ended_by == EndedBy.client) & (ended.protocol == Protocol.classic)
    aborted = by_client_itself & (story.transactions["decision"] == PREPARE_ABORT)
    parts = story.parts.rows
    candidates = parts[aborted[parts["transaction"]]] if len(parts) else parts
    found = [int(part["transaction"]) for part in candidates if _is_empty_offsets(story, part)]
    return np.unique(np.array(found, np.int64))


def _is_empty_offsets(story: Story, part: np.void) -> bool:
    topic, _ = story.topic_partition(int(part["partition_code"]))
    horizon = story.horizons.get(int(part["partition_code"]))
    if topic != CONSUMER_OFFSETS or horizon is None or not horizon.is_whole or part["marker"] < 0:
        return False
    is_uncleaned = int(story.spans["marker_offset"][part["marker"]]) >= horizon.first_dirty
    return bool(part["span"] < 0 and part["status"] == Status.MARKED and is_uncleaned)


def _guess(story: Story, name: str, rows: list[int]) -> Finding:
    transaction = story.transactions[rows[0]]
    markers = [story.spans[int(part["marker"])] for part in parts_of(story, rows[0]) if part["marker"] >= 0]
    return Finding(
        rule=RULE,
        verdict=Verdict.possible,
        severity=Severity.info,
        summary=f"{plural(len(rows), 'transaction')} of {name} was to commit offsets, has none and was aborted by its "
        "client: its group may have refused them",
        transactional_id=name,
        **spread(story, rows),
        count=len(rows),
        subjects=subjects_of(story, rows),
        steps=(
            Step(
                "the transaction lists a partition of __consumer_offsets, which has its marker and no record of it",
                "offsets that the group accepts are written before the transaction ends",
                (
                    *begin_row(transaction),
                    *decision_row(transaction),
                    *(marker_place(story, one) for one in markers[:3]),
                ),
            ),
        ),
        considered=(Considered("aborted_by_client", "not refuted: it may have aborted before it sent the offsets"),),
    )
