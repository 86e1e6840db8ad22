"""Whether a .txnindex says what the markers of its segment say (formats/aborted_txn.py).

Meaning   a read_committed consumer learns from these entries alone which transactions were aborted: what is missing
          here is delivered as if it were committed, and nothing notices.
Limits    an entry without data (2.0 to 2.6) or whose data or marker compaction took away is healthy, so only what the
          log contradicts is damage. An entry is due for an ABORT marker whose transaction's data are at hand.
Source    TransactionIndex.java, ProducerStateManager.completeTxn, LogCleaner (Kafka 0.11 to 4.3).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kafkatx.kernels.spans import NO_DATA, OVER_GAP
from kafkatx.segments.batches import Rows
from kafkatx.segments.damage import Damage
from kafkatx.segments.entries import ABORTED, aborted_transactions
from kafkatx.segments.indexes import MOST_ENTRIES

ABORT, EMPTIED, CONTROL = 0, -1, 0x20


class AbortedCheck:
    """One .txnindex: `feed` it the segment's batches, `finish` it, `compare` it with spans of all segments at hand."""

    def __init__(self, path: str, data: bytes, base_offset: int) -> None:
        self.path = path
        self.entries, self.damage = aborted_transactions(path, data)
        self._file_size = len(data)
        self._first_offset, self._end_offset = base_offset, base_offset
        self._places = np.flatnonzero(np.frombuffer(data, ABORTED, len(data) // ABORTED.itemsize)["version"] == 0)
        last = self.entries["last_offset"].astype(np.int64)
        backwards = self.entries["first_offset"] > last
        self._add(backwards, "a first offset at or before the marker's", "a later one")
        descending = np.zeros(len(last), bool)
        descending[1:] = last[1:] <= last[:-1]
        self._add(descending | (last < base_offset), "entries that ascend by the marker's offset", "one that does not")

    def feed(self, rows: Rows) -> None:
        """Check the entries whose marker must lie among these batches."""
        last = self.entries["last_offset"].astype(np.int64)
        here = np.flatnonzero((last >= rows["base_offset"][0]) & (last <= rows["last_offset"][-1]))
        batch = np.searchsorted(rows["base_offset"], last[here], "right") - 1
        covered = rows["last_offset"][batch] >= last[here]
        here, batch = here[covered], batch[covered]
        marker = rows[batch]
        abort = (marker["attributes"] & CONTROL != 0) & np.isin(marker["control_type"], (ABORT, EMPTIED))
        same = (marker["base_offset"] == last[here]) & (marker["producer_id"] == self.entries["producer_id"][here])
        wrong = np.zeros(len(last), bool)
        wrong[here[~(abort & same)]] = True
        self._add(wrong, "the offset of an ABORT marker of its producer", "that of another batch")

    def finish(self, end_offset: int, is_last: bool) -> None:
        """Note where the segment ends; only in a last segment may an entry be ahead of the log."""
        self._end_offset = end_offset
        if not is_last:
            self._add(self.entries["last_offset"] >= end_offset, "a marker in the segment", "one behind its end")

    def compare(self, spans: Any) -> None:
        """Check that each transaction which a marker of the segment aborted is listed from its first data on."""
        listed: dict[tuple[int, int], int] = {}
        for row in self.entries.tolist():
            _, producer_id, first_offset, last_offset, _ = row
            listed[producer_id, last_offset] = min(listed.get((producer_id, last_offset), first_offset), first_offset)
        here = (spans["marker_offset"] >= self._first_offset) & (spans["marker_offset"] < self._end_offset)
        aborted = spans[
            here & (spans["marker_kind"] == ABORT) & (spans["flags"] & NO_DATA == 0) & (spans["records"] > 0)
        ]
        for span in aborted:
            key = int(span["producer_id"]), int(span["marker_offset"])
            first = listed.get(key)
            if first is None or (first > span["first_offset"] and not span["flags"] & OVER_GAP):
                self._lacks(span, "no entry" if first is None else f"one from offset {first:,} on")

    def _lacks(self, span: Any, found: str) -> None:
        if len(self.damage) < MOST_ENTRIES:
            first, last = int(span["first_offset"]), int(span["marker_offset"])
            expected = f"an entry for producer {int(span['producer_id'])}, aborted from offset {first:,} to {last:,}"
            self.damage.append(Damage("entry", self.path, self._file_size, 0, expected, found))

    def _add(self, wrong: Any, expected: str, found: str) -> None:
        for number in np.flatnonzero(wrong)[: max(0, MOST_ENTRIES - len(self.damage))].tolist():
            position = int(self._places[number]) * ABORTED.itemsize
            self.damage.append(Damage("entry", self.path, position, ABORTED.itemsize, expected, found))
