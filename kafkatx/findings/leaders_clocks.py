"""How far the clock of a partition's leader is from a coordinator's, as the markers at either end of its log show it.

A marker stands between its decision and its completion. Where its own time does not, two brokers with different clocks
wrote them, and a time of the partition says something about a time of that coordinator only when it is moved by that.
"""

from __future__ import annotations

import numpy as np

from kafkatx.histories.capture_model import CaptureModel, LogExtent
from kafkatx.histories.logs.once import once
from kafkatx.histories.skewed_clocks import beside, with_times
from kafkatx.kernels.growing import Array
from kafkatx.terms.clocks import BROKERS_TOLERANCE_MS

SURELY_LATER_MS = 120_000
"""By a client's clock."""


def goes_on(model: CaptureModel, log_extent: LogExtent, row: Array) -> bool:
    """Whether the log reaches beyond a completion: by its leader's clock, or by data of a transaction begun later.

    On a page the time of any record says so that is minutes later: who shows it looked at the log by then.
    """
    completed, ahead = int(row["completion_timestamp"]), ahead_at_end(model, log_extent.partition_code, row)
    after = completed + (BROKERS_TOLERANCE_MS if model.facts.brokers > 1 else 0)
    is_later = log_extent.is_printed and log_extent.newest > completed + SURELY_LATER_MS
    if (ahead is not None and log_extent.broker_time - ahead > after) or is_later:
        return True
    owners = model.parts.owner[model.spans_of(log_extent.partition_code)]
    later = model.transactions[owners[owners >= 0]]
    same_log = (later["state_partition"] == row["state_partition"]) | (ahead is not None)
    return bool((same_log & (later["started_at"] > after)).any())


def ahead_at_end(model: CaptureModel, partition_code: int, transaction: Array) -> int | None:
    """Milliseconds by which who wrote a partition's last marker for a transaction's coordinator was ahead of it.

    0 where no marker tells, None where none tells and clocks of this cluster are known to differ.
    """
    return _ahead(model, partition_code, int(transaction["state_partition"]), last=True)


def ahead_at_begin(model: CaptureModel, partition_code: int, transaction: Array) -> int | None:
    """The same of who wrote the first marker at hand."""
    return _ahead(model, partition_code, int(transaction["state_partition"]), last=False)


def _ahead(model: CaptureModel, partition_code: int, state_partition: int, *, last: bool) -> int | None:
    known = _at_edges(model).get((partition_code, state_partition))
    if known is not None:
        return known[last]
    return None if largest_difference(model) > BROKERS_TOLERANCE_MS else 0


@once
def _at_edges(model: CaptureModel) -> dict[tuple[int, int], tuple[int, int]]:
    """Of each partition and coordinator: how far the first and the last marker lie outside their transactions."""
    if not len(model.spans):
        return {}
    rows = with_times(model.transactions, model.parts.rows, model.spans)
    states = model.transactions["state_partition"][rows["transaction"]]
    order = np.lexsort((model.spans["marker_offset"][rows["marker"]], states, rows["partition_code"]))
    rows, states = rows[order], states[order]
    ahead = beside(model.transactions, rows, model.spans)
    pairs, firsts = np.unique(np.stack((rows["partition_code"], states), 1), axis=0, return_index=True)
    lasts = np.append(firsts[1:], len(rows)) - 1
    return {
        (partition, state): (int(ahead[first]), int(ahead[end]))
        for (partition, state), first, end in zip(pairs.tolist(), firsts, lasts, strict=True)
    }


@once
def largest_difference(model: CaptureModel) -> int:
    """By how many milliseconds two brokers' clocks differ at least, as the markers show; 0 where none shows any."""
    if not len(model.spans):
        return 0
    ahead = beside(model.transactions, with_times(model.transactions, model.parts.rows, model.spans), model.spans)
    return int(np.abs(ahead).max()) if len(ahead) else 0
