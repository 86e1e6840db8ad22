"""The span fold: batches of one partition in offset order to spans.

One row for each run of a producer's data that a marker ends.

Kafka's own: ProducerStateManager and ProducerAppendInfo (a transaction is open in a partition from the first
transactional batch
of a producer id to its next marker; 0.11 to 4.4).
"""

from typing import Any

import numpy as np

from kafkatx.kernels.batches import walk_batches
from kafkatx.kernels.engine import kernel_after, kernel_inlined, kernel_lean

DONE, SPANS_FULL, PRODUCERS_FULL = 0, 1, 2
NO_DATA, BEFORE_LOG, MIXED_EPOCHS, OVER_GAP, OPEN, LOST_END = 1, 2, 4, 8, 16, 32
"""Flags of a span: a marker alone; begun before the first batch at hand; data of more than one epoch; offsets missing
inside; no marker up to the end; its marker stood where offsets are missing, since its producer goes on under a higher
epoch behind them.
"""
ABORT, COMMIT, UNKNOWN_KIND = 0, 1, 2
"""Kinds of markers (ControlRecordType); unknown is that of one that the cleaner emptied, or whose record a text lacks.
"""

HORIZON = np.dtype(
    [
        ("first_offset", "i8"),
        ("next_offset", "i8"),
        ("last_gap", "i8"),
        ("gaps", "i8"),
        ("broker_time", "i8"),
        ("create_time", "i8"),
        ("plain_records", "i8"),
        ("records", "i8"),
        ("batches", "i8"),
        ("bytes", "i8"),
        ("producers", "i8"),
        ("leader_epoch", "i8"),
        ("first_timestamp", "i8"),
        ("highest_epoch", "i8"),
        ("highest_epoch_producer", "i8"),
        ("highest_epoch_offset", "i8"),
        ("cleaned_batches", "i8"),
    ]
)
"""What the fold knows of the partition as a whole. `last_gap` is the offset at which the last hole ended,
`broker_time` the newest
time a broker wrote (markers, LogAppendTime), `create_time` the newest time a client wrote."""


def new_horizon() -> Any:
    """Return the log extent before the first batch."""
    log_extent = np.zeros(1, HORIZON)
    for name in (
        "first_offset",
        "next_offset",
        "last_gap",
        "broker_time",
        "create_time",
        "leader_epoch",
        "first_timestamp",
        "highest_epoch",
        "highest_epoch_producer",
        "highest_epoch_offset",
    ):
        log_extent[name] = -1
    return log_extent


@kernel_inlined
def producer_slot(producer_id: int, slots: Any, producers: Any) -> int:
    """Slot of a producer id in the open-addressing table `slots`.

    The one that holds it, or the free one it belongs in.
    """
    mask = len(slots) - 1
    slot = ((producer_id & 0xFFFFFFFF) * 40503 + (producer_id >> 16)) & mask
    while slots[slot] >= 0 and producers["producer_id"][slots[slot]] != producer_id:
        slot = (slot + 1) & mask
    return slot


@kernel_lean
def place_producers(slots: Any, producers: Any, count: int) -> None:
    """Fill an empty table of slots."""
    for row in range(count):
        slots[producer_slot(producers["producer_id"][row], slots, producers)] = row


@kernel_inlined
def begin_producer(row: int, producer_id: int, producers: Any) -> None:
    """Set a producer's row to "nothing known"."""
    producers["producer_id"][row] = producer_id
    producers["first_offset"][row] = -1
    producers["marker_offset"][row] = -1
    producers["marker_timestamp"][row] = -1
    producers["marker_epoch"][row] = -1


@kernel_inlined
def emit_span(producers: Any, row: int, partition_code: int, last_gap: int, spans: Any, at: int) -> None:
    """Write what is known of a producer's open span (or of none) as a span without a marker."""
    begun = producers["first_offset"][row] >= 0
    spans["partition_code"][at] = partition_code
    spans["producer_id"][at] = producers["producer_id"][row]
    spans["producer_epoch"][at] = producers["producer_epoch"][row] if begun else -1
    spans["first_offset"][at] = producers["first_offset"][row]
    spans["last_offset"][at] = producers["last_offset"][row] if begun else -1
    spans["first_timestamp"][at] = producers["first_timestamp"][row] if begun else -1
    spans["last_timestamp"][at] = producers["last_timestamp"][row] if begun else -1
    spans["records"][at] = producers["records"][row] if begun else 0
    spans["bytes"][at] = producers["bytes"][row] if begun else 0
    spans["batches"][at] = producers["batches"][row] if begun else 0
    spans["plain_records_before"][at] = producers["plain_records_before"][row] if begun else 0
    spans["previous_marker_offset"][at] = producers["marker_offset"][row]
    spans["previous_marker_timestamp"][at] = producers["marker_timestamp"][row]
    spans["marker_offset"][at] = -1
    spans["marker_timestamp"][at] = -1
    spans["marker_epoch"][at] = -1
    spans["marker_kind"][at] = -1
    spans["coordinator_epoch"][at] = -1
    spans["leader_epoch"][at] = -1
    flags = producers["flags"][row] if begun else NO_DATA
    if begun and last_gap > producers["first_offset"][row]:
        flags |= OVER_GAP
    spans["flags"][at] = flags


@kernel_inlined
def ended_in_gap(producers: Any, row: int, epoch: int, last_gap: int) -> bool:
    """Whether a producer's open span ended where offsets are missing, since a higher epoch of it writes behind them."""
    return bool(
        producers["first_offset"][row] >= 0
        and producers["batches"][row] > 0
        and producers["producer_epoch"][row] < epoch
        and last_gap > producers["last_offset"][row]
    )


@kernel_inlined
def add_data(producers: Any, row: int, batches: Any, number: int, plain_records: int) -> None:
    """Add a transactional data batch to its producer's span, opening one if none is open."""
    epoch = batches["producer_epoch"][number]
    time = batches["max_timestamp"][number]
    if producers["first_offset"][row] < 0:
        producers["first_offset"][row] = batches["base_offset"][number]
        producers["first_timestamp"][row] = (
            time
            if batches["attributes"][number] & 0x48 or batches["base_timestamp"][number] < 0
            else batches["base_timestamp"][number]
        )
        producers["last_timestamp"][row] = time
        producers["records"][row] = 0
        producers["bytes"][row] = 0
        producers["batches"][row] = 0
        producers["flags"][row] = 0
        producers["producer_epoch"][row] = epoch
        producers["plain_records_before"][row] = plain_records
    elif epoch != producers["producer_epoch"][row] and producers["batches"][row] > 0:
        producers["flags"][row] |= MIXED_EPOCHS
    elif epoch != producers["producer_epoch"][row]:
        producers["producer_epoch"][row] = epoch
    producers["last_offset"][row] = batches["last_offset"][number]
    producers["last_timestamp"][row] = max(producers["last_timestamp"][row], time)
    producers["records"][row] += batches["record_count"][number]
    producers["bytes"][row] += max(0, batches["size"][number])
    producers["batches"][row] += 1


@kernel_inlined
def add_marker(producers: Any, row: int, batches: Any, number: int, spans: Any, at: int) -> None:
    """Close the span just written to spans[at] with a marker."""
    kind = batches["control_type"][number]
    spans["marker_offset"][at] = batches["base_offset"][number]
    spans["marker_timestamp"][at] = batches["max_timestamp"][number]
    spans["marker_epoch"][at] = batches["producer_epoch"][number]
    spans["marker_kind"][at] = kind if kind == 0 or kind == 1 else UNKNOWN_KIND
    spans["coordinator_epoch"][at] = batches["coordinator_epoch"][number]
    spans["leader_epoch"][at] = batches["leader_epoch"][number]
    producers["first_offset"][row] = -1
    producers["marker_offset"][row] = batches["base_offset"][number]
    producers["marker_timestamp"][row] = batches["max_timestamp"][number]
    producers["marker_epoch"][row] = batches["producer_epoch"][number]


@kernel_inlined
def note_batch(batches: Any, number: int, log_extent: Any) -> None:
    """Carry the partition's log extent over one batch."""
    base_offset = batches["base_offset"][number]
    if log_extent["first_offset"][0] < 0:
        log_extent["first_offset"][0] = base_offset
        log_extent["first_timestamp"][0] = batches["max_timestamp"][number]
    elif base_offset > log_extent["next_offset"][0]:
        log_extent["last_gap"][0] = base_offset
        log_extent["gaps"][0] += 1
    log_extent["next_offset"][0] = batches["last_offset"][number] + 1
    log_extent["batches"][0] += 1
    log_extent["bytes"][0] += max(0, batches["size"][number])
    if batches["leader_epoch"][number] > log_extent["leader_epoch"][0]:
        log_extent["leader_epoch"][0] = batches["leader_epoch"][number]
    if batches["record_count"][number] == 0 or batches["attributes"][number] & 0x40:
        log_extent["cleaned_batches"][0] += 1
    time = batches["max_timestamp"][number]
    control = batches["attributes"][number] & 0x20
    name_is_broker = control or batches["attributes"][number] & 8
    if batches["magic"][number] < 2:
        name_is_broker = False
        control = False
    if name_is_broker:
        log_extent["broker_time"][0] = max(log_extent["broker_time"][0], time)
    else:
        log_extent["create_time"][0] = max(log_extent["create_time"][0], time)
    if not control:
        log_extent["records"][0] += batches["record_count"][number]
        if batches["producer_epoch"][number] > log_extent["highest_epoch"][0] and batches["magic"][number] == 2:
            log_extent["highest_epoch"][0] = batches["producer_epoch"][number]
            log_extent["highest_epoch_producer"][0] = batches["producer_id"][number]
            log_extent["highest_epoch_offset"][0] = base_offset


@kernel_after(walk_batches)
def fold_spans(
    batches: Any, first: int, partition_code: int, slots: Any, producers: Any, log_extent: Any, spans: Any, at: int
) -> tuple[int, int, int]:
    """Fold batches[first:] into `spans` from row `at` on; returns (why it stopped, batch to go on with, spans filled).

    Memory grows with producers and spans only: when `slots` is half full or `spans` has no room the caller makes room
    and calls again.
    """
    for number in range(first, len(batches)):
        if batches["attributes"][number] & 0x10 == 0 or batches["magic"][number] < 2:
            note_batch(batches, number, log_extent)
            if batches["attributes"][number] & 0x20 == 0 or batches["magic"][number] < 2:
                log_extent["plain_records"][0] += batches["record_count"][number]
            continue
        if at == len(spans):
            return SPANS_FULL, number, at
        slot = producer_slot(batches["producer_id"][number], slots, producers)
        row = slots[slot]
        if row < 0:
            row = log_extent["producers"][0]
            if row == len(producers) or 2 * (row + 1) > len(slots):
                return PRODUCERS_FULL, number, at
            slots[slot] = row
            begin_producer(row, batches["producer_id"][number], producers)
            log_extent["producers"][0] += 1
        note_batch(batches, number, log_extent)
        if batches["attributes"][number] & 0x20:
            emit_span(producers, row, partition_code, log_extent["last_gap"][0], spans, at)
            add_marker(producers, row, batches, number, spans, at)
            at += 1
        elif batches["record_count"][number] > 0:
            if ended_in_gap(producers, row, batches["producer_epoch"][number], log_extent["last_gap"][0]):
                emit_span(producers, row, partition_code, log_extent["last_gap"][0], spans, at)
                spans["flags"][at] |= LOST_END
                producers["first_offset"][row] = -1
                at += 1
            add_data(producers, row, batches, number, log_extent["plain_records"][0])
    return DONE, len(batches), at


@kernel_inlined
def place_from(markers: Any, offset: int, low: int) -> int:
    """The first place from `low` on that holds `offset` or more, of offsets that ascend.

    What is looked for next lies near: steps are doubled first.
    """
    step, high = 1, low
    while high < len(markers) and markers[high] < offset:
        low = high + 1
        high += step
        step *= 2
    high = min(high, len(markers))
    while low < high:
        middle = (low + high) // 2
        if markers[middle] < offset:
            low = middle + 1
        else:
            high = middle
    return low


@kernel_lean
def mark_told(producer_ids: Any, first_offsets: Any, last_offsets: Any, spans: Any, told: Any) -> None:
    """Mark the entries whose producer has a span with their first offset, and its ABORT marker at their last one.

    Spans come in the order of their markers, and entries do. Where either is not so, an entry is not found, no more.
    """
    markers, low = spans["marker_offset"], 0
    for number in range(len(producer_ids)):
        if number > 0 and last_offsets[number] < last_offsets[number - 1]:
            low = 0
        low = place_from(markers, last_offsets[number], low)
        if low < len(spans) and markers[low] == last_offsets[number] and spans["marker_kind"][low] == ABORT:
            told[number] = (
                spans["producer_id"][low] == producer_ids[number]
                and spans["first_offset"][low] == first_offsets[number]
            )
