"""The sequence fold: batches of one partition in offset order to the places where a producer's sequences break off.

Kafka's own: ProducerAppendInfo.checkSequence, ProducerStateEntry (0.11 to 4.4); DefaultRecordBatch.incrementSequence.
"""

from typing import Any

import numpy as np

from kafkatx.kernels.batches import walk_batches
from kafkatx.kernels.engine import kernel_after, kernel_inlined
from kafkatx.kernels.spans import producer_slot

DONE, BREAKS_FULL, PRODUCERS_FULL = 0, 1, 2
KNOWN_BATCHES = 5
"""Batches of a producer that a leader remembers (ProducerStateEntry.NUM_BATCHES_TO_RETAIN)."""
LARGEST = 0x7FFFFFFF

SEQUENCED_PRODUCER = np.dtype([("producer_id", "i8"), ("batches", "i8")])
"""A producer, and how many batches of it there were."""
SEQUENCED = np.dtype(
    [
        ("first_offset", "i8"),
        ("last_offset", "i8"),
        ("timestamp", "i8"),
        ("first_sequence", "i4"),
        ("last_sequence", "i4"),
        ("records", "i4"),
        ("leader_epoch", "i4"),
        ("producer_epoch", "i2"),
    ],
    align=True,
)
"""What is remembered of a batch: the last `KNOWN_BATCHES` of a producer lie together, each in the place of its number.
"""
CARRY = np.dtype([("next_offset", "i8"), ("hole_end", "i8"), ("producers", "i8")])
"""What is carried over batches: the offset behind the last one, where the last missing offsets end (-1: none are
missing), and how many producers there are."""


@kernel_inlined
def remember(known: Any, at: int, batches: Any, number: int, last_sequence: int) -> None:
    """Put a batch in its place."""
    known["first_offset"][at] = batches["base_offset"][number]
    known["last_offset"][at] = batches["last_offset"][number]
    known["timestamp"][at] = batches["max_timestamp"][number]
    known["first_sequence"][at] = batches["base_sequence"][number]
    known["last_sequence"][at] = last_sequence
    known["records"][at] = batches["record_count"][number]
    known["leader_epoch"][at] = batches["leader_epoch"][number]
    known["producer_epoch"][at] = batches["producer_epoch"][number]


@kernel_inlined
def write_break(
    out: Any, at: int, batches: Any, number: int, last_sequence: int, known: Any, before: int, missing: int
) -> None:
    """Note that a batch does not follow the one it is held against."""
    out["producer_id"][at] = batches["producer_id"][number]
    out["producer_epoch"][at] = batches["producer_epoch"][number]
    out["first_offset"][at] = batches["base_offset"][number]
    out["last_offset"][at] = batches["last_offset"][number]
    out["timestamp"][at] = batches["max_timestamp"][number]
    out["first_sequence"][at] = batches["base_sequence"][number]
    out["last_sequence"][at] = last_sequence
    out["records"][at] = batches["record_count"][number]
    out["leader_epoch"][at] = batches["leader_epoch"][number]
    out["before_first_offset"][at] = known["first_offset"][before]
    out["before_last_offset"][at] = known["last_offset"][before]
    out["before_timestamp"][at] = known["timestamp"][before]
    out["before_last_sequence"][at] = known["last_sequence"][before]
    out["before_leader_epoch"][at] = known["leader_epoch"][before]
    out["missing"][at] = missing


@kernel_inlined
def held_against(known: Any, row: int, count: int, epoch: int, first: int, last: int) -> tuple[int, int]:
    """Place of the batch that one is held against, and how many sequences are missing between (0: it is repeated).

    (-1, 0) where it follows one of the last batches of its producer and epoch, or there is none before it.
    """
    follows, twin = False, -1
    for back in range(1, min(KNOWN_BATCHES, count) + 1):
        at = row * KNOWN_BATCHES + (count - back) % KNOWN_BATCHES
        if known["producer_epoch"][at] == epoch:
            follows |= (int(known["last_sequence"][at]) + 1) & LARGEST == first
            if twin < 0 and known["first_sequence"][at] == first and known["last_sequence"][at] == last:
                twin = at
    if twin >= 0 or follows or count == 0:
        return twin, 0
    at = row * KNOWN_BATCHES + (count - 1) % KNOWN_BATCHES
    missing = (first - known["last_sequence"][at] - 1) & LARGEST
    if known["producer_epoch"][at] != epoch or missing > LARGEST // 2:
        return -1, 0
    return at, missing


@kernel_after(walk_batches)
def fold_sequences(
    batches: Any, first: int, slots: Any, producers: Any, known: Any, carry: Any, breaks: Any, at: int
) -> tuple[int, int, int]:
    """Fold batches[first:] into `breaks` from row `at` on; returns (why it stopped, batch to go on with, breaks).

    Where `slots` is half full or `breaks` has no room the caller makes room and calls again.
    """
    for number in range(first, len(batches)):
        offset = batches["base_offset"][number]
        epoch, sequence = batches["producer_epoch"][number], batches["base_sequence"][number]
        producer_id = batches["producer_id"][number]
        is_sequenced = sequence >= 0 and producer_id >= 0 and epoch >= 0
        if is_sequenced and batches["magic"][number] == 2 and batches["attributes"][number] & 0x20 == 0:
            if at == len(breaks):
                return BREAKS_FULL, number, at
            slot = producer_slot(producer_id, slots, producers)
            row = slots[slot]
            if row < 0:
                row = carry["producers"][0]
                if row == len(producers) or 2 * (row + 1) > len(slots):
                    return PRODUCERS_FULL, number, at
                slots[slot] = row
                producers["producer_id"][row] = producer_id
                producers["batches"][row] = 0
                carry["producers"][0] += 1
            if 0 <= carry["next_offset"][0] < offset:
                carry["hole_end"][0] = offset
            count = producers["batches"][row]
            last = (sequence + batches["last_offset"][number] - offset) & LARGEST
            before, missing = held_against(known, row, count, epoch, sequence, last)
            if before >= 0 and (missing == 0 or carry["hole_end"][0] <= known["last_offset"][before]):
                write_break(breaks, at, batches, number, last, known, before, missing)
                at += 1
            remember(known, row * KNOWN_BATCHES + count % KNOWN_BATCHES, batches, number, last)
            producers["batches"][row] += 1
        elif 0 <= carry["next_offset"][0] < offset:
            carry["hole_end"][0] = offset
        carry["next_offset"][0] = batches["last_offset"][number] + 1
    return DONE, len(batches), at
