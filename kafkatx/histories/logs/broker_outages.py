"""When brokers could not be reached, and who saw it: the stretches of all observers laid together.

Grain: one broker (or, where the lines name none, the unknown leaders of partitions). A stretch that can be explained by
another broker's absence (a leader that waits for followers) is counted to that one.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kafkatx.histories.logs.connection_failures import downs
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.logs.observers import ConnectionFailure, Observer, Weight
from kafkatx.histories.logs.once import once
from kafkatx.histories.logs.own_logs import OwnLog, OwnLogs
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS
from kafkatx.terms.records import dataclass

SHORTEST_MS = 1_000
"""Shorter absences are reconnects."""


@dataclass(frozen=True, slots=True)
class BrokerOutage:
    """A broker that could not be reached from `since` to `until` (at least: the last failure seen), in milliseconds.

    `node` is None where no line names it; `downs` what each observer saw; `is_back` whether its end was seen (its own
    log or a controller tells); `own_log` what its own log says.
    """

    node: int | None
    since: int
    until: int
    downs: tuple[ConnectionFailure, ...]
    is_back: bool
    own_log: OwnLog

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

    def overlaps(self, since: int, until: int) -> bool:
        """Whether it shares time with a stretch, by clocks that may differ."""
        return since - CLIENT_TOLERANCE_MS <= self.until and self.since <= until + CLIENT_TOLERANCE_MS


@once
def outages(logs: LogModel) -> tuple[BrokerOutage, ...]:
    """Every outage that logs tell of, by time; those shorter than a second are left out."""
    told, own = downs(logs), OwnLogs(logs)
    seen = _that_matter(told.seen)
    named, unnamed = [down for down in seen if down.node is not None], [down for down in seen if down.node is None]
    named, explained = _explained(named)
    unnamed += explained
    blamed = _blamed(unnamed, named)
    found: list[BrokerOutage] = []
    for node in sorted({down.node for down in named if down.node is not None}):
        of_node = [down for down in named if down.node == node]
        of_node += [down for down, other in zip(unnamed, blamed, strict=True) if other == node]
        found += _of_node(own, node, _joined(of_node), told.pauses)
    nobodys = [down for down, other in zip(unnamed, blamed, strict=True) if other is None]
    found += [_outage(own, None, group, []) for group in _joined(nobodys)]
    return tuple(sorted(filter(_counts, found), key=lambda outage: (outage.since, outage.node or 0)))


class _Stretches:
    """Stretches to be asked which others share time with them."""

    def __init__(self, stretches: Iterable[ConnectionFailure]) -> None:
        self.stretches = sorted(stretches, key=lambda down: down.earliest)
        self.begins = np.array([down.earliest for down in self.stretches], np.int64)
        self.ends = np.array([down.until for down in self.stretches], np.int64)
        self.furthest = np.maximum.accumulate(self.ends) if len(self.ends) else self.ends

    def touch(self, down: ConnectionFailure) -> bool:
        """Whether any of them shares time with a stretch."""
        behind = int(np.searchsorted(self.begins, down.until + CLIENT_TOLERANCE_MS, "right"))
        return behind > 0 and int(self.furthest[behind - 1]) + CLIENT_TOLERANCE_MS >= down.earliest

    def near(self, down: ConnectionFailure) -> list[ConnectionFailure]:
        """Those that share time with a stretch."""
        behind = int(np.searchsorted(self.begins, down.until + CLIENT_TOLERANCE_MS, "right"))
        late = np.flatnonzero(self.ends[:behind] + CLIENT_TOLERANCE_MS >= down.earliest)
        return [self.stretches[at] for at in late.tolist()]


def _that_matter(seen: list[ConnectionFailure]) -> list[ConnectionFailure]:
    """Leave out connections that were closed while nothing else failed: idle ones, orderly ones."""
    failed = _Stretches(down for down in seen if down.weight is not Weight.lost)
    return [down for down in seen if down.weight is not Weight.lost or (down.node is not None and failed.touch(down))]


def _explained(named: list[ConnectionFailure]) -> tuple[list[ConnectionFailure], list[ConnectionFailure]]:
    """Part soft stretches that fall into a hard one of another broker from the rest: that broker kept them waiting."""
    hard = [down for down in named if down.weight is Weight.hard]
    anybody = _Stretches(hard)
    own = {node: _Stretches(down for down in hard if down.node == node) for node in {down.node for down in named}}
    waits = [down.weight is Weight.soft and anybody.touch(down) and not own[down.node].touch(down) for down in named]
    rest = [down for down, is_explained in zip(named, waits, strict=True) if not is_explained]
    return rest, [down for down, is_explained in zip(named, waits, strict=True) if is_explained]


def _blamed(unnamed: list[ConnectionFailure], named: list[ConnectionFailure]) -> list[int | None]:
    """For each stretch that names no broker the one that explains it: of those away then the one missed longest."""
    away = _Stretches(named)
    found: list[int | None] = []
    for down in unnamed:
        lengths: dict[int, tuple[int, int, int]] = {}
        for other in away.near(down):
            node, key = other.node or 0, (other.since - other.until, other.since, other.node or 0)
            lengths[node] = min(lengths.get(node, key), key)
        found.append(min(lengths, key=lambda node: lengths[node], default=None))
    return found


def _of_node(
    own: OwnLogs, node: int, groups: list[list[ConnectionFailure]], pauses: list[ConnectionFailure]
) -> list[BrokerOutage]:
    """Outages of one broker; what falls into the time until it was back (or its log ends) belongs to the one before."""
    still = [pause for pause in pauses if pause.observer.name == f"broker {node}"]
    found: list[BrokerOutage] = []
    for group in groups:
        if all(down.node != node for down in group):
            continue
        outage = _outage(own, node, group, still)
        if found and outage.since <= found[-1].until:
            outage = _outage(own, node, [*found.pop().downs, *group], still)
        found.append(outage)
    return found


def _joined(group: Iterable[ConnectionFailure]) -> list[list[ConnectionFailure]]:
    """Stretches that follow each other without a pause beyond what clocks may differ."""
    joined: list[list[ConnectionFailure]] = []
    until = -1
    for down in sorted(group, key=lambda down: (down.earliest, down.until)):
        if joined and down.earliest <= until + CLIENT_TOLERANCE_MS:
            joined[-1].append(down)
        else:
            joined.append([down])
            until = -1
        until = max(until, down.until)
    return joined


def _counts(outage: BrokerOutage) -> bool:
    """Whether it is more than connections that were closed: something failed for a while, or somebody waited."""
    return outage.duration_ms >= SHORTEST_MS and outage.weight is not Weight.lost


def _outage(
    own: OwnLogs, node: int | None, group: list[ConnectionFailure], pauses: list[ConnectionFailure]
) -> BrokerOutage:
    """Lay a group of stretches together; `pauses` are those in which the broker itself stood still."""
    since, until = min(down.since for down in group), max(down.until for down in group)
    if node is None:
        return BrokerOutage(None, since, until, tuple(group), False, OwnLog.NONE)
    state = own.state(node, since, until)
    still = [pause for pause in pauses if pause.overlaps(since, until, CLIENT_TOLERANCE_MS)]
    if still and state in (OwnLog.STOPS, OwnLog.NONE):
        begin, end = min(since, still[0].earliest), max(until, *(pause.until for pause in still))
        return BrokerOutage(node, begin, end, tuple(group), True, OwnLog.STOOD_STILL)
    end, is_back = _end(own, node, group, until, state)
    return BrokerOutage(node, since, end, tuple(group), is_back, state)


def _end(own: OwnLogs, node: int, group: list[ConnectionFailure], until: int, state: OwnLog) -> tuple[int, bool]:
    """When an outage was over or was seen last, and whether its end was seen."""
    if state is OwnLog.ENDS:
        sources = [own.source(down.rows[0]) for down in group if down.observer.kind == "broker"]
        return max(until, own.ends(sources)), False
    back = own.back(node, until) if state in (OwnLog.STOPS, OwnLog.HARD_STOP, OwnLog.ORDERLY) else None
    return (until, False) if back is None else (back, True)
