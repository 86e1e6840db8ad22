"""Brokers with clocks of their own and partitions with leaders, and how they lie on disk."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from kafkatx.terms.topics import TRANSACTION_STATE, partition_for
from tests.declared import build_snapshot
from tests.rules.logs import Batch, Log
from tests.simulated.clockwork import Clockwork


@dataclass(frozen=True, slots=True)
class Release:
    """What a release does. `rows` is the version of its state rows, `rotates` that they carry the former producer id
    (4.3), `verifies` that leaders ask the coordinator about the first batch of a transaction (KIP-890 part 1).
    """

    name: str
    rows: int = 0
    v2: bool = False
    rotates: bool = False
    verifies: bool = True


RELEASES = (
    Release("2.8", verifies=False),
    Release("3.9"),
    Release("4.1, transaction.version 1", rows=1),
    Release("4.1", rows=1, v2=True),
    Release("4.3", rows=1, v2=True, rotates=True),
)


@dataclass(slots=True)
class Broker:
    """`ahead` is what its clock is before the true time, `phase` when in ten seconds its coordinator looks."""

    number: int
    ahead: int
    phase: int
    is_up: bool = True


@dataclass(slots=True)
class Partition(Log):
    """A partition with a leader (0: none), the true time of each append, and where its segments begin."""

    clockwork: Clockwork | None = None
    leader: int = 0
    served_from: int = 0
    broker_time: bool = False
    appended: dict[int, int] = field(default_factory=dict)
    segments: list[int] = field(default_factory=lambda: [0])
    snapshots: dict[int, bytes] = field(default_factory=dict)
    epochs: list[tuple[int, int]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.topic}-{self.partition}"

    def _append(
        self, records: list[tuple[int, bytes, bytes | None]], attributes: int, producer: tuple[int, int], sequence: int
    ) -> int:
        assert self.clockwork is not None
        if not self.epochs or self.epochs[-1][0] != self.leader_epoch:
            self.epochs.append((self.leader_epoch, self.next_offset))
        base = Log._append(self, records, attributes, producer, sequence)
        self.appended[base] = self.clockwork.now
        return base

    def roll(self) -> None:
        """Begin a segment; the broker writes what it knows of producers."""
        if self.next_offset > self.segments[-1]:
            self.segments.append(self.next_offset)
            self.snapshots[self.next_offset] = build_snapshot(self._entries())

    def until(self, time: int) -> list[Batch]:
        """What a copy made at a time holds."""
        return [batch for batch in self.batches if self.appended[batch.base_offset] <= time]

    def first_unstable(self) -> int:
        """Where the oldest open transaction begins, else the end: neither cleaner nor retention of ours goes beyond."""
        return min([one.open_since for one in self.producers.values() if one.open_since >= 0], default=self.next_offset)


class SimulatedCluster:
    """Three brokers, partitions spread over them, and their clocks."""

    def __init__(self, random: Random, clockwork: Clockwork, release: Release, state_partitions: int) -> None:
        self.random, self.clockwork, self.release = random, clockwork, release
        self.brokers = {number: Broker(number, 0, random.randrange(10_000)) for number in (1, 2, 3)}
        self.partitions: dict[str, Partition] = {}
        self.state_partitions = state_partitions
        for number in range(state_partitions):
            self.partition(f"{TRANSACTION_STATE}-{number}")

    def partition(self, name: str) -> Partition:
        """Return a partition, made when first named."""
        if name not in self.partitions:
            topic, _, number = name.rpartition("-")
            leader = self.random.choice([1, 2, 3])
            copies = dict.fromkeys(self.brokers)
            made = Partition(topic, int(number), copies, clockwork=self.clockwork, leader=leader)
            made.leader_epoch = self.random.choice([0, 0, 1, 3, 17])
            made.broker_time = topic == "ledger"
            self.partitions[name] = made
        return self.partitions[name]

    def home(self, transactional_id: str) -> Partition:
        """Return the partition of `__transaction_state` that an id belongs to."""
        return self.partitions[f"{TRANSACTION_STATE}-{partition_for(transactional_id, self.state_partitions)}"]

    def time_at(self, partition: Partition) -> int:
        """What the clock of a partition's leader shows."""
        return self.clockwork.now + self.brokers[partition.leader].ahead

    def is_served(self, partition: Partition) -> bool:
        """Whether a partition has a leader that has loaded it."""
        return partition.leader > 0 and partition.served_from <= self.clockwork.now

    def data_partitions(self) -> list[Partition]:
        """Return the partitions that are no coordinator's."""
        return [one for one in self.partitions.values() if one.topic != TRANSACTION_STATE]

    def move(self, partition: Partition, leader: int, without_ms: int) -> None:
        """Give a partition another leader, or the same one again under another epoch."""
        partition.leader = leader
        partition.leader_epoch += self.random.choice([1, 1, 1, 2])
        partition.served_from = self.clockwork.now + without_ms
