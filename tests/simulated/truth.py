"""What was done in a simulated cluster: what kafkatx says is held against it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum

from tests.rules.cluster import Metadata
from tests.simulated.cluster import Partition, SimulatedCluster


class EndedBy(StrEnum):
    """Who ended a transaction."""

    client = "client"
    timeout = "timeout"
    new_instance = "new_instance"


@dataclass(frozen=True, slots=True)
class End:
    """A decision: `started` as the rows have it, `at` in true time, `lasted` as the rows show it; `known` is what the
    coordinator knew before, `is_raised` whether transactions v2 raised the epoch, `leader_epoch` who decided.
    """

    name: str
    started: int
    at: int
    by: EndedBy
    is_commit: bool
    lasted: int
    known: Metadata
    is_raised: bool


@dataclass(slots=True)
class Truth:
    """All that happened. `faulty` maps an id or partition to rules that may speak of it; `lines` are brokers' logs."""

    began: dict[tuple[str, int], int] = field(default_factory=dict)
    began_under: dict[tuple[str, int], int] = field(default_factory=dict)
    ends: list[End] = field(default_factory=list)
    initialised: list[tuple[str, int]] = field(default_factory=list)
    expired: set[str] = field(default_factory=set)
    exhausted: set[str] = field(default_factory=set)
    producer_ids: dict[int, str] = field(default_factory=dict)
    lines: dict[int, list[tuple[int, str]]] = field(default_factory=dict)

    def note(self, end: End) -> None:
        self.ends.append(end)

    def say_initialised(
        self, name: str, known: Metadata, home: Partition, time: int, cluster: SimulatedCluster
    ) -> None:
        self.initialised.append((name, cluster.clockwork.now))
        self.producer_ids[known.producer_id] = name
        text = (
            f"Initialized transactionalId {name} with producerId {known.producer_id} and producer epoch {known.epoch} "
            f"on partition {home.name}"
        )
        self._say(home, time, text)

    def say_rollback(self, name: str, home: Partition, time: int, cluster: SimulatedCluster) -> None:
        self._say(home, time, f"Completed rollback of ongoing transaction for transactionalId {name} due to timeout")

    def _say(self, home: Partition, time: int, text: str) -> None:
        self.lines.setdefault(home.leader, []).append((time, text))

    def log_of(self, broker: int, until: int) -> str:
        """Return a broker's log as it prints it, in UTC, up to a time of its own."""
        said = sorted((time, text) for time, text in self.lines.get(broker, ()) if time <= until)
        return "".join(
            f"[{datetime.fromtimestamp(time / 1000, UTC):%Y-%m-%d %H:%M:%S},{time % 1000:03d}] INFO "
            f"[TransactionCoordinator id={broker}] {text} (kafka.coordinator.transaction.TransactionCoordinator)\n"
            for time, text in said
        )
