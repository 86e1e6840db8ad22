"""Whether a consumer with isolation.level=read_committed is given the record at an offset, and why (not).

Grain: one offset of one data partition.
Source  ProducerStateManager.firstUnstableOffset, UnifiedLog.lastStableOffset, CompletedFetch (0.11 to 4.4); KIP-98.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from kafkatx.histories.capture_model import CaptureModel, LogExtent
from kafkatx.kernels.growing import Array
from kafkatx.kernels.spans import ABORT, COMMIT, OPEN
from kafkatx.terms.records import dataclass

IS_TRANSACTIONAL, IS_CONTROL = 0x10, 0x20


class Sight(StrEnum):
    """What decides."""

    visible = "visible"
    below_log_start = "below_log_start"
    beyond_the_end = "beyond_the_end"
    compacted_away = "compacted_away"
    missing = "missing"
    control_batch = "control_batch"
    above_last_stable_offset = "above_last_stable_offset"
    aborted = "aborted"
    undecided = "undecided"


@dataclass(frozen=True, slots=True)
class Visibility:
    """The answer: `sees` is None where the evidence can't tell. Offsets are None where nothing is known.

    `holder`: row of the span that holds the last stable offset; `marker_offset`: the marker that decided.
    """

    sees: bool | None
    sight: Sight
    last_stable_offset: int
    holder: int | None = None
    marker_offset: int | None = None


def last_stable_offset(model: CaptureModel, log_extent: LogExtent) -> tuple[int, int | None]:
    """Offset below which all is decided, and the row of the span that holds it there (None: nothing does).

    The high watermark is taken to be the log end: the checkpoint that could tell is up to five seconds old.
    """
    rows = model.spans_of(log_extent.partition_code)
    open_ = rows[(model.spans["flags"][rows] & OPEN) != 0]
    if not len(open_):
        return log_extent.log_end, None
    holder = int(open_[np.argmin(model.spans["first_offset"][open_])])
    return max(int(model.spans["first_offset"][holder]), log_extent.log_start), holder


def span_at(model: CaptureModel, partition_code: int, offset: int, batch: Array) -> int | None:
    """Row of the span that a transactional batch belongs to: the data it is part of, or the one that it ends."""
    if not batch["attributes"] & IS_TRANSACTIONAL:
        return None
    rows = model.spans_of(partition_code)
    spans = model.spans[rows]
    if batch["attributes"] & IS_CONTROL:
        fitting = rows[spans["marker_offset"] == batch["base_offset"]]
    else:
        inside = (spans["first_offset"] >= 0) & (spans["first_offset"] <= offset) & (spans["last_offset"] >= offset)
        fitting = rows[inside & (spans["producer_id"] == batch["producer_id"])]
    return int(fitting[0]) if len(fitting) else None


def visibility(
    model: CaptureModel, log_extent: LogExtent, offset: int, batch: Array | None, has_record: bool
) -> Visibility:
    """Judge an offset. `batch` is the batch that holds it (None: none at hand), `has_record` that it holds a record."""
    stable, holder = last_stable_offset(model, log_extent)
    if offset < log_extent.log_start:
        return Visibility(False, Sight.below_log_start, stable)
    if batch is not None and has_record:
        return _of_record(model, log_extent, offset, batch, stable, holder)
    if offset >= log_extent.log_end and batch is None:
        return Visibility(False, Sight.beyond_the_end, stable, holder)
    sight = Sight.compacted_away if log_extent.is_compacted else Sight.missing
    return Visibility(False if log_extent.is_compacted else None, sight, stable, holder)


def _of_record(
    model: CaptureModel, log_extent: LogExtent, offset: int, batch: Array, stable: int, holder: int | None
) -> Visibility:
    """Judge the offset of a record that is at hand."""
    if batch["attributes"] & IS_CONTROL and batch["magic"] == 2:
        return Visibility(False, Sight.control_batch, stable, holder, offset)
    if offset >= stable:
        return Visibility(False, Sight.above_last_stable_offset, stable, holder)
    if batch["magic"] < 2 or not batch["attributes"] & IS_TRANSACTIONAL:
        return Visibility(True, Sight.visible, stable)
    return _decided(model, log_extent, offset, batch, stable)


def _decided(model: CaptureModel, log_extent: LogExtent, offset: int, batch: Array, stable: int) -> Visibility:
    """Judge a transactional record below the last stable offset by the marker that ended its span."""
    span = span_at(model, log_extent.partition_code, offset, batch)
    if span is None or model.spans["marker_offset"][span] < 0:
        return Visibility(None, Sight.undecided, stable)
    kind, marker = int(model.spans["marker_kind"][span]), int(model.spans["marker_offset"][span])
    if kind == ABORT:
        return Visibility(False, Sight.aborted, stable, None, marker)
    return Visibility(
        True if kind == COMMIT else None, Sight.visible if kind == COMMIT else Sight.undecided, stable, None, marker
    )
