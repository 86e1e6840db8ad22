"""What can go wrong beyond what clients do: each fault has a victim, and the rules of which one must tell it.

A fault is a process that runs the victim's producer step by step, so that what is broken is known to the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace

from tests.rules.cluster import CompleteCommit, Ongoing, PrepareCommit
from tests.simulated.clockwork import Process
from tests.simulated.cluster import Partition
from tests.simulated.coordinator import Answer
from tests.simulated.producers import MINUTE, SECOND, STEADY, Application, Producer
from tests.simulated.scenarios import Scenario

VICTIM, OTHER = "victim-1", "bystander-9"
OPEN_DATA = "orders-0"
OWN = "vault-0"
"""A partition that only the victim and one witness write to."""


@dataclass(slots=True)
class Fault:
    """A fault: one of `rules` must be found, `also` may be, for the ids and partitions that it concerns."""

    kind: str
    rules: frozenset[str]
    also: frozenset[str] = frozenset()
    names: set[str] = field(default_factory=lambda: {VICTIM})
    partitions: set[str] = field(default_factory=lambda: {OPEN_DATA, OWN})
    tail_ms: int = 0
    is_done: bool = False


Script = Callable[[Scenario, Fault], Process]
BLOCKING = frozenset({"read_committed_blocked", "open_transaction"})


def begun(made: Scenario, v2: bool | None = None, timeout_ms: int = MINUTE) -> Generator[int, None, Producer]:
    """Start the victim and let it commit some transactions."""
    yield made.random.randint(0, 20 * SECOND)
    release = made.release
    app = Application(
        VICTIM, STEADY, made.cluster, made.coordinator, (OPEN_DATA, OWN), timeout_ms,
        release.v2 if v2 is None else v2, made.end,
    )  # fmt: skip
    producer = Producer(app)
    yield from producer.initialise()
    for _ in range(made.random.randint(1, 3)):
        yield from written(producer, OPEN_DATA, OWN)
        yield from producer.end(True)
        yield made.random.randint(50, 2 * SECOND)
    return producer


def written(producer: Producer, *partitions: str) -> Process:
    """Write at least a batch to each partition."""
    for name in partitions:
        yield from producer.write(name, producer.application.cluster.random.randint(1, 3))


def witness(made: Scenario, fault: Fault) -> None:
    """Let somebody healthy go on writing to the victim's partitions, so that their logs go on."""
    app = Application(
        "witness-1", replace(STEADY, pause=(5 * SECOND, 30 * SECOND)), made.cluster, made.coordinator,
        (OPEN_DATA, OWN), MINUTE, made.release.v2, made.end + MINUTE,
    )  # fmt: skip
    made.cluster.clockwork.spawn(app.run(), 5)


def late_append(made: Scenario, fault: Fault) -> Process:
    """A batch arrives behind the ABORT of its transaction, at a broker that verifies nothing."""
    producer = yield from begun(made, v2=False)
    yield from written(producer, OWN)
    if (yield from producer.end(False)) is not Answer.fine:
        return
    yield SECOND
    fault.is_done = True
    made.cluster.partition(OWN).data(producer.producer, [made.cluster.clockwork.now] * 2)
    witness(made, fault)


def half_abort(made: Scenario, fault: Fault) -> Process:
    """An operator aborts one partition of an open transaction; its owner writes on, or not, and commits."""
    producer = yield from begun(made)
    yield from written(producer, OPEN_DATA, OWN)
    yield made.random.randint(SECOND, 20 * SECOND)
    partition = made.cluster.partition(OWN)
    known = partition.producers[producer.producer[0]]
    if known.open_since < 0:
        return
    epoch = max(known.coordinator_epoch, 0)
    partition.marker(producer.producer, False, epoch, made.cluster.time_at(partition))
    yield SECOND
    if made.random.random() < 0.5:
        yield from written(producer, OWN)
    fault.is_done = (yield from producer.end(True)) is Answer.fine
    witness(made, fault)


def stuck(made: Scenario, fault: Fault) -> Process:
    """A partition has no leader any more when its transaction ends."""
    producer = yield from begun(made)
    yield from written(producer, OPEN_DATA, OWN)
    made.cluster.partition(OWN).leader = 0
    fault.is_done = (yield from producer.end(made.random.random() < 0.5)) is Answer.fine


def skipped_marker(made: Scenario, fault: Fault) -> Process:
    """A partition without a leader counts as deleted, and its marker is left out (4.3.1, KAFKA-20734)."""
    producer = yield from begun(made)
    yield from written(producer, OPEN_DATA, OWN)
    partition, is_commit = made.cluster.partition(OWN), made.random.random() < 0.5
    leader, partition.leader, made.coordinator.skips_markers = partition.leader, 0, True
    answer = yield from producer.end(is_commit)
    yield 5 * SECOND
    made.coordinator.skips_markers = False
    made.cluster.move(partition, leader, 0)
    fault.is_done = answer is Answer.fine and made.coordinator.held[VICTIM].known.partitions == ()
    witness(made, fault)


def lost_decision(made: Scenario, fault: Fault) -> Process:
    """A power loss takes PrepareCommit and CompleteCommit; the coordinator then aborts what is committed."""
    producer = yield from begun(made, timeout_ms=20 * SECOND)
    yield from written(producer, OPEN_DATA, OWN)
    home, held = made.cluster.home(VICTIM), made.coordinator.held[VICTIM]
    before, known = home.next_offset, held.known
    if (yield from producer.end(True)) is not Answer.fine or known.state is not Ongoing:
        return
    yield 150
    lost = [batch for batch in home.batches if batch.base_offset >= before]
    if len(lost) != 2 or held.known.state is not CompleteCommit:
        return
    _truncate(home, before)
    made.cluster.move(home, home.leader, 5)
    held.known, held.last_epoch = known, -1
    made.cluster.clockwork.spawn(made.coordinator.take_over(home))
    fault.is_done = True
    witness(made, fault)


def _truncate(partition: Partition, offset: int) -> None:
    partition.keep(lambda batch: batch.base_offset < offset)
    partition.next_offset = offset
    partition.segments = [base for base in partition.segments if base <= offset]
    partition.epochs = [one for one in partition.epochs if one[1] < offset]


def lost_tail(made: Scenario, fault: Fault) -> Process:
    """An unclean election takes the end of a partition, with data and marker of a committed transaction."""
    producer = yield from begun(made)
    partition = made.cluster.partition(OWN)
    before = partition.next_offset
    yield from written(producer, OPEN_DATA, OWN)
    data_end = partition.next_offset
    if data_end == before or (yield from producer.end(True)) is not Answer.fine:
        return
    yield 500
    offset = before if made.random.random() < 0.5 else data_end
    if len([batch for batch in partition.batches if batch.base_offset >= data_end]) != 1:
        return
    _truncate(partition, offset)
    state = partition.producers[producer.producer[0]]
    state.open_since = before if offset == data_end else -1
    made.cluster.move(partition, partition.leader, 0)
    fault.is_done = True
    witness(made, fault)


def collision(made: Scenario, fault: Fault) -> Process:
    """The coordinator hands out a producer id for the second time."""
    producer = yield from begun(made)
    coordinator, following = made.coordinator, made.coordinator.next_producer_id
    coordinator.next_producer_id = producer.producer[0]
    other = Producer(Application(
        OTHER, STEADY, made.cluster, coordinator, ("journal-0",), MINUTE, producer.application.v2, made.end
    ))  # fmt: skip
    yield from other.initialise()
    coordinator.next_producer_id = max(following, coordinator.next_producer_id)
    for one, name in ((other, "journal-0"), (producer, OWN), (other, "journal-0")):
        yield from written(one, name)
        yield from one.end(True)
        yield SECOND
    fault.is_done = other.producer[0] == producer.producer[0]


def lost_batch(made: Scenario, fault: Fault) -> Process:
    """Records in the middle of a transaction were lost: the sequence jumps."""
    yield from _with_sequence(made, fault, 7)


def repeated_batch(made: Scenario, fault: Fault) -> Process:
    """A batch was appended twice under the same sequences."""
    yield from _with_sequence(made, fault, 0)


def _with_sequence(made: Scenario, fault: Fault, missing: int) -> Process:
    producer = yield from begun(made)
    yield from written(producer, OWN)
    partition = made.cluster.partition(OWN)
    last, state = partition.batches[-1], partition.producers[producer.producer[0]]
    if state.open_since < 0:
        return
    state.last_sequence += missing or -(last.next_offset - last.base_offset)
    yield from producer._ask(lambda: producer.append(OWN, missing or last.next_offset - last.base_offset))
    fault.is_done = (yield from producer.end(True)) is Answer.fine


def zombie(made: Scenario, fault: Fault) -> Process:
    """A former coordinator's marker ends data of a transaction that goes on: the leader had lost what it knew."""
    producer = yield from begun(made, v2=False)
    home, partition = made.cluster.home(VICTIM), made.cluster.partition(OWN)
    for _ in range(3):
        made.cluster.move(home, home.leader, 5)
        made.cluster.clockwork.spawn(made.coordinator.take_over(home))
        yield SECOND
    yield from written(producer, OWN)
    if (yield from producer.end(True)) is not Answer.fine:
        return
    yield SECOND
    yield from written(producer, OWN)
    is_commit = made.random.random() < 0.5
    partition.marker(producer.producer, is_commit, home.leader_epoch - 1, made.cluster.time_at(partition))
    partition.producers[producer.producer[0]].coordinator_epoch = home.leader_epoch
    yield SECOND
    fault.is_done = (yield from producer.end(True)) is Answer.fine


def impossible_rows(made: Scenario, fault: Fault) -> Process:
    """A decision without a transaction stands in the coordinator's log."""
    yield from begun(made)
    known = made.coordinator.held[VICTIM].known
    if known.state is not CompleteCommit:
        return
    fault.is_done = True
    made.coordinator.write_row(VICTIM, replace(known, state=PrepareCommit, started_at=known.started_at + 1))
    made.coordinator.write_row(VICTIM, known)


def left_open(made: Scenario, fault: Fault) -> Process:
    """An application dies in a transaction with a long timeout."""
    producer = yield from begun(made, timeout_ms=15 * MINUTE)
    yield max(made.end - made.cluster.clockwork.now - 8 * MINUTE, 0)
    yield from written(producer, OPEN_DATA, OWN)
    fault.is_done = made.coordinator.state_of(VICTIM) is Ongoing
    witness(made, fault)


LATE = 25 * MINUTE
FAULTS: dict[str, tuple[Script, frozenset[str], frozenset[str], int]] = {
    "late append": (late_append, frozenset({"hanging_transaction"}), BLOCKING, LATE),
    "half abort": (half_abort, frozenset({"atomicity_violation"}), frozenset(), 0),
    "stuck": (stuck, frozenset({"stuck_prepare"}), BLOCKING, LATE),
    "skipped marker": (
        skipped_marker, frozenset({"atomicity_violation", "hanging_transaction"}), BLOCKING, LATE
    ),
    "lost decision": (lost_decision, frozenset({"atomicity_violation"}), frozenset({"transaction_timed_out"}), 0),
    "lost tail": (lost_tail, frozenset({"atomicity_violation"}), BLOCKING | {"hanging_transaction"}, MINUTE),
    "collision": (collision, frozenset({"producer_id_collision"}), frozenset(), 0),
    "lost batch": (lost_batch, frozenset({"sequence_gap"}), frozenset(), 0),
    "repeated batch": (repeated_batch, frozenset({"duplicate_sequence"}), frozenset(), 0),
    "zombie": (zombie, frozenset({"zombie_coordinator"}), frozenset({"atomicity_violation"}), 0),
    "impossible rows": (impossible_rows, frozenset({"inconsistent_transaction_state"}), frozenset(), 0),
    "left open": (left_open, frozenset({"open_transaction"}), BLOCKING, 10 * MINUTE),
}  # fmt: skip


def inject(made: Scenario) -> Fault | None:
    """Put a fault into some clusters; it has happened only where `is_done` says so in the end."""
    random = made.random
    if made.is_long or random.random() < 0.5:
        return None
    kind = random.choice(list(FAULTS))
    script, rules, also, tail_ms = FAULTS[kind]
    fault = Fault(kind, rules, also, tail_ms=tail_ms)
    if kind == "collision":
        fault.names.add(OTHER)
    made.end += MINUTE + tail_ms
    made.cluster.clockwork.spawn(script(made, fault))
    return fault
