"""A broker could not be reached for a while: its host, its process or the network to it was gone.

Mechanism    Who talks to a broker (clients, its followers, the controller, the coordinator that sends markers) loses
             the connection or gets no answer within request.timeout.ms, and tries again until it is back. What needed
             that broker waits meanwhile: writes with acks=all, markers, commits; transactions run into their timeout.
Evidence     failed connections and unanswered requests of one observer against one broker without an answer in between;
             the same from a second observer; the broker's own log silent, recovering after a hard stop, or shut down.
             A leader's REQUEST_TIMED_OUT or NOT_ENOUGH_REPLICAS: its followers did not answer.
Against      an orderly shutdown of that broker; a single lost connection without failures behind it (idle connections
             are closed after connections.max.idle.ms).
Look-alikes  the observer's own network or a pause of its own (it loses every broker at once); a leader that waits for
             its followers (the client's request to it times out, though it is there); a network partition (brokers that
             both go on lose each other); brokers that meet each other at their start; a leader that could not ask the
             coordinator (KIP-890: NOT_ENOUGH_REPLICAS with Unable to verify, at once).
Remedy       find out what took the broker or its network away; let the timeouts outlast what was measured
             (delivery.timeout.ms, max.block.ms, transaction.timeout.ms), and keep enough replicas without it.
Source       NetworkClient, ReplicaFetcher, BrokerLifecycleManager, DelayedProduce (REQUEST_TIMED_OUT), 0.11 to 4.4.
"""

from __future__ import annotations

from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.broker_outages import outages
from kafkatx.histories.logs.observers import Weight
from kafkatx.histories.logs.own_logs import OwnLog
from kafkatx.rules.outages.incidents import Incident, incidents, severity_of, verdict_of
from kafkatx.rules.outages.named import NAMED_WORDS, by_the_error
from kafkatx.rules.outages.shown import COORDINATOR_WORDS, SHOWN_WORDS, at_the_end
from kafkatx.rules.outages.sights import Away, Brokers, Sighting, Watcher, away_of, missed_brokers, sighting
from kafkatx.rules.settings.effects import Effect, Failed, TimedOut, WaitedInVain, effects
from kafkatx.terms.events import Side
from kafkatx.terms.verdicts import Verdict
from kafkatx.words.explanation import Words, actor, left_open, remedy, ruled_out, step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Duration, Instant, JoinedValues, NameList, Refs, facts

OFTEN = 3
"""More outages of the same brokers than this are one finding."""
MOST_NAMED = 2
"""Observers and effects that the summary names."""
MOST_EFFECTS = 5


@facts
class Facts:
    """An outage of one broker or several, the longest of `count` alike ones, and what failed meanwhile.

    `brokers` is None where lines name only `partitions` of them, or nothing; `own_log` what all of their logs say.
    """

    count: Count
    brokers: Brokers | None
    partitions: NameList
    since: Instant
    lasted: Duration
    until: Instant
    cut_off: bool
    is_possible: bool
    waited_for_followers: bool
    own_log: OwnLog
    sights: tuple[Sighting, ...]
    away: tuple[Away, ...]
    failures: Count
    effects: JoinedValues[TimedOut | Failed | WaitedInVain]
    effect_lines: Refs

    @property
    def watchers(self) -> JoinedValues[Watcher]:
        """Who saw it, the first ones."""
        return JoinedValues(sight.by for sight in self.sights[:MOST_NAMED])

    @property
    def seen_by(self) -> Count:
        """How many observers there are."""
        return Count(len(self.sights))

    @property
    def others(self) -> Count | None:
        """How many observers there are beside those that are named."""
        return Count(self.seen_by - MOST_NAMED) if self.seen_by > MOST_NAMED else None

    @property
    def worst(self) -> JoinedValues[TimedOut | Failed | WaitedInVain]:
        """What failed, the first ones."""
        return JoinedValues(self.effects[:MOST_NAMED])

    @property
    def more(self) -> Count | None:
        """How many more failed."""
        return Count(self.failures - MOST_NAMED) if self.failures > MOST_NAMED else None

    @property
    def ran_into_timeouts(self) -> bool:
        """Whether something gave up for want of time."""
        return any(not isinstance(one, Failed) or one.exception == "TimeoutException" for one in self.effects)

    @property
    def has_timed_out(self) -> bool:
        """Whether a transaction is among what failed, or may be among what is only counted."""
        return self.failures > len(self.effects) or any(isinstance(one, TimedOut) for one in self.effects)

    @property
    def number(self) -> Count:
        """How many brokers were away, one where none is named."""
        return Count(max(1, len(self.away)))

    @property
    def are_several(self) -> bool:
        """Whether it was more than one."""
        return self.number > 1

    @property
    def is_over(self) -> bool:
        """Whether all of them were seen to be back."""
        return bool(self.away) and all(one.is_back for one in self.away)

    @property
    def only_watcher(self) -> Watcher | None:
        """The observer, where there is one alone."""
        return self.sights[0].by if len(self.sights) == 1 else None


def find(model: CaptureModel) -> Found:
    """One case for each time that brokers were away, one for brokers that were away more often than three times.

    Where none is surer than possible, one for each failure that names its connection.
    """
    found = list(incidents(outage for outage in outages(model.logs) if outage.own_log is not OwnLog.ORDERLY))
    if not any(verdict_of(model, incident) > Verdict.possible for incident in found):
        named = list(by_the_error(model))
        yield from (case for case, _ in named)
        known = {row for case, rows in named if case.verdict > Verdict.possible for row in rows}
        found = [one for one in found if known.isdisjoint(row for down in one.downs for row in down.rows)]
    for nodes in dict.fromkeys(incident.nodes for incident in found):
        alike = [incident for incident in found if incident.nodes == nodes]
        if len(alike) > OFTEN:
            yield _case(model, max(alike, key=lambda incident: incident.length), alike)
        else:
            yield from (_case(model, incident, [incident]) for incident in alike)
    if not found:
        yield from at_the_end(model)


def _case(model: CaptureModel, incident: Incident, alike: list[Incident]) -> Case:
    hurt, verdict = effects(model, incident.since, incident.until), verdict_of(model, incident)
    return Case(
        facts=_facts(model, incident, len(alike), verdict, hurt),
        verdict=verdict,
        severity=severity_of(model, incident, verdict, hurt),
        since=min(one.since for one in alike),
        until=max(one.until for one in alike),
        count=len(alike),
        nodes=incident.nodes,
    )


def _facts(model: CaptureModel, incident: Incident, count: int, verdict: Verdict, hurt: list[Effect]) -> Facts:
    downs, told = incident.downs, hurt[:MOST_EFFECTS]
    return Facts(
        count=Count(count),
        brokers=missed_brokers(incident),
        partitions=NameList(sorted({down.topic_partition for down in downs if down.topic_partition})),
        since=Instant(incident.since),
        lasted=Duration(incident.length),
        until=Instant(incident.until),
        cut_off=incident.is_partition,
        is_possible=verdict is Verdict.possible,
        waited_for_followers=any(down.weight is Weight.indirect for down in downs),
        own_log=incident.own_log,
        sights=tuple(sighting(model, incident, observer) for observer in incident.observers),
        away=tuple(away_of(model, outage, outage.node) for outage in incident.outages if outage.node is not None),
        failures=Count(len({effect.what for effect in hurt})),
        effects=JoinedValues(dict.fromkeys(effect.what for effect in told)),
        effect_lines=event_refs(model, [effect.row for effect in told if effect.row is not None], 4),
    )


NAMELESS = pick("partitions", {(): "bootstrap server"}, "broker with a replica of {partitions:3}")
UNTIL = ("{since} ", pick("is_over", {True: "to"}, "until at least"), " {until}")
SAW = {
    Weight.hard: "could not reach",
    Weight.soft: "got no answer from",
    Weight.indirect: "lacked",
    Weight.lost: "lost its connection to",
}
GROUNDS = {
    Weight.hard: "failed connections and requests in {each.lines:line}",
    Weight.soft: "unanswered requests in {each.lines:line}; the broker may itself have waited for its followers",
    Weight.indirect: "REQUEST_TIMED_OUT or NOT_ENOUGH_REPLICAS in {each.lines:line}",
    Weight.lost: "lost connections in {each.lines:line}",
}
OWN_LOG = {
    OwnLog.HARD_STOP: "shows a hard stop: it recovered its logs when it started again",
    OwnLog.STOPS: "is silent in that time",
    OwnLog.ENDS: "stops[ at {each.log_end}]; the others go on",
    OwnLog.STOOD_STILL: "is silent in that time, then shows requests long overdue: the process stood still",
    OwnLog.GOES_ON: "goes on in that time: the process was running",
}
NOT_HERE = {OwnLog.NONE: "others tell of it, its own log is not here"}
UNSAID = {
    OwnLog.ENDS: "its own log ends in that time, and does not say why",
    OwnLog.GOES_ON: "its own log goes on in that time",
    OwnLog.HARD_STOP: "its own log shows a hard stop, but not that every wait was for it",
}
"""Why another reading of an outage stays open, by what the broker's own log says."""
FIND_OUT = {
    OwnLog.HARD_STOP: "Find out what killed {brokers} (kill -9, out of memory, power)",
    OwnLog.STOOD_STILL: "Find out why {brokers} {number:was|were} away: {number:it|they} stood still (paused "
    "host or container, disk, long garbage collection)",
    OwnLog.GOES_ON: "Find out what cut the network to {brokers}: the process was running",
}
WHICH = "Find out which broker with a replica of {partitions:3} was away, and why (host, process, network)"
START = pick(
    "is_over",
    {True: "Find out what took {brokers} away (host, process, network)"},
    "Start {brokers} again if still away, and find out why (host, process, network)",
)

WORDS = Words(
    Facts,
    title=(
        pick("cut_off", {True: "network cut"}, "unreachable"),
        pick(
            "count",
            {1: pick("is_over", {True: " for {lasted}, then back"}, " for at least {lasted}, not seen back")},
            " {count:time}, up to {lasted}",
        ),
        pick(
            "effects",
            {(): ""},
            pick(
                "has_timed_out",
                {False: ", {failures:call} failed meanwhile"},
                ", {failures:failure} meanwhile",
            ),
        ),
    ),
    who=pick("brokers", {None: NAMELESS}),
    summary=(
        pick("brokers", {None: ("A ", NAMELESS)}, "{brokers:The}"),
        " {number:was|were}[ {perhaps}] ",
        pick("cut_off", {True: "cut off by the network"}, "unreachable"),
        pick("count", {1: ""}, " {count:time}, the longest"),
        " from ",
        UNTIL,
        " ({lasted}), noticed by ",
        pick("others", {None: "{watchers: and }"}, "{watchers}[ and {others:other}]"),
        pick("effects", {(): "."}, ". Meanwhile {worst: and }[; {more:more failure}]."),
    ),
    actors=(
        actor(
            "broker {each.node}",
            ("away from {each.since} ", pick("each.is_back", {True: "to"}, "until at least"), " {each.until}"),
            each="away",
            needs="are_several",
        ),
    ),
    steps=(
        step(
            (
                "{each.by:The} ",
                pick("each.weight", SAW),
                pick(
                    "each.weight",
                    {Weight.indirect: " its followers "},
                    pick("each.missed", {None: " its broker "}, " {each.missed} "),
                ),
                pick("each.is_moment", {True: "at {each.since}"}, "from {each.since} to {each.until}"),
            ),
            pick("each.weight", GROUNDS),
            cites="each.rows",
            each="sights",
        ),
        step(("Broker {each.node}'s own log ", pick("each.own_log", OWN_LOG)), cites="each.around", each="away"),
        step("Meanwhile {effects}", cites="effect_lines", needs="effects"),
    ),
    considered=(
        left_open(
            "the observer's own network, or a pause of its own",
            "{only_watcher} is the only observer",
            decided_by="the log of another client or broker from {since} to {until}",
            needs="perhaps",
        ),
        left_open(
            "a broker that answered too late, or a network cut beside it",
            pick(
                "cut_off",
                {
                    True: pick(
                        "own_log", {**NOT_HERE, **UNSAID}, "its own log is silent in that time, and does not say why"
                    )
                },
                pick("own_log", UNSAID),
            ),
            decided_by="the log of {brokers} from {since} to {until}",
            needs="perhaps brokers",
            unless="only_watcher is_possible",
        ),
        left_open(
            "min.insync.replicas above the replicas that there are",
            "a leader refuses writes for it as well, while every broker is there",
            decided_by="kafka-topics.sh --describe of {partitions:3}",
            needs="waited_for_followers is_possible",
        ),
        left_open(
            "the clients' own network",
            "they lost every broker that they know",
            decided_by="a broker's server.log from {since} to {until}",
            needs="brokers is_possible",
            unless="only_watcher",
        ),
        left_open(
            "the clients' own network",
            "no line names the broker",
            decided_by="the brokers' server.log from {since} to {until}",
            unless="brokers only_watcher",
        ),
        left_open(
            "a cut of the network to {brokers}",
            pick(
                "own_log",
                {
                    OwnLog.NONE: "no log of {number:its own|their own} is in this evidence",
                    OwnLog.STOPS: "{number:its own log|their own logs} may be silent for want of anything to tell",
                    OwnLog.STOOD_STILL: "{number:its own log|their own logs} can't tell why nothing was done",
                },
            ),
            decided_by=pick(
                "own_log",
                {OwnLog.NONE: "server.log of {brokers} from {since} to {until}"},
                "what the hosts of {brokers} measured from {since} to {until}, and the logs of garbage collection",
            ),
            needs="brokers perhaps",
            unless="only_watcher is_possible cut_off",
        ),
        ruled_out(
            "the observers' own network",
            "{seen_by:observer} lost the same at the same time",
            needs="brokers",
            unless="only_watcher is_possible",
        ),
        ruled_out(
            "the observer's own network",
            "the broker's own log shows a hard stop",
            needs="only_watcher",
            unless="perhaps",
        ),
        ruled_out(
            "the client's network to the leader",
            "the leader answered: it was its followers that did not",
            needs="waited_for_followers",
        ),
    ),
    remedies=(
        remedy(
            pick(
                "brokers",
                {None: pick("partitions", {(): "Check the bootstrap servers, and the network to them"}, WHICH)},
                pick(
                    "cut_off",
                    {True: "Repair the network to {brokers}: the processes kept running"},
                    pick("own_log", FIND_OUT, START),
                ),
            ),
            "operator",
        ),
        remedy(
            (
                "Set the clients' timeouts well above this outage (",
                pick("is_over", {True: ""}, "at least "),
                "{lasted}): max.block.ms, delivery.timeout.ms, and transaction.timeout.ms above that",
            ),
            "client",
            needs="ran_into_timeouts",
        ),
        remedy(
            "Keep three replicas and min.insync.replicas 2: writes then outlast the loss of one broker",
            "topic",
            unless="are_several",
        ),
    ),
)

RULE = Rule(
    find=find,
    words=(WORDS, NAMED_WORDS, SHOWN_WORDS, COORDINATOR_WORDS),
    depth=1,
    decided_by=(Side.client, Side.broker),
)
