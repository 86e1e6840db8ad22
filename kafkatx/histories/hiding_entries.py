"""Entries of indexes of aborted transactions that hide committed data.

A consumer with isolation.level=read_committed drops all data of a producer id from the first offset of an entry up to
that producer's next ABORT marker: it sees entries and ABORT markers, and of a COMMIT marker takes no notice. The broker
looks entries up in the index of the segment that a fetch begins in, and in later ones.

Grain: one partition; what its indexes list against the spans of its log.
Source  TransactionIndex.collectAbortedTxns, LocalLog.collectAbortedTransactions, CompletedFetch.nextFetchedRecord
        (0.11 to 4.4).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kafkatx.kernels.growing import Array
from kafkatx.kernels.rows import HIDING_ENTRY
from kafkatx.kernels.spans import BEFORE_LOG, COMMIT, LOST_END, NO_DATA, OVER_GAP

UNSURE = BEFORE_LOG | LOST_END | NO_DATA | OVER_GAP
"""Spans whose data, or whose end, are not all at hand: an index may know better."""


def hiding_entries(indexes: Iterable[tuple[int, int, Array]], spans: Array) -> Array:
    """Return the entries (dtype HIDING_ENTRY) that lie over data which a COMMIT marker ended.

    `indexes` are entries behind the offsets that their segment begins at and ends before; of data behind that the
    broker does not ask them.
    """
    of_producers = _by_producer(spans[is_committed(spans)])
    found = [np.zeros(0, HIDING_ENTRY)]
    for base, end, entries in indexes:
        for producer_id, listed in _by_producer(entries).items():
            data = of_producers.get(producer_id)
            if data is not None:
                found.append(_over(base, listed, data[data["first_offset"] < end]))
    return np.unique(np.concatenate(found))


def _by_producer(rows: Array) -> dict[int, Array]:
    """The rows of each producer id, in their order."""
    order = np.argsort(rows["producer_id"], kind="stable")
    ids, starts = np.unique(rows["producer_id"][order], return_index=True)
    pieces = np.split(order, starts[1:])
    return {producer_id: rows[piece] for producer_id, piece in zip(ids.tolist(), pieces, strict=False)}


def is_committed(spans: Array) -> Array:
    """Which spans were committed for certain, with all of their data at hand."""
    is_sure = (spans["flags"] & UNSURE == 0) & (spans["records"] > 0)
    return (spans["marker_kind"] == COMMIT) & is_sure


def _over(base: int, entries: Array, data: Array) -> Array:
    """The entries of one producer that lie over its committed data, which is in order of its offsets."""
    at = np.searchsorted(data["last_offset"], entries["first_offset"].astype(np.int64))
    nearest = np.append(data["first_offset"], np.iinfo(np.int64).max)[at]
    hiding = entries[nearest <= entries["last_offset"]]
    rows = np.zeros(len(hiding), HIDING_ENTRY)
    for name in ("producer_id", "first_offset", "last_offset"):
        rows[name] = hiding[name]
    rows["base_offset"] = base
    return rows
