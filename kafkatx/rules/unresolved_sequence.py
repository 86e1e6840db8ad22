"""A batch that had been sent was given up without an answer: the client can't know the next sequence number.

Mechanism    delivery.timeout.ms passed while a batch was being retried. The broker may have it or not, so the sequence
             number of the next batch is undefined. Clients up to 2.4 end in their fatal error state; from 2.5 on, with
             brokers of 2.5 or later, the error is abortable and the client raises its own epoch (KIP-360). A producer
             that is only idempotent raises its epoch (before 2.5 it takes a new producer id) and goes on.
Evidence     the client's own words (hasn't received acknowledgment for some previously sent messages), or of an
             idempotent producer "No inflight batches remaining ... Going to bump epoch"; before them the batch's expiry
             and the errors of its retries.
Against      a batch that was never sent: its expiry is a plain TimeoutException, and sequences go on.
Look-alikes  other errors behind the same outer text (Cannot execute transactional method because we are in an error
             state): the cause decides; batches that were retried until they were acknowledged.
Remedy       a delivery.timeout.ms above the outage measured and below transaction.timeout.ms; clients of 2.5 or later;
             on the fatal form close the producer and process again from the last committed offsets.
Source       KIP-91, KIP-98, KIP-360; Sender.run (to 2.4), TransactionManager.maybeResolveSequences (2.5 to 4.3).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from kafkatx.histories.logs.story import ClientInstance, LogStory
from kafkatx.histories.story import Story
from kafkatx.rules.finding import Finding, Subject
from kafkatx.rules.in_logs.clients import (
    Who,
    by_client,
    only,
    producer_at,
    rows_of,
    subjects,
    times_of,
    topic_partition,
    uncounted,
    who,
)
from kafkatx.rules.outcomes import Call, Outcome, Resolved, outcome_of
from kafkatx.terms.events import EventKind
from kafkatx.terms.times import clock, duration
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.sayings import Saying
from kafkatx.words.advised import advised
from kafkatx.words.explained import Considered, Place, Remedy, Step
from kafkatx.words.explanation import said
from kafkatx.words.log_places import client_actor, event_places
from kafkatx.words.places import data_place, plural
from kafkatx.words.remedies import delivery_timeout

RULE = "unresolved_sequence"
EVERY_ATTEMPT = 2_147_483_647
"""Default retries: what `attempts left` is counted down from."""
SAME_BATCH_MS = 250
"""How exactly a batch's creation is known: a log line is written that much later than the clock was read."""
EARLIER_BATCH_MS = 2_000
"""Records that much older than the batch are surely others."""


class Variant(StrEnum):
    """What the client made of it; the values are words for a reader."""

    fatal = "went into its fatal error state and can do nothing any more"
    abortable = "went into its abortable error state: the transaction has to be aborted"
    idempotent = "raised its own epoch and went on"


@dataclass(frozen=True, slots=True)
class _Case:
    """One time it happened: the rows that say so, expiries and retries before them, and the partitions they name."""

    client: ClientInstance | None
    rows: tuple[int, ...]
    expired: tuple[int, ...]
    retried: tuple[int, ...]
    partitions: tuple[tuple[str, int], ...]


def check(story: Story) -> Iterator[Finding]:
    """One finding for each client and what it made of it."""
    groups: dict[tuple[Who, Variant], list[_Case]] = {}
    for client, rows in by_client(story, _rows(story.logs)):
        for episode in _episodes(story.logs, client, rows):
            groups.setdefault((who(client), _variant(story.logs, episode)), []).append(
                _case(story.logs, client, episode)
            )
    for (name, variant), cases in groups.items():
        yield _finding(story, name, variant, cases)


def _rows(logs: LogStory) -> list[int]:
    rows = np.concatenate((logs.saying(Saying.LOST_ACKNOWLEDGEMENT), logs.of_kind(EventKind.idempotent_bump)))
    return np.unique(rows).tolist()  # type: ignore[no-any-return]


def _episodes(logs: LogStory, client: ClientInstance | None, rows: list[int]) -> Iterator[list[int]]:
    """Lines that tell one event: until the client aborts or has another epoch; a fatal state has no end."""
    kinds = (EventKind.abort_called, EventKind.init_bump, EventKind.producer_id_set)
    ends = rows_of(logs, client, *kinds).tolist() if client is not None else []
    episode: list[int] = []
    for row in rows:
        if episode and any(episode[-1] < end < row for end in ends) and not _is_fatal(logs, episode):
            yield episode
            episode = []
        episode.append(row)
    if episode:
        yield episode


def _is_fatal(logs: LogStory, rows: list[int]) -> bool:
    errors = [row for row in rows if logs.kind(row) != EventKind.idempotent_bump]
    return not all(logs.says(row, Saying.STAYS_ABORTABLE) for row in errors)


def _variant(logs: LogStory, rows: list[int]) -> Variant:
    if all(logs.kind(row) == EventKind.idempotent_bump for row in rows):
        return Variant.idempotent
    return Variant.fatal if _is_fatal(logs, rows) else Variant.abortable


def _case(logs: LogStory, client: ClientInstance | None, rows: list[int]) -> _Case:
    """Add what went before: expired batches since the last success is not logged, so all of this life count."""
    before = [] if client is None else rows_of(logs, client, EventKind.batch_expired, EventKind.failure).tolist()
    expired = [row for row in before if row <= rows[-1] and _is_expiry(logs, row)]
    retried = [] if client is None else rows_of(logs, client, EventKind.produce_retry).tolist()
    named = [found for row in (*rows, *expired) if (found := _partition(logs, row)) is not None]
    partitions = tuple(dict.fromkeys(named))
    mine = [row for row in retried if row < rows[-1] and (not partitions or topic_partition(logs, row) in partitions)]
    return _Case(client, tuple(rows), tuple(expired), tuple(mine), partitions)


def _is_expiry(logs: LogStory, row: int) -> bool:
    return logs.kind(row) == EventKind.batch_expired or logs.says(row, Saying.EXPIRED)


def _partition(logs: LogStory, row: int) -> tuple[str, int] | None:
    """Partition that a line is about: its column, else that of an expiry in its words."""
    named = topic_partition(logs, row)
    expiry = None if named else logs.expiry(row)
    return (expiry.topic, expiry.partition) if expiry else named


def _age(logs: LogStory, row: int) -> int | None:
    """Age of an expired batch in milliseconds."""
    if logs.kind(row) == EventKind.batch_expired and logs.number(row, "number") is not None:
        return logs.number(row, "number")
    expiry = logs.expiry(row)
    return expiry.age_ms if expiry else None


def _finding(story: Story, name: Who, variant: Variant, cases: list[_Case]) -> Finding:
    logs, first = story.logs, cases[0]
    given = [producer_at(case.client, case.rows[0]) for case in cases]
    place = only(partition for case in cases for partition in case.partitions)
    since, until = times_of(logs, [row for case in cases for row in (*case.retried[:1], *case.expired[:1], *case.rows)])
    found = [_subject(name, case, one) for case, (one, _) in zip(cases, given, strict=True)]
    return Finding(
        rule=RULE,
        verdict=Verdict.proved,
        severity=Severity.error if variant is Variant.fatal else Severity.warning,
        summary=_summary(name, variant, cases),
        transactional_id=name.transactional_id,
        producer_id=only(producer for producer, _ in given),
        producer_epoch=only(epoch for _, epoch in given),
        topic=place[0] if place else None,
        partition=place[1] if place else None,
        since=since,
        until=until,
        count=len(cases) + uncounted(logs, [row for case in cases for row in case.rows]),
        subjects=subjects(found),
        actors=(client_actor(story, first.client),) if first.client else (),
        steps=_steps(story, variant, first),
        considered=_considered(story, variant, first),
        remedies=_remedies(story, variant, first),
    )


def _subject(name: Who, case: _Case, producer_id: int | None) -> Subject:
    place = only(case.partitions)
    return Subject(name.transactional_id, producer_id, place[0] if place else None, place[1] if place else None)


def _summary(name: Who, variant: Variant, cases: list[_Case]) -> str:
    where = sorted({f"{topic}-{number}" for case in cases for topic, number in case.partitions})
    of = f" of {', '.join(where[:3])}" if where else ""
    times = "" if len(cases) == 1 else f", {len(cases):,} times"
    return f"{name.phrase} gave up batches{of} that it had sent, their fate unknown{times}; it {variant}"


def _steps(story: Story, variant: Variant, case: _Case) -> tuple[Step, ...]:
    steps = [*_retries(story, case), *_expiries(story, case)]
    said = "it says so itself; only a batch that was sent at least once leaves its sequence open"
    if variant is Variant.idempotent:
        said = "the last sequence acknowledged is not the one before the next; nothing else makes it raise its epoch"
    steps.append(Step(f"P {variant}", said, event_places(story, case.rows, 3)))
    return (*steps, *_written(story, variant, case))


def _retries(story: Story, case: _Case) -> Iterator[Step]:
    logs = story.logs
    if not case.retried:
        return
    errors = sorted({error for row in case.retried if (error := logs.string(row, "error")) is not None})
    first = logs.at(case.retried[0])
    when = f", from {clock(first)} on" if first is not None else ""
    left = [value for row in case.retried if (value := logs.number(row, "number")) is not None]
    tries = f"; {EVERY_ATTEMPT - min(left)} of {EVERY_ATTEMPT} attempts used" if left and min(left) > 2**30 else ""
    yield Step(
        f"sends failed and were retried{when}: {', '.join(errors) or 'without an error named'}",
        f"{plural(len(case.retried), 'such line')}{tries}: time ran out, not retries",
        event_places(story, case.retried, 3),
    )


def _expiries(story: Story, case: _Case) -> Iterator[Step]:
    if not case.expired:
        return
    ages = [age for row in case.expired if (age := _age(story.logs, row)) is not None]
    old = f" {duration(max(ages))} after it was made" if ages else ""
    names = ", ".join(f"{topic}-{number}" for topic, number in case.partitions[:3])
    yield Step(
        f"delivery.timeout.ms passed: a batch{f' of {names}' if names else ''} was given up{old}",
        "the client's own line",
        event_places(story, case.expired, 3),
    )


def _written(story: Story, variant: Variant, case: _Case) -> Iterator[Step]:
    """Whether the batch is in the log, and what became of its transaction, as far as data and rows are at hand."""
    if variant is Variant.idempotent or case.client is None:
        return
    yield from (_in_log(story, case, *partition) for partition in case.partitions if _has_log(story, *partition))
    resolved = _outcome(story, case)
    if resolved.outcome is not Outcome.unknown:
        yield Step(f"what became of its transaction: {resolved.outcome}", resolved.because, resolved.places)


def _has_log(story: Story, topic: str, partition: int) -> bool:
    return any((one.topic, one.partition) == (topic, partition) for one in story.horizons.values())


def _in_log(story: Story, case: _Case, topic: str, partition: int) -> Step:
    """Records of the client's producer id and epoch from after the batch's making are the batch or stand behind it."""
    code = next(c for c, one in story.horizons.items() if (one.topic, one.partition) == (topic, partition))
    producer, epoch = producer_at(case.client, case.rows[0])
    spans = [story.spans[row] for row in story.spans_of(code).tolist()]
    mine = [
        s for s in spans if s["producer_id"] == producer and s["producer_epoch"] == epoch and s["first_offset"] >= 0
    ]
    newest = max(mine, key=lambda span: int(span["last_timestamp"]), default=None)
    places: tuple[Place, ...] = (data_place(story, newest),) if newest is not None else ()
    made, where = _made_at(story.logs, case), f"{topic}-{partition}"
    if newest is None:
        return Step(f"{where} has no transactional record of that producer id and epoch", "its log is at hand", ())
    last = int(newest["last_timestamp"])
    if made is not None and last >= made - SAME_BATCH_MS:
        why = f"the newest record of that epoch was made at {clock(last)}, the batch at about {clock(made)}"
        return Step(f"the batch is in the log of {where}: it was written all the same", why, places)
    if made is not None and last < made - EARLIER_BATCH_MS:
        why = f"the newest record of that epoch is of {clock(last)}, the batch was made at about {clock(made)}"
        return Step(f"the batch is not in the log of {where}", why, places)
    return Step(
        f"{where} has records of that producer id and epoch", "times don't tell whether the batch is one", places
    )


def _made_at(logs: LogStory, case: _Case) -> int | None:
    """When the first batch that was given up was made, by the client's clock."""
    made = [
        at - age for row in case.expired if (at := logs.at(row)) is not None and (age := _age(logs, row)) is not None
    ]
    return min(made, default=None)


def _outcome(story: Story, case: _Case) -> Resolved:
    producer, _ = producer_at(case.client, case.rows[0])
    at = story.logs.at(case.rows[0])
    made = _made_at(story.logs, case)
    name = case.client.transactional_id if case.client else None
    source = case.client.source if case.client else -1
    return outcome_of(story, Call(name, (producer,) if producer is not None else (), source, made or at, at))


def _considered(story: Story, variant: Variant, case: _Case) -> tuple[Considered, ...]:
    never_sent = "a batch that was never sent"
    retried = f" and retries stand before it ({plural(len(case.retried), 'line')})" if case.retried else ""
    found = [
        Considered(never_sent, f"the expiry of such a batch leaves no sequence open; the client says one is{retried}")
    ]
    if variant is not Variant.idempotent:
        fenced = "the same outer text covers fenced producers too: here the cause is the missing acknowledgement"
        found.append(Considered("fenced_by_new_instance", fenced, event_places(story, case.rows, 1)))
    return tuple(found)


def _remedies(story: Story, variant: Variant, case: _Case) -> tuple[Remedy, ...]:
    whom = advised(story, case.client.transactional_id if case.client else None, case.client)
    outage = _outage(story.logs, case)
    measured = f"sends to it failed for {duration(outage)} at least"
    longer = said(delivery_timeout(whom, outage, measured)) if outage > 0 else ()
    if variant is not Variant.fatal:
        again = "abort the transaction and write its records again" if variant is Variant.abortable else None
        text = (
            again
            or "nothing: the client has reset itself; records it reported as failed may be in the log all the same"
        )
        return (Remedy(text, where="application"), *longer)
    close = Remedy(
        text="close the producer, make a new one and process again from the last committed offsets; don't abort",
        where="application",
        restart_needed=True,
    )
    upgrade = Remedy(
        text="use kafka-clients 2.5 or later with brokers of 2.5 or later: there the error is abortable (KIP-360)",
        where="client",
        current=".".join(str(number) for number in whom.release) or None,
        proposed="2.5",
        derived_from="the client says that it isn't safe to continue",
        restart_needed=True,
    )
    return (close, *longer, *((upgrade,) if whom.release < (2, 5) else ()))


def _outage(logs: LogStory, case: _Case) -> int:
    """How long sends to the partition are known to have failed: from the batch's making, or the first retry, on."""
    first, _ = times_of(logs, case.retried[:1])
    made, (_, last) = _made_at(logs, case), times_of(logs, case.rows)
    begins = [at for at in (first, made) if at is not None]
    return last - min(begins) if begins and last is not None else 0
