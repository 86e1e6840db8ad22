"""Events that repeat themselves without end are counted instead of kept, so that a log of any length fits in memory.

Of the events of a source with one kind and the same names (transactional.id, producer id, node, topic, partition,
client, error, call; of those of no other kind the text) the first and the last `KEPT_AT_EACH_END` stay; the last of the
first ones tells in `repeats` how many were dropped behind it. Where there are so many names that even this grows, fewer
are kept of each, and in the end of each kind, whatever its names.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.rows import EVENT
from kafkatx.terms.events import EventKind

KEPT_AT_EACH_END = 500
MOST_KEPT = 100_000
"""Events of a source above which fewer are kept of each kind and name."""
NAMES = (
    "kind", "transactional_id_code", "producer_id", "node", "topic_code", "partition", "client_id_code", "error_code",
    "api_code", "source",
)  # fmt: skip
"""Columns that make events the same."""
_FACTOR, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)


class Thinning:
    """Takes the events of one source in their order and keeps what is to be kept."""

    def __init__(self, kept_at_each_end: int = KEPT_AT_EACH_END, most_kept: int = MOST_KEPT) -> None:
        self.ends = kept_at_each_end
        self.most = most_kept
        self.events = np.zeros(0, EVENT)
        self._waiting: list[Any] = []
        self._count = 0

    def add(self, events: Any) -> None:
        """Take more events."""
        self._waiting.append(events)
        self._count += len(events)
        if self._count > self.most // 2:
            self.thin()

    def thin(self) -> Any:
        """Return what is kept, in order."""
        events = np.concatenate([self.events, *self._waiting])
        self._waiting, self._count = [], 0
        events = thinned(events, self.ends)
        while len(events) > self.most and self.ends > 1:
            self.ends //= 2
            events = thinned(events, self.ends)
        if len(events) > self.most:
            kinds = len(distinct(events["kind"]))
            events = thinned(events, max(1, self.most // (2 * kinds)), NAMES[:1])
        self.events = events
        return events


def thinned(events: Any, ends: int, names: tuple[str, ...] = NAMES) -> Any:
    """Keep the first and last `ends` events of each kind and name; `repeats` adds up over what is dropped."""
    groups = _groups(events, names)
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    sizes = np.diff(starts, append=len(order))
    rank = np.arange(len(order)) - np.repeat(starts, sizes)
    left = np.repeat(sizes, sizes) - rank
    is_dropped = (rank >= ends) & (left > ends)
    if not is_dropped.any():
        return events
    dropped = order[is_dropped]
    counts = np.bincount(groups[dropped], events["repeats"][dropped] + 1.0, len(starts)).astype(np.int64)
    is_long = sizes > 2 * ends
    tellers = order[starts[is_long] + ends - 1]
    repeats = np.minimum(events["repeats"][tellers] + counts[is_long], np.iinfo(np.int32).max)
    keep = np.ones(len(events), bool)
    keep[dropped] = False
    kept = events[keep]
    kept["repeats"][np.cumsum(keep)[tellers] - 1] = repeats
    return kept


def _groups(events: Any, names: tuple[str, ...]) -> Any:
    """Number of the group of each event, by a 64-bit hash of its kind and names."""
    hashes = np.zeros(len(events), np.uint64)
    for name in names:
        hashes = (hashes ^ events[name].astype(np.uint64)) * _FACTOR
        hashes ^= hashes >> _SHIFT
    is_other = events["kind"] == EventKind.other
    hashes ^= np.where(is_other, events["detail_code"], 0).astype(np.uint64) * _FACTOR
    _, groups = np.unique(hashes, return_inverse=True)
    return groups
