"""Matches markers of a producer in a partition with the coordinator's decisions, both in order, from either end.

A marker carries the epoch and the kind of the decision and is written between the decision and the completion. Under
the classic protocol thousands of transactions share producer id and epoch, so order and time decide; what the two
directions see differently is not decided by the evidence.

Neither side is sorted for it: rows of a group are linked in the order in which they lie, and markers are taken as they
lie, each to its group. So both tables are read from one end to the other.
"""

from typing import Any

import numpy as np

from kafkatx.kernels.engine import kernel_inlined, kernel_lean
from kafkatx.kernels.spans import UNKNOWN_KIND

DONE, GROUPS_FULL = 0, 1
IN_ORDER, NOT_IN_ORDER = 0, 1
GROUP = np.dtype(
    [
        ("producer_id", "i8"),
        ("place", "i8"),
        ("partition_code", "i4"),
        ("first", "i4"),
        ("last", "i4"),
        ("at", "i4"),
    ]
)
"""Rows of one producer in one partition: the first and the last of them, the one that the next marker may be of (-1:
none is left), and where the last marker lay that was taken."""


@kernel_inlined
def fits(transactions: Any, row: int, spans: Any, span: int, tolerance: int) -> bool:
    """Whether a marker can be the one that a decision caused."""
    kind = spans["marker_kind"][span]
    if kind != UNKNOWN_KIND and kind != transactions["decision"][row] * -1 + 3:
        return False
    epoch = transactions["decision_epoch"][row]
    if epoch < 0:
        epoch = transactions["completion_epoch"][row]
        if transactions["completed_producer_id"][row] != transactions["producer_id"][row]:
            epoch = spans["marker_epoch"][span]
    if spans["marker_epoch"][span] >= 0 and epoch != spans["marker_epoch"][span]:
        return False
    written = spans["marker_timestamp"][span]
    if written < 0:  # a text may leave it out
        return True
    if written < transactions["decided_at"][row] - tolerance:
        return False
    completed = transactions["completion_timestamp"][row]
    return bool(completed < 0 or written <= completed + tolerance)


@kernel_inlined
def is_passed(transactions: Any, row: int, spans: Any, span: int, tolerance: int, step: int) -> bool:
    """Whether a marker is too early (step 1) or too late (-1) for a decision and all that follow in that direction."""
    written = spans["marker_timestamp"][span]
    if written < 0:
        return False
    if step > 0:
        is_decided = transactions["decision"][row] >= 0
        return bool(is_decided and transactions["decided_at"][row] - tolerance > written)
    completed = transactions["completion_timestamp"][row]
    return bool(completed >= 0 and completed + tolerance < written)


@kernel_inlined
def group_slot(producer_id: int, partition: int, slots: Any, groups: Any) -> int:
    """Slot of a group in a table of open addressing: the one that holds it, or the free one that it belongs in."""
    mask = len(slots) - 1
    slot = ((producer_id & 0xFFFFFFFF) * 40503 + (producer_id >> 16) + int(partition) * 7919) & mask
    while slots[slot] >= 0:
        group = slots[slot]
        if groups["producer_id"][group] == producer_id and groups["partition_code"][group] == partition:
            break
        slot = (slot + 1) & mask
    return slot


@kernel_lean
def place_groups(slots: Any, groups: Any, count: int) -> None:
    """Fill an empty table of slots."""
    for group in range(count):
        slots[group_slot(groups["producer_id"][group], groups["partition_code"][group], slots, groups)] = group


@kernel_lean
def chain_rows(
    transactions: Any, rows: Any, first: int, slots: Any, groups: Any, count: int, chain: Any
) -> tuple[int, int, int]:
    """Link rows[first:] of each group: `chain` holds the next one of the same group, -1 behind the last.

    Returns (why it stopped, row to go on with, groups): the caller makes room for groups and calls again.
    """
    for number in range(first, len(rows)):
        producer_id, partition = (
            transactions["producer_id"][rows["transaction"][number]],
            rows["partition_code"][number],
        )
        slot = group_slot(producer_id, partition, slots, groups)
        group = slots[slot]
        if group < 0:
            if count == len(groups) or 2 * (count + 1) > len(slots):
                return GROUPS_FULL, number, count
            group = count
            slots[slot] = group
            groups["producer_id"][group] = producer_id
            groups["partition_code"][group] = partition
            groups["first"][group] = number
            count += 1
        else:
            chain[groups["last"][group]] = number
        groups["last"][group] = number
        chain[number] = -1
    return DONE, len(rows), count


@kernel_lean
def turn_chains(groups: Any, count: int, chain: Any) -> None:
    """Let each row lead to the one before it.

    From the last row on: what a row leads to is read before another one, which lies before it, overwrites that.
    """
    for back in range(len(chain)):
        number = len(chain) - 1 - back
        behind = chain[number]
        if behind >= 0:
            chain[behind] = number
    for group in range(count):
        chain[groups["first"][group]] = -1


@kernel_lean
def match_chains(
    transactions: Any,
    rows: Any,
    spans: Any,
    order: Any,
    tolerance: int,
    step: int,
    slots: Any,
    groups: Any,
    count: int,
    chain: Any,
    found: Any,
) -> int:
    """Give every decision the nearest marker left for it: the earliest, from the beginning, with a step of 1.

    With -1 the latest, from the end; `chain` leads from a row to the next one in that direction. `order` are the
    numbers of spans in the order of their markers, none where they lie so; `found` holds -1 and gets the span of a row.
    Returns NOT_IN_ORDER where markers of a group don't come in order.
    """
    for group in range(count):
        groups["at"][group] = groups["first"][group] if step > 0 else groups["last"][group]
        groups["place"][group] = -1
    for number in range(len(spans)):
        ordered = number if step > 0 else len(spans) - 1 - number
        span = int(order[ordered]) if len(order) > 0 else ordered
        place = spans["marker_offset"][span]
        if place < 0:
            continue
        group = slots[group_slot(spans["producer_id"][span], spans["partition_code"][span], slots, groups)]
        if group < 0:
            continue
        before = groups["place"][group]
        if before >= 0 and (place - before) * step < 0:
            return NOT_IN_ORDER
        groups["place"][group] = place
        ahead = groups["at"][group]
        while ahead >= 0:
            row = rows["transaction"][ahead]
            if fits(transactions, row, spans, span, tolerance):
                found[ahead] = span
                groups["at"][group] = chain[ahead]
                break
            if is_passed(transactions, row, spans, span, tolerance, step):
                break
            ahead = chain[ahead]
    return IN_ORDER


@kernel_lean
def note_matches(
    rows: Any, forward: Any, backward: Any, owner: Any, marked: int, unmarked: int, undecided: int, disputed: int
) -> None:
    """Write marker and status of each row, and which spans are in dispute: what both directions give alike is known."""
    for number in range(len(rows)):
        span, other = forward[number], backward[number]
        if span == other:
            rows["marker"][number] = span
            rows["status"][number] = marked if span >= 0 else unmarked
            continue
        rows["marker"][number] = -1
        rows["status"][number] = undecided
        if span >= 0:
            owner[span] = disputed
        if other >= 0:
            owner[other] = disputed


@kernel_lean
def own_data(rows: Any, spans: Any, owner: Any) -> None:
    """Give each row the data that its own marker ended, and the marker its transaction."""
    for number in range(len(rows)):
        span = rows["marker"][number]
        if span >= 0:
            owner[span] = rows["transaction"][number]
            if spans["first_offset"][span] >= 0:
                rows["span"][number] = span
