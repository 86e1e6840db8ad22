"""Data joined to the intervals in which the coordinator says that transactions wrote: partition by partition.

The coordinator's rows lie by transactional.id, data by partition. So each state partition hands out, for every data
partition that its transactions list, those transactions (`intervals`); there they are matched with the spans (`joined`,
histories/transaction_partitions.py); and the parts are put together again by number (`whole`).

Grain: one data partition of a capture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from kafkatx.evidence.directories import Partition
from kafkatx.histories.capture_model import Labels
from kafkatx.histories.transaction_partitions import Status, TransactionPartitions, listed, matched
from kafkatx.kernels.growing import Array
from kafkatx.kernels.ordering import order_of
from kafkatx.kernels.rows import TRANSACTION_PARTITION
from kafkatx.stages.partitions import PartitionStory
from kafkatx.terms.clocks import BROKERS_TOLERANCE_MS
from kafkatx.terms.records import dataclass

MOST_AT_ONCE = 65_536
"""Transactions handed out together."""


@dataclass(frozen=True, slots=True)
class Intervals:
    """Transactions of one state partition (dtype TRANSACTION), with their row numbers in its table."""

    state_partition: int
    rows: Array
    transactions: Array


@dataclass(frozen=True, slots=True)
class Handed:
    """All transactions that list a data partition (dtype TRANSACTION), with their state partitions and rows there."""

    transactions: Array
    state_partition: Array
    row: Array


@dataclass(frozen=True, slots=True)
class Joined:
    """What one data partition has of the transactions that list it.

    `state_partition` and `row` name the transactions; `parts` (its rows are parallel to them) counts them, and the
    spans of the partition, from 0.
    """

    key: Partition
    state_partition: Array
    row: Array
    parts: TransactionPartitions


def listing(model: PartitionStory) -> Iterator[tuple[Partition, Array]]:
    """Yield the numbers of the transactions of a state partition by the data partitions that they list."""
    assert model.history is not None
    lists = np.ascontiguousarray(model.history.transactions["partitions_code"])
    is_one = not len(lists) or lists.min() == lists.max()
    order = np.arange(len(lists), dtype=np.int32) if is_one else order_of(lists).astype(np.int32)
    ordered = lists[order]
    begins = np.flatnonzero(np.diff(ordered, prepend=-2))
    found: dict[int, list[Array]] = {}
    for code, numbers in zip(ordered[begins].tolist(), np.split(order, begins[1:]), strict=False):
        for member in model.names.partition_lists[code] if code >= 0 else ():
            found.setdefault(member, []).append(numbers)
    for member, parts in sorted(found.items()):
        yield model.names.topic_partitions[member], np.sort(np.concatenate(parts)) if len(parts) > 1 else parts[0]


def intervals(model: PartitionStory) -> Iterator[tuple[Partition, Intervals]]:
    """Hand out the transactions of a state partition by the data partitions that they list."""
    assert model.history is not None
    transactions = model.history.transactions
    for key, of_partition in listing(model):
        for first in range(0, len(of_partition), MOST_AT_ONCE):
            numbers = of_partition[first : first + MOST_AT_ONCE]
            yield key, Intervals(model.key[1], numbers, transactions[numbers])


def handed(found: Iterable[Intervals]) -> Handed:
    """Put together what state partitions handed out for one data partition."""
    ordered = sorted(found, key=lambda one: (one.state_partition, int(one.rows[0])))
    transactions = np.concatenate([one.transactions for one in ordered])
    states = np.concatenate([np.full(len(one.rows), one.state_partition) for one in ordered])
    return Handed(transactions, states, np.concatenate([one.rows for one in ordered]))


def joined(model: PartitionStory, given: Handed) -> Joined:
    """Match the spans of a data partition with the transactions that list it."""
    assert model.spans is not None
    transactions = given.transactions
    rows = np.zeros(len(transactions), TRANSACTION_PARTITION)
    rows["transaction"] = np.arange(len(rows))
    rows["span"] = rows["marker"] = -1
    parts = matched(transactions, rows, model.spans.spans, np.ones(1, bool), tolerance_ms(model.brokers))
    return Joined(model.key, given.state_partition, given.row, parts)


def tolerance_ms(brokers: int) -> int:
    """What the clocks of those who wrote may differ by: nothing where one broker wrote everything."""
    return 0 if brokers <= 1 else BROKERS_TOLERANCE_MS


def whole(
    found: Iterable[Joined], partitions: list[PartitionStory], labels: Labels
) -> Callable[[Array, Array], TransactionPartitions]:
    """Return how the joined parts of a capture become one for all its transactions and spans, stacked in order."""
    return lambda transactions, spans: _Whole(partitions, labels, transactions, spans).of(found)


class _Whole:
    """The participations of a capture, put together by row numbers."""

    def __init__(self, partitions: list[PartitionStory], labels: Labels, transactions: Array, spans: Array) -> None:
        histories = [part.history for part in partitions if part.history is not None]
        of_data = [part for part in partitions if part.spans is not None]
        self.rows = listed(transactions, labels.partition_lists)
        self.rows["status"] = Status.ELSEWHERE
        self.owner = np.full(len(spans), -1, np.int32)
        self._placed = np.zeros(len(self.rows), bool)
        self._code_of = {key: code for code, key in enumerate(labels.topic_partitions)}
        self._key = _key(self.rows["transaction"], self.rows["partition_code"])
        self._first_row = np.zeros(max((one.state_partition for one in histories), default=0) + 1, np.int64)
        ends = np.cumsum([0, *(len(one.transactions) for one in histories)])
        for history, first in zip(histories, ends, strict=False):
            self._first_row[history.state_partition] = first
        ends = np.cumsum([0, *(len(part.spans.spans) for part in of_data if part.spans is not None)])
        self._first_span = {part.key: int(first) for part, first in zip(of_data, ends, strict=False)}

    def of(self, found: Iterable[Joined]) -> TransactionPartitions:
        """Put the parts in their places; partitions that are not at hand have none.

        Raises RuntimeError where one at hand has none: its transactions would seem to have no data.
        """
        for part in found:
            self._place(part)
        at_hand = [self._code_of[key] for key in self._first_span]
        if (np.isin(self.rows["partition_code"], at_hand) & ~self._placed).any():
            raise RuntimeError("transactions that no partition was joined with")
        return TransactionPartitions(self.rows, self.owner)

    def _place(self, part: Joined) -> None:
        transactions, first = self._first_row[part.state_partition] + part.row, self._first_span[part.key]
        at = np.searchsorted(self._key, _key(transactions, self._code_of[part.key]))
        own = part.parts.rows
        for name in ("span", "marker"):
            self.rows[name][at] = np.where(own[name] >= 0, own[name] + first, -1)
        self.rows["status"][at] = own["status"]
        self._placed[at] = True
        owner = part.parts.owner
        owned = np.where(owner >= 0, transactions[owner.clip(0)], owner) if len(transactions) else owner
        self.owner[first : first + len(owner)] = owned


def _key(transactions: Array, codes: Array | int) -> Array:
    """One number for a transaction and a partition that it lists; ordered as both."""
    found: Array = transactions.astype(np.int64) << np.int64(31) | codes
    return found
