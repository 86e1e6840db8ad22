"""A producer id used up its epochs and was replaced by a new one.

Mechanism    An epoch of 32766 counts as exhausted. Classic: the next InitProducerId gets a new producer id, epoch 0.
             Transactions v2: every transaction takes an epoch, and the end of the one at 32766 hands out the next
             producer id.
Evidence     rows at 32766 or 32767, then the same transactional.id with another producer id at epoch 0.
Against      a tombstone between them: then the id had expired.
Look-alikes  transactional_id_expired (idle time, low epoch).
Remedy       transactions v2: none, it is routine. Classic: find the loop of initTransactions, each of which takes an
             epoch. Data at epoch 32767 are a broker's bug (no client may see it).
Source       KIP-360, KIP-890; TransactionMetadata.isEpochExhausted (0.11 to 4.4); KAFKA-9666, KAFKA-18660, KAFKA-20090.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kafkatx.findings.grouping import by_transactional_id
from kafkatx.findings.one_failure import FailureFacts, alike, failure_case, failure_facts, says
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel, LogExtent
from kafkatx.histories.endings import Protocol
from kafkatx.kernels.growing import Array
from kafkatx.kernels.transactions import ONGOING
from kafkatx.rules.answers.broker_said import EXHAUSTED_WORDS, exhausted_told
from kafkatx.rules.answers.epoch_overrun import OVERRUN_WORDS, overrun_told
from kafkatx.rules.open_transaction import is_overdue, open_since
from kafkatx.rules.stuck_prepare import is_unfinished
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import (
    begin_row,
    completion_row,
    decision_row,
    initialised_row,
    latest_row,
    row_before,
    time_or_none,
)
from kafkatx.words.explained import EvidenceRef
from kafkatx.words.explanation import Words, left_open, remedy, ruled_out, step
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Duration, Refs, TopicPartition, facts

EXHAUSTED, LAST = 32_766, 32_767
DAY_MS, FEWEST_EPOCHS, EPOCHS_A_DAY = 86_400_000, 100, 100
"""So many epochs taken by starts, at such a rate, are a loop and no deployments."""


@dataclass(frozen=True, slots=True)
class Rotation:
    """A producer id that was replaced, at a time in milliseconds."""

    at: int
    old: int
    new: int
    rows: Refs


@facts
class Rotated:
    """Rotations of an id, of which the first is explained; `before` is the row under the old producer id.

    `is_v2`: transactions that take an epoch each used them up.
    """

    id: str
    old: int
    new: int
    count: Count
    is_v2: bool
    rows: Refs
    before: Refs


@facts
class LeftOpen:
    """A transaction at the last epoch that nobody ends."""

    id: str
    epoch: int
    age: Duration
    latest: Refs


@facts
class LeftDecided:
    """A decision at the last epoch behind which no row of the id follows."""

    id: str
    epoch: int
    producer_id: int
    latest: Refs


@facts
class Loop:
    """Starts that take epochs so fast that they will be used up after `left` days."""

    id: str
    producer_id: int
    taken: Count
    took: Duration
    rate: Count
    left: Count
    rows: Refs


@facts
class Impossible:
    """Data at the epoch that is the coordinator's own."""

    partition: TopicPartition
    batch: Refs


USED_UP = ("Short.MaxValue", "Cannot allocate any more producer epochs", "epoch exhausted")
"""What coordinators say of an epoch that can't be raised any more."""


@facts
class UsedUpByError(FailureFacts):
    """A coordinator's error that names the last epoch."""


def find(model: CaptureModel) -> Found:
    """One case for each id whose producer id rotated, and one for each partition with data at epoch 32767."""
    yield from exhausted_told(model)
    yield from overrun_told(model)
    rotations = _rotations(model)
    for name in sorted(rotations):
        yield _rotated(model, name, sorted(rotations[name], key=lambda rotation: rotation.at))
    for latest in model.latest[model.latest["producer_epoch"] >= EXHAUSTED]:
        if latest["state"] == ONGOING and is_overdue(model.age_ms(open_since(latest)), int(latest["timeout_ms"])):
            yield _left_open(model, latest)
        elif latest["producer_epoch"] == LAST and is_unfinished(model, latest):
            yield _left_decided(model, latest)
    yield from _loops(model)
    for found in alike(model, lambda told: says(model.logs, told, *USED_UP)):
        told = UsedUpByError(**failure_facts(model, found))
        yield failure_case(model, found, told, Verdict.proved, Severity.error)
    for log_extent in model.log_extents.values():
        if log_extent.highest_epoch == LAST:
            yield _impossible(log_extent)


def _rotations(model: CaptureModel) -> dict[str, list[Rotation]]:
    """Rotations by id, of whatever shows them: an initialisation, or under transactions v2 the end of a transaction."""
    found: dict[str, list[Rotation]] = {}
    for name, rotation in (*_by_initialisations(model), *_by_transactions(model)):
        found.setdefault(name, []).append(rotation)
    return found


def _by_initialisations(model: CaptureModel) -> Iterator[tuple[str, Rotation]]:
    rows = model.initialisations
    inits = (
        (rows["previous_state"] >= 0)
        & (rows["previous_epoch"] >= EXHAUSTED)
        & (rows["producer_id"] != rows["previous_producer_id"])
    )
    for row in rows[inits & (rows["is_tombstone"] == 0)]:
        old, new = int(row["previous_producer_id"]), int(row["producer_id"])
        places = (row_before(row), initialised_row(row))
        yield model.transactional_id(int(row["id_code"])), Rotation(int(row["timestamp"]), old, new, places)


def _by_transactions(model: CaptureModel) -> Iterator[tuple[str, Rotation]]:
    t = model.transactions
    ends = np.flatnonzero(
        (t["completed_producer_id"] >= 0)
        & (t["completed_producer_id"] != t["producer_id"])
        & (t["completion_epoch"] == 0)
    )
    for name, group in by_transactional_id(model, ends):
        for row in group:
            old, new = int(t["producer_id"][row]), int(t["completed_producer_id"][row])
            places = (*begin_row(t[row]), *decision_row(t[row]), *completion_row(t[row]))
            yield name, Rotation(int(t["decided_at"][row]), old, new, places)


def _rotated(model: CaptureModel, name: str, rotations: list[Rotation]) -> Case:
    first, count = rotations[0], len(rotations)
    is_v2 = _ran_v2(model, model.id_code(name))
    return Case(
        facts=Rotated(name, first.old, first.new, Count(count), is_v2, first.rows, first.rows[:1]),
        verdict=Verdict.proved,
        severity=Severity.info,
        transactional_id=name,
        producer_id=first.old if count == 1 else None,
        since=first.at,
        until=rotations[-1].at,
        count=count,
    )


def _ran_v2(model: CaptureModel, code: int) -> bool:
    """Whether a transaction of the id ran under transactions v2."""
    return bool((model.ends.protocol[model.transactions_of(code)] == Protocol.v2).any())


def _impossible(log_extent: LogExtent) -> Case:
    topic, partition, offset = log_extent.topic, log_extent.partition, log_extent.highest_epoch_offset
    text = f"data of producer id {log_extent.highest_epoch_producer} epoch {LAST}"
    return Case(
        facts=Impossible(TopicPartition(topic, partition), (EvidenceRef(topic, partition, offset, None, text),)),
        verdict=Verdict.proved,
        severity=Severity.error,
        producer_id=log_extent.highest_epoch_producer,
        producer_epoch=LAST,
        topic=topic,
        partition=partition,
        first_offset=offset,
    )


def _left_open(model: CaptureModel, latest: Array) -> Case:
    name, epoch = model.transactional_id(int(latest["id_code"])), int(latest["producer_epoch"])
    began = open_since(latest)
    return Case(
        facts=LeftOpen(name, epoch, Duration(model.age_ms(began)), (latest_row(latest),)),
        verdict=Verdict.likely,
        severity=Severity.error,
        transactional_id=name,
        producer_id=int(latest["producer_id"]),
        producer_epoch=epoch,
        since=began,
        until=model.facts.evidence_end,
    )


def _left_decided(model: CaptureModel, latest: Array) -> Case:
    name, producer_id = model.transactional_id(int(latest["id_code"])), int(latest["producer_id"])
    return Case(
        facts=LeftDecided(name, LAST, producer_id, (latest_row(latest),)),
        verdict=Verdict.likely,
        severity=Severity.error,
        transactional_id=name,
        producer_id=producer_id,
        producer_epoch=LAST,
        since=time_or_none(int(latest["updated_at"])),
        until=model.facts.evidence_end,
    )


def _loops(model: CaptureModel) -> Iterator[Case]:
    """Ids of the classic protocol whose starts take epochs so fast that the producer id will be used up."""
    rows = model.initialisations[model.initialisations["is_tombstone"] == 0]
    for code in np.unique(rows["id_code"][rows["producer_epoch"] >= FEWEST_EPOCHS]):
        mine = rows[rows["id_code"] == code]
        mine = mine[mine["producer_id"] == mine["producer_id"][-1]]
        if _ran_v2(model, int(code)):
            continue
        taken = int(mine["producer_epoch"][-1]) - int(mine["producer_epoch"][0])
        took = max(int(mine["timestamp"][-1]) - int(mine["timestamp"][0]), 1)
        if taken >= FEWEST_EPOCHS and taken * DAY_MS > EPOCHS_A_DAY * took:
            yield _loop(model, mine, taken, took)


def _loop(model: CaptureModel, mine: Array, taken: int, took: int) -> Case:
    name, rate, producer_id = (
        model.transactional_id(int(mine["id_code"][0])),
        taken * DAY_MS // took,
        int(mine["producer_id"][0]),
    )
    left = (EXHAUSTED - int(mine["producer_epoch"][-1])) // rate
    rows = (initialised_row(mine[0]), initialised_row(mine[-1]))
    return Case(
        facts=Loop(name, producer_id, Count(taken), Duration(took), Count(rate), Count(left), rows),
        verdict=Verdict.likely,
        severity=Severity.warning,
        transactional_id=name,
        producer_id=producer_id,
        since=int(mine["timestamp"][0]),
        until=int(mine["timestamp"][-1]),
        count=taken,
    )


ROTATED = Words(
    Rotated,
    title=pick("count", {1: "epochs of producer id {old} used up"}, "epochs of {count:producer id} used up"),
    summary=(
        "{id} used up the epochs of producer id {old} and went on as producer id {new}",
        pick("count", {1: "."}, ", the first of {count:change}."),
    ),
    steps=(
        step(
            "Producer id {old} reached its last epoch; {id} went on as producer id {new}, epoch 0",
            f"{EXHAUSTED} counts as exhausted",
            cites="rows",
        ),
    ),
    considered=(
        ruled_out("transactional_id_expired", "there is no tombstone, and the epochs were used up", cites="before"),
    ),
    remedies=(
        remedy(
            pick(
                "is_v2",
                {True: "Nothing to do: under transactions v2 every transaction takes an epoch"},
                "Find out what calls initTransactions so often: each call takes an epoch",
            ),
            "application",
        ),
    ),
)
LEFT_OPEN = Words(
    LeftOpen,
    title="stuck open at its last epoch",
    summary="A transaction of {id} is {age} old and beyond its timeout. The coordinator [{perhaps} ]can't abort it: no "
    "epoch is left after {epoch}.",
    steps=(
        step(
            "The transaction outlived its timeout", "the last record of {id} is Ongoing, epoch {epoch}", cites="latest"
        ),
    ),
    considered=(
        left_open(
            "coordinator_unavailable",
            "a coordinator that is away aborts nothing either",
            cites="latest",
            decided_by="the coordinator's server.log since then",
        ),
    ),
    remedies=(
        remedy(
            "Start one producer with this transactional.id: initTransactions ends the transaction. Then upgrade the "
            f"brokers (KAFKA-20090): until then a timeout at epoch {EXHAUSTED} leaves a transaction open",
            "operator",
            restart_needed=True,
        ),
    ),
)
LEFT_DECIDED = Words(
    LeftDecided,
    title="stands still at its last epoch",
    summary="A decision of {id} took epoch {epoch} of producer id {producer_id}, the last one there is, and the id has "
    "[{perhaps} ]not moved since: no epoch is left to fence with, so initTransactions waits or fails.",
    steps=(
        step(
            "The coordinator decided under epoch {epoch}", "no record of {id} follows in this evidence", cites="latest"
        ),
    ),
    considered=(
        left_open(
            "stuck_prepare",
            "a partition that takes no marker leaves the same last record",
            decided_by="kafka-transactions.sh describe of {id}, and the leaders of its partitions",
        ),
    ),
    remedies=(
        remedy(
            "Use another transactional.id, or let this one expire, so that a new producer id is given. Upgrade the "
            "brokers, and find out what raised the epoch so often: a restart loop, or two owners",
            "operator",
        ),
    ),
)
LOOP = Words(
    Loop,
    title="a loop of starts: {rate} epochs a day",
    summary=(
        "{id} took {rate} epochs a day by its starts, [{perhaps} ]in a loop. Producer id {producer_id} is used up ",
        pick("left", {0: "within a day."}, "in {left:day}."),
    ),
    steps=(step("{id} took {taken:epoch} in {took}: every initTransactions takes one or two", cites="rows"),),
    considered=(ruled_out("transactions v2", "no transaction of the id ran under it; there each takes an epoch"),),
    remedies=(
        remedy(
            "Find out what starts this producer so often: a crash loop, or two owners of one id",
            "application",
        ),
    ),
)
IMPOSSIBLE = Words(
    Impossible,
    title=f"data at epoch {LAST}, which no client may have",
    summary=f"{{partition}} holds data at epoch {LAST}. That epoch is the coordinator's own, no client may have it.",
    steps=(step(f"A client wrote a batch at epoch {LAST}", cites="batch"),),
    remedies=(
        remedy(
            "Upgrade the brokers (KAFKA-18660, KAFKA-20090), then restart the producer",
            "operator",
            restart_needed=True,
        ),
    ),
)

BY_ERROR = Words(
    UsedUpByError,
    title="the epochs of a producer id are used up",
    summary="The coordinator could not raise the epoch of producer id[ {producer_id}]"
    "[ of {name.transactional_id}] any more: 32767 is the last one. Its initTransactions fails until it gets a new "
    "producer id.",
    steps=(
        step(
            "The coordinator failed to raise the epoch, {count:time}", "its error names the last epoch", cites="lines"
        ),
    ),
    considered=(
        ruled_out("fenced_by_new_instance", "the coordinator failed by itself, no newer instance was granted"),
    ),
    remedies=(
        remedy(
            "Use another transactional.id, or let this one expire, so that a new producer id is given. Upgrade the "
            "brokers, and find out what raised the epoch so often: a restart loop, or two owners",
            "application",
        ),
    ),
)

RULE = Rule(
    find=find,
    words=(ROTATED, LEFT_OPEN, LEFT_DECIDED, LOOP, IMPOSSIBLE, BY_ERROR, EXHAUSTED_WORDS, OVERRUN_WORDS),
    depth=3,
)
