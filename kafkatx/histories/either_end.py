"""Markers matched with the coordinator's decisions from both ends (kernels/matching.py), group by group.

Grain: transactions and spans of any number of partitions; a group is one producer in one of them.
"""

from __future__ import annotations

import numpy as np

from kafkatx.kernels.growing import Array, with_length
from kafkatx.kernels.matching import (
    GROUP,
    GROUPS_FULL,
    NOT_IN_ORDER,
    chain_rows,
    match_chains,
    place_groups,
    turn_chains,
)

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
