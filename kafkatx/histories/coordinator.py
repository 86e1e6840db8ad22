"""What the coordinator recorded: transactions, initialisations, oddities and the latest row of every transactional.id.

Grain: one partition of `__transaction_state` of a capture (all rows of an id lie in one), rows in offset order
(kernels.rows.STATE).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

import numpy as np

from kafkatx.kernels.growing import Array, Growing, with_length
from kafkatx.kernels.rows import COUNTED, INITIALISATION, LATEST, LISTED, ODDITY, TRANSACTION
from kafkatx.kernels.transactions import LEGAL, LIST_CHANGED, NO_ROOM, NOTHING, fold_states
from kafkatx.terms.records import dataclass


@dataclass(slots=True)
class CoordinatorHistory:
    """Tables of one state partition (dtypes TRANSACTION, INITIALISATION, ODDITY, LATEST) and its log extent.

    `first_offset`, `next_offset`: the offsets the rows span; `last_gap`: offset at which the last hole ended (-1:
    none);
    `last_timestamp`: time of the newest row; `rows`: rows read; `leader_epoch`: the highest. `counted`, `listed`
    (dtypes COUNTED, LISTED): what is told of transactions that are counted instead of held; the fold counts none.
    """

    state_partition: int
    transactions: Array
    initialisations: Array
    oddities: Array
    latest: Array
    first_offset: int
    next_offset: int
    last_gap: int
    last_timestamp: int
    leader_epoch: int
    rows: int
    counted: Array = field(default_factory=lambda: np.zeros(0, COUNTED))
    listed: Array = field(default_factory=lambda: np.zeros(0, LISTED))


class CoordinatorFold:
    """Folds windows of rows; keeps one row an id, one a transaction, one an initialisation."""

    def __init__(self, state_partition: int, empty_list: int) -> None:
        self.state_partition = state_partition
        self.empty_list = empty_list
        self.transactions = Growing(TRANSACTION)
        self.initialisations = Growing(INITIALISATION)
        self.oddities = Growing(ODDITY)
        self._nothing = np.zeros((), LATEST)
        self._nothing["state"], self._nothing["transaction_row"], self._nothing["id_code"] = NOTHING, -1, -1
        self.latest = np.full(16, self._nothing, LATEST)
        self.last_of = np.full(16, -1, np.int64)
        self.carry = np.full(2, -1, np.int64)
        self.first_offset = self.last_timestamp = self.leader_epoch = -1
        self.rows = 0

    def feed(self, rows: Array) -> None:
        """Fold the next window."""
        if not len(rows):
            return
        ids = int(rows["id_code"].max()) + 1
        self.latest = with_length(self.latest, ids, self._nothing)
        self.last_of = with_length(self.last_of, ids, -1)
        number, why = 0, NO_ROOM
        while why == NO_ROOM:
            for table in (self.transactions, self.initialisations, self.oddities):
                table.make_room()
            why, number, self.transactions.filled, self.initialisations.filled, self.oddities.filled = fold_states(
                rows, number, self.state_partition, self.empty_list, LEGAL, self.carry, self.latest, self.last_of,
                self.transactions.rows, self.transactions.filled,
                self.initialisations.rows, self.initialisations.filled, self.oddities.rows, self.oddities.filled,
            )  # fmt: skip
        self._note(rows)
        fold_states.count(len(rows))

    def _note(self, rows: Array) -> None:
        if self.first_offset < 0:
            self.first_offset = int(rows["offset"][0])
        self.last_timestamp = max(self.last_timestamp, int(rows["timestamp"].max()))
        self.leader_epoch = max(self.leader_epoch, int(rows["leader_epoch"].max()))
        self.rows += len(rows)

    def finish(self, partition_lists: list[tuple[int, ...]]) -> CoordinatorHistory:
        """Return the tables; `partition_lists` decides which changed lists shrank."""
        oddities = self.oddities.done()
        kept = [
            number
            for number, row in enumerate(oddities)
            if row["kind"] != LIST_CHANGED or _shrank(row, partition_lists)
        ]
        latest = self.latest[self.latest["state"] != NOTHING]
        return CoordinatorHistory(
            self.state_partition, self.transactions.done(), self.initialisations.done(), oddities[kept], latest,
            self.first_offset, int(self.carry[0]), int(self.carry[1]), self.last_timestamp, self.leader_epoch,
            self.rows,
        )  # fmt: skip


def _shrank(row: Array, partition_lists: list[tuple[int, ...]]) -> bool:
    """Whether the list of a row lacks a partition that the row before it had."""
    before, after = int(row["previous_partitions_code"]), int(row["partitions_code"])
    members = set(partition_lists[after]) if after >= 0 else set()
    return before >= 0 and not set(partition_lists[before]) <= members


def fold_state_partition(
    windows: Iterable[Array], state_partition: int, empty_list: int, partition_lists: list[tuple[int, ...]]
) -> CoordinatorHistory:
    """Tables of one state partition from windows of rows in offset order."""
    fold = CoordinatorFold(state_partition, empty_list)
    for window in windows:
        fold.feed(window)
    return fold.finish(partition_lists)
