"""Who ended data of which the coordinator has no row: by what the data partitions alone show.

Grain: one producer id in one partition; vectorised over all spans at once. Where a row names the producer id, only one
thing is said: an ABORT that the coordinator can't have written (WriteTxnMarkers of an operator, KIP-664). Where none
does, the protocol must show itself in a COMMIT of the same producer id: under the classic protocol it has the data's
epoch, under transactions v2 the next one, and there nothing tells who aborted. The start of a transaction is then the
time of its first batch, by the client's clock, and its timeout is not known: the client's default is taken. Nothing is
proved that way: an operator's abort has the data's epoch too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kafkatx.histories.endings import EndedBy
from kafkatx.histories.growing import Array
from kafkatx.histories.story import Story
from kafkatx.kernels.transactions import COMPLETE_COMMIT, EMPTY
from kafkatx.terms.clocks import (
    CLIENT_TOLERANCE_MS,
    OLD_CLEANUP_INTERVAL_MS,
    TIMEOUT_SLACK_MS,
    TRANSACTION_TIMEOUT_MS,
)
from kafkatx.terms.verdicts import Verdict

ABORT, COMMIT = 0, 1


@dataclass(frozen=True, slots=True)
class DataEndings:
    """Arrays over aborted spans without a transaction.

    Number of the span, EndedBy, Verdict, milliseconds from its first batch to its marker (-1: unknown), and whether an
    operator wrote the marker.
    """

    spans: Any
    ended_by: Any
    verdict: Any
    duration_ms: Any
    by_operator: Any


def data_endings(story: Story) -> DataEndings:
    """Decide the ending of every aborted span that no transaction at hand owns."""
    spans, owner = story.spans, story.parts.owner
    numbers = np.flatnonzero((owner == -1) & (spans["first_offset"] >= 0) & (spans["marker_kind"] == ABORT))
    chosen = spans[numbers]
    named = np.isin(chosen["producer_id"], _named(story))
    by_operator = named & _is_operators(story, chosen)
    ended_by, verdict, duration = _of_the_unnamed(story, chosen)
    ended_by = np.where(by_operator, EndedBy.client, np.where(named, EndedBy.unknown, ended_by))
    verdict = np.where(by_operator, Verdict.likely, np.where(named, Verdict.possible, verdict))
    return DataEndings(numbers, ended_by, verdict, duration, by_operator)


def _named(story: Story) -> Array:
    """Producer ids that some row of the coordinator names."""
    tables = (story.latest, story.transactions, story.initialisations)
    return np.unique(np.concatenate([table["producer_id"] for table in tables]))


def _is_operators(story: Story, chosen: Array) -> Any:
    """Whether the id's latest row (no cleaner takes it) is older than the data, and others younger than the marker."""
    if not len(story.latest) or not len(chosen):
        return np.zeros(len(chosen), bool)
    latest = np.sort(story.latest, order=["producer_id", "timestamp"])
    at = np.searchsorted(latest["producer_id"], chosen["producer_id"], "right") - 1
    row = latest[at.clip(min=0)]
    over = (row["state"] == EMPTY) | (row["state"] >= COMPLETE_COMMIT)
    own_epoch = (chosen["marker_epoch"] == chosen["producer_epoch"]) & (chosen["previous_marker_offset"] >= 0)
    older = (row["producer_id"] == chosen["producer_id"]) & over & (row["timestamp"] < chosen["first_timestamp"])
    return own_epoch & older & (_known_until(story, row) > chosen["marker_timestamp"])


def _known_until(story: Story, rows: Array) -> Any:
    """Time of the newest row in the partition of each row; -1 where a younger row of the id may be lost."""
    partitions, place = np.unique(rows["state_partition"], return_inverse=True)
    newest = np.array([story.state_horizons[int(number)].newest for number in partitions], np.int64)
    lost = np.array([_lost_from(story, int(number)) for number in partitions], np.int64)
    return np.where(rows["offset"] >= lost[place], newest[place], -1)


def _lost_from(story: Story, partition: int) -> int:
    horizon = story.state_horizons[partition]
    return np.iinfo(np.int64).max if horizon.is_torn else horizon.last_loss


def _of_the_unnamed(story: Story, chosen: Array) -> tuple[Any, Any, Any]:
    """EndedBy, Verdict and duration as if no row named any of the producer ids."""
    classic = np.isin(chosen["producer_id"], _classic_producers(story.spans))
    times_known = (chosen["first_timestamp"] >= 0) & (chosen["marker_timestamp"] >= chosen["first_timestamp"])
    duration = np.where(times_known, chosen["marker_timestamp"] - chosen["first_timestamp"], -1)
    step = chosen["marker_epoch"].astype(np.int64) - chosen["producer_epoch"]
    own, raised = classic & (step == 0), classic & (step == 1)
    short = times_known & (duration < TRANSACTION_TIMEOUT_MS - CLIENT_TOLERANCE_MS)
    over = times_known & (duration >= TRANSACTION_TIMEOUT_MS)
    in_time = duration <= TRANSACTION_TIMEOUT_MS + OLD_CLEANUP_INTERVAL_MS + TIMEOUT_SLACK_MS + CLIENT_TOLERANCE_MS
    answers = [
        (own & (story.facts.release_known_to_raise_epoch | short), EndedBy.client, Verdict.likely),
        (raised & short & _somebody_came(story.spans, chosen), EndedBy.new_instance, Verdict.likely),
        (raised & short, EndedBy.new_instance, Verdict.possible),
        (raised & over & in_time, EndedBy.timeout, Verdict.likely),
        (raised & over, EndedBy.timeout, Verdict.possible),
    ]
    conditions = [answer[0] for answer in answers]
    ended_by = np.select(conditions, [int(answer[1]) for answer in answers], int(EndedBy.unknown))
    verdict = np.select(conditions, [int(answer[2]) for answer in answers], int(Verdict.possible))
    return ended_by, verdict, duration


def _classic_producers(spans: Array) -> Array:
    """Producer ids of which a COMMIT has the data's own epoch: no v2 transaction ends so."""
    committed = spans[(spans["first_offset"] >= 0) & (spans["marker_kind"] == COMMIT)]
    return np.unique(committed["producer_id"][committed["marker_epoch"] == committed["producer_epoch"]])


def _somebody_came(spans: Array, chosen: Array) -> Any:
    """Whether the producer id is seen at two epochs above the data, or more: then somebody initialised."""
    producers, place = np.unique(spans["producer_id"], return_inverse=True)
    highest = np.full(len(producers), -1, np.int64)
    np.maximum.at(highest, place, np.maximum(spans["producer_epoch"], spans["marker_epoch"]))
    found = np.searchsorted(producers, chosen["producer_id"])
    return highest[found] >= chosen["producer_epoch"] + 2 if len(chosen) else np.zeros(0, bool)
