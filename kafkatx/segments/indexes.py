"""Entries of .index and .timeindex files, and whether they lead where they should in their segment.

Meaning   an index is a shortcut: a reader takes the last entry at or below what it looks for and scans on from
          there. So an entry is wrong when the scan would begin inside a batch or behind what is looked for. How far an
          entry's offset lies behind its batch differs between releases, between leaders and followers and after
          compaction: that says nothing (formats/offset_index.py).
Limits    zeros behind the last entry are preallocated; entries beyond the end of the log are told apart, since files
          of a live broker are copied one after the other.
Source    OffsetIndex.java, TimeIndex.java, LogSegment.java (Kafka 0.11 to 4.3).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kafkatx.segments.batches import Rows
from kafkatx.segments.damage import Damage

OFFSET_ENTRY = np.dtype([("relative_offset", ">i4"), ("position", ">i4")])
TIME_ENTRY = np.dtype([("timestamp", ">i8"), ("relative_offset", ">i4")])
MOST_ENTRIES = 100
"""Wrong entries of one file that are listed; the last one then stands for the rest too."""


class IndexCheck:
    """One index file against the batches of its segment, fed in order; `damage` is complete after `finish`."""

    entry = OFFSET_ENTRY
    ascending: tuple[str, ...] = ("relative_offset", "position")

    def __init__(self, path: str, data: bytes, base_offset: int) -> None:
        self.path = path
        self.damage: list[Damage] = []
        self.beyond = 0
        self.size = self.entry.itemsize
        self._usable: Any = np.zeros(0, bool)
        self.entries = self._whole_entries(data)
        self.offsets = self.entries["relative_offset"].astype(np.int64) + base_offset
        self._check_order()

    def feed(self, rows: Rows) -> None:
        """Check the entries that lie among some batches, which follow one another without damage between them."""
        raise NotImplementedError

    def finish(self, end_offset: int, end_position: int, is_last: bool) -> None:
        """Check what lies behind the last batch.

        Args:
            end_offset: the first offset behind the segment's last batch.
            end_position: the byte behind it.
            is_last: whether this is the partition's last segment, where entries may be ahead of the log: they are
                counted in `beyond` and are no damage.
        """
        behind = self._behind(end_offset, end_position)
        if is_last:
            self.beyond = int(np.count_nonzero(behind))
        else:
            self._add(behind, "an entry within the segment", "one behind its last batch")

    def _behind(self, end_offset: int, end_position: int) -> Any:
        return self.offsets >= end_offset

    def _whole_entries(self, data: bytes) -> Rows:
        """Entries up to the preallocated zeros; what is none becomes damage."""
        left_over = len(data) % self.size
        entries = np.frombuffer(data, self.entry, len(data) // self.size)
        if left_over:
            found = f"{left_over} bytes, then the end of the file"
            self.damage.append(
                Damage("torn", self.path, len(data) - left_over, left_over, f"entries of {self.size} bytes", found)
            )
        filled = np.flatnonzero(np.any([entries[name] != 0 for name in entries.dtype.names or ()], axis=0))
        used = entries[: int(filled[-1]) + 1] if len(filled) else entries[:0]
        self._usable = np.zeros(len(used), bool)
        self._usable[filled] = True
        self._usable[:1] = True
        self._add(~self._usable, "an entry", "zeros, and further entries behind them")
        return used

    def _check_order(self) -> None:
        """Note entries that are not above the one before; those below the base offset can't be meant either."""
        wrong = self.entries["relative_offset"] < 0
        numbers = np.flatnonzero(self._usable)
        for name in self.ascending:
            wrong[numbers[1:]] |= np.diff(self.entries[name][numbers].astype(np.int64)) <= 0
        self._add(wrong, "entries that ascend", "one that is not above the entry before")
        self._usable &= ~wrong

    def _add(self, wrong: Any, expected: str, found: str) -> None:
        """Note the entries where `wrong` is true."""
        numbers = np.flatnonzero(wrong)
        for number in numbers[: max(0, MOST_ENTRIES - len(self.damage))].tolist():
            self.damage.append(Damage("entry", self.path, number * self.size, self.size, expected, found))


class OffsetIndexCheck(IndexCheck):
    """Every entry points at the beginning of a batch, and none before that batch has the entry's offset."""

    entry = OFFSET_ENTRY
    ascending = ("relative_offset", "position")

    def feed(self, rows: Rows) -> None:
        """See IndexCheck."""
        positions = self.entries["position"].astype(np.int64)
        end = int(rows["position"][-1]) + int(rows["size"][-1])
        here = np.flatnonzero((positions >= rows["position"][0]) & (positions < end) & self._usable)
        batch = np.searchsorted(rows["position"], positions[here], "right") - 1
        inside = rows["position"][batch] != positions[here]
        self._note(here[inside], "the position where a batch begins", "one inside a batch")
        here, batch = here[~inside], batch[~inside]
        below = self.offsets[here] < rows["base_offset"][batch]
        self._note(here[below], "an offset at or behind the batch it points at", "one before it")
        before = self.offsets[np.maximum(here - 1, 0)]
        skips = (here > 0) & (before >= rows["base_offset"][batch])
        self._note(here[skips] - 1, "an offset before the batch of the next entry", "one behind its beginning")

    def _behind(self, end_offset: int, end_position: int) -> Any:
        return (self.offsets >= end_offset) | (self.entries["position"] >= end_position)

    def _note(self, numbers: Any, expected: str, found: str) -> None:
        wrong = np.zeros(len(self.entries), bool)
        wrong[numbers] = True
        self._add(wrong, expected, found)


class TimeIndexCheck(IndexCheck):
    """No batch up to an entry's offset has a later time than the entry: a search by time would miss it.

    Batches that the cleaner emptied don't count.
    """

    entry = TIME_ENTRY
    ascending = ("timestamp",)

    def __init__(self, path: str, data: bytes, base_offset: int) -> None:
        super().__init__(path, data, base_offset)
        self._newest = -1
        self._checked = 0

    def feed(self, rows: Rows) -> None:
        """See IndexCheck."""
        times = np.where(rows["record_count"] > 0, rows["max_timestamp"], -1)
        newest = np.maximum(np.maximum.accumulate(times), self._newest)
        behind = int(np.searchsorted(self.offsets[self._checked :], rows["last_offset"][-1], "right")) + self._checked
        numbers = np.arange(self._checked, behind)
        batch = np.searchsorted(rows["base_offset"], self.offsets[numbers], "right") - 1
        highest = np.where(batch < 0, self._newest, newest[np.maximum(batch, 0)])
        wrong = np.zeros(len(self.entries), bool)
        wrong[numbers] = (highest > self.entries["timestamp"][numbers]) & self._usable[numbers]
        self._add(wrong, "the newest time up to its offset", "an older one")
        self._newest, self._checked = int(newest[-1]), behind
