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
             both go on lose each other); brokers that meet each other at their start.
Remedy       find out what took the broker or its network away; let the timeouts outlast what was measured
             (delivery.timeout.ms, max.block.ms, transaction.timeout.ms), and keep enough replicas without it.
Source       NetworkClient, ReplicaFetcher, BrokerLifecycleManager, DelayedProduce (REQUEST_TIMED_OUT), 0.11 to 4.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.broker_outages import BrokerOutage, outages
from kafkatx.histories.logs.observers import ConnectionFailure, Observer, Weight
from kafkatx.histories.logs.own_logs import OwnLog
from kafkatx.rules.settings.effects import Effect, Failed, TimedOut, WaitedInVain, effects
from kafkatx.terms.clocks import REQUEST_TIMEOUT_MS
from kafkatx.terms.events import Side
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import Words, actor, considered, remedy, step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Duration, Instant, JoinedValues, NameList, Refs, facts

SHORT_MS = 5_000
TOGETHER_MS = 10_000
"""Brokers that go within this time of each other are one incident."""
SHOWN = (OwnLog.HARD_STOP, OwnLog.STOOD_STILL, OwnLog.STOPS, OwnLog.ENDS)
"""What a broker's own log says where it was away itself."""
OFTEN = 3
"""More outages of the same brokers than this are one finding."""
MOST_WATCHERS = 3
"""Observers that the summary names."""
MOST_EFFECTS = 5

Incident = tuple[BrokerOutage, ...]
"""Outages that are told together."""


@dataclass(frozen=True, slots=True)
class Brokers:
    """`broker 3`, `brokers 1, 2 and 3`."""

    nodes: tuple[int, ...]

    def __format__(self, spec: str) -> str:
        *others, last = self.nodes
        return f"brokers {', '.join(map(str, others))} and {last}" if others else f"broker {last}"


@dataclass(frozen=True, slots=True)
class Watcher:
    """An observer as sentences call it."""

    kind: str
    name: str

    def __format__(self, spec: str) -> str:
        if self.kind == "leader":
            return f"the leader of {self.name}"
        return self.name if self.kind == "broker" else f"the client of {PurePosixPath(self.name).name}"


@dataclass(frozen=True, slots=True)
class Sighting:
    """What one observer saw, by its surest line."""

    by: Watcher
    since: Instant
    until: Instant
    weight: Weight
    lines: Count
    rows: Refs

    @property
    def is_leaders(self) -> bool:
        """Whether a leader of partitions tells it by its answers."""
        return self.by.kind == "leader"


@dataclass(frozen=True, slots=True)
class Away:
    """A broker that was away, and what its own log says of that time."""

    node: int
    since: Instant
    until: Instant
    is_back: bool
    own_log: OwnLog


@facts
class Facts:
    """An outage of one broker or several, the longest of `count` alike ones.

    `brokers` is None where lines name only `partitions` behind them, or nothing.
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
    sights: tuple[Sighting, ...]
    away: tuple[Away, ...]
    effects: JoinedValues[TimedOut | Failed | WaitedInVain]
    effect_lines: Refs

    @property
    def watchers(self) -> JoinedValues[Watcher]:
        """Who saw it, the first ones."""
        return JoinedValues(sight.by for sight in self.sights[:MOST_WATCHERS])

    @property
    def seen_by(self) -> Count:
        """How many observers there are."""
        return Count(len(self.sights))

    @property
    def only_watcher(self) -> Watcher | None:
        """The observer, where there is one alone."""
        return self.sights[0].by if len(self.sights) == 1 else None


def find(model: CaptureModel) -> Found:
    """One case for each time that brokers were away, one for brokers that were away more often than three times."""
    found = [outage for outage in outages(model.logs) if outage.own_log is not OwnLog.ORDERLY]
    incidents = list(_incidents(found))
    for nodes in dict.fromkeys(_nodes(incident) for incident in incidents):
        alike = [incident for incident in incidents if _nodes(incident) == nodes]
        if len(alike) > OFTEN:
            yield _case(model, max(alike, key=_length), alike)
        else:
            yield from (_case(model, incident, [incident]) for incident in alike)


def _incidents(found: list[BrokerOutage]) -> Iterator[Incident]:
    """Outages of several brokers that began together and overlap for the most part."""
    left = list(found)
    while left:
        first, *rest = left
        near = [other for other in rest if other.node != first.node and _together(first, other)]
        yield (first, *near)
        left = [other for other in rest if other not in near]


def _together(one: BrokerOutage, other: BrokerOutage) -> bool:
    shared = min(one.until, other.until) - max(one.since, other.since)
    shorter = min(one.duration_ms, other.duration_ms)
    is_known = one.node is not None and other.node is not None
    return is_known and abs(one.since - other.since) <= TOGETHER_MS and 2 * shared >= shorter


def _nodes(incident: Incident) -> tuple[int, ...]:
    return tuple(sorted({outage.node for outage in incident if outage.node is not None}))


def _since(incident: Incident) -> int:
    return min(outage.since for outage in incident)


def _until(incident: Incident) -> int:
    return max(outage.until for outage in incident)


def _length(incident: Incident) -> int:
    return _until(incident) - _since(incident)


def _case(model: CaptureModel, incident: Incident, alike: list[Incident]) -> Case:
    hurt, verdict = effects(model, _since(incident), _until(incident)), _verdict(model, incident)
    return Case(
        facts=_facts(model, incident, len(alike), verdict, hurt[:MOST_EFFECTS]),
        verdict=verdict,
        severity=_severity(model, incident, verdict, hurt),
        since=min(_since(one) for one in alike),
        until=max(_until(one) for one in alike),
        count=len(alike),
        nodes=_nodes(incident),
    )


def _facts(model: CaptureModel, incident: Incident, count: int, verdict: Verdict, hurt: list[Effect]) -> Facts:
    nodes, downs = _nodes(incident), [down for outage in incident for down in outage.downs]
    return Facts(
        count=Count(count),
        brokers=Brokers(nodes) if nodes else None,
        partitions=NameList(sorted({down.topic_partition for down in downs if down.topic_partition})),
        since=Instant(_since(incident)),
        lasted=Duration(_length(incident)),
        until=Instant(_until(incident)),
        cut_off=_is_partition(incident),
        is_possible=verdict is Verdict.possible,
        waited_for_followers=any(down.weight is Weight.indirect for down in downs),
        sights=tuple(
            _sight(model, observer, [down for down in downs if down.observer == observer])
            for observer in _observers(incident)
        ),
        away=tuple(_away(outage, outage.node) for outage in incident if outage.node is not None),
        effects=JoinedValues({format(effect.what, ""): effect.what for effect in hurt}.values()),
        effect_lines=event_refs(model, [effect.row for effect in hurt if effect.row is not None], 4),
    )


def _sight(model: CaptureModel, observer: Observer, stretches: list[ConnectionFailure]) -> Sighting:
    rows = sorted({row for down in stretches for row in down.rows}, key=lambda row: (model.logs.times[row], row))
    return Sighting(
        by=Watcher(observer.kind, observer.name),
        since=Instant(min(down.since for down in stretches)),
        until=Instant(max(down.until for down in stretches)),
        weight=max(down.weight for down in stretches),
        lines=Count(sum(max(0, int(model.logs.events["repeats"][row])) + 1 for row in rows)),
        rows=event_refs(model, rows, 4),
    )


def _away(outage: BrokerOutage, node: int) -> Away:
    return Away(node, Instant(outage.since), Instant(outage.until), outage.is_back, outage.own_log)


def _verdict(model: CaptureModel, incident: Incident) -> Verdict:
    """Two observers make it likely; the broker's own log, or the controller beside another broker, proved."""
    if any(outage.node is None for outage in incident):
        return Verdict.possible
    if all(outage.own_log is OwnLog.HARD_STOP and outage.weight is Weight.hard for outage in incident):
        return Verdict.proved
    observers, seen_inside = _observers(incident), _is_seen_inside(incident)
    if len(observers) > 1:
        return Verdict.likely if seen_inside or not _lost_everything(model, incident) else Verdict.possible
    return Verdict.likely if seen_inside and observers[0].kind == "client" else Verdict.possible


def _is_seen_inside(incident: Incident) -> bool:
    """Whether a broker tells it, of another one or of itself."""
    return any(
        outage.own_log in SHOWN or any(observer.kind == "broker" for observer in outage.observers)
        for outage in incident
    )


def _observers(incident: Incident) -> list[Observer]:
    return sorted({observer for outage in incident for observer in outage.observers})


def _lost_everything(model: CaptureModel, incident: Incident) -> bool:
    """Whether every client that tells lost all brokers it knows, two or more: then its own network may be to blame."""
    clients = [down for outage in incident for down in outage.downs if down.observer.kind == "client"]
    lost = {down.node for outage in incident for down in outage.downs} | set(_nodes(incident))
    return all(len(known := _known_nodes(model, down)) > 1 and known <= lost for down in clients)


def _known_nodes(model: CaptureModel, down: ConnectionFailure) -> set[int]:
    """Every broker that the log of a stretch names."""
    events = model.logs.events
    nodes = events["node"][events["source"] == events["source"][down.rows[0]]]
    return {int(node) for node in nodes.tolist() if 0 <= node < 1 << 30}


def _severity(model: CaptureModel, incident: Incident, verdict: Verdict, hurt: list[Effect]) -> Severity:
    length = _length(incident)
    if verdict is Verdict.possible:
        is_felt = bool(hurt) and length >= SHORT_MS
        return Severity.warning if is_felt or length > _request_timeout(model) else Severity.info
    worst = max((effect.severity for effect in hurt), default=Severity.info)
    if worst is Severity.error or (hurt and length >= SHORT_MS):
        return worst
    return Severity.warning if length > max(SHORT_MS, _request_timeout(model)) else Severity.info


def _request_timeout(model: CaptureModel) -> int:
    """The shortest request.timeout.ms that clients say they have, else the default."""
    values = [
        int(value)
        for entry in model.logs.facts.settings
        if entry.name == "request.timeout.ms" and entry.scope != "broker" and (value := entry.value or "").isdecimal()
    ]
    return min(values, default=REQUEST_TIMEOUT_MS)


def _is_partition(incident: Incident) -> bool:
    """Whether brokers that lost each other both went on: the network between them was cut."""
    names = {f"broker {node}" for node in _nodes(incident)}
    seen_by = {(observer.name, outage.node) for outage in incident for observer in outage.observers}
    mutual = any(
        (f"broker {a}", b) in seen_by and (f"broker {b}", a) in seen_by
        for a in _nodes(incident)
        for b in _nodes(incident)
        if a != b
    )
    return mutual and bool(names) and all(outage.own_log in (OwnLog.NONE, OwnLog.GOES_ON) for outage in incident)


WHO = pick(
    "brokers",
    {None: pick("partitions", {(): "a bootstrap server"}, "a broker behind {partitions:3}")},
    "{brokers}",
)
OWN_LOG = {
    OwnLog.HARD_STOP: "recovers its logs after a hard stop",
    OwnLog.STOPS: "tells of nothing in between",
    OwnLog.ENDS: "ends there, while others go on",
    OwnLog.STOOD_STILL: "tells of nothing in between, then of requests that are long overdue: it stood still",
    OwnLog.GOES_ON: "goes on meanwhile: it was there, the way to it was not",
}
WEIGHTS = {
    Weight.hard: "connections and requests to it failed ({each.lines:line})",
    Weight.soft: "its requests ran into their timeout ({each.lines:line}); it may have waited for others",
    Weight.indirect: "it answered that its followers had not acknowledged in time ({each.lines:line})",
    Weight.lost: "its connections were lost ({each.lines:line})",
}

WORDS = Words(
    Facts,
    summary=(
        WHO,
        pick(
            "cut_off",
            {True: " could not reach each other "},
            (" could not be reached ", pick("count", {1: ""}, "{count:plain} times, the longest time ")),
        ),
        "for {lasted} (from {since}), as {watchers} saw it",
    ),
    actors=(
        actor(
            "broker {each.node}",
            ("away from {each.since} ", pick("each.is_back", {True: "until"}, "at least until"), " {each.until}"),
            each="away",
        ),
    ),
    steps=(
        step(
            (
                "{each.by} ",
                pick("each.is_leaders", {True: "waited for its followers"}, "could not reach it"),
                " from {each.since} to {each.until}",
            ),
            pick("each.weight", WEIGHTS),
            cites="each.rows",
            each="sights",
        ),
        step(
            ("the log of broker {each.node} itself ", pick("each.own_log", OWN_LOG)),
            "it is at hand as well",
            each="away",
        ),
        step("meanwhile {effects}", "it lies in the same time", cites="effect_lines", needs="effects"),
    ),
    considered=(
        considered(
            "the observer's own network or a pause of its own", "not refuted: {only_watcher} is the only witness"
        ),
        considered(
            "the clients' own network",
            "not refuted: they lost every broker that they know",
            needs="brokers is_possible",
            unless="only_watcher",
        ),
        considered(
            "the observers' own network",
            "{seen_by:plain} observers lost the same in the same time",
            needs="brokers",
            unless="only_watcher is_possible",
        ),
        considered(
            "the client's way to the leader",
            "REQUEST_TIMED_OUT and NOT_ENOUGH_REPLICAS are answers of a leader that is there; its followers were not",
            needs="waited_for_followers",
        ),
    ),
    remedies=(
        remedy(
            text=(
                "find out what took ",
                WHO,
                " away (host, process, network); what must survive the like needs timeouts above it and two in-sync "
                "replicas without it",
            ),
            where="operator",
            derived_from="outage of {lasted} from {since} to {until}",
        ),
    ),
)

RULE = Rule(find=find, words=(WORDS,), depth=1, decided_by=(Side.client, Side.broker))
