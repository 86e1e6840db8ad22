"""The partitions of a capture folded and joined one after the other in this process, and handed on to be counted.

What counting asks for (stages/counting.py) takes two looks at each partition: what data say of transactions, then what
is left of both. Between them all of it waits, and what waits is packed above some room.

Grain: one capture.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from kafkatx.evidence.directories import Partition
from kafkatx.evidence.plans import PartitionPlan
from kafkatx.histories.transaction_partitions import TransactionPartitions
from kafkatx.kernels.growing import Array
from kafkatx.kernels.packed import PackedRows
from kafkatx.stages.counting import said
from kafkatx.stages.facts import CaptureFact, FactKind
from kafkatx.stages.joined_partitions import JoinedStory
from kafkatx.stages.joining import Handed, joined, listing
from kafkatx.stages.partitions import PartitionStory, Streams, fold
from kafkatx.terms.records import dataclass

ROOM_BYTES = 768 << 20
"""What waits as it is; the rest is packed, to some fifth."""


def states_first(plans: Iterable[PartitionPlan]) -> list[PartitionPlan]:
    """Return plans in the order in which they are to be folded: those of `__transaction_state` before those of data."""
    return sorted(plans, key=lambda plan: not plan.is_state_log)


def facts_here(number: int, planned: Iterable[tuple[PartitionPlan, Streams]]) -> Iterator[CaptureFact]:
    """Yield what comes of the partitions of a capture, in the order in which models are made of it.

    `planned` are its partitions as `states_first` has them, each with where its rows come from.
    """
    room, states, waiting = Room(ROOM_BYTES), list[_StateLog](), list[_Waiting]()
    for plan, streams in planned:
        story = fold(plan, streams)
        if plan.is_state_log:
            insort(states, _StateLog(story, room), key=lambda one: one.story.key)
            continue
        given = _handed(states, story.key)
        parts = joined(story, given) if given is not None else None
        told, alone = said(story, given, parts)
        yield CaptureFact(number, 0, FactKind.SAID, (story.key, told))
        waiting.append(_Waiting(JoinedStory(story, parts, alone), room))
        del story, given, parts, alone
    while states:
        yield CaptureFact(number, 0, FactKind.STORY, states.pop(0).given_back())
    while waiting:
        yield CaptureFact(number, 0, FactKind.JOINED, waiting.pop(0).given_back())


@dataclass(slots=True)
class Room:
    """How many bytes may still be held as they are."""

    left: int


class Held:
    """An array that waits: as it is while there is room, else packed."""

    def __init__(self, array: Array, room: Room) -> None:
        self._array: Array | None = None
        self._packed: PackedRows | None = None
        if array.nbytes <= room.left:
            self._array = array
            room.left -= array.nbytes
        else:
            self._packed = PackedRows(array if array.dtype.names else array.view([("value", array.dtype)]))
            self._kind = array.dtype

    @property
    def nbytes(self) -> int:
        """Bytes that are held."""
        return int(self._array.nbytes) if self._array is not None else self._packed.nbytes if self._packed else 0

    def take(self, numbers: Array | None = None) -> Array:
        """Return rows by their ascending numbers, each named once; None for all."""
        if self._packed is not None:
            found = self._packed.take(numbers)
            return found if self._kind.names else found["value"].copy()
        array = self._array
        assert array is not None
        return array if numbers is None or len(numbers) == len(array) else array[numbers]


class _StateLog:
    """A partition of `__transaction_state`, and which of its transactions list which partition of data."""

    def __init__(self, story: PartitionStory, room: Room) -> None:
        assert story.history is not None
        self.story = story
        self.listed: dict[Partition, Array] = dict(listing(story))
        transactions = story.history.transactions
        story.history.transactions = transactions[:0].copy()
        self.transactions = Held(transactions, room)

    def given_back(self) -> PartitionStory:
        """Return the partition as it was."""
        assert self.story.history is not None
        self.story.history.transactions = self.transactions.take()
        return self.story


def _handed(states: list[_StateLog], key: Partition) -> Handed | None:
    """All transactions that list a partition of data; None where none does. No later one asks for them."""
    found = [(one, numbers) for one in states if (numbers := one.listed.pop(key, None)) is not None]
    if not found:
        return None
    transactions = [one.transactions.take(numbers) for one, numbers in found]
    states_of = [np.full(len(numbers), one.story.key[1], np.int32) for one, numbers in found]
    rows = [numbers for _, numbers in found]
    whole = (of[0] if len(of) == 1 else np.concatenate(of) for of in (transactions, states_of, rows))
    return Handed(*whole)


class _Waiting:
    """A partition of data that was joined."""

    def __init__(self, of: JoinedStory, room: Room) -> None:
        spans = of.story.spans
        assert spans is not None
        self._of = of
        arrays = [spans.spans, of.alone]
        if (parts := of.joined) is not None:
            arrays += [parts.state_partition, parts.row, parts.parts.rows, parts.parts.owner]
        self._held = [Held(array, room) for array in arrays]
        nothing = np.zeros(0, np.int32)
        spans.spans = spans.spans[:0].copy()
        empty = TransactionPartitions(nothing, nothing)
        left = None if parts is None else replace(parts, state_partition=nothing, row=nothing, parts=empty)
        self._of = JoinedStory(of.story, left, nothing)

    def given_back(self) -> JoinedStory:
        """Return the partition as it was."""
        story, parts = self._of.story, self._of.joined
        spans, alone, *arrays = (held.take() for held in self._held)
        assert story.spans is not None
        story.spans.spans = spans
        if parts is not None:
            state_partition, row, rows, owner = arrays
            both = TransactionPartitions(rows, owner)
            parts = replace(parts, state_partition=state_partition, row=row, parts=both)
        return JoinedStory(story, parts, alone)
