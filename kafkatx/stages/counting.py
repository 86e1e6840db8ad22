"""The plain transactions of a large capture counted, before its model is built: what it holds does not grow with them.

Each partition of data says which transactions are to be held (`said`); then each partition of `__transaction_state`
holds those and what it holds itself (`CountingOfCapture.take_states`); and of each partition of data the spans and
participations of these are left (`CountingOfCapture.left_of`). One partition is looked at at a time; of the others a
bit or two a transaction is kept. What is plain histories/plain_rows.py says, and plain_data.py.

Grain: one capture; `said` is of one partition of data.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kafkatx.histories.coordinator import CoordinatorHistory
from kafkatx.histories.plain_data import said_of_data
from kafkatx.histories.plain_rows import AskedFor, counted_groups, counted_rows, held_rows, listed_partitions
from kafkatx.histories.transaction_partitions import TransactionPartitions
from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.growing import Array, chosen, with_length
from kafkatx.kernels.rows import COUNTED_ALONE, TRANSACTION, TRANSACTION_PARTITION
from kafkatx.stages.joining import Handed, Joined
from kafkatx.stages.partitions import PartitionStory
from kafkatx.terms.records import dataclass

HELD_UP_TO = 1 << 18
"""Of a capture with no more transactions all are held: some 150 MB."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a partition of data says: see OfData; transactions are named by state partition and row there.

    `alone` is how many spans may be counted.
    """

    held: dict[int, Array]
    late: dict[int, Array]
    producers: Array
    alone: int


def said(story: PartitionStory, handed: Handed | None, joined: Joined | None) -> tuple[Said, Array]:
    """Say what a partition has to say of the transactions that list it; None: none does.

    Returns beside it the numbers of spans that no row owns and that may be counted.
    """
    assert story.spans is not None
    assert story.log_extent is not None
    spans, hiding = story.spans.spans, story.spans.hiding
    is_trusted = story.log_extent.is_whole and not story.log_extent.is_printed
    if handed is None or joined is None:
        nothing = TransactionPartitions(np.zeros(0, TRANSACTION_PARTITION), np.full(len(spans), -1, np.int32))
        found = said_of_data(np.zeros(0, TRANSACTION), nothing, spans, hiding, is_trusted)
        return Said({}, {}, found.producers, len(found.alone)), found.alone
    found = said_of_data(handed.transactions, joined.parts, spans, hiding, is_trusted)
    held, late = _by_state(joined, found.held), _by_state(joined, found.late)
    return Said(held, late, found.producers, len(found.alone)), found.alone


def _by_state(joined: Joined, numbers: Array) -> dict[int, Array]:
    """Rows of transactions, by their state partition."""
    states, rows = joined.state_partition[numbers], joined.row[numbers]
    return {int(state): rows[states == state].astype(np.int32) for state in distinct(states)}


class CountingOfCapture:
    """What partitions of a capture said, and which transactions are held for it.

    All that partitions of data say comes first, then the partitions of `__transaction_state`, then those of data.
    """

    def __init__(self, held_up_to: int | None) -> None:
        self.held_up_to = held_up_to
        self.is_possible = True
        self._asked: dict[int, Array] = {}
        self._late: dict[int, Array] = {}
        self._producers: list[Array] = []
        self._alone = 0
        self._at_hand: set[tuple[str, int]] = set()
        self._histories: list[PartitionStory] = []
        self._rows: dict[int, Array] = {}

    def hear(self, key: tuple[str, int], told: Said) -> None:
        """Note what a partition of data says."""
        self._at_hand.add(key)
        self._producers.append(told.producers)
        self._alone += told.alone
        for state, rows in told.held.items():
            _long_enough(self._asked, state, rows, np.bool_)[rows] = True
        for state, rows in told.late.items():
            _long_enough(self._late, state, rows, np.uint16)[rows] += 1  # each row is named once by a partition

    def take_states(self, story: PartitionStory) -> None:
        """Take a partition of `__transaction_state`; once there are many transactions, leave the held ones in all."""
        self._histories.append(story)
        if not self._is_called_for():
            return
        for one in self._histories:
            if one.history is not None and one.history.state_partition not in self._rows:
                self._rows[one.history.state_partition] = self._hold(one, one.history)

    def _is_called_for(self) -> bool:
        """Whether there are so many that plain ones are to be counted."""
        if not self.is_possible or self.held_up_to is None:
            return False
        histories = (one.history for one in self._histories)
        rows = sum(len(one.transactions) + int(one.counted["transactions"].sum()) for one in histories if one)
        return self._alone + rows > self.held_up_to

    def _asked_producers(self) -> Array:
        """Producer ids of which all is held."""
        return distinct(np.concatenate([*self._producers, np.zeros(0, np.int64)]))

    def _hold(self, story: PartitionStory, history: CoordinatorHistory) -> Array:
        """Count the plain transactions of a partition; returns the rows of those that are held."""
        t, lists = history.transactions, story.names.partition_lists
        if story.state_horizon is None or story.state_horizon.is_printed or not story.state_horizon.is_whole:
            return np.arange(len(t), dtype=np.int32)
        at_hand = np.array([key in self._at_hand for key in story.names.topic_partitions], bool)
        many = np.array([at_hand[list(members)].sum() for members in lists] + [0], np.int64)
        held = held_rows(t, AskedFor(self._asked_of(history, many), self._asked_producers()))
        groups = counted_groups(t, held)
        history.counted = counted_rows(groups, many > 0)
        history.listed = listed_partitions(groups, lists)
        rows = np.flatnonzero(held).astype(np.int32)
        history.transactions = chosen(t, rows)
        open_ = history.latest["transaction_row"] >= 0
        history.latest["transaction_row"][open_] = np.searchsorted(rows, history.latest["transaction_row"][open_])
        return rows

    def _asked_of(self, history: CoordinatorHistory, many: Array) -> Array:
        """Which transactions data ask for; `many`: how many partitions of a list are at hand."""
        state, length = history.state_partition, len(history.transactions)
        asked = _of_length(self._asked.get(state), length).astype(bool)
        if (late := self._late.get(state)) is not None:
            at_hand = many[history.transactions["partitions_code"]]
            asked |= (at_hand > 0) & (_of_length(late, length) >= at_hand)
        return asked

    def left_of(self, story: PartitionStory, joined: Joined | None, alone: Array) -> Joined | None:
        """Leave in a partition of data, and in what it was joined to, what belongs to transactions that are held.

        `alone` are numbers of spans that no row owns and that may be counted.
        """
        if not self._is_called_for() or story.spans is None:
            return joined
        spans = story.spans.spans
        counted = alone[~np.isin(spans["producer_id"][alone], self._asked_producers())]
        story.spans.alone = _counted_alone(spans[counted])
        if joined is None:
            stays = np.ones(len(spans), bool)
            stays[counted] = False
            story.spans.spans = chosen(spans, stays)
            return None
        places = self._places(joined)
        is_held = places >= 0
        parts, owner = joined.parts, joined.parts.owner
        stays = np.append(is_held, (True, True))[owner]  # nobody's (-1), and in dispute (-2)
        stays[counted] = False
        kept = chosen(parts.rows, is_held)
        for name in ("span", "marker"):
            stays[kept[name][kept[name] >= 0]] = True
        new_span, new_row = _numbered(stays), _numbered(is_held)
        kept["transaction"] = np.arange(len(kept))
        for name in ("span", "marker"):
            kept[name] = new_span[kept[name]]
        owner = owner[stays]
        story.spans.spans = chosen(spans, stays)
        now = TransactionPartitions(kept, np.where(owner >= 0, new_row[owner], owner).astype(np.int32))
        return Joined(joined.key, joined.state_partition[is_held], places[is_held], now)

    def _places(self, joined: Joined) -> Array:
        """The row of each transaction of a partition as it is now, -1 of one that is not held."""
        found = np.full(len(joined.row), -1, np.int32)
        for state in distinct(joined.state_partition).tolist():
            mine = np.flatnonzero(joined.state_partition == state)
            rows, now = joined.row[mine], self._rows[state]
            table = np.full(max(int(rows.max(initial=-1)), int(now.max(initial=-1))) + 1, -1, np.int32)
            table[now] = np.arange(len(now))
            found[mine] = table[rows]
        return found


def _numbered(stays: Array) -> Array:
    """The number of each row among those that are chosen; -1 behind the last, which stands for none."""
    found = np.empty(len(stays) + 1, np.int32)
    np.cumsum(stays, dtype=np.int32, out=found[:-1])
    found -= 1
    found[-1] = -1
    return found


def _counted_alone(spans: Array) -> Array:
    """Count spans of one partition by their producers; the code of the partition is 0 until names are common."""
    producers, counts = np.unique(spans["producer_id"], return_counts=True)
    found = np.zeros(len(producers), COUNTED_ALONE)
    found["producer_id"], found["spans"] = producers, counts
    return found


def _long_enough(noted: dict[int, Array], state: int, rows: Array, kind: Any) -> Array:
    """What is noted of the rows of a state partition, with room for some rows more."""
    last = int(rows.max(initial=-1)) + 1
    noted[state] = with_length(noted.get(state, np.zeros(0, kind)), last)
    return noted[state]


def _of_length(noted: Array | None, length: int) -> Array:
    """What was noted of rows, for so many of them."""
    if noted is None:
        return np.zeros(length, np.uint16)  # nothing
    return with_length(noted, length)[:length]
