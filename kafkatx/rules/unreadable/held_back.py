"""What waits for an open transaction: readers of its partitions, and consumers that start from its offsets."""

from __future__ import annotations

from typing import TypedDict

import numpy as np

from kafkatx.findings.open_spans import OpenSpan
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.once import once
from kafkatx.kernels.spans import OPEN
from kafkatx.rules.read_committed_blocked import doubt_of, hidden_behind, holders
from kafkatx.rules.unreadable.retention import deleted_up_to
from kafkatx.terms.topics import CONSUMER_OFFSETS
from kafkatx.words.values import Count, NameList, TopicPartition


class Held(TypedDict):
    """What waits for a transaction, and the partition in which its first records are deleted already, up to where."""

    blocked: NameList | None
    hidden: Count | None
    holds_offsets: bool
    cut: TopicPartition | None
    cut_at: int | None


def held_back(model: CaptureModel, row: int) -> Held:
    """What waits for a transaction, by its row, where no copy can hold a marker of it that is not at hand."""
    mine = [OpenSpan(model, number) for number in _open_by_transaction(model).get(row, ())]
    certain = [one for one in mine if doubt_of(one) is None]
    oldest = set(_oldest(model)) if certain else set()
    hidden = {f"{one.data.place}": hidden_behind(one) for one in certain if one.number in oldest}
    blocked = [place for place, count in hidden.items() if count]
    starts = ((one, deleted_up_to(model, one.log_extent)) for one in certain)
    cut, cut_at = next(((one, start) for one, start in starts if one.data.first_offset < start), (None, None))
    return Held(
        blocked=NameList(blocked) if blocked else None,
        hidden=Count(sum(hidden.values())) if blocked else None,
        holds_offsets=any(one.log_extent.topic == CONSUMER_OFFSETS for one in certain),
        cut=cut.data.place if cut is not None else None,
        cut_at=cut_at,
    )


@once
def _open_by_transaction(model: CaptureModel) -> dict[int, list[int]]:
    """Numbers of spans without a marker, by the row of the transaction that they belong to."""
    found: dict[int, list[int]] = {}
    for number in np.flatnonzero((model.spans["flags"] & OPEN) != 0).tolist():
        found.setdefault(int(model.parts.owner[number]), []).append(number)
    return found


@once
def _oldest(model: CaptureModel) -> list[int]:
    """Numbers of the spans that hold the last stable offset of their partition."""
    return [one.number for one in holders(model)]
