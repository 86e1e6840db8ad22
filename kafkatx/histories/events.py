"""What a timeline is made of: a value for each thing that happened to a transactional.id. Data only; outputs render it.

Times are milliseconds of the brokers' clocks (of the client's where only data tell), offsets without a topic are those
of the id's partition of `__transaction_state`. Absent is None.
"""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum

from kafkatx.histories.endings import EndedBy, Protocol, Reason
from kafkatx.histories.initialisations import Why
from kafkatx.histories.logs.client_instance import Failure
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.transaction_partitions import Status
from kafkatx.terms.events import EventKind, Level, Side
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Verdict


class Outcome(StrEnum):
    """What became of a transaction, as far as the rows go.

    `lost`: other rows of the id follow, and its end is not among them.
    """

    committed = "committed"
    aborted = "aborted"
    committing = "committing"
    aborting = "aborting"
    open = "open"
    lost = "lost"


@dataclass(frozen=True, slots=True)
class Marker:
    """The marker that ended a producer's data in a partition; `kind`: COMMIT, ABORT, None (emptied by the cleaner)."""

    offset: int
    at: int | None
    kind: str | None
    producer_epoch: int
    coordinator_epoch: int | None


@dataclass(frozen=True, slots=True)
class Part:
    """A partition's part in a transaction: its data (offsets None: none at hand) and its marker.

    `ended_by` is the marker that ended the data where another one came before the transaction's own, or in its place.
    """

    topic: str
    partition: int
    status: Status
    first_offset: int | None
    last_offset: int | None
    records: int
    bytes: int
    begun_before_log: bool
    marker: Marker | None
    ended_by: Marker | None = None


@dataclass(frozen=True, slots=True)
class Initialisation:
    """A row that InitProducerId wrote: who raised the epoch, and why. `instance` counts producers of the id from 1."""

    at: int | None
    offset: int
    why: Why
    verdict: Verdict
    instance: int
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    previous_producer_id: int | None
    previous_epoch: int | None
    idle_ms: int | None
    rows_may_be_missing: bool


@dataclass(frozen=True, slots=True)
class Expiry:
    """A tombstone: the coordinator forgot the id after it had been idle for `idle_ms`."""

    at: int | None
    offset: int
    producer_id: int | None
    producer_epoch: int | None
    idle_ms: int | None


@dataclass(frozen=True, slots=True)
class Transaction:
    """One transaction from its first Ongoing row to its last marker. `row` is its place in the table of transactions.

    `completed_producer_id` and `completed_epoch` are what the producer goes on with (transactions v2 raise the epoch at
    every end).
    """

    row: int
    instance: int
    producer_id: int
    producer_epoch: int | None
    decision_epoch: int | None
    completed_producer_id: int | None
    completed_epoch: int | None
    protocol: Protocol
    outcome: Outcome
    ended_by: EndedBy
    verdict: Verdict
    reason: Reason
    started_at: int | None
    decided_at: int | None
    completed_at: int | None
    last_marker_at: int | None
    duration_ms: int | None
    timeout_ms: int | None
    begin_offset: int | None
    decision_offset: int | None
    completion_offset: int | None
    rows_missing: bool
    records: int
    bytes: int
    parts: tuple[Part, ...]

    @property
    def at(self) -> int | None:
        """When it began."""
        return self.started_at if self.started_at is not None else self.decided_at

    @property
    def decision_to_last_marker_ms(self) -> int | None:
        """From the decision to the last marker at hand; two brokers' clocks may make it negative."""
        return None if self.last_marker_at is None or self.decided_at is None else self.last_marker_at - self.decided_at


@dataclass(frozen=True, slots=True)
class Leftover:
    """A producer's data or marker in a partition that no transaction at hand owns; `fits_several` says that two fit."""

    at: int | None
    producer_id: int
    producer_epoch: int | None
    fits_several: bool
    part: Part


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line of a log: `row` among the events of `logs`; `lines` counts those that tell of the same failure.

    `at` is its time by the brokers' zone, `path` and `line` where it stands, `client_id` who wrote it where it says so;
    `failure` is what it shows of one.
    """

    at: int | None
    path: str
    line: int
    kind: EventKind
    level: Level
    side: Side
    client_id: str | None
    lines: int
    failure: Failure | None
    row: int
    logs: LogModel = field(repr=False)


@dataclass(frozen=True, slots=True)
class ProtocolChange:
    """From here on the producer runs transactions another way (classic, v2)."""

    at: int | None
    before: Protocol
    after: Protocol


@dataclass(frozen=True, slots=True)
class Idle:
    """Nothing happened from `at` to `until`."""

    at: int
    until: int


@dataclass(frozen=True, slots=True)
class RowsMissing:
    """Rows of the id that were there and are not at hand; with `by_compaction` the cleaner has been there."""

    at: int | None
    by_compaction: bool


@dataclass(frozen=True, slots=True)
class Folded:
    """Things alike in a row, told as one: counts by outcome and ender, durations, epochs spanned.

    `log_kind` is what all its lines of logs are, None where they differ.
    """

    at: int
    until: int
    transactions: tuple[tuple[Outcome, EndedBy, int], ...]
    initialisations: int
    leftovers: int
    records: int
    shortest_ms: int | None
    longest_ms: int | None
    first_epoch: int | None
    last_epoch: int | None
    log_lines: int = 0
    log_kind: EventKind | None = None

    @property
    def count(self) -> int:
        """How many things are folded."""
        return sum(count for _, _, count in self.transactions) + self.initialisations + self.leftovers + self.log_lines


Event = Initialisation | Expiry | Transaction | Leftover | LogLine | ProtocolChange | Idle | RowsMissing
TimelineEntry = Event | Folded
"""What a timeline shows: events, and in a short one stretches of them folded."""
