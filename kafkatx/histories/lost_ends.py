"""Data whose own marker was lost, and which a later marker of their producer ended.

Mechanism  A log that loses its end (an unclean election, a disk) keeps the first records of a transaction and loses its
           marker, with all that followed. The next marker of that producer ends what is open there, and says it of them
           too: records that the coordinator committed are aborted by the abort of another transaction.
Evidence   the transaction is complete and has no marker in the partition; the data are older than the start of the
           transaction whose marker ended them, and of the time of the one that has none.
Against    times that the application set: they are hardly those of a transaction without a marker.
"""

from __future__ import annotations

import numpy as np

from kafkatx.kernels.growing import Array
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS


def assign_to_lost(transactions: Array, rows: Array, spans: Array, owner: Array, lost: Array) -> None:
    """Give data that a later marker ended to the transaction whose marker is missing, the first of those that fit.

    `lost` are the rows without a marker whose transaction is complete. What survives behind the last marker is the
    beginning of what followed it, so the first transaction that fits wrote it.
    """
    ended = np.flatnonzero((rows["span"] >= 0) & np.isin(rows["partition_code"], rows["partition_code"][lost]))
    older = spans["last_timestamp"][rows["span"][ended]] + CLIENT_TOLERANCE_MS
    started = transactions["started_at"][rows["transaction"][ended]]
    ended = ended[(spans["first_timestamp"][rows["span"][ended]] >= 0) & (older < started)]
    ended = ended[_may_be_of(transactions[rows["transaction"][lost]], spans[rows["span"][ended]])]
    for number in ended.tolist():
        span = int(rows["span"][number])
        found = _writers(transactions, rows, lost, rows[number], spans[span])
        if len(found):
            rows["span"][number], rows["span"][found[0]] = -1, span
            owner[span] = rows["transaction"][found[0]]


def _may_be_of(lost: Array, spans: Array) -> Array:
    """Whether spans are of a producer, and of the time, of any transactions: those of old times alone are many."""
    since, until = lost["started_at"].min() - CLIENT_TOLERANCE_MS, lost["decided_at"].max() + CLIENT_TOLERANCE_MS
    is_near = (spans["first_timestamp"] >= since) & (spans["last_timestamp"] <= until)
    found: Array = is_near & np.isin(spans["producer_id"], lost["producer_id"])
    return found


def _writers(transactions: Array, rows: Array, lost: Array, ended: Array, span: Array) -> Array:
    """Rows without marker and data that can be of a span: of its producer and epoch, before its end, of its time."""
    earlier = lost[: np.searchsorted(rows["transaction"][lost], ended["transaction"])]
    before = earlier[rows["partition_code"][earlier] == ended["partition_code"]]
    t = transactions[rows["transaction"][before]]
    fits = (rows["span"][before] < 0) & (t["producer_id"] == span["producer_id"])
    fits &= (t["producer_epoch"] == span["producer_epoch"]) & (t["started_at"] >= 0)
    fits &= t["started_at"] - CLIENT_TOLERANCE_MS <= span["first_timestamp"]
    fits &= t["decided_at"] + CLIENT_TOLERANCE_MS >= span["last_timestamp"]
    fits &= t["started_at"] >= span["previous_marker_timestamp"] - CLIENT_TOLERANCE_MS
    return before[fits]
