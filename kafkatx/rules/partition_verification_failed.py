"""A leader refused transactional records, or offsets, since the coordinator didn't know the partition in a transaction.

Mechanism    From 3.6 on a partition's leader asks the coordinator whether the partition belongs to the producer's
             transaction before it takes the first batch (KIP-890; offset commits since 3.7). A late batch of a
             transaction that is over is refused and can't hang any more. Old clients are told INVALID_TXN_STATE, those
             of 3.8 and later TRANSACTION_ABORTABLE; NOT_ENOUGH_REPLICAS with "Unable to verify" says that the
             coordinator could not be asked.
Evidence     the broker's words (Partition was not added to the transaction; Record was not part of an ongoing
             transaction; Unable to verify the partition has been added to the transaction), or the client's
             TransactionAbortableException, or InvalidTxnStateException as the reason of its abortable state.
Against      InvalidTxnStateException as the answer to EndTxn: the transaction was over, by timeout as a rule.
Look-alikes  NOT_ENOUGH_REPLICAS without that message (too few replicas in sync); transaction_timed_out under
             transactions v2 (commit refused with INVALID_TXN_STATE); TransactionAbortableException after exhausted
             retries, which names its own cause.
Remedy       abort and write again; look at the coordinator's latency when it repeats; clients that add partitions as
             the protocol asks. Switching transaction.partition.verification.enable off lets transactions hang again.
Source       KIP-890, KAFKA-15449, KAFKA-15653, KAFKA-16314; ReplicaManager, AddPartitionsToTxnManager (3.6 to 4.3).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kafkatx.histories.logs.attributions import is_network_thread
from kafkatx.histories.logs.story import ClientInstance, LogStory
from kafkatx.histories.story import Story
from kafkatx.rules.finding import Finding, Subject
from kafkatx.rules.in_logs.clients import (
    Who,
    by_client,
    by_transaction,
    only,
    producer_at,
    rows_of,
    subjects,
    times_of,
    topic_partition,
    uncounted,
    who,
)
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS
from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.times import duration
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.sayings import Saying
from kafkatx.words.explained import Considered, Place, Remedy, Step
from kafkatx.words.log_places import client_actor, event_places
from kafkatx.words.places import marker_place

RULE = "partition_verification_failed"
REPEATED = 3
"""So many refusals of one client are more than one meeting with a transaction that had just ended."""
REQUEST_TIMEOUT_MS = 30_000
"""Default request.timeout.ms: how long after its transaction's end a batch can still arrive."""
WRITES = (EventKind.produce_failed, EventKind.produce_retry)


@dataclass(frozen=True, slots=True)
class _Case:
    """One refusal: its rows at a client (None: only brokers tell it) or in brokers' logs."""

    client: ClientInstance | None
    rows: tuple[int, ...]


def check(story: Story) -> Iterator[Finding]:
    """One finding for each client, with what brokers say of its id, and one for each id that only brokers name."""
    groups: dict[Who, list[_Case]] = {}
    for client, rows in by_client(story, _client_rows(story)):
        apart = by_transaction(story.logs, client, rows)
        groups.setdefault(who(client), []).extend(_Case(client, tuple(some)) for some in apart)
    told = _told_by_brokers(story)
    for name, cases in groups.items():
        yield _finding(story, name, cases, told.pop(name.transactional_id, []))
    for transactional_id, rows in told.items():
        yield _finding(story, Who(transactional_id, None), [_Case(None, (row,)) for row in rows], [])


def _client_rows(story: Story) -> list[int]:
    """Lines of clients that show a write refused for want of a transaction."""
    logs = story.logs
    rows = set(logs.saying(Saying.OUTSIDE_TRANSACTION).tolist())
    rows |= {row for row in logs.saying(Saying.ABORTABLE).tolist() if not logs.says(row, Saying.OUT_OF_RETRIES)}
    rows |= {row for row in logs.saying(Saying.INVALID_STATE).tolist() if _answers_write(logs, row)}
    return sorted(row for row in rows if logs.events["side"][row] != Side.broker)


def _answers_write(logs: LogStory, row: int) -> bool:
    """Whether INVALID_TXN_STATE answered a write: by the client's state, or as the callback of a send shows it."""
    if logs.kind(row) is EventKind.to_abortable or logs.kind(row) in WRITES:
        return True
    if logs.kind(row) is not EventKind.failure or not is_network_thread(logs.string(row, "thread") or ""):
        return False
    fatal = logs.of_kind(EventKind.to_fatal)
    return not bool((logs.owners[fatal] == logs.owners[row]).any())


def _told_by_brokers(story: Story) -> dict[str | None, list[int]]:
    """Lines of brokers that refuse for want of a transaction, by the transactional.id they are about."""
    logs = story.logs
    rows = {*logs.of_kind(EventKind.verification_failed).tolist()}
    rows |= set(logs.saying(Saying.OUTSIDE_TRANSACTION, Side.broker).tolist())
    found: dict[str | None, list[int]] = {}
    for row in sorted(row for row in rows if logs.events["side"][row] == Side.broker):
        found.setdefault(_id_of(story, row), []).append(row)
    return found


def _id_of(story: Story, row: int) -> str | None:
    """transactional.id that a broker's line names, or that its producer id belongs to."""
    name, producer_id = story.logs.string(row, "transactional_id"), story.logs.number(row, "producer_id")
    if name is not None or producer_id is None:
        return name
    owner = story.owner_of_producer(producer_id)
    if owner >= 0:
        return story.transactional_id(owner)
    clients = (client for client in story.logs.clients if producer_id in client.producer_ids)
    return next((client.transactional_id for client in clients if client.owns_producer_ids), None)


def _finding(story: Story, name: Who, cases: list[_Case], told: list[int]) -> Finding:
    logs, first = story.logs, cases[0]
    given = [_producer(logs, case) for case in cases]
    rows = [row for case in cases for row in case.rows]
    place = only(found for row in [*rows, *told] if (found := topic_partition(logs, row)) is not None)
    since, until = times_of(logs, rows)
    late = _late(story, first)
    return Finding(
        rule=RULE,
        verdict=Verdict.proved if told or _is_named(logs, rows) else Verdict.likely,
        severity=Severity.warning if len(cases) >= REPEATED else Severity.info,
        summary=_summary(name, cases, late is not None),
        transactional_id=name.transactional_id,
        producer_id=only(producer for producer, _ in given),
        producer_epoch=only(epoch for _, epoch in given),
        topic=place[0] if place else None,
        partition=place[1] if place else None,
        since=since,
        until=until,
        count=len(cases) + uncounted(logs, rows),
        subjects=subjects([Subject(name.transactional_id, producer) for producer, _ in given]),
        actors=(client_actor(story, first.client),) if first.client else (),
        steps=_steps(story, first, told, late),
        considered=_considered(story, first, [*rows, *told]),
        remedies=_remedies(len(cases)),
    )


def _producer(logs: LogStory, case: _Case) -> tuple[int | None, int | None]:
    if case.client is not None:
        return producer_at(case.client, case.rows[0])
    return logs.number(case.rows[0], "producer_id"), logs.number(case.rows[0], "producer_epoch")


def _is_named(logs: LogStory, rows: list[int]) -> bool:
    """Whether the words are those of the verification, not only the error that it shares with others."""
    return any(
        logs.says(row, Saying.OUTSIDE_TRANSACTION) or logs.kind(row) is EventKind.verification_failed for row in rows
    )


def _late(story: Story, case: _Case) -> Place | None:
    """The ABORT marker that had just ended the transaction which the refused batch belonged to, if data are at hand."""
    producer, _ = _producer(story.logs, case)
    at = story.logs.at(case.rows[0])
    if producer is None or at is None or not len(story.spans):
        return None
    spans, tolerance = story.spans, CLIENT_TOLERANCE_MS
    ended = spans["marker_timestamp"]
    mine = (spans["producer_id"] == producer) & (spans["marker_offset"] >= 0) & (spans["marker_kind"] == 0)
    found = np.flatnonzero(mine & (ended >= at - REQUEST_TIMEOUT_MS - tolerance) & (ended <= at + tolerance))
    before = [number for number in found.tolist() if spans["marker_timestamp"][number] <= at]
    return marker_place(story, spans[before[-1]]) if before else None


def _summary(name: Who, cases: list[_Case], is_late: bool) -> str:
    times = "" if len(cases) == 1 else f" {len(cases):,} times"
    late = ": they came after the transaction was over, and were kept from hanging" if is_late else ""
    whose = name.phrase if name != Who(None, None) else "a producer"
    return f"records of {whose} were refused{times} as part of no transaction that the coordinator knows{late}"


def _steps(story: Story, case: _Case, told: list[int], late: Place | None) -> tuple[Step, ...]:
    logs, steps = story.logs, []
    if late is not None:
        why = f"within {duration(REQUEST_TIMEOUT_MS)}, the default request.timeout.ms, before the refusal"
        steps.append(Step("a transaction of the same producer id had just been aborted", why, (late,)))
    unable = any(logs.says(row, Saying.UNABLE_TO_VERIFY) for row in (*case.rows, *told))
    text = "the leader could not ask the coordinator about the partition" if unable else "a write was refused"
    named = "the words are those of the leader's question to the coordinator (KIP-890)"
    shared = "the error is the one that leaders answer with; brokers' logs, which name the reason, say nothing of it"
    why = named if told or _is_named(logs, list(case.rows)) else shared
    steps.append(Step(text, why, event_places(story, [*case.rows, *told], 4)))
    begun = rows_of(logs, case.client, EventKind.abort_called).tolist() if case.client is not None else []
    aborted = next((row for row in begun if row > case.rows[0]), None)
    if aborted is not None:
        steps.append(Step("P aborted the transaction", "the right answer", event_places(story, [aborted])))
    return tuple(steps)


def _considered(story: Story, case: _Case, rows: list[int]) -> tuple[Considered, ...]:
    logs = story.logs
    over = "the refusal answered a write; the end of a transaction that is over is refused in its fatal state"
    found = [Considered("transaction_timed_out", over, event_places(story, case.rows, 1))]
    places = {place for row in rows if (place := topic_partition(logs, row)) is not None}
    shrunk = [row for row in logs.of_kind(EventKind.isr_shrunk).tolist() if topic_partition(logs, row) in places]
    if any(logs.says(row, Saying.UNABLE_TO_VERIFY) for row in rows):
        why = (
            "not refuted: its ISR shrank as well" if shrunk else "the message names the verification, not the replicas"
        )
        found.append(Considered("too few replicas in sync", why, event_places(story, shrunk, 2)))
    return tuple(found)


def _remedies(count: int) -> tuple[Remedy, ...]:
    again = Remedy("abort the transaction and write its records again: the producer stays usable", "application")
    if count < REPEATED:
        return (again,)
    look = Remedy(
        text="look at the coordinator's latency, and upgrade clients that write before they add the partition; "
        "don't switch the verification off, without it late batches hang",
        where="broker",
        config="transaction.partition.verification.enable",
        current="true",
        cost="none",
        restart_needed=False,
    )
    return (again, look)
