"""Spans of one partition: which producer's data lie between which offsets, and which marker ended them.

Grain: one topic-partition of a capture, its batches in offset order (kernels.rows.BATCH).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace
from typing import Any

import numpy as np

from kafkatx.histories.sequence_breaks import SequenceFold
from kafkatx.kernels.growing import Array, Growing
from kafkatx.kernels.rows import COUNTED_ALONE, HIDING_ENTRY, PRODUCER, SEQUENCE_BREAK, SPAN
from kafkatx.kernels.spans import (
    BEFORE_LOG,
    OPEN,
    PRODUCERS_FULL,
    begin_producer,
    emit_span,
    fold_spans,
    new_horizon,
    place_producers,
    producer_slot,
)
from kafkatx.terms.records import dataclass

__all__ = ["OpenAtStart", "PartitionTransactions", "SpanFold", "fold_partition"]


@dataclass(frozen=True, slots=True)
class OpenAtStart:
    """A transaction that a producer snapshot shows open since an offset below the first batch at hand."""

    producer_id: int
    producer_epoch: int
    first_offset: int
    last_timestamp: int


@dataclass(slots=True)
class PartitionTransactions:
    """What the fold yields.

    `spans` (dtype SPAN): ended ones in order of their markers, then open ones; `log_extent`: one row; `breaks` (dtype
    SEQUENCE_BREAK): where sequences break off; `hiding` (dtype HIDING_ENTRY): entries of indexes over committed data.
    `alone` (dtype COUNTED_ALONE): spans that are counted instead of held; the fold counts none.
    """

    spans: Array
    log_extent: Any
    breaks: Array = field(default_factory=lambda: np.zeros(0, SEQUENCE_BREAK))
    hiding: Array = field(default_factory=lambda: np.zeros(0, HIDING_ENTRY))
    alone: Array = field(default_factory=lambda: np.zeros(0, COUNTED_ALONE))


class SpanFold:
    """Folds windows of batches; keeps one row a producer and one a span."""

    def __init__(self, partition_code: int) -> None:
        self.partition_code = partition_code
        self.slots: Array = np.full(64, -1, np.int32)
        self.producers = Growing(PRODUCER, 32)
        self.spans = Growing(SPAN, 64)
        self.log_extent = new_horizon()

    def open_at_start(self, entries: Iterable[OpenAtStart]) -> None:
        """Begin with transactions that were open before the first batch at hand."""
        for entry in entries:
            row = self._producer_row(entry.producer_id)
            producer = self.producers.rows[row]
            if producer["first_offset"] < 0 or entry.first_offset < producer["first_offset"]:
                producer["first_offset"] = entry.first_offset
                producer["last_offset"] = entry.first_offset
                producer["first_timestamp"] = -1
                producer["last_timestamp"] = entry.last_timestamp
                producer["producer_epoch"] = entry.producer_epoch
                producer["flags"] = BEFORE_LOG

    def feed(self, batches: Array) -> None:
        """Fold the next window."""
        number = 0
        while number < len(batches):
            self.spans.make_room()
            why, number, self.spans.filled = fold_spans(
                batches,
                number,
                self.partition_code,
                self.slots,
                self.producers.rows,
                self.log_extent,
                self.spans.rows,
                self.spans.filled,
            )
            self.producers.filled = int(self.log_extent["producers"][0])
            if why == PRODUCERS_FULL:
                self._room_for_producers()
        fold_spans.count(len(batches))

    def finish(self) -> PartitionTransactions:
        """Return the spans, those still open last."""
        rows = self.producers.done()
        for row in np.flatnonzero(rows["first_offset"] >= 0):
            self.spans.make_room()
            emit_span(
                rows,
                int(row),
                self.partition_code,
                int(self.log_extent["last_gap"][0]),
                self.spans.rows,
                self.spans.filled,
            )
            self.spans.rows["flags"][self.spans.filled] |= OPEN
            self.spans.filled += 1
        return PartitionTransactions(self.spans.done(), self.log_extent[0])

    def _producer_row(self, producer_id: int) -> int:
        self._room_for_producers(needed=True)
        slot = producer_slot(producer_id, self.slots, self.producers.rows)
        if self.slots[slot] < 0:
            self.slots[slot] = self.producers.filled
            begin_producer(self.producers.filled, producer_id, self.producers.rows)
            self.producers.filled += 1
            self.log_extent["producers"][0] = self.producers.filled
        return int(self.slots[slot])

    def _room_for_producers(self, needed: bool = False) -> None:
        """Double the table of producers where it is full (or told that it must take one more), and hash it anew."""
        if (
            needed
            and self.producers.filled + 1 < len(self.producers.rows)
            and 2 * (self.producers.filled + 2) <= len(self.slots)
        ):
            return
        self.producers.make_room(len(self.producers.rows))
        self.slots = np.full(4 * len(self.producers.rows), -1, np.int32)
        place_producers.count(self.producers.filled)
        place_producers(self.slots, self.producers.rows, self.producers.filled)


def fold_partition(
    windows: Iterable[Array],
    partition_code: int,
    open_at_start: Iterable[OpenAtStart] = (),
    *,
    has_sequences: bool = True,
) -> PartitionTransactions:
    """Spans and log extent of one partition from windows of batches in offset order.

    `has_sequences`: producers wrote them. What a group coordinator writes for a transaction always has sequence 0.
    """
    fold, sequences = SpanFold(partition_code), SequenceFold(partition_code)
    fold.open_at_start(open_at_start)
    for window in windows:
        fold.feed(window)
        if has_sequences:
            sequences.feed(window)
    return replace(fold.finish(), breaks=sequences.finish())
