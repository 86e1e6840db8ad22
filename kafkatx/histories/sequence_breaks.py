"""Where a producer's sequences break off in a partition: batches that are missing, and such that stand there twice.

Grain     one partition, its batches in offset order; a producer id at one epoch.
Rule      a leader takes only the batch that follows the last one of its producer and epoch, and knows a repeated one of
          the last five (`KNOWN_BATCHES`). After 2147483647 comes 0. A new epoch begins anew.
Gap       counts only where no offset is missing between both batches: what the cleaner took leaves holes.
Against   a batch further down that begins at 0 again is a client that was told that its state is gone (1.1 to 2.4).
Source    ProducerAppendInfo.checkSequence, ProducerStateEntry (0.11 to 4.4); DefaultRecordBatch.incrementSequence.
"""

from __future__ import annotations

import numpy as np

from kafkatx.kernels.growing import Array, Growing, with_length
from kafkatx.kernels.rows import SEQUENCE_BREAK
from kafkatx.kernels.sequences import (
    BREAKS_FULL,
    CARRY,
    KNOWN_BATCHES,
    LARGEST,
    PRODUCERS_FULL,
    SEQUENCED,
    SEQUENCED_PRODUCER,
    fold_sequences,
)
from kafkatx.kernels.spans import place_producers

__all__ = ["KNOWN_BATCHES", "LARGEST", "SequenceFold"]


class SequenceFold:
    """Folds windows of batches; keeps the last batches of each producer, and what broke off."""

    def __init__(self, partition_code: int) -> None:
        self.partition_code = partition_code
        self._slots: Array = np.full(32, -1, np.int32)
        self._producers: Array = np.zeros(16, SEQUENCED_PRODUCER)
        self._known: Array = np.zeros(16 * KNOWN_BATCHES, SEQUENCED)
        self._breaks = Growing(SEQUENCE_BREAK, 8)
        self._carry = np.zeros(1, CARRY)
        self._carry["next_offset"] = self._carry["hole_end"] = -1

    def feed(self, batches: Array) -> None:
        """Fold the next window."""
        number = 0
        while number < len(batches):
            why, number, self._breaks.filled = fold_sequences(
                batches, number, self._slots, self._producers, self._known, self._carry,
                self._breaks.rows, self._breaks.filled,
            )  # fmt: skip
            if why == BREAKS_FULL:
                self._breaks.make_room(len(self._breaks.rows))
            elif why == PRODUCERS_FULL:
                self._room_for_producers()
        fold_sequences.count(len(batches))

    def finish(self) -> Array:
        """Return the breaks (SEQUENCE_BREAK) in the order of their offsets."""
        found = self._breaks.done()
        found["partition_code"] = self.partition_code
        return found[np.argsort(found["first_offset"], kind="stable")]

    def _room_for_producers(self) -> None:
        """Double the table of producers, and hash it anew."""
        filled = int(self._carry["producers"][0])
        self._producers = with_length(self._producers, 2 * len(self._producers))
        self._known = with_length(self._known, len(self._producers) * KNOWN_BATCHES)
        self._slots = np.full(2 * len(self._producers), -1, np.int32)
        place_producers.count(filled)
        place_producers(self._slots, self._producers, filled)
