"""What remedies say: a setting to change, to what and why, as phrases over the proposal.

The numbers are made in `remedies.py`; a phrase reads the settings in force, their names in the framework's terms and
what must change too from whom it is for.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import partial

from kafkatx.histories.logs.settings import Effective
from kafkatx.terms.records import dataclass
from kafkatx.words.config_context import ConfigContext, Looks, changes_too
from kafkatx.words.explanation import Bound, MeasureWords, Phrase, RemedyWords, remedy
from kafkatx.words.template import pick, render
from kafkatx.words.values import Duration

MAX_TIMEOUT, STATE_FACTOR = "transaction.max.timeout.ms", "transaction.state.log.replication.factor"
LARGEST_INT = 2_147_483_647
"""transactional.id.expiration.ms and others are ints: 24.8 days."""
WEEK = 604_800_000
Remedies = tuple[Bound[RemedyWords], ...]
"""What to do, with the facts that it is said over; `included` says it."""
Measured = Bound[MeasureWords]
"""What a number was made from: a `measure` of the rule, often over `Lasted`."""


class Longer(Enum):
    """Why a transaction needs more time."""

    work = "its work may need it"
    outage = "a broker was away"
    retries = "sends are repeated for so long"
    interval = "the commit interval is longer"
    checkpoints = "a checkpoint ends it"
    late_call = "the application called commitTransaction so late"


class Margin(Enum):
    """What decided how long a timeout must be."""

    half = "1.5 times that"
    requests = "that and two request timeouts"
    outage = "twice the outage"
    retries = "retries take delivery.timeout.ms + request.timeout.ms"


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
    def framework(self) -> Looks | None:
        """The framework, where it has a name of its own for the setting."""
        return self.whom.renamed_by(self.name)

    @property
    def now(self) -> Effective:
        """Its value now."""
        return self.whom.now(self.name)

    @property
    def becomes(self) -> Duration | None:
        """The proposal as a time."""
        return None if self.proposed is None else Duration(self.proposed)

    @property
    def changes(self) -> Mapping[str, int]:
        """All settings that are proposed together."""
        return {} if self.proposed is None else {self.name: self.proposed}

    @property
    def too(self) -> str | None:
        """What else must change then."""
        return changes_too(self.whom, self.changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class LongerTimeout(Proposal):
    """A longer transaction.timeout.ms; `limit` is what brokers must allow for it, `held_to` what cut it short."""

    why: Longer
    margin: Margin
    outage: Duration | None
    limit: int | None
    held_to: Effective | None

    @property
    def becomes(self) -> Duration | None:
        """The proposal as a time, None where the brokers' limit decided it."""
        return None if self.held_to is not None else Duration(self.proposed or 0)

    @property
    def changes(self) -> Mapping[str, int]:
        """The timeout, and the brokers' limit as far as it must be raised."""
        limit = {} if self.limit is None else {MAX_TIMEOUT: self.limit}
        return {self.name: self.proposed or 0, **limit}


@dataclass(frozen=True, slots=True, kw_only=True)
class HigherLimit(Proposal):
    """A higher transaction.max.timeout.ms for the timeout asked for; `source` is None where that is a proposal."""

    asked: Duration

    @property
    def becomes(self) -> Duration | None:
        """The proposal as a time, None where it is what was asked for."""
        return None if self.proposed == self.asked else Duration(self.proposed or 0)


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
    """A proposal for who has this timeout."""

    timeout: Duration


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitInterval(Proposal):
    """How often to commit: by a setting, or (`is_set` false) by the application's own counting."""

    is_set: bool
    current: int | None
    timeout: Duration | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicas(Proposal):
    """A setting for the replicas of the coordinator's log, for so many brokers."""

    brokers: int


COST_OF_TIMEOUT = "if the producer dies, read_committed readers of its partitions wait that long"
KEEP_IDS = (
    "Raise transactional.id.expiration.ms above the idle time of ids, or create a new producer before its id expires"
)
HEARTBEAT = (
    "Create a new producer before its id expires, or run a transaction now and then: no expiration can be so long"
)
ON_CREATION = "the broker setting counts only when the topic is created"
FOR_WHOM = "[ ({framework})]"
TOO = "[. {too}]"
ROUNDED = "[, rounded up to {becomes}]"
of_client = partial(
    remedy, where="client", config="{called}", current="{now:plain}", proposed="{proposed}", restart_needed=True
)
of_brokers = partial(
    remedy, where="broker", config="{name}", current="{now:plain}", proposed="{proposed}", restart_needed=True
)
LONGER_TIMEOUT = Phrase(
    LongerTimeout,
    of_client(
        text=(
            pick(
                "why",
                {
                    Longer.work: "Find out what held the producer up. If its work needs that long, commit more often "
                    "or raise the timeout",
                    Longer.late_call: "Find out in the application's log of that time what it did before it called "
                    "commitTransaction. Do it before beginTransaction, or raise the timeout above it",
                    Longer.outage: "Raise the transaction timeout above such an outage[ ({outage})]",
                    Longer.retries: "Raise the transaction timeout above the time that retries may take",
                    Longer.interval: "Or raise the transaction timeout above the commit interval",
                    Longer.checkpoints: "Raise the transaction timeout above checkpoint interval + longest "
                    "checkpoint + longest restart, all together, but not above the brokers' "
                    "transaction.max.timeout.ms",
                },
            ),
            FOR_WHOM + TOO,
        ),
        derived_from=(
            "{measured}; ",
            pick("margin", {Margin.outage: "twice the outage of {outage}"}, "{margin.value}"),
            ROUNDED + "[; brokers allow no more than {held_to}]",
        ),
        cost=COST_OF_TIMEOUT,
    ),
)
COMMIT_OFTEN = Phrase(
    BesideTimeout,
    remedy(
        text="Find out what held the producer up. Commit more often: its timeout is long enough",
        where="application",
        config="{called}",
        current="{timeout:ms}",
        derived_from="{measured}",
    ),
)
HIGHER_LIMIT = Phrase(
    HigherLimit,
    of_brokers(
        text=pick(
            "measured",
            {None: "Before that, raise the brokers' limit: they refuse such a timeout"},
            "Or raise the brokers' limit, if transactions really take that long",
        ),
        derived_from=(pick("measured", {None: "the timeout proposed, {asked}"}, "{measured}"), ROUNDED),
        cost=f"{COST_OF_TIMEOUT}; brokers report a transaction as late only 5 min after that",
    ),
)
LONGER_DELIVERY = Phrase(
    Proposal,
    of_client(
        text="Raise {called}: sends are then repeated for longer than such an outage" + FOR_WHOM + TOO,
        derived_from="{measured}; plus request.timeout.ms and linger.ms" + ROUNDED,
        cost="a send that can't succeed fails that much later",
    ),
)
LONGER_BLOCK = Phrase(
    Proposal,
    of_client(
        text="Raise {called}: commitTransaction and initTransactions then wait until the coordinator is back"
        + FOR_WHOM
        + TOO,
        derived_from="{measured}; 1.5 times that" + ROUNDED,
        cost="the calling thread blocks that long",
    ),
)
KEPT_IDS = Phrase(
    KeptIds,
    remedy(
        text=pick("proposed", {None: HEARTBEAT}, KEEP_IDS),
        where="broker",
        config="{name}",
        current=pick("is_assumed", {True: "{now:plain}"}),
        proposed="{proposed}",
        derived_from=(
            "{measured}",
            pick(
                "proposed",
                {
                    WEEK: "; rounded up to {becomes}, the default",
                    LARGEST_INT: "; {becomes} is the most that can be set",
                },
                "[; rounded up to {becomes}]",
            ),
        ),
        cost="the coordinator keeps more ids in memory; if one-shot ids are many, run a heartbeat transaction instead",
        restart_needed=True,
    ),
)
KEPT_PRODUCERS = Phrase(
    Proposal,
    of_brokers(
        text="Raise {name}: partitions then remember an idle producer for longer" + TOO,
        derived_from="{measured}" + ROUNDED,
        cost="brokers keep more producer ids in memory",
        restart_needed=False,
    ),
)
SOONER_CLEANUP = Phrase(
    Proposal,
    of_brokers(
        text="Let the coordinator look for timed out transactions more often",
        derived_from="{measured}; a third of the shortest, at least 1 s",
        cost="a little more work for the coordinator",
    ),
)
LONGER_POLL = Phrase(
    Proposal,
    of_client(
        text="Allow as much time between two polls as the work takes" + FOR_WHOM,
        derived_from="{measured}; 1.5 times that" + ROUNDED,
        cost="the group notices a consumer that hangs that much later",
    ),
)
FEWER_RECORDS = Phrase(
    FewerRecords,
    of_client(
        text="Or take fewer records a poll" + FOR_WHOM,
        derived_from="{measured} for {records} records; what fits 1.5 times into max.poll.interval.ms={interval}",
        cost="more and smaller transactions",
    ),
)
COMMIT_MORE_OFTEN = Phrase(
    CommitInterval,
    remedy(
        text="Commit more often" + FOR_WHOM,
        where="application",
        config=pick("is_set", {True: "{called}"}),
        current="{current}",
        proposed=pick("is_set", {True: "{proposed}"}, "a commit every {becomes}"),
        derived_from="{measured}; a third of transaction.timeout.ms ({timeout})",
        cost="more transactions, more markers; read_committed readers get data sooner",
        restart_needed=True,
    ),
)
LARGER_TRANSACTIONS = Phrase(
    CommitInterval,
    remedy(
        text="Make fewer and larger transactions until writing the markers takes less than a tenth of the interval"
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
        text=pick(
            "name",
            {STATE_FACTOR: f"Reassign __transaction_state to {{proposed}} replicas; {ON_CREATION}"},
            f"Set min.insync.replicas of __transaction_state to {{proposed}}; {ON_CREATION}",
        ),
        derived_from="{measured}; {brokers} brokers",
        cost=pick(
            "name", {STATE_FACTOR: "copying the partitions"}, "with one replica left no transaction begins or ends"
        ),
    ),
)
