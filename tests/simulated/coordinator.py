"""The transaction coordinator: TransactionCoordinator, TransactionMetadata and TransactionStateManager as a model.

An append to the log takes effect at once; what its replication takes is told as CONCURRENT_TRANSACTIONS until
`busy_until`. The epoch table is that of KIP-98, KIP-360, KIP-588 and KIP-890, of 4.0.1 and later for transactions v2.
Every end is noted with its author: that is what kafkatx is held against.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum

from kafkatx.terms.transaction_states import TransactionState
from tests.declared import build_key, build_value
from tests.rules.cluster import (
    LAST_EPOCH,
    CompleteAbort,
    CompleteCommit,
    Empty,
    Metadata,
    Ongoing,
    PrepareAbort,
    PrepareCommit,
    row_value,
)
from tests.simulated.clockwork import Process
from tests.simulated.cluster import Partition, SimulatedCluster
from tests.simulated.truth import End, EndedBy, Truth

LOOK_MS = 10_000
"""transaction.abort.timed.out.transaction.cleanup.interval.ms."""
EXPIRATION_MS, EXPIRY_LOOK_MS = 604_800_000, 3_600_000
CLOSED = (Empty, CompleteCommit, CompleteAbort)


class Answer(StrEnum):
    """What a request is answered."""

    fine = "NONE"
    concurrent = "CONCURRENT_TRANSACTIONS"
    fenced = "PRODUCER_FENCED"
    no_mapping = "INVALID_PRODUCER_ID_MAPPING"
    wrong_state = "INVALID_TXN_STATE"
    away = "NOT_COORDINATOR"
    old_epoch = "INVALID_PRODUCER_EPOCH"
    not_in_transaction = "TRANSACTION_ABORTABLE"


RETRIED = (Answer.concurrent, Answer.away)


@dataclass(slots=True)
class Held:
    """What the coordinator has in memory of an id; `last_epoch` is in no row."""

    known: Metadata
    last_epoch: int = -1
    last_producer_id: int = -1
    busy_until: int = 0


@dataclass(slots=True)
class Coordinator:
    """All coordinators of a cluster: which broker answers for an id is a question of its partition's leader."""

    cluster: SimulatedCluster
    truth: Truth
    held: dict[str, Held] = field(default_factory=dict)
    next_producer_id: int = 4_000
    skips_markers: bool = False
    is_looking: bool = True

    # Requests.

    def init(
        self, name: str, timeout_ms: int, v2: bool, expected: tuple[int, int] | None = None
    ) -> tuple[Answer, tuple[int, int]]:
        """InitProducerId; `expected` is the producer id and epoch of a client that bumps its own epoch (KIP-360)."""
        none = (-1, -1)
        if not self._is_there(name):
            return Answer.away, none
        held = self.held.get(name)
        if held is None:
            fresh = Metadata(self.new_producer_id(), 0, timeout_ms, v2, updated_at=self._time(name))
            return Answer.fine, self._initialised(name, Held(fresh), fresh)
        if held.busy_until > self._now or held.known.state in (PrepareCommit, PrepareAbort):
            return Answer.concurrent, none
        if expected is not None and not self._is_expected(held, *expected):
            return Answer.fenced, none
        if held.known.state is Ongoing:
            if expected is not None and expected[1] != held.known.epoch:
                return Answer.fenced, none
            self._decide(name, False, EndedBy.new_instance)
            return Answer.concurrent, none
        if expected is not None and expected[1] == held.last_epoch != held.known.epoch:
            return Answer.fine, self._initialised(name, held, held.known)
        bumped = replace(held.known, epoch=held.known.epoch + 1, timeout_ms=timeout_ms, v2=v2)
        if held.known.epoch >= LAST_EPOCH:
            bumped = replace(bumped, producer_id=self.new_producer_id(), epoch=0)
            self.truth.exhausted.add(name)
        held.last_epoch = expected[1] if expected is not None else -1
        return Answer.fine, self._initialised(name, held, bumped)

    def add(self, name: str, producer: tuple[int, int], partitions: list[str], v2: bool) -> Answer:
        """AddPartitionsToTxn, by the client, or by a leader where the client uses transactions v2."""
        refused = self._refused(name, producer)
        if refused is not Answer.fine:
            return refused
        held = self.held[name]
        known = held.known
        if known.state in (PrepareCommit, PrepareAbort):
            return Answer.concurrent
        if known.state is Ongoing and set(partitions) <= set(known.partitions):
            return Answer.fine
        is_open = known.state is Ongoing
        members = tuple(sorted({*(known.partitions if is_open else ()), *partitions}))
        started = known.started_at if is_open else self._time(name)
        self._store(name, replace(known, state=Ongoing, partitions=members, started_at=started, version=2 * v2))
        if not is_open:
            self.truth.began[name, started] = self._now
            self.cluster.clockwork.spawn(self._watch(name, held.known.started_at))
        return Answer.fine

    def end(self, name: str, producer: tuple[int, int], is_commit: bool, v2: bool) -> tuple[Answer, tuple[int, int]]:
        """EndTxn; under transactions v2 the answer has the epoch of the next transaction."""
        if not self._is_there(name):
            return Answer.away, producer
        held = self.held.get(name)
        if held is None:
            return Answer.no_mapping, producer
        known = held.known
        is_retry = v2 and known.version == 2 and held.last_epoch == producer[1] and held.last_producer_id == producer[0]
        if known.state is not Ongoing and is_retry and known.state is not Empty:
            return self._again(held, is_commit), (known.producer_id, known.epoch)
        refused = self._refused(name, producer)
        if refused is not Answer.fine:
            return refused, producer
        if known.state is Ongoing or (v2 and not is_commit and known.state in CLOSED):
            self._decide(name, is_commit, EndedBy.client, v2=v2)
            return Answer.fine, self._next_of(held)
        return self._again(held, is_commit), producer

    def verify(self, name: str, producer: tuple[int, int], partition: str) -> Answer:
        """What a leader asks before the first batch of a transaction (KIP-890 part 1)."""
        refused = self._refused(name, producer)
        if refused is not Answer.fine:
            return refused
        known = self.held[name].known
        if known.state in (PrepareCommit, PrepareAbort):
            return Answer.concurrent
        is_member = known.state is Ongoing and partition in known.partitions
        return Answer.fine if is_member else Answer.not_in_transaction

    def _again(self, held: Held, is_commit: bool) -> Answer:
        """What a client that asks for an end again is answered."""
        state = held.known.state
        if state is (CompleteCommit if is_commit else CompleteAbort):
            return Answer.fine
        return Answer.concurrent if state is (PrepareCommit if is_commit else PrepareAbort) else Answer.wrong_state

    def _refused(self, name: str, producer: tuple[int, int]) -> Answer:
        if not self._is_there(name):
            return Answer.away
        held = self.held.get(name)
        if held is None or held.known.producer_id != producer[0]:
            return Answer.no_mapping
        if held.known.epoch != producer[1]:
            return Answer.fenced
        return Answer.concurrent if held.busy_until > self._now else Answer.fine

    def _is_expected(self, held: Held, producer_id: int, epoch: int) -> bool:
        if producer_id == held.known.producer_id:
            return epoch in (held.known.epoch, held.last_epoch)
        return producer_id == held.last_producer_id and epoch >= LAST_EPOCH

    # What it does by itself.

    def _watch(self, name: str, started: int) -> Process:
        """Abort a transaction whose timeout is over by the clock of whoever leads then, at one of its looks."""
        while (held := self.held.get(name)) and held.known.state is Ongoing and held.known.started_at == started:
            is_over = started + held.known.timeout_ms < self._time(name) and held.busy_until <= self._now
            if self._is_look(name) and is_over and self._is_there(name) and self.is_looking:
                self._decide(name, False, EndedBy.timeout)
                self.truth.say_rollback(name, self.cluster.home(name), self._time(name), self.cluster)
                return
            yield self._until_look(name)

    def _is_look(self, name: str) -> bool:
        broker = self.cluster.brokers[max(self.cluster.home(name).leader, 1)]
        return self._now % LOOK_MS == broker.phase

    def _until_look(self, name: str) -> int:
        broker = self.cluster.brokers[max(self.cluster.home(name).leader, 1)]
        return (broker.phase - self._now) % LOOK_MS or LOOK_MS

    def expire(self) -> Process:
        """Forget ids that were not used for a week."""
        while True:
            yield EXPIRY_LOOK_MS
            for name, held in list(self.held.items()):
                if not self._is_there(name) or held.busy_until > self._now:
                    continue
                if held.known.state in CLOSED and held.known.updated_at + EXPIRATION_MS <= self._time(name):
                    self.cluster.home(name).row(build_key(name), None, self._time(name))
                    self.truth.expired.add(name)
                    del self.held[name]

    def _decide(self, name: str, is_commit: bool, by: EndedBy, v2: bool | None = None) -> None:
        """Write Prepare* and have the markers written; `v2` is the client's protocol, None where it is no client."""
        held, release = self.held[name], self.cluster.release
        known, raised = held.known, release.v2 if v2 is None else v2
        bump = 1 if v2 is None or raised else 0
        rotated = self.new_producer_id() if v2 and known.epoch >= LAST_EPOCH else -1
        held.last_epoch, held.last_producer_id = (known.epoch if raised else -1), known.producer_id
        is_open = known.state is Ongoing
        started = known.started_at if is_open else self._time(name)
        decided = replace(
            known,
            state=PrepareCommit if is_commit else PrepareAbort,
            epoch=known.epoch + bump,
            version=2 if raised else 0,
            started_at=started,
            partitions=known.partitions if is_open else (),
            next_producer_id=rotated,
        )
        if rotated >= 0:
            self.truth.exhausted.add(name)
        self.truth.note(End(name, started, self._now, by, is_commit, self._time(name) - started, known, raised))
        self._store(name, decided)
        self.cluster.clockwork.spawn(self._finish(name, decided), self.cluster.random.randint(0, 4))

    def _finish(self, name: str, decided: Metadata) -> Process:
        """Send the markers, and write the completion when all are written; ends where the coordinator changes."""
        home, random = self.cluster.home(name), self.cluster.random
        epoch, prepared = home.leader_epoch, self._time(name)
        left = list(decided.partitions)
        random.shuffle(left)
        while left:
            yield random.choice([0, 1, 1, 2, 3, 5, 20])
            partition = self.cluster.partition(left[0])
            if home.leader_epoch != epoch:
                if partition.leader and random.random() < 0.3:
                    self._mark(partition, decided, epoch)
                return
            if partition.leader == 0 and not self.skips_markers:
                yield 1_000
                continue
            left.pop(0)
            if partition.leader:
                self._mark(partition, decided, epoch)
        yield random.choice([0, 1, 2, 4])
        if home.leader_epoch == epoch:
            self._complete(name, decided, prepared)

    def _mark(self, partition: Partition, decided: Metadata, epoch: int) -> None:
        """WriteTxnMarkers to a leader, which refuses a coordinator that it knows a later one of."""
        known = partition.producers.get(decided.producer_id)
        if known is not None and known.coordinator_epoch > epoch:
            return
        time = self.cluster.time_at(partition)
        partition.marker((decided.producer_id, decided.epoch), decided.state is PrepareCommit, epoch, time)

    def _complete(self, name: str, decided: Metadata, prepared: int) -> None:
        state = CompleteCommit if decided.state is PrepareCommit else CompleteAbort
        done = replace(decided, state=state, partitions=(), next_producer_id=-1)
        if decided.next_producer_id >= 0:
            done = replace(done, producer_id=decided.next_producer_id, epoch=0)
        self._store(name, done, updated_at=prepared)

    def take_over(self, home: Partition) -> Process:
        """Load a partition after its leader changed: what is decided is marked again, what is open is watched."""
        epoch = home.leader_epoch
        yield max(home.served_from - self._now, 0)
        for name, held in list(self.held.items()):
            if self.cluster.home(name) is not home or home.leader_epoch != epoch:
                continue
            held.busy_until, held.last_epoch = 0, held.last_epoch if held.known.version == 2 else -1
            if held.known.state in (PrepareCommit, PrepareAbort):
                self.cluster.clockwork.spawn(self._finish(name, held.known), self.cluster.random.randint(0, 9))
            elif held.known.state is Ongoing:
                self.cluster.clockwork.spawn(self._watch(name, held.known.started_at))

    # Rows.

    def _initialised(self, name: str, held: Held, known: Metadata) -> tuple[int, int]:
        self.held[name] = held
        self._store(name, replace(known, state=Empty, partitions=(), started_at=-1))
        self.truth.say_initialised(name, held.known, self.cluster.home(name), self._time(name), self.cluster)
        return known.producer_id, known.epoch

    def _store(self, name: str, known: Metadata, updated_at: int | None = None) -> None:
        held, time = self.held[name], self._time(name) if updated_at is None else updated_at
        held.known = replace(known, previous_producer_id=held.known.producer_id, updated_at=time)
        held.busy_until = self._now + self.cluster.random.choice([0, 0, 1, 2, 3])
        self.write_row(name, held.known)

    def write_row(self, name: str, known: Metadata) -> None:
        """Append a row as the leader of its partition does."""
        if not self.cluster.release.rotates:
            known = replace(known, previous_producer_id=-1, next_producer_id=-1)
        value = build_value(row_value(known, self.cluster.release.rows))
        self.cluster.home(name).row(build_key(name), value, self._time(name))

    def new_producer_id(self) -> int:
        self.next_producer_id += 1
        return self.next_producer_id - 1

    def state_of(self, name: str) -> TransactionState | None:
        held = self.held.get(name)
        return None if held is None else held.known.state

    def _next_of(self, held: Held) -> tuple[int, int]:
        rotated = held.known.next_producer_id
        return (rotated, 0) if rotated >= 0 else (held.known.producer_id, held.known.epoch)

    def _is_there(self, name: str) -> bool:
        return self.cluster.is_served(self.cluster.home(name))

    @property
    def _now(self) -> int:
        return self.cluster.clockwork.now

    def _time(self, name: str) -> int:
        return self.cluster.time_at(self.cluster.home(name))
