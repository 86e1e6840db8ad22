"""What remedies say: a setting to change, to what and why, as phrases over the proposal.

The numbers are made in `remedies.py`; a phrase reads the settings in force, their names in the framework's terms and
the order that they are left in from whom it is for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from kafkatx.histories.logs.settings import Effective
from kafkatx.terms.times import duration
from kafkatx.words.config_context import ConfigContext, Order
from kafkatx.words.explanation import Bound, MeasureWords, Phrase, RemedyWords, remedy
from kafkatx.words.template import pick, render
from kafkatx.words.values import Duration

MAX_TIMEOUT, STATE_FACTOR = "transaction.max.timeout.ms", "transaction.state.log.replication.factor"
LARGEST_INT = 2_147_483_647
"""transactional.id.expiration.ms and others are ints: 24.8 days."""
Remedies = tuple[Bound[RemedyWords], ...]
"""What to do, with the facts that it is said over; `included` says it."""
Measured = Bound[MeasureWords]
"""What a number was made from: a `measure` of the rule, often over `Lasted`."""


@dataclass(frozen=True, slots=True)
class Lasted:
    """How long something took."""

    time: Duration


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A setting (by Kafka's name) that somebody should have, and what it was measured from."""

    whom: ConfigContext
    name: str
    source: Measured | None
    proposed: int | None = None

    @property
    def measured(self) -> str | None:
        """What it was measured from, in words."""
        return None if self.source is None else render(self.source.words.text, self.source.facts)

    @property
    def called(self) -> str:
        """The setting in the terms of its framework."""
        return self.whom.called(self.name)

    @property
    def now(self) -> Effective:
        """Its value now."""
        return self.whom.now(self.name)

    @property
    def order(self) -> Order:
        """The order of settings that the proposal leaves."""
        return Order(self.whom, {} if self.proposed is None else {self.name: self.proposed})


@dataclass(frozen=True, slots=True, kw_only=True)
class LongerTimeout(Proposal):
    """A longer transaction.timeout.ms; `limit` is what brokers must allow for it, `held_to` what cut it short."""

    outage: Duration | None
    limit: int | None
    held_to: Effective | None

    @property
    def order(self) -> Order:
        """The order, with the brokers' limit raised as far as it must be."""
        limit = {} if self.limit is None else {MAX_TIMEOUT: self.limit}
        return Order(self.whom, {self.name: self.proposed or 0, **limit})


@dataclass(frozen=True, slots=True, kw_only=True)
class HigherLimit(Proposal):
    """A higher transaction.max.timeout.ms for the timeout asked for; `source` is None where that is a proposal."""

    asked: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptIds(Proposal):
    """A longer transactional.id.expiration.ms, if there is one; `is_assumed`: the default may be taken for set."""

    is_assumed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FewerRecords(Proposal):
    """Fewer records a poll than the `records` of the longest one, for the interval that there is."""

    records: int
    interval: Effective


@dataclass(frozen=True, slots=True, kw_only=True)
class BesideTimeout(Proposal):
    """A proposal for who has this timeout, in milliseconds."""

    timeout: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitInterval(Proposal):
    """How often to commit: by a setting, or (`is_set` false) by the application's own counting."""

    is_set: bool
    current: int | None
    timeout: int | None

    @property
    def seconds(self) -> float:
        """The proposal in seconds."""
        return (self.proposed or 0) / 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicas(Proposal):
    """A setting for the replicas of the coordinator's log, for so many brokers."""

    brokers: int


COST_OF_TIMEOUT = "read_committed readers of its partitions may wait that long for a producer that died"
KEEP_IDS = (
    "let the expiration be longer than the longest idle time of an id that is used again, or make the producer anew "
    "before that time"
)
HEARTBEAT = (
    "make the producer anew before its id expires, or let it run a transaction now and then: no expiration can be set "
    "that covers such an idle time"
)
FOR_WHOM = "[ (it {whom.looks})]"
THE_RULE = "1.5 times that or two request timeouts more"
of_client = partial(
    remedy, where="client", config="{called}", current="{now}", proposed="{proposed}", restart_needed=True
)
of_brokers = partial(
    remedy, where="broker", config="{name}", current="{now}", proposed="{proposed}", restart_needed=True
)
LONGER_TIMEOUT = Phrase(
    LongerTimeout,
    of_client(
        text="find out what held the producer up; if the work really takes that long, raise the timeout, or commit "
        "more often" + FOR_WHOM,
        derived_from=(
            "{measured}[; outage {outage}]; ",
            pick("outage", {None: THE_RULE}, f"{THE_RULE}, twice the outage, delivery.timeout.ms + request.timeout.ms"),
            ", up to the next half minute[, held to transaction.max.timeout.ms {held_to}]; {order}",
        ),
        cost=COST_OF_TIMEOUT,
    ),
)
COMMIT_OFTEN = Phrase(
    BesideTimeout,
    remedy(
        text="find out what held the producer up, and commit more often: its timeout is long enough" + FOR_WHOM,
        where="application",
        config="{called}",
        current="{timeout}",
        derived_from="{measured}; {order}",
    ),
)
HIGHER_LIMIT = Phrase(
    HigherLimit,
    of_brokers(
        text="before that, let brokers accept such a timeout",
        derived_from=(
            pick("measured", {None: "the timeout proposed, {asked}"}, "{measured}"),
            ", up to the next minute",
        ),
        cost=f"{COST_OF_TIMEOUT}; brokers count a transaction as late only 5 min after that",
    ),
)
LONGER_DELIVERY = Phrase(
    Proposal,
    of_client(
        text="let sends outlast the outage" + FOR_WHOM,
        derived_from="{measured}; outage + request.timeout.ms + linger.ms, up to the next half minute; {order}",
        cost="a send that can't succeed is told that much later",
    ),
)
LONGER_BLOCK = Phrase(
    Proposal,
    of_client(
        text="let commit and init wait until the coordinator is back" + FOR_WHOM,
        derived_from="{measured}; 1.5 times that, up to the next half minute; {order}",
        cost="the calling thread blocks that long",
    ),
)
KEPT_IDS = Phrase(
    KeptIds,
    remedy(
        text=pick("proposed", {None: HEARTBEAT}, KEEP_IDS),
        where="broker",
        config="{name}",
        current=pick("is_assumed", {True: "{now}"}),
        proposed="{proposed}",
        derived_from=f"{{measured}}; whole weeks above that, at most {LARGEST_INT} ({duration(LARGEST_INT)}); the "
        "default is 7 days",
        cost="the coordinator keeps more ids in memory; where one-shot ids are many, make a heartbeat transaction "
        "instead",
        restart_needed=True,
    ),
)
KEPT_PRODUCERS = Phrase(
    Proposal,
    of_brokers(
        text="let partitions remember an idle producer longer than its longest silence",
        derived_from="{measured}; twice that, up to the next hour; {order}",
        cost="brokers keep more producer ids in memory",
        restart_needed=False,
    ),
)
SOONER_CLEANUP = Phrase(
    BesideTimeout,
    of_brokers(
        text="let the coordinator look for timed out transactions more often",
        derived_from="{measured}; a third of the shortest timeout in use ({timeout} ms), at least a second",
        cost="work of the coordinator's scheduler",
    ),
)
LONGER_POLL = Phrase(
    Proposal,
    of_client(
        text="allow as much time between two polls as the work takes" + FOR_WHOM,
        derived_from="{measured}; 1.5 times that, up to the next ten seconds",
        cost="the group notices a consumer that hangs that much later",
    ),
)
FEWER_RECORDS = Phrase(
    FewerRecords,
    of_client(
        text="or take fewer records a poll",
        derived_from="{measured} for {records} records; what fits 1.5 times into max.poll.interval.ms {interval}",
        cost="more and smaller transactions",
    ),
)
COMMIT_MORE_OFTEN = Phrase(
    CommitInterval,
    remedy(
        text="commit more often" + FOR_WHOM,
        where="application",
        config=pick("is_set", {True: "{called}"}),
        current="{current}",
        proposed=pick("is_set", {True: "{proposed}"}, "every n records: n = records a second x {seconds:g}"),
        derived_from="{measured}; a third of transaction.timeout.ms {timeout}",
        cost="more transactions, more markers; read_committed readers get data sooner",
        restart_needed=True,
    ),
)
LARGER_TRANSACTIONS = Phrase(
    CommitInterval,
    remedy(
        text="make fewer and larger transactions until writing the markers takes less than a tenth of the interval"
        + FOR_WHOM,
        where="application",
        config=pick("is_set", {True: "{called}"}),
        current="{current}",
        proposed="{proposed}",
        derived_from="{measured}",
        cost="read_committed readers get data that much later",
        restart_needed=True,
    ),
)
REPLICATION = Phrase(
    Replicas,
    of_brokers(
        text="keep __transaction_state through the loss of one broker",
        derived_from="{measured}; {brokers} brokers",
        cost=pick(
            "name",
            {
                STATE_FACTOR: "the setting counts when the topic is created: an existing one needs a reassignment of "
                "its partitions"
            },
            "with two of three replicas gone no transaction begins or ends",
        ),
    ),
)
