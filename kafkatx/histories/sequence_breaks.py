"""Where a producer's sequences break off in a partition: batches that are missing, and such that stand there twice.

Grain     one partition, its batches in offset order; a producer id at one epoch.
Rule      a leader takes only the batch that follows the last one of its producer and epoch, and knows a repeated one of
          the last five (`KNOWN_BATCHES`). After 2147483647 comes 0. A new epoch begins anew.
Gap       counts only where no offset is missing between both batches: what the cleaner took leaves holes.
Against   a batch further down that begins at 0 again is a client that was told that its state is gone (1.1 to 2.4).
Source    ProducerAppendInfo.checkSequence, ProducerStateEntry (0.11 to 4.4); DefaultRecordBatch.incrementSequence.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kafkatx.kernels.growing import Array
from kafkatx.kernels.rows import SEQUENCE_BREAK

KNOWN_BATCHES = 5
"""Batches of a producer that a leader remembers (ProducerStateEntry.NUM_BATCHES_TO_RETAIN)."""
LARGEST = 0x7FFFFFFF
CONTROL = 0x20
_SEQUENCED = np.dtype(
    [
        ("producer_id", "i8"),
        ("first_offset", "i8"),
        ("last_offset", "i8"),
        ("timestamp", "i8"),
        ("hole_end", "i8"),
        ("producer_epoch", "i2"),
        ("first_sequence", "i4"),
        ("last_sequence", "i4"),
        ("leader_epoch", "i4"),
        ("records", "i4"),
    ]
)
"""What of a batch is compared; `hole_end` is where the last missing offsets before it end (-1: none are missing)."""


class SequenceFold:
    """Folds windows of batches; keeps the last batches of each producer, and what broke off."""

    def __init__(self, partition_code: int) -> None:
        self.partition_code = partition_code
        self.known: Array = np.zeros(0, _SEQUENCED)
        self.breaks: list[Array] = []
        self.next_offset = -1
        self.hole_end = -1

    def feed(self, batches: Array) -> None:
        """Fold the next window."""
        new = self._sequenced(batches)
        if not len(new):
            return
        is_mine = np.isin(self.known["producer_id"], new["producer_id"])
        both = np.concatenate((self.known[is_mine], new))
        both = both[np.argsort(both["producer_id"], kind="stable")]
        if len(found := _breaks(both, int(new["first_offset"][0]), self.partition_code)):
            self.breaks.append(found)
        self.known = np.concatenate((self.known[~is_mine], both[_is_among_last(both["producer_id"])]))

    def finish(self) -> Array:
        """Return the breaks (SEQUENCE_BREAK) in the order of their offsets."""
        found = np.concatenate([np.zeros(0, SEQUENCE_BREAK), *self.breaks])
        return found[np.argsort(found["first_offset"], kind="stable")]

    def _sequenced(self, batches: Array) -> Array:
        """The batches that have sequences; notes holes on the way."""
        if not len(batches):
            return np.zeros(0, _SEQUENCED)
        ends = np.concatenate(([self.next_offset], batches["last_offset"][:-1] + 1))
        is_behind_hole = (ends >= 0) & (batches["base_offset"] > ends)
        holes = np.maximum.accumulate(np.where(is_behind_hole, batches["base_offset"], self.hole_end))
        self.next_offset, self.hole_end = int(batches["last_offset"][-1]) + 1, int(holes[-1])
        chosen = (batches["base_sequence"] >= 0) & (batches["producer_id"] >= 0) & (batches["producer_epoch"] >= 0)
        chosen &= (batches["magic"] == 2) & (batches["attributes"] & CONTROL == 0)
        rows = batches[chosen]
        found = np.zeros(len(rows), _SEQUENCED)
        for name in ("producer_id", "producer_epoch", "last_offset", "leader_epoch"):
            found[name] = rows[name]
        found["first_offset"], found["first_sequence"] = rows["base_offset"], rows["base_sequence"]
        found["timestamp"], found["records"] = rows["max_timestamp"], rows["record_count"]
        length = rows["last_offset"] - rows["base_offset"]
        found["last_sequence"] = (rows["base_sequence"].astype(np.int64) + length) & LARGEST
        found["hole_end"] = holes[chosen]
        return found


def _is_among_last(producers: Array) -> Any:
    """Which rows are among the last ones of their producer; rows of one producer lie together."""
    found = np.ones(len(producers), bool)
    found[:-KNOWN_BATCHES] = producers[:-KNOWN_BATCHES] != producers[KNOWN_BATCHES:]
    return found


def _breaks(batches: Array, since: int, partition_code: int) -> Array:
    """What breaks off at or behind an offset; batches of one producer lie together, in the order of their offsets."""
    count = len(batches)
    first = batches["first_sequence"].astype(np.int64)
    expected = (batches["last_sequence"].astype(np.int64) + 1) & LARGEST
    follows, twin = np.zeros(count, bool), np.full(count, -1, np.int64)
    for back in range(1, min(KNOWN_BATCHES, count - 1) + 1):
        earlier, later = slice(0, count - back), slice(back, count)
        same = _are_of_one_epoch(batches[earlier], batches[later])
        follows[later] |= same & (expected[earlier] == first[later])
        is_twin = same & (first[earlier] == first[later]) & (expected[earlier] == expected[later])
        twin[later] = np.where(is_twin & (twin[later] < 0), np.arange(count - back), twin[later])
    before = np.maximum(np.arange(count) - 1, 0)
    missing = (first - expected[before]) & LARGEST
    is_gap = _are_of_one_epoch(batches[before], batches) & ~follows & (twin < 0) & (missing <= LARGEST // 2)
    is_gap &= (np.arange(count) > 0) & (batches["hole_end"] <= batches["last_offset"][before])
    is_new = batches["first_offset"] >= since
    gaps, twins = np.flatnonzero(is_gap & is_new), np.flatnonzero((twin >= 0) & is_new)
    rows, earlier_rows = np.concatenate((gaps, twins)), np.concatenate((before[gaps], twin[twins]))
    left_out = np.concatenate((missing[gaps], np.zeros(len(twins), np.int64)))
    return _rows(batches[rows], batches[earlier_rows], left_out, partition_code)


def _are_of_one_epoch(one: Array, other: Array) -> Any:
    return (one["producer_id"] == other["producer_id"]) & (one["producer_epoch"] == other["producer_epoch"])


def _rows(later: Array, earlier: Array, missing: Array, partition_code: int) -> Array:
    found = np.zeros(len(later), SEQUENCE_BREAK)
    for name in (
        "producer_id", "producer_epoch", "first_offset", "last_offset", "timestamp", "first_sequence", "last_sequence",
        "records", "leader_epoch",
    ):  # fmt: skip
        found[name] = later[name]
    for name in ("first_offset", "last_offset", "timestamp", "last_sequence", "leader_epoch"):
        found[f"before_{name}"] = earlier[name]
    found["missing"], found["partition_code"] = missing, partition_code
    return found
