"""Outages of brokers as incidents: which belong together, how sure they are and how bad."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.broker_outages import BrokerOutage
from kafkatx.histories.logs.observers import ConnectionFailure, Observer, Weight
from kafkatx.histories.logs.own_logs import OwnLog
from kafkatx.rules.settings.effects import Effect
from kafkatx.terms.clocks import REQUEST_TIMEOUT_MS
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Severity, Verdict

SHORT_MS = 5_000
TOGETHER_MS = 10_000
"""Brokers that go within this time of each other are one incident."""
SHOWN = (OwnLog.HARD_STOP, OwnLog.STOOD_STILL, OwnLog.STOPS, OwnLog.ENDS)
"""What a broker's own log says where it was away itself."""


@dataclass(frozen=True, slots=True)
class Incident:
    """Outages that are told together."""

    outages: tuple[BrokerOutage, ...]

    @property
    def nodes(self) -> tuple[int, ...]:
        """Which brokers were away; none where no line names them."""
        return tuple(sorted({outage.node for outage in self.outages if outage.node is not None}))

    @property
    def since(self) -> int:
        """When the first of them was missed."""
        return min(outage.since for outage in self.outages)

    @property
    def until(self) -> int:
        """When the last of them was back, or was missed last."""
        return max(outage.until for outage in self.outages)

    @property
    def length(self) -> int:
        """How long it lasted, in milliseconds."""
        return self.until - self.since

    @property
    def downs(self) -> list[ConnectionFailure]:
        """What all observers saw."""
        return [down for outage in self.outages for down in outage.downs]

    @property
    def observers(self) -> list[Observer]:
        """Who saw it, brokers first."""
        return sorted({observer for outage in self.outages for observer in outage.observers})

    def seen_by(self, observer: Observer) -> Incident:
        """The part of it that one observer saw."""
        return Incident(tuple(outage for outage in self.outages if observer in outage.observers))

    @property
    def own_log(self) -> OwnLog:
        """What the own logs of all these brokers say; nothing where they differ."""
        said = {outage.own_log for outage in self.outages}
        return said.pop() if len(said) == 1 else OwnLog.NONE

    @property
    def is_seen_inside(self) -> bool:
        """Whether a broker tells it, of another one or of itself."""
        is_own = any(outage.own_log in SHOWN for outage in self.outages)
        return is_own or any(observer.kind == "broker" for observer in self.observers)

    @property
    def is_partition(self) -> bool:
        """Whether brokers that lost each other both went on: the network between them was cut."""
        seen_by = {(observer.name, outage.node) for outage in self.outages for observer in outage.observers}
        mutual = any(
            (f"broker {a}", b) in seen_by and (f"broker {b}", a) in seen_by
            for a in self.nodes
            for b in self.nodes
            if a != b
        )
        return mutual and all(outage.own_log in (OwnLog.NONE, OwnLog.GOES_ON) for outage in self.outages)


def incidents(found: Iterable[BrokerOutage]) -> Iterator[Incident]:
    """Lay outages of several brokers together that began together and overlap for the most part."""
    left = list(found)
    while left:
        first, *rest = left
        near = [other for other in rest if other.node != first.node and _together(first, other)]
        yield Incident((first, *near))
        left = [other for other in rest if other not in near]


def _together(one: BrokerOutage, other: BrokerOutage) -> bool:
    shared = min(one.until, other.until) - max(one.since, other.since)
    shorter = min(one.duration_ms, other.duration_ms)
    is_known = one.node is not None and other.node is not None
    return is_known and abs(one.since - other.since) <= TOGETHER_MS and 2 * shared >= shorter


def verdict_of(model: CaptureModel, incident: Incident) -> Verdict:
    """Two observers make it likely; the broker's own log, or the controller beside another broker, proved."""
    if any(outage.node is None for outage in incident.outages):
        return Verdict.possible
    if all(outage.own_log is OwnLog.HARD_STOP and outage.weight is Weight.hard for outage in incident.outages):
        return Verdict.proved
    observers, seen_inside = incident.observers, incident.is_seen_inside
    if len(observers) > 1:
        return Verdict.likely if seen_inside or not _lost_everything(model, incident) else Verdict.possible
    return Verdict.likely if seen_inside and observers[0].kind == "client" else Verdict.possible


def _lost_everything(model: CaptureModel, incident: Incident) -> bool:
    """Whether every client that tells lost all brokers it knows, two or more: then its own network may be to blame."""
    clients = [down for down in incident.downs if down.observer.kind == "client"]
    lost = {down.node for down in incident.downs} | set(incident.nodes)
    return all(len(known := _known_nodes(model, down)) > 1 and known <= lost for down in clients)


def _known_nodes(model: CaptureModel, down: ConnectionFailure) -> set[int]:
    """Every broker that the log of a stretch names."""
    events = model.logs.events
    nodes = events["node"][events["source"] == events["source"][down.rows[0]]]
    return {int(node) for node in nodes.tolist() if 0 <= node < 1 << 30}


def severity_of(model: CaptureModel, incident: Incident, verdict: Verdict, hurt: list[Effect]) -> Severity:
    """How bad it was: by what failed meanwhile, else by how long it lasted."""
    length = incident.length
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
