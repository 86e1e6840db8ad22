"""Applications with a transactional.id: they commit, abort, stop, crash, freeze, give up late, and start twice.

A producer is a process; what it asks takes a network's time there and back. What it does about a refusal is what the
Java client does: CONCURRENT_TRANSACTIONS and NOT_COORDINATOR are asked again after its backoff, the rest ends its life.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from enum import StrEnum

from tests.simulated.clockwork import Process
from tests.simulated.cluster import Partition, SimulatedCluster
from tests.simulated.coordinator import RETRIED, Answer, Coordinator

SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000
Asked = Generator[int, None, Answer]
PATIENCE_MS = 120_000
"""delivery.timeout.ms: what waits longer is given up."""


class Deed(StrEnum):
    """What an application does with a transaction, or between two."""

    commit = "commit"
    abort = "abort"
    abort_nothing = "abort_nothing"
    restart = "restart"
    crash = "crash"
    freeze = "freeze"
    give_up = "give_up"
    own_bump = "own_bump"
    give_up_and_leave = "give_up_and_leave"
    twin = "twin"
    long = "long"
    sleep = "sleep"


@dataclass(frozen=True, slots=True)
class Habit:
    """How an application lives: its deeds by weight, and what it waits between them."""

    name: str
    weights: dict[Deed, int]
    pause: tuple[int, int] = (20, 3 * SECOND)
    is_healthy: bool = False


STEADY = Habit("steady", {Deed.commit: 20}, is_healthy=True)
ABORTING = Habit("aborting", {Deed.commit: 8, Deed.abort: 3, Deed.abort_nothing: 1}, is_healthy=True)
RESTARTING = Habit("restarting", {Deed.commit: 6, Deed.restart: 2}, is_healthy=True)
BUMPING = Habit("bumping", {Deed.commit: 6, Deed.own_bump: 2}, is_healthy=True)
CRASHING = Habit("crashing", {Deed.commit: 5, Deed.crash: 2})
FREEZING = Habit("freezing", {Deed.commit: 5, Deed.freeze: 2}, (20, 20 * SECOND))
GIVING_UP = Habit("giving up", {Deed.commit: 5, Deed.give_up: 2}, (20, 20 * SECOND))
LEAVING = Habit("leaving", {Deed.commit: 5, Deed.give_up_and_leave: 1, Deed.restart: 1, Deed.abort: 1})
SLOW = Habit("slow", {Deed.long: 6, Deed.commit: 2, Deed.restart: 1}, is_healthy=True)
TWINS = Habit("twins", {Deed.commit: 4, Deed.twin: 2})
SLEEPING = Habit("sleeping", {Deed.commit: 3, Deed.sleep: 1})
HABITS = (STEADY, ABORTING, RESTARTING, BUMPING, SLOW, CRASHING, FREEZING, GIVING_UP, LEAVING, TWINS)


@dataclass(slots=True)
class Application:
    """Whoever uses a transactional.id: one producer after the other, or two at once."""

    name: str
    habit: Habit
    cluster: SimulatedCluster
    coordinator: Coordinator
    partitions: tuple[str, ...]
    timeout_ms: int
    v2: bool
    until: int
    backoff_ms: int = 100
    ahead: int = 0
    pace: int = 1
    is_stopped: bool = False
    lives: int = 0

    def run(self) -> Process:
        """Live one life after the other, until the end."""
        while not self.is_over():
            self.lives += 1
            pause = yield from Producer(self).live()
            if pause is None:
                return
            yield pause

    def is_over(self) -> bool:
        return self.is_stopped or self.cluster.clockwork.now >= self.until

    def waits(self) -> int:
        """What a client waits before it asks again: 20 % more or less than retry.backoff.ms."""
        return int(self.backoff_ms * self.cluster.random.uniform(0.8, 1.2))


@dataclass(slots=True)
class Producer:
    """One life of a client. `live` ends with the pause before the next one, None where there is none."""

    application: Application
    producer: tuple[int, int] = (-1, -1)
    added: set[str] = field(default_factory=set)

    def live(self) -> Generator[int, None, int | None]:
        app, random = self.application, self.application.cluster.random
        if (yield from self.initialise()) is not Answer.fine:
            return random.randint(SECOND, 30 * SECOND)
        deeds = [deed for deed in app.habit.weights if app.v2 or deed is not Deed.abort_nothing]
        deeds = [deed for deed in deeds if not (app.v2 and deed is Deed.own_bump)]
        while not app.is_over():
            (deed,) = random.choices(deeds, [app.habit.weights[deed] for deed in deeds])
            how: Callable[[], Generator[int, None, int | None]] = getattr(self, f"do_{deed}")
            ended = yield from how()
            if ended != 0:
                return ended
            yield random.randint(*app.habit.pause) * app.pace
        return None

    # Deeds: each returns 0 where the life goes on, else the pause before the next life.

    def do_commit(self) -> Generator[int, None, int | None]:
        return (yield from self._whole(True))

    def do_abort(self) -> Generator[int, None, int | None]:
        return (yield from self._whole(False))

    def do_abort_nothing(self) -> Generator[int, None, int | None]:
        """An abort before anything reached a broker has rows of its own under transactions v2."""
        return 0 if (yield from self.end(False)) is Answer.fine else self._soon()

    def do_restart(self) -> Generator[int, None, int | None]:
        """Close and start again."""
        yield 1
        return self.application.cluster.random.choice([3, 200, 3 * SECOND, MINUTE])

    def do_sleep(self) -> Generator[int, None, int | None]:
        """Be away for longer than the coordinator remembers."""
        yield self.application.cluster.random.choice([2 * DAY, 8 * DAY, 9 * DAY])
        return 0

    def do_crash(self) -> Generator[int, None, int | None]:
        """Die in a transaction; somebody starts it again, soon or late."""
        yield from self.write_all()
        return self.application.cluster.random.choice([300, 4 * SECOND, 20 * SECOND, 3 * MINUTE])

    def do_freeze(self) -> Generator[int, None, int | None]:
        """Stand still beyond the timeout, in a transaction, and go on as if nothing had been."""
        app = self.application
        if (yield from self.write_all()) is not Answer.fine:
            return self._soon()
        yield app.timeout_ms + app.cluster.random.choice([11 * SECOND, 15 * SECOND, 45 * SECOND])
        if (yield from self.end(True)) is Answer.fine:
            return 0
        return self._soon()

    def do_give_up(self) -> Generator[int, None, int | None]:
        """Wait until the timeout is just over and abort by oneself, as after a send() that blocked."""
        app = self.application
        if (yield from self.write_all()) is not Answer.fine:
            return self._soon()
        yield app.timeout_ms + app.cluster.random.choice([100, SECOND, 4 * SECOND])
        return 0 if (yield from self.end(False)) is Answer.fine else self._soon()

    def do_give_up_and_leave(self) -> Generator[int, None, int | None]:
        """The same, and the application ends; another one starts, soon or late."""
        yield from self.do_give_up()
        return self.application.cluster.random.choice([5, 400, 3 * SECOND, 15 * SECOND])

    def do_long(self) -> Generator[int, None, int | None]:
        """A transaction that takes most of its timeout; it may see another coordinator come."""
        app, random = self.application, self.application.cluster.random
        if (yield from self.write_all()) is not Answer.fine:
            return self._soon()
        yield random.randint(app.timeout_ms // 10, app.timeout_ms * 8 // 10)
        if (yield from self.write_all()) is not Answer.fine:
            return self._soon()
        return 0 if (yield from self.end(random.random() < 0.7)) is Answer.fine else self._soon()

    def do_own_bump(self) -> Generator[int, None, int | None]:
        """Abort after an error and ask for the next epoch by oneself (KIP-360)."""
        if (yield from self._whole(False)) != 0:
            return self._soon()
        yield self.application.cluster.random.randint(1, 30)
        return 0 if (yield from self.initialise(self.producer)) is Answer.fine else self._soon()

    def do_twin(self) -> Generator[int, None, int | None]:
        """Somebody starts a second one while this one is in a transaction; this one goes on, and dies of it."""
        app, random = self.application, self.application.cluster.random
        if (yield from self.write_all()) is not Answer.fine:
            return self._soon()
        app.cluster.clockwork.spawn(app.run(), random.randint(0, 500))
        yield random.randint(700, 4 * SECOND)
        if (yield from self.write_all()) is Answer.fine:
            yield from self.end(True)
        return None

    # Calls.

    def initialise(self, expected: tuple[int, int] | None = None) -> Asked:
        app = self.application
        while True:
            yield app.cluster.random.randint(1, 4)
            answer, producer = app.coordinator.init(app.name, app.timeout_ms, app.v2, expected)
            if answer not in RETRIED or app.is_over():
                break
            yield app.waits()
        if answer is Answer.fine:
            self.producer, self.added = producer, set()
        yield app.cluster.random.randint(1, 4)
        return answer

    def write_all(self) -> Asked:
        """Write to some partitions of the application; the first refusal ends it."""
        app, random = self.application, self.application.cluster.random
        chosen = random.sample(app.partitions, random.randint(1, len(app.partitions)))
        for name in chosen:
            answer = yield from self.write(name)
            if answer is not Answer.fine:
                return answer
            yield random.choice([0, 5, 40, 300])
        return Answer.fine

    def write(self, name: str, batches: int | None = None) -> Asked:
        """Write batches to a partition, which is added first; sometimes it gets none (the client is of transactions v2:
        then it is not added either).
        """
        app, random = self.application, self.application.cluster.random
        if not app.v2 and name not in self.added:
            answer = yield from self._ask(lambda: app.coordinator.add(app.name, self.producer, [name], False))
            if answer is not Answer.fine:
                return answer
            self.added.add(name)
        for _ in range(random.choice([0, 1, 1, 1, 2, 3]) if batches is None else batches):
            answer = yield from self._ask(lambda: self.append(name, random.randint(1, 4)))
            if answer is not Answer.fine:
                return answer
        return Answer.fine

    def append(self, name: str, records: int) -> Answer:
        """Have a leader append a batch, as UnifiedLog and ProducerAppendInfo let it."""
        app = self.application
        partition = app.cluster.partition(name)
        if not app.cluster.is_served(partition):
            return Answer.away
        known = partition.producers.get(self.producer[0])
        if known is not None and known.epoch > self.producer[1]:
            return Answer.old_epoch
        if app.v2:
            answer = app.coordinator.add(app.name, self.producer, [name], True)
        elif app.cluster.release.verifies and (known is None or known.open_since < 0):
            answer = app.coordinator.verify(app.name, self.producer, name)
        else:
            answer = Answer.fine
        if answer is Answer.fine:
            self._append(partition, records)
        return answer

    def _append(self, partition: Partition, records: int) -> None:
        app = self.application
        at = app.cluster.clockwork.now + app.ahead - app.cluster.random.choice([0, 1, 3, 30])
        if partition.broker_time:
            at = app.cluster.time_at(partition)
        partition.data(self.producer, [at] * records, broker_time=partition.broker_time)

    def end(self, is_commit: bool) -> Asked:
        """commitTransaction or abortTransaction."""
        app = self.application
        while True:
            yield app.cluster.random.randint(1, 5)
            answer, producer = app.coordinator.end(app.name, self.producer, is_commit, app.v2)
            if answer not in RETRIED or app.cluster.clockwork.now > app.until + PATIENCE_MS:
                break
            yield app.waits()
        if answer is Answer.fine:
            self.producer, self.added = producer, set()
        yield app.cluster.random.randint(1, 4)
        return answer

    def _whole(self, is_commit: bool) -> Generator[int, None, int | None]:
        answer = yield from self.write_all()
        if answer is Answer.fine:
            yield self.application.cluster.random.choice([0, 10, 400, 2 * SECOND])
            answer = yield from self.end(is_commit)
        elif answer is Answer.not_in_transaction:
            answer = yield from self.end(False)
        return 0 if answer is Answer.fine else self._soon()

    def _ask(self, request: Callable[[], Answer]) -> Asked:
        app = self.application
        given_up = app.cluster.clockwork.now + PATIENCE_MS
        while True:
            yield app.cluster.random.randint(1, 4)
            answer = request()
            if answer not in RETRIED or app.cluster.clockwork.now > given_up:
                return answer
            yield 20 if answer is Answer.concurrent else app.waits()

    def _soon(self) -> int:
        """When an application that died is started again."""
        return self.application.cluster.random.choice([500, 5 * SECOND, 30 * SECOND])
