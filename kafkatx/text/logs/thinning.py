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
from kafkatx.kernels.growing import chosen, joined
from kafkatx.kernels.repetitions import keep_ends
from kafkatx.kernels.rows import EVENT

KEPT_AT_EACH_END = 500
MOST_KEPT = 100_000
"""Events of a source above which fewer are kept of each kind and name."""


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
        events = joined([self.events, *self._waiting])
        self._waiting, self._count = [], 0
        events = thinned(events, self.ends)
        while len(events) > self.most and self.ends > 1:
            self.ends //= 2
            events = thinned(events, self.ends)
        if len(events) > self.most:
            kinds = len(distinct(events["kind"]))
            events = thinned(events, max(1, self.most // (2 * kinds)), by_kind=True)
        self.events = events
        return events


def thinned(events: Any, ends: int, by_kind: bool = False) -> Any:
    """Keep the first and last `ends` events of each kind and name; `repeats` adds up over what is dropped."""
    count = len(events)
    if count <= 2 * ends:
        return events
    slots = np.full(1 << (2 * count - 1).bit_length(), -1, np.int32)
    firsts, groups, sizes, seen, repeats = (np.zeros(count, np.int32) for _ in range(5))
    keep = np.zeros(count, np.bool_)
    if keep_ends(events, by_kind, ends, slots, firsts, groups, sizes, seen, keep, repeats) == count:
        return events
    kept = chosen(events, keep)
    kept["repeats"] = repeats[keep]
    return kept
