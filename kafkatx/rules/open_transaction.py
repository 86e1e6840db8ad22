"""A transaction is open at the end of the evidence.

Mechanism    Between the first record and the end of its transaction a producer holds the last stable offset of every
             partition it wrote to. The coordinator ends it at the latest when its timeout has passed and it looks next.
Evidence     the id's latest row is Ongoing (or, without the coordinator's log, data without a marker).
Against      a later row in another copy of the partition; a file that breaks off.
Look-alikes  hanging_transaction (nobody will end it), stuck_prepare (decided already); a copy of a live broker always
             shows some.
Remedy       end it in the application (commit, abort), or start one producer with the same transactional.id:
             initTransactions aborts it. Not `kafka-transactions.sh abort`: the coordinator would not know.
Source       KIP-98; TransactionCoordinator.abortTimedOutTransactions (0.11 to 4.4).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafkatx.histories.story import Story
from kafkatx.kernels.growing import Array
from kafkatx.kernels.spans import OPEN
from kafkatx.rules.finding import Finding, NotCheckable, Subject
from kafkatx.terms.clocks import OLD_CLEANUP_INTERVAL_MS
from kafkatx.terms.times import clock, duration
from kafkatx.terms.topics import CONSUMER_OFFSETS
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explained import Considered, Remedy, Step
from kafkatx.words.places import data_of, data_phrase, data_place, latest_row, plural

RULE = "open_transaction"
OVERDUE_SLACK_MS = 30_000
STALE = "a coordinator's log that reaches as far as the data: a younger marker has ended them already"
TWO_PHASE_TIMEOUT_MS = 2_147_483_647
"""transaction.timeout.ms of a two-phase transaction (KIP-939): it may be open for days."""


def check(story: Story) -> Iterator[Finding | NotCheckable]:
    """One finding for each id that is Ongoing, and for data without a marker where the coordinator's log is missing."""
    for latest in story.latest[story.latest["state"] == 1]:
        if _ended_behind_the_rows(story, latest):
            yield NotCheckable(RULE, story.transactional_id(int(latest["id_code"])), STALE)
        else:
            yield _ongoing(story, latest)
    if not story.state_horizons:
        for span in story.spans[(story.spans["flags"] & OPEN) != 0]:
            topic, partition = story.topic_partition(int(span["partition_code"]))
            yield _without_rows(story, span)
            yield NotCheckable(
                RULE,
                f"{topic}-{partition}, producer id {int(span['producer_id'])}",
                "__transaction_state: who owns the transaction and how old it may get",
            )


def _ongoing(story: Story, latest: Array) -> Finding:
    name = story.transactional_id(int(latest["id_code"]))
    age = story.age_ms(int(latest["started_at"]))
    timeout = int(latest["timeout_ms"])
    data = data_of(story, int(latest["transaction_row"])) if latest["transaction_row"] >= 0 else []
    overdue, idle = is_overdue(age, timeout), _is_idle(story, data, age, timeout)
    known = story.is_latest_known(latest) and not (overdue and _may_be_stale(story, latest))
    place = _place(story, data)
    left = (
        f"{duration(timeout - age)} of its {duration(timeout)} left"
        if age <= timeout
        else f"its timeout of {duration(timeout)} is over"
    )
    return Finding(
        rule=RULE,
        verdict=Verdict.proved if known else Verdict.likely,
        severity=Severity.warning if known and (overdue or idle) else Severity.info,
        summary=f"{name} has a transaction open for {duration(age)} at the end of the evidence, {left}",
        transactional_id=name,
        producer_id=int(latest["producer_id"]),
        producer_epoch=int(latest["producer_epoch"]),
        topic=place.topic,
        partition=place.partition,
        first_offset=place.first_offset,
        last_offset=place.last_offset,
        since=int(latest["started_at"]),
        until=story.facts.evidence_end,
        steps=_steps(story, latest, data, age, overdue),
        considered=(
            Considered(
                "hanging_transaction", "the coordinator knows the transaction and will end it", (latest_row(latest),)
            ),
        ),
        remedies=(
            Remedy(
                "end it in the application, or start one producer with this transactional.id: its "
                "initTransactions aborts what is open",
                "application",
                cost="the records of the transaction are aborted",
            ),
        ),
    )


def _ended_behind_the_rows(story: Story, latest: Array) -> bool:
    """Whether a partition of the transaction holds a marker that the coordinator decided on after its rows at hand end.

    Under transactions v2 an ABORT at the data's own epoch is an operator's and ends nothing for the coordinator.
    """
    horizon, v2 = story.state_horizons[int(latest["state_partition"])], latest["client_transaction_version"] == 2
    members = story.labels.partition_lists[int(latest["partitions_code"])] if latest["partitions_code"] >= 0 else ()
    spans = story.spans[story.spans["producer_id"] == latest["producer_id"]]
    behind = (spans["marker_offset"] >= 0) & (spans["marker_timestamp"] > horizon.newest)
    by_coordinator = spans["marker_epoch"] >= latest["producer_epoch"] + (1 if v2 else 0)
    return bool((behind & by_coordinator & np.isin(spans["partition_code"], members)).any())


def _may_be_stale(story: Story, latest: Array) -> bool:
    """Whether the rows may be a dead broker's copy: with several brokers, when the partition is long silent."""
    newest = story.state_horizons[int(latest["state_partition"])].newest
    return story.facts.brokers > 1 and story.age_ms(newest) > OLD_CLEANUP_INTERVAL_MS


def is_overdue(age: int, timeout: int) -> bool:
    """Whether a transaction of this age (ms) is older than its timeout and the slowest coordinator's look."""
    return timeout != TWO_PHASE_TIMEOUT_MS and age > timeout + OLD_CLEANUP_INTERVAL_MS + OVERDUE_SLACK_MS


def _is_idle(story: Story, data: list[Array], age: int, timeout: int) -> bool:
    """Most of the timeout is over and the producer has been silent for half of it: somebody forgot the end."""
    newest = max((int(span["last_timestamp"]) for span in data), default=-1)
    return (
        10 * age > 8 * timeout
        and newest >= 0
        and 2 * story.age_ms(newest) > timeout
        and timeout != TWO_PHASE_TIMEOUT_MS
    )


def _place(story: Story, data: list[Array]) -> Subject:
    outside = [
        span for span in data if story.topic_partition(int(span["partition_code"]))[0] != CONSUMER_OFFSETS
    ] or data
    if len(outside) != 1:
        return Subject()
    topic, partition = story.topic_partition(int(outside[0]["partition_code"]))
    return Subject(None, None, topic, partition, int(outside[0]["first_offset"]), int(outside[0]["last_offset"]))


def _steps(story: Story, latest: Array, data: list[Array], age: int, overdue: bool) -> tuple[Step, ...]:
    records = sum(int(span["records"]) for span in data)
    steps = [
        Step(
            f"the transaction began at {clock(int(latest['started_at']))}; the id's latest row is Ongoing",
            "no row follows it",
            (latest_row(latest),),
        ),
        Step(
            f"it wrote {plural(records, 'record')}: {data_phrase(story, data)}",
            "no marker follows them",
            tuple(data_place(story, span) for span in data[:4]),
        ),
    ]
    if overdue:
        steps.append(
            Step(
                f"it is {duration(age)} old, longer than its timeout and the coordinator's look",
                "so no coordinator has looked, or it can't write",
            )
        )
    return tuple(steps)


def _without_rows(story: Story, span: Array) -> Finding:
    topic, partition = story.topic_partition(int(span["partition_code"]))
    place = data_place(story, span)
    return Finding(
        rule=RULE,
        verdict=Verdict.possible,
        severity=Severity.info,
        summary=f"{topic}-{partition} holds data of producer id {int(span['producer_id'])} without a "
        "marker; whose they are is in __transaction_state, which is not at hand",
        producer_id=int(span["producer_id"]),
        producer_epoch=int(span["producer_epoch"]),
        topic=topic,
        partition=partition,
        first_offset=int(span["first_offset"]),
        last_offset=int(span["last_offset"]),
        since=place.at,
        steps=(Step("no marker follows these records", "the log was read to its end", (place,)),),
        considered=(Considered("hanging_transaction", "not refuted: only the coordinator's log tells"),),
    )
