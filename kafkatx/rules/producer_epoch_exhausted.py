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

import numpy as np

from kafkatx.histories.endings import Protocol
from kafkatx.histories.story import Horizon, Story
from kafkatx.kernels.growing import Array
from kafkatx.kernels.transactions import ONGOING
from kafkatx.rules.finding import Finding
from kafkatx.rules.grouping import by_transactional_id
from kafkatx.rules.open_transaction import is_overdue
from kafkatx.terms.times import duration
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explained import Considered, Place, Remedy, Step
from kafkatx.words.places import begin_row, completion_row, decision_row, latest_row, plural, state_row

RULE = "producer_epoch_exhausted"
EXHAUSTED, LAST = 32_766, 32_767
DAY_MS, FEWEST_EPOCHS, EPOCHS_A_DAY = 86_400_000, 100, 100
"""So many epochs taken by starts, at such a rate, are a loop and no deployments."""


def check(story: Story) -> Iterator[Finding]:
    """One finding for each id whose producer id rotated, and one for each partition with data at epoch 32767."""
    rotations = _rotations(story)
    for name in sorted(rotations):
        yield _rotated(name, rotations[name])
    for latest in story.latest[(story.latest["state"] == ONGOING) & (story.latest["producer_epoch"] >= EXHAUSTED)]:
        if is_overdue(story.age_ms(int(latest["started_at"])), int(latest["timeout_ms"])):
            yield _left_open(story, latest)
    yield from _loops(story)
    for horizon in story.horizons.values():
        if horizon.highest_epoch == LAST:
            yield _impossible(horizon)


Rotation = tuple[int, int, int, tuple[Place, ...]]
"""Time, old and new producer id, places."""


def _rotations(story: Story) -> dict[str, list[Rotation]]:
    found: dict[str, list[Rotation]] = {}
    rows = story.initialisations
    inits = (
        (rows["previous_state"] >= 0)
        & (rows["previous_epoch"] >= EXHAUSTED)
        & (rows["producer_id"] != rows["previous_producer_id"])
    )
    for row in rows[inits & (rows["is_tombstone"] == 0)]:
        partition = int(row["state_partition"])
        before = state_row(
            partition,
            int(row["previous_offset"]),
            int(row["previous_timestamp"]),
            int(row["previous_state"]),
            int(row["previous_producer_id"]),
            int(row["previous_epoch"]),
        )
        after = state_row(
            partition, int(row["offset"]), int(row["timestamp"]), 0, int(row["producer_id"]), int(row["producer_epoch"])
        )
        name = story.transactional_id(int(row["id_code"]))
        found.setdefault(name, []).append(
            (int(row["timestamp"]), int(row["previous_producer_id"]), int(row["producer_id"]), (before, after))
        )
    t = story.transactions
    ends = np.flatnonzero(
        (t["completed_producer_id"] >= 0)
        & (t["completed_producer_id"] != t["producer_id"])
        & (t["completion_epoch"] == 0)
    )
    for name, group in by_transactional_id(story, ends):
        for row in group:
            places = (*begin_row(t[row]), *decision_row(t[row]), *completion_row(t[row]))
            found.setdefault(name, []).append(
                (int(t["decided_at"][row]), int(t["producer_id"][row]), int(t["completed_producer_id"][row]), places)
            )
    return {name: sorted(rotations, key=lambda rotation: rotation[0]) for name, rotations in found.items()}


def _rotated(name: str, rotations: list[Rotation]) -> Finding:
    time, old, new, places = rotations[0]
    return Finding(
        rule=RULE,
        verdict=Verdict.proved,
        severity=Severity.info,
        summary=f"{name} used up the epochs of producer id {old} and went on as producer id {new} "
        f"({plural(len(rotations), 'rotation')})",
        transactional_id=name,
        producer_id=old if len(rotations) == 1 else None,
        since=time,
        until=rotations[-1][0],
        count=len(rotations),
        steps=(
            Step(
                f"producer id {old} reached the last epoch; the id continued as {new}, epoch 0",
                "32766 counts as exhausted",
                places,
            ),
        ),
        considered=(Considered("transactional_id_expired", "no tombstone, and the epoch was at its end", places[:1]),),
        remedies=(
            Remedy(
                "under transactions v2 nothing; under the classic protocol find out what runs "
                "initTransactions so often",
                "application",
            ),
        ),
    )


def _impossible(horizon: Horizon) -> Finding:
    place = Place(
        horizon.topic,
        horizon.partition,
        horizon.highest_epoch_offset,
        None,
        f"data of producer id {horizon.highest_epoch_producer} epoch {LAST}",
    )
    return Finding(
        rule=RULE,
        verdict=Verdict.proved,
        severity=Severity.error,
        summary=f"data at epoch {LAST} in {horizon.topic}-{horizon.partition}: an epoch that no client may be given",
        producer_id=horizon.highest_epoch_producer,
        producer_epoch=LAST,
        topic=horizon.topic,
        partition=horizon.partition,
        first_offset=horizon.highest_epoch_offset,
        steps=(
            Step(f"a data batch carries epoch {LAST}", "32767 is the coordinator's own, for the last abort", (place,)),
        ),
        remedies=(
            Remedy(
                "upgrade the brokers (KAFKA-18660, KAFKA-20090) and restart the producer",
                "operator",
                restart_needed=True,
            ),
        ),
    )


def _left_open(story: Story, latest: Array) -> Finding:
    name, row = story.transactional_id(int(latest["id_code"])), latest_row(latest)
    epoch, age = int(latest["producer_epoch"]), duration(story.age_ms(int(latest["started_at"])))
    return Finding(
        rule=RULE,
        verdict=Verdict.likely,
        severity=Severity.error,
        summary=f"the transaction of {name} at epoch {epoch} is {age} old, beyond its timeout, and the coordinator "
        "does not end it",
        transactional_id=name,
        producer_id=int(latest["producer_id"]),
        producer_epoch=epoch,
        since=int(latest["started_at"]),
        until=story.facts.evidence_end,
        steps=(Step(f"the id's latest row is Ongoing at epoch {epoch}", "no epoch is left to abort it under", (row,)),),
        considered=(
            Considered("open_transaction", "not refuted: a coordinator that is away ends nothing either", (row,)),
        ),
        remedies=(
            Remedy(
                "start one producer with this transactional.id, and upgrade the brokers (KAFKA-20090)",
                "operator",
                derived_from=f"a timeout at epoch {EXHAUSTED} leaves the transaction open",
                restart_needed=True,
            ),
        ),
    )


def _loops(story: Story) -> Iterator[Finding]:
    """Ids of the classic protocol whose starts take epochs so fast that the producer id will be used up."""
    rows = story.initialisations[story.initialisations["is_tombstone"] == 0]
    for code in np.unique(rows["id_code"][rows["producer_epoch"] >= FEWEST_EPOCHS]):
        mine = rows[rows["id_code"] == code]
        mine = mine[mine["producer_id"] == mine["producer_id"][-1]]
        if (story.ends.protocol[story.transactions_of(int(code))] == Protocol.v2).any():
            continue
        taken = int(mine["producer_epoch"][-1]) - int(mine["producer_epoch"][0])
        took = max(int(mine["timestamp"][-1]) - int(mine["timestamp"][0]), 1)
        if taken >= FEWEST_EPOCHS and taken * DAY_MS > EPOCHS_A_DAY * took:
            yield _loop(story, mine, taken, took)


def _loop(story: Story, mine: Array, taken: int, took: int) -> Finding:
    name, rate = story.transactional_id(int(mine["id_code"][0])), taken * DAY_MS // took
    left, producer_id = (EXHAUSTED - int(mine["producer_epoch"][-1])) // rate, int(mine["producer_id"][0])
    return Finding(
        rule=RULE,
        verdict=Verdict.likely,
        severity=Severity.warning,
        summary=f"{name} takes {rate:,} epochs a day by its starts: producer id {producer_id} is used up in {left:,} d",
        transactional_id=name,
        producer_id=producer_id,
        since=int(mine["timestamp"][0]),
        until=int(mine["timestamp"][-1]),
        count=taken,
        steps=(
            Step(
                f"{plural(taken, 'epoch')} in {duration(took)}",
                "every initTransactions takes one or two",
                (_empty_row(mine[0]), _empty_row(mine[-1])),
            ),
        ),
        considered=(Considered("transactions v2", "no transaction of the id ran under it; there each takes an epoch"),),
        remedies=(
            Remedy(
                "find out what starts this producer so often: a crash loop, or two owners of one id",
                "application",
                derived_from=f"{taken} epochs in {duration(took)}; {EXHAUSTED} are all there are",
            ),
        ),
    )


def _empty_row(row: Array) -> Place:
    partition, offset, at = int(row["state_partition"]), int(row["offset"]), int(row["timestamp"])
    return state_row(partition, offset, at, 0, int(row["producer_id"]), int(row["producer_epoch"]))
