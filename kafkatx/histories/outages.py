"""When brokers could not be reached, and who saw it: the stretches of all observers laid together.

Grain: one broker (or, where the lines name none, the unknown leaders of partitions). A stretch that can be explained by
another broker's absence (a leader that waits for followers) is counted to that one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from kafkatx.histories.downs import Down, Observer, Weight, downs
from kafkatx.histories.growing import Array
from kafkatx.histories.logs import LogStory
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS
from kafkatx.terms.events import EventKind

SHORTEST_MS = 1_000
"""Shorter absences are reconnects."""


@dataclass(frozen=True, slots=True)
class Outage:
    """A broker that could not be reached from `since` to `until` (at least: the last failure seen), in milliseconds.

    `node` is None where no line names it; `downs` what each observer saw; `is_back` whether its end was seen (its own
    log or a controller tells), `own_log` how the broker's own log lies to it: "" (none at hand), "stops" (no event of
    it in between), "ends" (no line of it from then on, while others go on), "goes on", "stood still" (it tells
    of nothing, then finds its own requests overdue), "hard stop" (it recovered logs
    afterwards) or "orderly" (it was shut down).
    """

    node: int | None
    since: int
    until: int
    downs: tuple[Down, ...]
    is_back: bool
    own_log: str

    @property
    def observers(self) -> tuple[Observer, ...]:
        """Who saw it, brokers first."""
        return tuple(sorted({down.observer for down in self.downs}))

    @property
    def duration_ms(self) -> int:
        """How long it lasted at least."""
        return self.until - self.since

    @property
    def weight(self) -> Weight:
        """The best evidence for it."""
        return max(down.weight for down in self.downs)

    @property
    def rows(self) -> tuple[int, ...]:
        """Its lines, by time of the stretches."""
        return tuple(row for down in self.downs for row in down.rows)

    def overlaps(self, since: int, until: int, tolerance: int = CLIENT_TOLERANCE_MS) -> bool:
        """Whether it shares time with a stretch, by clocks that may differ."""
        return self.since <= until + tolerance and since <= self.until + tolerance


def outages(logs: LogStory) -> list[Outage]:
    """Every outage that logs tell of, by time; those shorter than a second are left out."""
    told = downs(logs)
    seen = told.seen
    named, unnamed = [down for down in seen if down.node is not None], [down for down in seen if down.node is None]
    named, explained = _explained(named)
    unnamed += explained
    found: list[Outage] = []
    used: set[Down] = set()
    for node in sorted({down.node for down in named if down.node is not None}):
        own = [down for down in named if down.node == node]
        near = [down for down in unnamed if any(_is_near(down, other) for other in own)]
        groups = [group for group in _joined([*own, *near]) if any(down.node == node for down in group)]
        found += _of_node(logs, node, groups, told.pauses)
        used.update(down for group in groups for down in group)
    found += [_outage(logs, None, group) for group in _joined([down for down in unnamed if down not in used])]
    return sorted((o for o in found if _counts(o)), key=lambda outage: (outage.since, outage.node or 0))


def _of_node(logs: LogStory, node: int, groups: list[list[Down]], pauses: list[Down]) -> list[Outage]:
    """Outages of one broker; what falls into the time until it was back (or its log ends) belongs to the one before."""
    found: list[Outage] = []
    for group in groups:
        outage = _outage(logs, node, group, pauses)
        if found and outage.since <= found[-1].until:
            outage = _outage(logs, node, [*found.pop().downs, *group], pauses)
        found.append(outage)
    return found


def _is_near(down: Down, other: Down) -> bool:
    return down.overlaps(other.since, other.until, CLIENT_TOLERANCE_MS)


def _explained(named: list[Down]) -> tuple[list[Down], list[Down]]:
    """Part soft stretches that fall into a hard one of another broker from the rest: that broker kept them waiting."""
    hard = [down for down in named if down.weight is Weight.hard]
    rest: list[Down] = []
    explained: list[Down] = []
    for down in named:
        others = (other for other in hard if other.node != down.node)
        is_alone = not any(other.node == down.node and _is_near(down, other) for other in hard)
        waits = down.weight is Weight.soft and is_alone and any(_is_near(down, other) for other in others)
        (explained if waits else rest).append(down)
    return rest, explained


def _joined(group: Iterable[Down]) -> list[list[Down]]:
    """Stretches that follow each other without a pause beyond what clocks may differ."""
    joined: list[list[Down]] = []
    until = -1
    for down in sorted(group, key=lambda down: (down.since, down.until)):
        if joined and down.since <= until + CLIENT_TOLERANCE_MS:
            joined[-1].append(down)
        else:
            joined.append([down])
            until = -1
        until = max(until, down.until)
    return joined


def _counts(outage: Outage) -> bool:
    """Whether it is more than connections that were closed: something failed for a while, or somebody waited."""
    return outage.duration_ms >= SHORTEST_MS and outage.weight is not Weight.lost


def _outage(logs: LogStory, node: int | None, group: list[Down], pauses: Iterable[Down] = ()) -> Outage:
    since, until = min(down.since for down in group), max(down.until for down in group)
    if node is None:
        return Outage(None, since, until, tuple(group), False, "")
    back = _first_after(logs, node, until, EventKind.broker_started, EventKind.broker_unfenced)
    own = _own_log(logs, node, since, until, back)
    still = [p for p in pauses if p.observer.name == f"broker {node}" and p.overlaps(since, until, CLIENT_TOLERANCE_MS)]
    if still and own in ("stops", ""):
        since, until, own = min(since, still[0].since), max(until, *(pause.until for pause in still)), "stood still"
    if own == "ends":
        until = max([until, *_ends_of(logs, (down.rows[0] for down in group if down.observer.kind == "broker"))])
    is_back = back is not None and own in ("stops", "hard stop", "orderly")
    end = back if is_back and back is not None else until
    return Outage(node, since, end, tuple(group), is_back or own == "stood still", own)


def _ends_of(logs: LogStory, rows: Iterable[int]) -> list[int]:
    """When the logs end in which these lines stand."""
    return [_last_at(logs, int(logs.events["source"][row])) for row in rows]


def _last_at(logs: LogStory, source: int) -> int:
    entry = logs.facts.sources[source]
    return entry.last_at - logs.clocks[source].zone_ms if entry.last_at >= 0 else -1


def _own_log(logs: LogStory, node: int, since: int, until: int, back: int | None) -> str:
    times, kinds = _of_broker(logs, node)
    if not len(times):
        return ""
    tolerance = CLIENT_TOLERANCE_MS
    stopping = (kinds == EventKind.broker_stopping) | (kinds == EventKind.broker_stopped)
    if (stopping & (times >= since - tolerance) & (times <= since + tolerance)).any():
        return "orderly"
    end = back if back is not None else until
    if ((kinds == EventKind.unclean_start) & (times > since) & (times <= end + tolerance)).any():
        return "hard stop"
    last = max((_last_at(logs, n) for n, entry in enumerate(logs.facts.sources) if entry.broker_id == node), default=-1)
    if 0 <= last <= since + tolerance:
        return "ends"
    between = (times > since + SHORTEST_MS) & (times < until - SHORTEST_MS)
    return "goes on" if between.any() else "stops"


def _of_broker(logs: LogStory, node: int) -> tuple[Array, Array]:
    """Times and kinds of everything that a broker's own logs tell."""
    sources = [number for number, entry in enumerate(logs.facts.sources) if entry.broker_id == node]
    chosen = np.isin(logs.events["source"], sources) & (logs.times >= 0)
    return logs.times[chosen], logs.events["kind"][chosen]


def _first_after(logs: LogStory, node: int, time: int, *kinds: EventKind) -> int | None:
    """When a broker was there again, as its own log or the controller's tells."""
    rows = logs.of_kind(*kinds)
    brokers = np.array([-1 if entry.broker_id is None else entry.broker_id for entry in logs.facts.sources] or [-1])
    events = logs.events[rows]
    who = np.where(events["node"] >= 0, events["node"], brokers[events["source"]])
    times = logs.times[rows][(who == node) & (logs.times[rows] >= time)]
    return int(times.min()) if len(times) else None
