"""What observers saw of an outage, and what the own log of a broker says of that time."""

from __future__ import annotations

from pathlib import PurePosixPath

import numpy as np

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.broker_outages import BrokerOutage
from kafkatx.histories.logs.observers import Observer, Weight
from kafkatx.histories.logs.own_logs import OwnLog, OwnLogs
from kafkatx.rules.outages.incidents import Incident
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.words.facts import instant
from kafkatx.words.log_refs import event_refs
from kafkatx.words.values import Count, Instant, Refs


@dataclass(frozen=True, slots=True)
class Brokers:
    """`broker 3`, `brokers 1, 2 and 3`."""

    nodes: tuple[int, ...]

    def __format__(self, spec: str) -> str:
        *others, last = self.nodes
        said = f"brokers {', '.join(map(str, others))} and {last}" if others else f"broker {last}"
        return said.capitalize() if spec == "The" else said


@dataclass(frozen=True, slots=True)
class Watcher:
    """An observer as sentences call it."""

    kind: str
    name: str

    def __format__(self, spec: str) -> str:
        if self.kind == "broker":
            said = self.name
        else:
            said = f"the {self.kind} of {self.name if self.kind == 'leader' else PurePosixPath(self.name).name}"
        return said[0].upper() + said[1:] if spec == "The" else said


@dataclass(frozen=True, slots=True)
class Sighting:
    """What one observer saw, by its surest line; `missed` is None where no line names a broker."""

    by: Watcher
    missed: Brokers | None
    since: Instant
    until: Instant
    weight: Weight
    lines: Count
    rows: Refs

    @property
    def is_moment(self) -> bool:
        """Whether it saw that at one time only."""
        return self.since == self.until


@dataclass(frozen=True, slots=True)
class Away:
    """A broker that was away, and what its own log says of that time; `log_end` is where that log ends.

    `around` are its lines on both sides of a silence.
    """

    node: int
    since: Instant
    until: Instant
    is_back: bool
    own_log: OwnLog
    log_end: Instant | None
    around: Refs


def missed_brokers(incident: Incident) -> Brokers | None:
    """Return the brokers that were away, None where no line names one."""
    return Brokers(incident.nodes) if incident.nodes else None


def sighting(model: CaptureModel, incident: Incident, observer: Observer) -> Sighting:
    """Return what one observer saw of an incident.

    Requests to a leader that waited for the brokers that were away are counted to these; they are not what is cited
    where requests to these themselves were not answered either.
    """
    stretches = [down for down in incident.downs if down.observer == observer]
    rows = sorted({row for down in stretches for row in down.rows}, key=lambda row: (model.logs.times[row], row))
    since = min(down.since for down in stretches)
    of_missed = [row for row in rows if model.logs.number(row, "node") in (None, *incident.nodes)]
    if of_missed and len(of_missed) < len(rows):
        rows, since = of_missed, max(since, min(_sent_at(model, row) for row in of_missed))
    return Sighting(
        by=Watcher(observer.kind, observer.name),
        missed=missed_brokers(incident.seen_by(observer)),
        since=Instant(since),
        until=Instant(max(down.until for down in stretches)),
        weight=max(down.weight for down in stretches),
        lines=Count(sum(max(0, int(model.logs.events["repeats"][row])) + 1 for row in rows)),
        rows=event_refs(model, rows, 4),
    )


def _sent_at(model: CaptureModel, row: int) -> int:
    """When a request was sent whose line tells how long it waited, else when its line was written."""
    waited = model.logs.number(row, "number") if model.logs.kind(row) is EventKind.request_cancelled else None
    return int(model.logs.times[row]) - (waited or 0)


def away_of(model: CaptureModel, outage: BrokerOutage, node: int) -> Away:
    """Return what is known of one broker that was away."""
    sources = [number for number, entry in enumerate(model.logs.facts.sources) if entry.broker_id == node]
    end = OwnLogs(model.logs).ends(sources) if outage.own_log is OwnLog.ENDS else None
    is_silent = outage.own_log in (OwnLog.STOPS, OwnLog.STOOD_STILL, OwnLog.ENDS)
    around = event_refs(model, _around(model, sources, outage)) if is_silent else ()
    return Away(
        node, Instant(outage.since), Instant(outage.until), outage.is_back, outage.own_log, instant(end), around
    )


def _around(model: CaptureModel, sources: list[int], outage: BrokerOutage) -> list[int]:
    """The last line of a broker before an outage was over for it, and the first one behind that silence."""
    times = model.logs.times
    mine = np.flatnonzero(np.isin(model.logs.events["source"], sources) & (times >= 0))
    mine = mine[np.argsort(times[mine], kind="stable")]
    middle = int(np.searchsorted(times[mine], (outage.since + outage.until) // 2))
    found: list[int] = mine[max(middle - 1, 0) : middle + 1].tolist()
    return found
