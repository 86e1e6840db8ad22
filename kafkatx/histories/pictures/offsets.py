"""What is drawn of a partition: its offsets as stretches by what became of them, and what the last stable offset hides.

Grain: one data partition. Above MOST_STRETCHES the axis is parted into BINS; each part is what is worst in it. Data
without a marker whose transaction the coordinator has decided are as the timeline of their id has them: decided, and
not complete. To readers they are as open as any.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np

from kafkatx.histories.capture_model import CaptureModel, LogExtent
from kafkatx.histories.visibility import last_stable_offset
from kafkatx.kernels.growing import Array
from kafkatx.kernels.spans import ABORT, COMMIT, OPEN
from kafkatx.kernels.transactions import PREPARE_ABORT, PREPARE_COMMIT
from kafkatx.terms.records import dataclass

MOST_STRETCHES = 240
BINS = 160


class Fate(StrEnum):
    """What became of a stretch, the worst last."""

    committed = "committed"
    undecided = "undecided"
    aborted = "aborted"
    aborting = "aborting"
    """Decided to abort, and the marker is not there."""
    committing = "committing"
    """Decided to commit, and the marker is not there."""
    open = "open"


FATES = tuple(Fate)
UNMARKED = (Fate.aborting, Fate.committing, Fate.open)
"""What holds the last stable offset back."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Offsets from `first` to `last`, both included; `count` runs of producers, `producer_id` None for several."""

    first: int
    last: int
    fate: Fate
    count: int
    records: int
    producer_id: int | None
    producer_epoch: int | None


@dataclass(frozen=True, slots=True)
class OffsetAxis:
    """A partition from the first offset that counts to behind the last; `stable` is the last stable offset.

    `holder_id` is the producer id that holds it, None where nothing does.
    """

    topic: str
    partition: int
    log_start: int
    log_end: int
    stable: int
    holder_id: int | None
    stretches: tuple[Stretch, ...]
    has_gaps: bool

    @property
    def hidden(self) -> int:
        """Offsets that read_committed consumers don't get, since something below is open."""
        return max(0, self.log_end - self.stable)


def offset_axis(model: CaptureModel, extent: LogExtent) -> OffsetAxis | None:
    """Return what is drawn of a partition; None where it holds no transaction."""
    rows = model.spans_of(extent.partition_code)
    rows = rows[model.spans["first_offset"][rows] >= 0]
    spans = model.spans[rows]
    if not len(spans):
        return None
    stable, holder = last_stable_offset(model, extent)
    start = min(max(extent.log_start, 0), int(spans["first_offset"].min()))
    end = max(extent.log_end, int(spans["last_offset"].max()) + 1)
    return OffsetAxis(
        topic=extent.topic,
        partition=extent.partition,
        log_start=start,
        log_end=end,
        stable=min(stable, end),
        holder_id=int(model.spans["producer_id"][holder]) if holder is not None else None,
        stretches=tuple(_stretches(spans, _fates(model, rows), start, end)),
        has_gaps=extent.has_gaps,
    )


def _stretches(spans: Array, fates: Array, start: int, end: int) -> list[Stretch]:
    if len(spans) <= MOST_STRETCHES:
        columns = ("first_offset", "last_offset", "records", "producer_id", "producer_epoch")
        return [
            Stretch(first, last, FATES[fate], 1, records, producer, epoch)
            for (first, last, records, producer, epoch), fate in zip(
                spans[list(columns)].tolist(), fates.tolist(), strict=True
            )
        ]
    width = max(1, -(-(end - start) // BINS))
    first, last = (spans["first_offset"] - start) // width, (spans["last_offset"] - start) // width
    worst, count, records = np.full(BINS, -1), np.zeros(BINS, np.int64), np.zeros(BINS, np.int64)
    for fate in range(len(FATES)):  # the worst is painted last
        for low, high in np.unique(np.stack([first[fates == fate], last[fates == fate]], axis=1), axis=0).tolist():
            worst[low : high + 1] = fate
    np.add.at(count, first.clip(0, BINS - 1), 1)
    np.add.at(records, first.clip(0, BINS - 1), spans["records"])
    return [
        Stretch(start + at * width, min(end, start + (at + 1) * width) - 1, FATES[worst[at]], int(count[at]),
                int(records[at]), None, None)
        for at in np.flatnonzero(worst >= 0).tolist()
    ]  # fmt: skip


def _fates(model: CaptureModel, rows: Array) -> Any:
    """Numbers in FATES."""
    spans, decisions = model.spans[rows], _decisions(model, rows)
    marked, is_open = spans["marker_offset"] >= 0, (spans["flags"] & OPEN) != 0
    return np.select(
        [marked & (spans["marker_kind"] == COMMIT), marked & (spans["marker_kind"] == ABORT),
         is_open & (decisions == PREPARE_COMMIT), is_open & (decisions == PREPARE_ABORT), is_open],
        [FATES.index(Fate.committed), FATES.index(Fate.aborted), FATES.index(Fate.committing),
         FATES.index(Fate.aborting), FATES.index(Fate.open)],
        FATES.index(Fate.undecided),
    )  # fmt: skip


def _decisions(model: CaptureModel, rows: Array) -> Any:
    """What the coordinator decided about the transactions of spans, and has not completed; -1 for all else."""
    owners = model.parts.owner[rows]
    found = np.full(len(rows), -1, np.int64)
    t = model.transactions[owners[owners >= 0]]
    found[owners >= 0] = np.where(t["completion_offset"] < 0, t["decision"], -1)
    return found
