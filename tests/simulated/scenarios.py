"""A cluster for each number: who lives in it, which brokers fail, and for how long it is watched."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tests.rules.cluster import START
from tests.simulated.clockwork import Clockwork, Process
from tests.simulated.cluster import RELEASES, Broker, Release, SimulatedCluster
from tests.simulated.coordinator import Coordinator
from tests.simulated.producers import (
    DAY,
    HABITS,
    HOUR,
    MINUTE,
    SECOND,
    SLEEPING,
    STEADY,
    Application,
    Habit,
)
from tests.simulated.truth import Truth

PARTITIONS = ("orders-0", "orders-1", "payments-0", "ledger-0")
NAMES = ("billing-1", "checkout-7", "importer-eu", "settle-3", "stock-0")
LONG_SHARE = 0.06


@dataclass(slots=True)
class Scenario:
    """A cluster that has lived: `end` is the true time at which it is left."""

    seed: int
    random: Random
    cluster: SimulatedCluster
    coordinator: Coordinator
    truth: Truth
    applications: list[Application]
    end: int
    is_long: bool = False

    @property
    def release(self) -> Release:
        return self.cluster.release


def prepared(seed: int) -> Scenario:
    """Return the cluster of a number before anything happened in it."""
    random = Random(seed)
    clockwork, release, truth = Clockwork(START), random.choice(RELEASES), Truth()
    cluster = SimulatedCluster(random, clockwork, release, random.choice([1, 1, 3, 5]))
    set_clocks(cluster)
    coordinator = Coordinator(cluster, truth, next_producer_id=random.choice([0, 4_000, 71_000]))
    is_long = random.random() < LONG_SHARE
    lasting = random.choice([12 * DAY, 20 * DAY]) if is_long else random.choice([MINUTE, 3 * MINUTE, 5 * MINUTE])
    made = Scenario(seed, random, cluster, coordinator, truth, [], START + lasting, is_long)
    for name in PARTITIONS:
        cluster.partition(name)
    populate(made)
    for _ in range(random.choice([0, 0, 1, 2, 5])):
        clockwork.spawn(fail_over(made), random.randrange(lasting))
    clockwork.spawn(roll(made))
    clockwork.spawn(coordinator.expire())
    made.end += random.choice([0, 500, 20 * SECOND, 3 * MINUTE])
    return made


def set_clocks(cluster: SimulatedCluster) -> None:
    """Let brokers' clocks differ: mostly by what NTP leaves, sometimes by far."""
    random, kind = cluster.random, cluster.random.random()
    for broker in cluster.brokers.values():
        broker.ahead = random.randint(-200, 200)
        if kind < 0.15:
            broker.ahead = random.choice([0, 0, 90 * SECOND])
        elif kind < 0.25:
            broker.ahead = random.randint(-3 * SECOND, 3 * SECOND)


def populate(made: Scenario) -> None:
    """Start applications, each in its way, and one that only keeps all partitions alive."""
    random = made.random
    names = random.sample(NAMES, random.randint(1, 4))
    habits = [random.choice((SLEEPING, STEADY) if made.is_long else HABITS) for _ in names]
    for name, habit in zip(names, habits, strict=True):
        partitions = tuple(random.sample(PARTITIONS, random.randint(1, 3)))
        until = made.end - random.choice([0, 0, 5 * SECOND, 20 * SECOND])
        start(made, name, habit, partitions, until, random.randint(0, 20 * SECOND))
    beats = Habit("beat", STEADY.weights, (10 * SECOND, 20 * SECOND), is_healthy=True)
    start(made, "beat-1", beats, PARTITIONS, made.end + HOUR, 0)


def start(made: Scenario, name: str, habit: Habit, partitions: tuple[str, ...], until: int, after: int) -> Application:
    """Start an application."""
    random, release = made.random, made.release
    app = Application(
        name,
        habit,
        made.cluster,
        made.coordinator,
        partitions,
        timeout_ms=random.choice([10 * SECOND, 20 * SECOND, 60 * SECOND]),
        v2=release.v2 and random.random() < 0.85,
        until=until,
        backoff_ms=random.choice([100, 100, 100, 500]),
        ahead=random.choice([0, 0, -40, 300, -4 * SECOND]),
        pace=20_000 if made.is_long else 1,
    )
    made.applications.append(app)
    made.cluster.clockwork.spawn(app.run(), after)
    return app


def fail_over(made: Scenario) -> Process:
    """Stop a broker: others lead its partitions, load what they must, and it comes back as a follower."""
    cluster, random = made.cluster, made.random
    broker = random.choice(list(cluster.brokers.values()))
    for partition in cluster.partitions.values():
        others = [one.number for one in cluster.brokers.values() if may_lead(cluster, broker, one)]
        if partition.leader == broker.number and others:
            cluster.move(partition, random.choice(others), random.choice([5, 200, 3 * SECOND]))
            cluster.clockwork.spawn(made.coordinator.take_over(partition))
    yield 0


def may_lead(cluster: SimulatedCluster, former: Broker, one: Broker) -> bool:
    """Whether time may go back so far: before 4.0 a coordinator refused a transaction that begins before the last.

    TransactionMetadata.completeTransitionTo (Ongoing: txnStartTimestamp > transitMetadata.txnStartTimestamp).
    """
    is_later = one.ahead > former.ahead - SECOND
    return one.number != former.number and (cluster.release.rows > 0 or is_later)


def roll(made: Scenario) -> Process:
    """Begin segments now and then."""
    span = made.end - made.cluster.clockwork.now
    while True:
        yield made.random.randint(span // 10, span // 2)
        made.random.choice(list(made.cluster.partitions.values())).roll()
