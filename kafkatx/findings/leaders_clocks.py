"""How far the clock of a partition's leader is from a coordinator's, as the markers at either end of its log show it.

A marker stands between its decision and its completion. Where its own time does not, two brokers with different clocks
wrote them, and a time of the partition says something about a time of that coordinator only when it is moved by that.
"""

from __future__ import annotations

import numpy as np

from kafkatx.histories.capture_model import CaptureModel, LogExtent
from kafkatx.histories.logs.once import once
from kafkatx.histories.skewed_clocks import beside, known_difference, with_times
from kafkatx.kernels.growing import Array
from kafkatx.terms.clocks import BROKERS_TOLERANCE_MS
from kafkatx.terms.records import dataclass

SURELY_LATER_MS = 120_000
"""By a client's clock."""


def goes_on(model: CaptureModel, log_extent: LogExtent, row: Array) -> bool:
    """Whether the log reaches beyond a completion: by what came later in it, else by its leader's clock.

    On a page the time of any record says so that is minutes later: who shows it looked at the log by then.
    """
    completed = int(row["completion_timestamp"])
    if log_extent.is_printed and log_extent.newest > completed + SURELY_LATER_MS:
        return True
    after = completed + (BROKERS_TOLERANCE_MS if model.facts.brokers > 1 else 0)
    ahead = ahead_at_end(model, log_extent.partition_code, row)
    if ahead is not None and _edge(model, log_extent).newest - ahead > after:
        return True
    return _has_later(model, log_extent, row, after)


def _has_later(model: CaptureModel, log_extent: LogExtent, row: Array, after: int) -> bool:
    """Whether the log holds data or a marker of a transaction that came behind a completion.

    In one partition of `__transaction_state` the order says so: all markers stand before a completion is written. Of
    another one the times do, unless clocks of this cluster are known to differ.
    """
    here = model.spans_of(log_extent.partition_code)
    owners = model.parts.owner[here]
    later, spans = model.transactions[owners[owners >= 0]], model.spans[here][owners >= 0]
    is_behind = later["begin_offset"] > row["completion_offset"]
    is_behind |= (spans["marker_offset"] >= 0) & (later["decision_offset"] > row["completion_offset"])
    is_later = (later["state_partition"] == row["state_partition"]) & is_behind
    if largest_difference(model) <= BROKERS_TOLERANCE_MS:
        is_later |= (later["state_partition"] != row["state_partition"]) & (later["started_at"] > after)
    return bool(is_later.any())


def ahead_at_end(model: CaptureModel, partition_code: int, transaction: Array) -> int | None:
    """Milliseconds by which who leads a partition at its end was ahead of who coordinated a transaction.

    0 where no marker tells, None where none tells and clocks of this cluster are known to differ: each leadership, of
    the partition and of the coordinator, has a clock of its own.
    """
    return _ahead(model, partition_code, transaction, last=True)


def ahead_at_begin(model: CaptureModel, partition_code: int, transaction: Array) -> int | None:
    """The same of who led it at its beginning."""
    return _ahead(model, partition_code, transaction, last=False)


@dataclass(frozen=True, slots=True)
class _Edge:
    """Leader epochs of a partition's first and last marker, and the newest time of the last leadership."""

    first: int
    last: int
    newest: int


def _edge(model: CaptureModel, log_extent: LogExtent) -> _Edge:
    found = _edges(model).get(log_extent.partition_code)
    return _Edge(-1, -1, log_extent.broker_time) if found is None else found


@once
def _edges(model: CaptureModel) -> dict[int, _Edge]:
    found = {}
    for code, log_extent in model.log_extents.items():
        spans = model.spans[model.spans_of(code)]
        spans = spans[spans["marker_offset"] >= 0]
        if not len(spans):
            continue
        epochs, offsets = spans["leader_epoch"], spans["marker_offset"]
        first, last = int(epochs[offsets.argmin()]), int(epochs[offsets.argmax()])
        of_last = int(spans["marker_timestamp"][epochs == last].max())
        found[code] = _Edge(first, last, of_last if first != last else max(of_last, log_extent.broker_time))
    return found


def _ahead(model: CaptureModel, partition_code: int, transaction: Array, *, last: bool) -> int | None:
    edge = _edges(model).get(partition_code)
    if edge is not None:
        leadership = edge.last if last else edge.first
        key = (
            partition_code,
            leadership,
            int(transaction["state_partition"]),
            int(transaction["decision_leader_epoch"]),
        )
        known = _by_leaderships(model).get(key)
        if known is not None:
            return known[last]
    return None if largest_difference(model) > BROKERS_TOLERANCE_MS else 0


@once
def _by_leaderships(model: CaptureModel) -> dict[tuple[int, ...], tuple[int, int]]:
    """How far the first and the last marker lie outside their transactions.

    By partition, its leader epoch, the coordinator's partition and its leader epoch.
    """
    if not len(model.spans):
        return {}
    rows = with_times(model.transactions, model.parts.rows, model.spans)
    if not len(rows):
        return {}
    told, markers = model.transactions[rows["transaction"]], model.spans[rows["marker"]]
    columns = (
        rows["partition_code"], markers["leader_epoch"], told["state_partition"], told["decision_leader_epoch"],
    )  # fmt: skip
    order = np.lexsort((markers["marker_offset"], *columns[::-1]))
    ahead = beside(model.transactions, rows, model.spans)[order]
    keys, firsts = np.unique(np.stack(columns, 1)[order], axis=0, return_index=True)
    lasts = np.append(firsts[1:], len(rows)) - 1
    return {
        tuple(key): (int(ahead[first]), int(ahead[end]))
        for key, first, end in zip(keys.tolist(), firsts, lasts, strict=True)
    }


@once
def largest_difference(model: CaptureModel) -> int:
    """By how many milliseconds two clocks differ at least, as markers and rows show; 0 where none shows any."""
    return known_difference(model.transactions, model.parts.rows, model.spans)
