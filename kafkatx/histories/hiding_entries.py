"""Entries of indexes of aborted transactions that hide committed data.

A consumer with isolation.level=read_committed drops all data of a producer id from the first offset of an entry up to
that producer's next ABORT marker: it sees entries and ABORT markers, and of a COMMIT marker takes no notice. The broker
looks entries up in the index of the segment that a fetch begins in, and in later ones.

Grain: one partition; what its indexes list against the spans of its log.
Source  TransactionIndex.collectAbortedTxns, LocalLog.collectAbortedTransactions, CompletedFetch.nextFetchedRecord
        (0.11 to 4.4).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.growing import Array
from kafkatx.kernels.ordering import order_of, places_among
from kafkatx.kernels.rows import HIDING_ENTRY
from kafkatx.kernels.spans import BEFORE_LOG, COMMIT, LOST_END, NO_DATA, OVER_GAP, mark_told

UNSURE = BEFORE_LOG | LOST_END | NO_DATA | OVER_GAP
"""Spans whose data, or whose end, are not all at hand: an index may know better."""
AT_ONCE = 1 << 12
"""Spans that are looked at together: so many stay in a core's cache while one column after the other is asked."""


def hiding_entries(indexes: Iterable[tuple[int, int, Array]], spans: Array) -> Array:
    """Return the entries (dtype HIDING_ENTRY) that lie over data which a COMMIT marker ended.

    `indexes` are entries behind the offsets that their segment begins at and ends before; of data behind that the
    broker does not ask them.
    """
    found = [np.zeros(0, HIDING_ENTRY)]
    left = ((base, end, _left_of(entries, spans)) for base, end, entries in indexes)
    listed = [(base, end, entries) for base, end, entries in left if len(entries)]
    if not listed:
        return found[0]
    data = _Committed(
        spans, distinct(np.concatenate([np.zeros(0, np.int64), *(one["producer_id"] for *_, one in listed)]))
    )
    for base, end, entries in listed:
        for producer_id, rows in _numbers(entries["producer_id"]):
            found.append(_over(base, entries[rows], *data.below(producer_id, end)))
    return distinct(np.concatenate(found))


def _left_of(entries: Array, spans: Array) -> Array:
    """Entries without those that list what an ABORT marker ended: no other span of a producer lies within its own."""
    producers, first, last = (entries[name].astype(np.int64) for name in ("producer_id", "first_offset", "last_offset"))
    told = np.zeros(len(entries), bool)
    mark_told.count(len(entries))
    mark_told(producers, first, last, spans, told)
    return entries[~told]


class _Committed:
    """Where data of some producers lie that were committed for certain, each producer's in order of its offsets."""

    def __init__(self, spans: Array, producers: Array) -> None:
        parts = [_committed_by(producers, spans[first : first + AT_ONCE]) for first in range(0, len(spans), AT_ONCE)]
        place, first, last = (np.concatenate(column) for column in zip(*parts, strict=True)) if parts else [_NONE] * 3
        order = order_of(place) if len(place) else place
        self._first, self._last, self._producers = first[order], last[order], producers
        self._bounds = np.searchsorted(place[order], np.arange(len(producers) + 1))

    def below(self, producer_id: int, end: int) -> tuple[Array, Array]:
        """First and last offsets of a producer's data that begin before an offset."""
        number = int(np.searchsorted(self._producers, producer_id))
        mine = slice(int(self._bounds[number]), int(self._bounds[number + 1]))
        first, last = self._first[mine], self._last[mine]
        begins_before = first < end
        return first[begins_before], last[begins_before]


_NONE = np.zeros(0, np.int64)


def _committed_by(producers: Array, spans: Array) -> tuple[Array, Array, Array]:
    """Places of the producers of spans that were committed, and where their data begin and end."""
    committed = np.flatnonzero(is_committed(spans)) if len(producers) else _NONE
    place = places_among(producers, spans["producer_id"][committed])
    committed, place = committed[place >= 0], place[place >= 0]
    return place, spans["first_offset"][committed], spans["last_offset"][committed]


def _numbers(producer_ids: Array) -> Iterator[tuple[int, Array]]:
    """Yield each producer id with the numbers of its rows, in their order."""
    order = np.argsort(producer_ids, kind="stable")
    ids, starts = np.unique(producer_ids[order], return_index=True)
    yield from zip(ids.tolist(), np.split(order, starts[1:]), strict=False)


def is_committed(spans: Array) -> Array:
    """Which spans were committed for certain, with all of their data at hand."""
    is_sure = (spans["flags"] & UNSURE == 0) & (spans["records"] > 0)
    return (spans["marker_kind"] == COMMIT) & is_sure


def _over(base: int, entries: Array, first: Array, last: Array) -> Array:
    """The entries of one producer that lie over its committed data (its first and last offsets, in order)."""
    at = np.searchsorted(last, entries["first_offset"].astype(np.int64))
    nearest = np.append(first, np.iinfo(np.int64).max)[at]
    hiding = entries[nearest <= entries["last_offset"]]
    rows = np.zeros(len(hiding), HIDING_ENTRY)
    for name in ("producer_id", "first_offset", "last_offset"):
        rows[name] = hiding[name]
    rows["base_offset"] = base
    return rows
