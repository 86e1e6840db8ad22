"""The coordinator's log holds a row that its state machine cannot have written after the one before.

Mechanism    Rows of an id go Empty, Ongoing, Prepare*, Complete* and round again; the epoch of a producer id never
             falls; the start of a transaction does not change; its list of partitions only grows. No broker checks this
             when it loads the log (the last row wins), so a lost, doubled or foreign row goes unnoticed.
Evidence     two consecutive rows of an id with no offset missing between them (compaction leaves holes), and what is
             wrong with them.
Against      offsets missing between the two; rows below the cleaner's first dirty offset.
Look-alikes  compaction; an abort without partitions under transactions v2; the double bump of 4.0.0; a producer id that
             rotates; Complete* written again after a failover. All of these are legal here.
Remedy       keep the files, compare all replicas of the partition, look for unclean elections and disk errors at that
             time.
Source       TransactionState.validPreviousStates, TransactionMetadata.prepareTransitionTo (0.11 to 4.4); KIP-98.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafkatx.histories.story import Story
from kafkatx.kernels.growing import Array
from kafkatx.kernels.transactions import (
    EPOCH_DECREASED,
    EPOCH_JUMPED,
    ILLEGAL_STATE,
    ILLEGAL_TRANSITION,
    LIST_CHANGED,
    NO_PARTITIONS,
    NO_START,
    START_CHANGED,
)
from kafkatx.rules.finding import Finding
from kafkatx.terms.topics import TRANSACTION_STATE
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explained import Place, Remedy, Step
from kafkatx.words.places import plural

RULE = "inconsistent_transaction_state"
WHAT = {
    ILLEGAL_TRANSITION: "a state that can't follow the one before",
    EPOCH_DECREASED: "a lower epoch than the row before, for the same producer id",
    EPOCH_JUMPED: "an epoch that no known operation leads to from the one before",
    START_CHANGED: "another start of the transaction than the row before",
    LIST_CHANGED: "fewer partitions than the row before, in one transaction",
    NO_START: "a completed transaction that never started",
    ILLEGAL_STATE: "a state that is never written to disk",
    NO_PARTITIONS: "an Ongoing transaction without partitions",
}
ALONE = (NO_START, ILLEGAL_STATE, NO_PARTITIONS)
"""Oddities of one row, which need none before."""


def check(story: Story) -> Iterator[Finding]:
    """One finding for each transactional.id with rows that don't fit."""
    odd = story.oddities[(story.oddities["is_contiguous"] == 1) | np.isin(story.oddities["kind"], ALONE)]
    for code in np.unique(odd["id_code"]):
        yield _inconsistent(story, story.transactional_id(int(code)), odd[odd["id_code"] == code])


def _verdict(story: Story, rows: Array) -> Verdict:
    horizon = story.state_horizons[int(rows["state_partition"][0])]
    if (rows["offset"] < horizon.first_dirty).all():
        return Verdict.possible
    return Verdict.likely if (rows["kind"] == EPOCH_JUMPED).all() else Verdict.proved


def _inconsistent(story: Story, name: str, rows: Array) -> Finding:
    verdict = _verdict(story, rows)
    return Finding(
        rule=RULE,
        verdict=verdict,
        severity=Severity.warning if verdict is Verdict.possible else Severity.error,
        summary=f"{plural(len(rows), 'row')} of {name} in the coordinator's log that its state machine "
        f"can't have written: {WHAT[int(rows['kind'][0])]}",
        transactional_id=name,
        topic=TRANSACTION_STATE,
        partition=int(rows["state_partition"][0]),
        first_offset=int(rows["offset"].min()),
        last_offset=int(rows["offset"].max()),
        count=len(rows),
        steps=tuple(_step(row) for row in rows[:5]),
        remedies=(
            Remedy(
                "keep the files and compare every replica of this partition; prefer the leader's; "
                "look for an unclean election or a disk error at that time",
                "operator",
            ),
        ),
    )


def _step(row: Array) -> Step:
    partition, kind = int(row["state_partition"]), int(row["kind"])
    places = [Place(TRANSACTION_STATE, partition, int(row["offset"]), None, WHAT[kind])]
    if row["previous_offset"] >= 0 and kind not in ALONE:
        places.insert(0, Place(TRANSACTION_STATE, partition, int(row["previous_offset"]), None, "the row before"))
    return Step(
        f"offset {int(row['offset'])} holds {WHAT[kind]}",
        "no offset is missing between the two rows" if len(places) > 1 else "the row alone shows it",
        tuple(places),
    )
