"""Rows of events (kernels/rows.py EVENT) that repeat the names of others: which of them are the first and last ones.

A table of open addressing leads from the names of an event to the first event that has them; names are compared as a
whole, so two that hash alike are two.
"""

from typing import Any

import numpy as np

from kafkatx.kernels.engine import kernel_lean, kernel_with_wheel
from kafkatx.kernels.literals import find_entries
from kafkatx.terms.events import EventKind

OTHER = int(EventKind.other)
NAMES = (
    "kind", "transactional_id_code", "producer_id", "node", "topic_code", "partition", "client_id_code", "error_code",
    "api_code", "source",
)  # fmt: skip
"""Columns that make events the same."""
MOST_REPEATS = (1 << 31) - 1
_FACTOR, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)
MULTIPLIER, MASK = 0x9E3779B1, 0xFFFFFFFF
"""Of a multiplicative hash of 32 bits: products stay what they are where 64 bits overflow, since the low ones count."""


@kernel_lean
def mixed(value: int, column: int) -> int:
    """Hash with one column more."""
    value = ((value ^ (column & MASK)) * MULTIPLIER) & MASK
    return value ^ (value >> 15)


@kernel_lean
def hash_of_names(events: Any, row: int, by_kind: bool) -> int:
    """Hash of what makes events the same, but for what few of them have."""
    value = mixed(0, int(events["kind"][row]))
    value = mixed(value, int(events["detail_code"][row]) if events["kind"][row] == OTHER else 0)
    if by_kind:
        return value
    value = mixed(value, int(events["transactional_id_code"][row]))
    value = mixed(value, int(events["producer_id"][row]))
    value = mixed(value, int(events["node"][row]))
    value = mixed(value, int(events["topic_code"][row]))
    value = mixed(value, int(events["partition"][row]))
    return mixed(value, int(events["error_code"][row]))


@kernel_lean
def are_same(events: Any, row: int, other: int, by_kind: bool) -> bool:
    """Whether two events are the same: kind and names, of those of no other kind the text too."""
    if events["kind"][row] != events["kind"][other]:
        return False
    if events["kind"][row] == OTHER and events["detail_code"][row] != events["detail_code"][other]:
        return False
    if by_kind:
        return True
    if events["transactional_id_code"][row] != events["transactional_id_code"][other]:
        return False
    if events["producer_id"][row] != events["producer_id"][other] or events["node"][row] != events["node"][other]:
        return False
    if events["topic_code"][row] != events["topic_code"][other]:
        return False
    if events["partition"][row] != events["partition"][other] or events["api_code"][row] != events["api_code"][other]:
        return False
    if events["client_id_code"][row] != events["client_id_code"][other]:
        return False
    return bool(
        events["error_code"][row] == events["error_code"][other] and events["source"][row] == events["source"][other]
    )


@kernel_lean
def group_same(events: Any, by_kind: bool, slots: Any, firsts: Any, groups: Any, sizes: Any) -> int:
    """Number the groups of events that are the same (or of one kind) in order of first sight; returns how many.

    `groups` gets the number of each event, `firsts` and `sizes` the first event of each group and how many it has;
    `slots` (int32, a power of two, more than there are events) are -1.
    """
    mask = len(slots) - 1
    count = 0
    for row in range(len(events)):
        slot = hash_of_names(events, row, by_kind) & mask
        while slots[slot] >= 0 and not are_same(events, row, firsts[slots[slot]], by_kind):
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            slots[slot] = count
            firsts[count] = row
            count += 1
        groups[row] = slots[slot]
        sizes[slots[slot]] += 1
    return count


def _keep_ends_by_sorting(events: Any, by_kind: bool, ends: int, slots: Any, firsts: Any, groups: Any, sizes: Any,
                          seen: Any, keep: Any, repeats: Any) -> int:  # fmt: skip
    hashes = np.zeros(len(events), np.uint64)
    for name in ("kind",) if by_kind else NAMES:
        hashes = (hashes ^ events[name].astype(np.uint64)) * _FACTOR
        hashes ^= hashes >> _SHIFT
    hashes ^= np.where(events["kind"] == OTHER, events["detail_code"], 0).astype(np.uint64) * _FACTOR
    _, numbers = np.unique(hashes, return_inverse=True)
    order = np.argsort(numbers, kind="stable")
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    counts = np.diff(starts, append=len(order))
    rank = np.arange(len(order)) - np.repeat(starts, counts)
    left = np.repeat(counts, counts) - rank
    dropped = order[(rank >= ends) & (left > ends)]
    told = np.bincount(numbers[dropped], events["repeats"][dropped] + 1.0, len(starts)).astype(np.int64)
    is_long = counts > 2 * ends
    tellers = order[starts[is_long] + ends - 1]
    keep[:], repeats[:] = True, events["repeats"]
    keep[dropped] = False
    repeats[tellers] = np.minimum(events["repeats"][tellers] + told[is_long], MOST_REPEATS)
    return len(events) - len(dropped)


@kernel_with_wheel(_keep_ends_by_sorting)
def keep_ends(events: Any, by_kind: bool, ends: int, slots: Any, firsts: Any, groups: Any, sizes: Any, seen: Any,
              keep: Any, repeats: Any) -> int:  # fmt: skip
    """Mark in `keep` the first and last `ends` events of each group that is the same; returns how many are kept.

    `repeats` of the last one of the first gets the number of those that are not, with what they repeat. `slots` (int32,
    a power of two, more than there are events) are -1; `firsts`, `groups`, `sizes` and `seen` (int32, a place for each
    event) zeros. Where nothing is compiled numpy sorts them.
    """
    group_same(events, by_kind, slots, firsts, groups, sizes)
    kept = 0
    for row in range(len(events)):
        group = groups[row]
        rank, left = seen[group], sizes[group] - seen[group]
        seen[group] += 1
        repeats[row] = events["repeats"][row]
        keep[row] = rank < ends or left <= ends
        if rank == ends - 1:
            firsts[group] = row
        if keep[row]:
            kept += 1
        else:
            told = int(repeats[firsts[group]]) + int(events["repeats"][row]) + 1
            repeats[firsts[group]] = min(told, MOST_REPEATS)
    return kept


for _kernel in (group_same, keep_ends):
    _kernel.follows = find_entries
