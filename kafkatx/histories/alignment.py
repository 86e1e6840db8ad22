"""Matches markers with decisions from both ends, and settles the stretches where those disagree.

A stretch is settled by the cheapest explanation, if it is the only one.

A restarted coordinator repeats markers, brokers lose the ends of logs, clocks differ. What costs little happens (a
repeated marker, a marker that is still to come); what costs much does not (a marker that no coordinator decided).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kafkatx.kernels.growing import Array, with_length
from kafkatx.kernels.matching import (
    GROUP,
    GROUPS_FULL,
    NOT_IN_ORDER,
    chain_rows,
    fits,
    match_chains,
    place_groups,
    turn_chains,
)
from kafkatx.terms.records import dataclass

LARGEST_STRETCH = 4_096
"""Transactions times markers of a stretch that is still settled; beyond that it stays undecided."""

MISSING_OF_UNFINISHED, ORPHAN_EMPTY, ORPHAN_OPEN = 1_000, 2_000, 4_000
MISSING_OF_COMPLETED, ORPHAN_WITH_DATA = 8_000, 16_000
"""What happens comes first: a marker that is still to come, a repeated one, data whose row is still to come. A marker
that a completed transaction lacks was lost with its log; no data are ended without a decision. Each costs as much as
two of the one before: the order is what counts, and one of them is dearer than all repeats (MOST_REPEATS).
"""
IMPOSSIBLE = 1_000_000_000
MOST_REPEATS = 900
"""Of markers without data that say the same, the first is the transaction's: each one before it adds 1 to the cost."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive transactions of a producer in a partition, and the spans that can be theirs, both in order."""

    transactions: list[int]
    spans: list[int]


def settle(stretch: Stretch, transactions: Array, spans: Array, tolerance_ms: int) -> list[int] | None:
    """Span (or -1) of each transaction; None where two explanations cost the same or the stretch is too long."""
    rows, columns = len(stretch.transactions), len(stretch.spans)
    if rows * columns > LARGEST_STRETCH:
        return None
    cost, ways = _fill(stretch, transactions, spans, tolerance_ms)
    if ways[rows, columns] != 1:
        return None
    return _trace(stretch, cost, transactions, spans, tolerance_ms)


def _match_cost(stretch: Stretch, row: int, column: int, transactions: Array, spans: Array, tolerance_ms: int) -> int:
    transaction, span = stretch.transactions[row], stretch.spans[column]
    if spans["marker_offset"][span] >= 0:
        if not fits.plain(transactions, transaction, spans, span, tolerance_ms):
            return IMPOSSIBLE
        return _said_before(stretch, row, column, transactions, spans, tolerance_ms)
    same = transactions["producer_epoch"][transaction] == spans["producer_epoch"][span]
    return _missing(transactions, transaction) if same else IMPOSSIBLE


def _said_before(stretch: Stretch, row: int, column: int, transactions: Array, spans: Array, tolerance_ms: int) -> int:
    """How many markers right before this one have no data either and fit the transaction as well: they say the same."""
    count, first = 0, spans["first_offset"]
    while column > count and first[stretch.spans[column - count]] < 0 and count < MOST_REPEATS:
        before = stretch.spans[column - count - 1]
        alike = spans["marker_offset"][before] >= 0 and first[before] < 0
        if not alike or not fits.plain(transactions, stretch.transactions[row], spans, before, tolerance_ms):
            break
        count += 1
    return count


def _missing(transactions: Array, transaction: int) -> int:
    return MISSING_OF_COMPLETED if transactions["completion_offset"][transaction] >= 0 else MISSING_OF_UNFINISHED


def _orphan(spans: Array, span: int) -> int:
    if spans["marker_offset"][span] < 0:
        return ORPHAN_OPEN
    return ORPHAN_WITH_DATA if spans["first_offset"][span] >= 0 else ORPHAN_EMPTY


def _fill(stretch: Stretch, transactions: Array, spans: Array, tolerance_ms: int) -> tuple[Any, Any]:
    """Costs and numbers of cheapest ways, state by state.

    Unmatched spans come before unmatched transactions, so no way counts twice.
    Layer 0: the last step was a match or an orphan; layer 1: the last step left a transaction without a span.
    """
    rows, columns = len(stretch.transactions), len(stretch.spans)
    cost = np.full((rows + 1, columns + 1, 2), IMPOSSIBLE, np.int64)
    ways = np.zeros((rows + 1, columns + 1, 2), np.int64)
    cost[0, 0, 0], ways[0, 0, 0] = 0, 1
    for row in range(rows + 1):
        for column in range(columns + 1):
            steps = []
            if column:
                steps.append((0, row, column - 1, 0, _orphan(spans, stretch.spans[column - 1])))
            if row:
                missing = _missing(transactions, stretch.transactions[row - 1])
                steps += [(1, row - 1, column, layer, missing) for layer in (0, 1)]
            if row and column:
                match = _match_cost(stretch, row - 1, column - 1, transactions, spans, tolerance_ms)
                steps += [(0, row - 1, column - 1, layer, match) for layer in (0, 1)]
            for layer, from_row, from_column, from_layer, price in steps:
                _relax(cost, ways, (row, column, layer), (from_row, from_column, from_layer), price)
    best = cost.min(axis=2)
    total = np.where(cost == best[..., None], ways, 0).sum(axis=2)
    return cost, total


def _relax(cost: Any, ways: Any, to: tuple[int, int, int], start: tuple[int, int, int], price: int) -> None:
    reached = cost[start] + price
    if reached >= IMPOSSIBLE or reached > cost[to]:
        return
    ways[to] = ways[start] + (ways[to] if reached == cost[to] else 0)
    cost[to] = reached


def _trace(stretch: Stretch, cost: Any, transactions: Array, spans: Array, tolerance_ms: int) -> list[int]:
    """Follow the only cheapest way back."""
    found = [-1] * len(stretch.transactions)
    row, column = len(stretch.transactions), len(stretch.spans)
    layer = int(cost[row, column].argmin())
    while row or column:
        here = cost[row, column, layer]
        if layer == 1:
            missing = _missing(transactions, stretch.transactions[row - 1])
            row -= 1
            layer = 0 if cost[row, column, 0] + missing == here else 1
        elif column and cost[row, column - 1, 0] + _orphan(spans, stretch.spans[column - 1]) == here:
            column -= 1
        else:
            match = _match_cost(stretch, row - 1, column - 1, transactions, spans, tolerance_ms)
            row, column = row - 1, column - 1
            found[row] = stretch.spans[column]
            layer = 0 if cost[row, column, 0] + match == here else 1
    return found


def stretches(agreed: Array, matched: Array, group_rows: Array, group_spans: Array) -> list[tuple[int, int, Stretch]]:
    """Runs of a group that are settled at once: (first, end) in it, and what lies between the agreed neighbours.

    `agreed`, `matched` and `group_rows` (transactions) are parallel; `group_spans` are the group's spans in order.
    Only an agreed marker parts two runs: across transactions that got none both would claim the same markers.
    """
    place = {int(span): number for number, span in enumerate(group_spans)}
    anchors = np.flatnonzero(agreed & (matched >= 0))
    disputed = np.flatnonzero(~agreed)
    _, begins = np.unique(np.searchsorted(anchors, disputed), return_index=True)
    found = []
    for run in np.split(disputed, begins[1:]):
        first, end = int(run[0]), int(run[-1]) + 1
        behind = int(np.searchsorted(anchors, first))
        low = place[int(matched[anchors[behind - 1]])] + 1 if behind else 0
        high = place[int(matched[anchors[behind]])] if behind < len(anchors) else len(group_spans)
        found.append((first, end, Stretch(group_rows[first:end].tolist(), group_spans[low:high].tolist())))
    return found


KERNELS = chain_rows, match_chains, place_groups, turn_chains


def from_either_end(transactions: Array, rows: Array, spans: Array, tolerance_ms: int) -> tuple[Array, Array]:
    """Return the marker (-1 for none) that each row gets when its group is matched forward, and backward.

    `rows` (dtype TRANSACTION_PARTITION) are in order of transaction.
    """
    for kernel in KERNELS:
        kernel.count(len(rows))
    return _Chains(transactions, rows).either_way(spans, tolerance_ms)


class _Chains:
    """Rows linked by groups."""

    def __init__(self, transactions: Array, rows: Array) -> None:
        self._transactions, self._rows = transactions, rows
        self._chain = np.empty(len(rows), np.int32)
        self._slots, self._groups = np.full(256, -1, np.int32), np.zeros(128, GROUP)
        self._count, number, why = 0, 0, GROUPS_FULL
        while why == GROUPS_FULL:
            why, number, self._count = chain_rows(
                transactions, rows, number, self._slots, self._groups, self._count, self._chain
            )
            if why == GROUPS_FULL:
                self._make_room()

    def _make_room(self) -> None:
        self._groups = with_length(self._groups, 4 * len(self._groups))
        self._slots = np.full(2 * len(self._groups), -1, np.int32)
        place_groups(self._slots, self._groups, self._count)

    def either_way(self, spans: Array, tolerance_ms: int) -> tuple[Array, Array]:
        order = np.zeros(0, np.int32)
        forward = self._matched(spans, order, tolerance_ms, 1)
        if forward is None:
            order = np.argsort(spans["marker_offset"], kind="stable").astype(np.int32)
            forward = self._matched(spans, order, tolerance_ms, 1)
        turn_chains(self._groups, self._count, self._chain)
        backward = self._matched(spans, order, tolerance_ms, -1)
        assert forward is not None
        assert backward is not None
        return forward, backward

    def _matched(self, spans: Array, order: Array, tolerance_ms: int, step: int) -> Array | None:
        """The marker of each row; None where markers don't come in order."""
        found = np.full(len(self._rows), -1, np.int32)
        of_groups = self._slots, self._groups, self._count, self._chain
        why = match_chains(self._transactions, self._rows, spans, order, tolerance_ms, step, *of_groups, found)
        return None if why == NOT_IN_ORDER else found
