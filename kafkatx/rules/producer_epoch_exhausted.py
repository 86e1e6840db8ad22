"""A producer id used up its epochs and was replaced by a new one.

Mechanism    An epoch of 32766 counts as exhausted. Classic: the next InitProducerId gets a new producer id, epoch 0.
             Transactions v2:
             every transaction takes an epoch, and the end of the one at 32766 hands out the next producer id.
Evidence     rows at 32766 or 32767, then the same transactional.id with another producer id at epoch 0.
Against      a tombstone between them: then the id had expired.
Look-alikes  transactional_id_expired (idle time, low epoch).
Remedy       transactions v2: none, it is routine. Classic: find the loop of initTransactions, each of which takes an
             epoch. Data at epoch
             32767 are a broker's bug (no client may see it).
Source       KIP-360, KIP-890; TransactionMetadata.isEpochExhausted (0.11 to 4.4); KAFKA-9666, KAFKA-18660, KAFKA-20090.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafkatx.histories.story import Horizon, Story
from kafkatx.rules.finding import Considered, Finding, Place, Remedy, Step
from kafkatx.rules.grouping import by_transactional_id
from kafkatx.rules.wording import begin_row, completion_row, decision_row, plural, state_row
from kafkatx.terms.verdicts import Severity, Verdict

RULE = "producer_epoch_exhausted"
EXHAUSTED, LAST = 32_766, 32_767


def check(story: Story) -> Iterator[Finding]:
    """One finding for each id whose producer id rotated, and one for each partition with data at epoch 32767."""
    rotations = _rotations(story)
    for name in sorted(rotations):
        yield _rotated(name, rotations[name])
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
        summary=f"{name} used up the epochs of producer id {old} and went on as producer id {new} ({plural(len(rotations), 'rotation')})",
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
                "under transactions v2 nothing; under the classic protocol find out what runs initTransactions so often",
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
