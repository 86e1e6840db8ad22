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
from pathlib import PurePosixPath

from kafkatx.histories.logs.observers import Down, Observer, Weight
from kafkatx.histories.logs.outages import Outage, outages
from kafkatx.histories.logs.own_logs import OwnLog
from kafkatx.histories.story import Story
from kafkatx.rules.finding import Finding
from kafkatx.rules.settings.effects import Effect, effects
from kafkatx.terms.clocks import REQUEST_TIMEOUT_MS
from kafkatx.terms.times import clock, duration
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explained import Actor, Considered, Remedy, Step
from kafkatx.words.log_places import event_places
from kafkatx.words.places import plural

RULE = "broker_unreachable"
SHORT_MS = 5_000
TOGETHER_MS = 10_000
"""Brokers that go within this time of each other are one incident."""
SHOWN = (OwnLog.HARD_STOP, OwnLog.STOOD_STILL, OwnLog.STOPS, OwnLog.ENDS)
"""What a broker's own log says where it was away itself."""
OFTEN = 3
"""More outages of the same brokers than this are one finding."""


def check(story: Story) -> Iterator[Finding]:
    """One finding for each time that brokers were away, one for brokers that were away more often than three times."""
    found = [outage for outage in outages(story.logs) if outage.own_log is not OwnLog.ORDERLY]
    incidents = list(_incidents(found))
    for nodes in dict.fromkeys(_nodes(incident) for incident in incidents):
        alike = [incident for incident in incidents if _nodes(incident) == nodes]
        if len(alike) > OFTEN:
            yield _finding(story, max(alike, key=_length), len(alike), alike)
        else:
            yield from (_finding(story, incident) for incident in alike)


def _incidents(found: list[Outage]) -> Iterator[tuple[Outage, ...]]:
    """Outages of several brokers that began together and overlap for the most part."""
    left = list(found)
    while left:
        first, *rest = left
        near = [other for other in rest if other.node != first.node and _together(first, other)]
        yield (first, *near)
        left = [other for other in rest if other not in near]


def _together(one: Outage, other: Outage) -> bool:
    shared = min(one.until, other.until) - max(one.since, other.since)
    shorter = min(one.duration_ms, other.duration_ms)
    is_known = one.node is not None and other.node is not None
    return is_known and abs(one.since - other.since) <= TOGETHER_MS and 2 * shared >= shorter


def _nodes(incident: tuple[Outage, ...]) -> tuple[int, ...]:
    return tuple(sorted({outage.node for outage in incident if outage.node is not None}))


def _since(incident: tuple[Outage, ...]) -> int:
    return min(outage.since for outage in incident)


def _until(incident: tuple[Outage, ...]) -> int:
    return max(outage.until for outage in incident)


def _length(incident: tuple[Outage, ...]) -> int:
    return _until(incident) - _since(incident)


def _finding(
    story: Story, incident: tuple[Outage, ...], count: int = 1, alike: list[tuple[Outage, ...]] | None = None
) -> Finding:
    hurt = effects(story, _since(incident), _until(incident))
    spans = alike or [incident]
    return Finding(
        rule=RULE,
        verdict=_verdict(story, incident),
        severity=_severity(story, incident, hurt),
        summary=_summary(story, incident, count),
        since=min(_since(one) for one in spans),
        until=max(_until(one) for one in spans),
        count=count,
        actors=tuple(_actors(incident)),
        steps=(*_steps(story, incident), *_effect_steps(story, hurt)),
        considered=tuple(_considered(story, incident)),
        remedies=(_remedy(incident),),
        nodes=_nodes(incident),
    )


def _verdict(story: Story, incident: tuple[Outage, ...]) -> Verdict:
    """Two observers make it likely; the broker's own log, or the controller beside another broker, proved."""
    if any(outage.node is None for outage in incident):
        return Verdict.possible
    observers = _observers(incident)
    seen_inside = any(observer.kind == "broker" for observer in observers) or any(
        outage.own_log in SHOWN for outage in incident
    )
    if all(outage.own_log is OwnLog.HARD_STOP for outage in incident) and _by_hard_evidence(incident):
        return Verdict.proved
    if len(observers) > 1:
        return Verdict.likely if seen_inside or not _lost_everything(story, incident) else Verdict.possible
    return Verdict.likely if seen_inside and observers[0].kind == "client" else Verdict.possible


def _by_hard_evidence(incident: tuple[Outage, ...]) -> bool:
    return all(outage.weight is Weight.hard for outage in incident)


def _observers(incident: tuple[Outage, ...]) -> list[Observer]:
    return sorted({observer for outage in incident for observer in outage.observers})


def _lost_everything(story: Story, incident: tuple[Outage, ...]) -> bool:
    """Whether every client that tells lost all brokers it knows, two or more: then its own network may be to blame."""
    clients = [down for outage in incident for down in outage.downs if down.observer.kind == "client"]
    lost = {down.node for outage in incident for down in outage.downs} | set(_nodes(incident))
    return all(len(known := _known_nodes(story, down)) > 1 and known <= lost for down in clients)


def _known_nodes(story: Story, down: Down) -> set[int]:
    """Every broker that the log of a stretch names."""
    events = story.logs.events
    nodes = events["node"][events["source"] == events["source"][down.rows[0]]]
    return {int(node) for node in nodes.tolist() if 0 <= node < 1 << 30}


def _severity(story: Story, incident: tuple[Outage, ...], hurt: list[Effect]) -> Severity:
    if _verdict(story, incident) is Verdict.possible:
        is_felt = bool(hurt) and _length(incident) >= SHORT_MS
        return Severity.warning if is_felt or _length(incident) > _request_timeout(story) else Severity.info
    worst = max((effect.severity for effect in hurt), default=Severity.info)
    if worst is Severity.error or (hurt and _length(incident) >= SHORT_MS):
        return worst
    is_long = _length(incident) > max(SHORT_MS, _request_timeout(story))
    return Severity.warning if is_long else Severity.info


def _request_timeout(story: Story) -> int:
    """The shortest request.timeout.ms that clients say they have, else the default."""
    values = [
        int(value)
        for entry in story.logs.facts.settings
        if entry.name == "request.timeout.ms" and entry.scope != "broker" and (value := entry.value or "").isdecimal()
    ]
    return min(values, default=REQUEST_TIMEOUT_MS)


def _name(incident: tuple[Outage, ...]) -> str:
    nodes = _nodes(incident)
    if not nodes:
        names = sorted({down.topic_partition or "" for outage in incident for down in outage.downs} - {""})
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        return f"a broker behind {', '.join(names[:3])}{more}" if names else "a bootstrap server"
    return f"broker {nodes[0]}" if len(nodes) == 1 else f"brokers {', '.join(map(str, nodes[:-1]))} and {nodes[-1]}"


def _summary(story: Story, incident: tuple[Outage, ...], count: int) -> str:
    who = ", ".join(_shown(observer) for observer in _observers(incident)[:3])
    times = f"{count} times, the longest time " if count > 1 else ""
    what = f"{_name(incident)} could not be reached {times}for {duration(_length(incident))}"
    if _is_partition(incident):
        what = f"{_name(incident)} could not reach each other for {duration(_length(incident))}"
    return f"{what} (from {clock(_since(incident))}), as {who} saw it"


def _is_partition(incident: tuple[Outage, ...]) -> bool:
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


def _shown(observer: Observer) -> str:
    if observer.kind == "leader":
        return f"the leader of {observer.name}"
    return observer.name if observer.kind == "broker" else f"the client of {PurePosixPath(observer.name).name}"


def _actors(incident: tuple[Outage, ...]) -> Iterator[Actor]:
    for outage in incident:
        if outage.node is not None:
            end = "until" if outage.is_back else "at least until"
            yield Actor(f"broker {outage.node}", f"away from {clock(outage.since)} {end} {clock(outage.until)}")


def _steps(story: Story, incident: tuple[Outage, ...]) -> Iterator[Step]:
    for observer in _observers(incident):
        stretches = [down for outage in incident for down in outage.downs if down.observer == observer]
        rows = sorted({row for down in stretches for row in down.rows}, key=lambda row: (story.logs.times[row], row))
        lines = sum(max(0, int(story.logs.events["repeats"][row])) + 1 for row in rows)
        since, until = min(down.since for down in stretches), max(down.until for down in stretches)
        yield Step(
            f"{_shown(observer)} {_waited(observer)} from {clock(since)} to {clock(until)}",
            _because(stretches, lines),
            event_places(story, rows, 4),
        )
    for outage in incident:
        if outage.node is not None and outage.own_log in _OWN_LOG:
            yield Step(f"the log of broker {outage.node} itself {_OWN_LOG[outage.own_log]}", "it is at hand as well")


def _waited(observer: Observer) -> str:
    return "waited for its followers" if observer.kind == "leader" else "could not reach it"


_OWN_LOG = {
    OwnLog.HARD_STOP: "recovers its logs after a hard stop",
    OwnLog.STOPS: "tells of nothing in between",
    OwnLog.ENDS: "ends there, while others go on",
    OwnLog.STOOD_STILL: "tells of nothing in between, then of requests that are long overdue: it stood still",
    OwnLog.GOES_ON: "goes on meanwhile: it was there, the way to it was not",
}


def _because(stretches: list[Down], lines: int) -> str:
    weight = max(down.weight for down in stretches)
    if weight is Weight.hard:
        return f"connections and requests to it failed ({plural(lines, 'line')})"
    if weight is Weight.soft:
        return f"its requests ran into their timeout ({plural(lines, 'line')}); it may have waited for others"
    if weight is Weight.indirect:
        return f"it answered that its followers had not acknowledged in time ({plural(lines, 'line')})"
    return f"its connections were lost ({plural(lines, 'line')})"


def _effect_steps(story: Story, hurt: list[Effect]) -> Iterator[Step]:
    if hurt:
        names = ", ".join(dict.fromkeys(effect.text for effect in hurt[:5]))
        rows = [effect.row for effect in hurt[:5] if effect.row is not None]
        yield Step(f"meanwhile {names}", "it lies in the same time", event_places(story, rows, 4))


def _considered(story: Story, incident: tuple[Outage, ...]) -> Iterator[Considered]:
    observers = _observers(incident)
    if len(observers) == 1:
        yield Considered(
            "the observer's own network or a pause of its own",
            f"not refuted: {_shown(observers[0])} is the only witness",
        )
    elif _verdict(story, incident) is Verdict.possible and _nodes(incident):
        yield Considered("the clients' own network", "not refuted: they lost every broker that they know")
    elif _nodes(incident):
        yield Considered("the observers' own network", f"{len(observers)} observers lost the same in the same time")
    if any(down.weight is Weight.indirect for outage in incident for down in outage.downs):
        why = "REQUEST_TIMED_OUT and NOT_ENOUGH_REPLICAS are answers of a leader that is there; its followers were not"
        yield Considered("the client's way to the leader", why)


def _remedy(incident: tuple[Outage, ...]) -> Remedy:
    measured = f"outage of {duration(_length(incident))} from {clock(_since(incident))} to {clock(_until(incident))}"
    return Remedy(
        text=f"find out what took {_name(incident)} away (host, process, network); what must survive the like needs "
        "timeouts above it and two in-sync replicas without it",
        where="operator",
        derived_from=measured,
    )
