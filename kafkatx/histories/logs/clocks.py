"""Whose zone and whose clock: how the printed times of each log lie to the brokers' clock, by events seen from both.

Grain: one source of lines. Shared events are: a producer id and epoch that a client was given, or a broker granted
("Initialized transactionalId"), and the coordinator's Empty row; a broker's line of a rollback and the PrepareAbort row
of that id; and, between logs, the client's and the broker's line of one grant. Where there is none of these: a client's
first refusal as too old, which comes within a minute behind the only rollback of its id.
A log whose own lines show a time in UTC tells its zone by itself. Else a zone is a multiple of 15 minutes that shared
events agree on. Times are moved by the zone alone: what remains is skew, which is told and never applied. A clock that
is an odd amount of time away is wrong, not zoned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from kafkatx.histories.logs.log_model import ASSUMED, Clock
from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.growing import Array
from kafkatx.kernels.rows import INITIALISATION, TRANSACTION
from kafkatx.kernels.transactions import PREPARE_ABORT
from kafkatx.terms.clocks import BROKERS_TOLERANCE_MS
from kafkatx.terms.error_codes import FENCED, error_code
from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.records import dataclass
from kafkatx.text.events import LogFacts

QUARTER_MS = 900_000
FURTHEST_ZONE_MS = 14 * 3_600_000
"""Zones lie between -12:00 and +14:00."""
ZONE_SLACK_MS = 120_000
"""What may remain beside a zone: a clock further away from every zone is a wrong clock."""
HALF_HOUR_MS = 1_800_000
REFUSED_WITHIN_MS = 60_000
"""How soon behind a rollback its client is refused, to be a witness of the zone; other zones than those of half hours
are too rare to be told by so little."""
MOST_EVENTS = 1_000
"""Shared events looked at in one source; more tell nothing new."""

Pairs = list[list[int]]
"""For each event of a source the differences, printed minus brokers', to everything it may be the same as."""


@dataclass(frozen=True, slots=True)
class References:
    """What the coordinator's rows know of events that logs show too: tables of a model, and the names of its ids."""

    initialisations: Any = field(default_factory=lambda: np.zeros(0, INITIALISATION))
    transactions: Any = field(default_factory=lambda: np.zeros(0, TRANSACTION))
    transactional_ids: Sequence[str] = ()

    def grants(self) -> Grants:
        """Producer ids and epochs that Empty rows gave, with the codes of their ids."""
        rows = self.initialisations[self.initialisations["is_tombstone"] == 0]
        return Grants.of(rows["producer_id"], rows["producer_epoch"], rows["id_code"], rows["timestamp"])

    def aborts(self) -> dict[str, Array]:
        """Times of the PrepareAbort rows of each id."""
        rows = np.flatnonzero(self.transactions["decision"] == PREPARE_ABORT)
        ids = self.transactions["id_code"][rows]
        order = np.argsort(ids, kind="stable")
        codes, starts = np.unique(ids[order], return_index=True)
        bounds, times = pairwise([*starts.tolist(), len(order)]), self.transactions["decision_timestamp"][rows[order]]
        return {
            self.transactional_ids[code]: times[first:end]
            for code, (first, end) in zip(codes.tolist(), bounds, strict=True)
        }


@dataclass(frozen=True, slots=True)
class Grants:
    """Producer ids and epochs with the time at which a broker gave them, ordered by both; `names` numbers the ids."""

    keys: Any
    names: Any
    times: Any

    @staticmethod
    def of(producer_ids: Array, epochs: Array, names: Array, times: Array) -> Grants:
        """Order grants; those without a producer id or time are left out."""
        known = np.flatnonzero((producer_ids >= 0) & (epochs >= 0) & (times >= 0))
        keys = _keys(producer_ids[known], epochs[known])
        order = np.argsort(keys, kind="stable")
        return Grants(keys[order], np.asarray(names)[known][order], np.asarray(times)[known][order])

    def names_near(self, producer_id: int, epoch: int, at: int, tolerance_ms: int) -> set[int]:
        """Numbers of the ids that a producer id and epoch were given to about a time."""
        if not len(self.keys):
            return set()
        key = int(_keys(np.array([producer_id]), np.array([epoch]))[0])
        first, end = np.searchsorted(self.keys, [key, key + 1])
        near = np.abs(self.times[first:end] - at) <= tolerance_ms
        return set(self.names[first:end][near].tolist()) - {-1}

    def times_of(self, producer_id: int, epoch: int, name: int) -> list[int]:
        """Times at which a producer id and epoch were given, to the id numbered `name` (-1: not known to which)."""
        key = int(_keys(np.array([producer_id]), np.array([epoch]))[0])
        first, end = np.searchsorted(self.keys, [key, key + 1])
        names, times = self.names[first:end], self.times[first:end]
        return times[(names == name) | (names < 0) | (name < 0)].tolist()  # type: ignore[no-any-return]


def clocks(facts: LogFacts, references: References, log_zone_ms: int | None = None) -> tuple[Clock, ...]:
    """Say of every source how its times lie to the brokers'; `log_zone_ms` is given for those that name no zone."""
    return _Estimates(facts, references, log_zone_ms).all()


class _Estimates:
    """One capture's sources: brokers first, since their lines are what clients are compared with where rows lack."""

    def __init__(self, facts: LogFacts, references: References, log_zone_ms: int | None) -> None:
        self.facts, self.log_zone_ms = facts, log_zone_ms
        self.numbers = {name: number for number, name in enumerate(references.transactional_ids)}
        for text in facts.strings:
            self.numbers.setdefault(text, len(self.numbers))
        self.grants, self.aborts = references.grants(), references.aborts()
        self.found: dict[int, Clock] = {}

    def all(self) -> tuple[Clock, ...]:
        sides = [source.side for source in self.facts.sources]
        brokers = [number for number, side in enumerate(sides) if side == Side.broker]
        clients = [number for number, side in enumerate(sides) if side != Side.broker]
        for number in brokers:
            self._estimate(number, self._grants_of_broker(number), self._rollbacks_of(number))
        self._inherit(brokers)
        told, rollbacks = self._told_by_brokers(brokers), self._told_rollbacks(brokers)
        for number in clients:
            self._estimate(number, self._grants_of_client(number, told), [])
            if number not in self.found:
                self._estimate_by_refusals(number, rollbacks)
        self._inherit(clients)
        return tuple(self.found[number] for number in range(len(sides)))

    def _estimate(self, number: int, grants: Pairs, rollbacks: Pairs) -> None:
        """A grant is one event; a rollback may be another one of the id, so a single one tells no zone."""
        source = self.facts.sources[number]
        given, name = (0, "printed") if source.is_zoned else (self.log_zone_ms, "--log-zone")
        if given is None:
            given, name = zone_of(self._told_by_itself(number)), "by its own lines"
        zone = given if given is not None else zone_of([*grants, *rollbacks] if grants or len(rollbacks) > 1 else [])
        if zone is None and not rollbacks:
            return
        name = name if given is not None else "estimated" if zone else ASSUMED
        self.found[number] = _clock(zone or 0, grants, rollbacks, name)

    def _estimate_by_refusals(self, number: int, rollbacks: dict[int, list[int]]) -> None:
        """Tell the zone by refusals behind rollbacks; unlike grants they tell nothing about the skew."""
        first: dict[int, int] = {}
        for code, at in self._refusals_of(number):
            first.setdefault(code, at)
        pairs = [(at, rollbacks[code][0]) for code, at in first.items() if len(rollbacks.get(code, ())) == 1]
        zones = {zone for at, rolled_back in pairs if (zone := _zone_behind(at - rolled_back)) is not None}
        if len(zones) == 1 and zones != {0}:
            self.found[number] = Clock(zones.pop(), zone_from="estimated")

    def _refusals_of(self, number: int) -> Iterator[tuple[int, int]]:
        """Id (its code) and time of the lines that show a client refused as too old; a single id needs no naming."""
        e = self.facts.events
        mine = e[e["source"] == number]
        names = distinct(mine["transactional_id_code"][mine["transactional_id_code"] >= 0])
        only = int(names[0]) if len(names) == 1 else -1
        for event in mine[np.isin(mine["kind"], _REFUSALS) & (mine["at"] >= 0)][:MOST_EVENTS]:
            code = int(event["transactional_id_code"])
            if error_code(self._root(event)) in FENCED and max(code, only) >= 0:
                yield code if code >= 0 else only, int(event["at"])

    def _root(self, event: Any) -> str:
        """Class of the exception that a line shows at its root."""
        trace = int(event["trace_code"])
        return self.facts.traces[trace].root.exception if trace >= 0 else self._text(event, "error") or ""

    def _told_rollbacks(self, brokers: list[int]) -> dict[int, list[int]]:
        """Times of the rollbacks of each id (its code), as the brokers' logs tell them, in UTC."""
        found: dict[int, list[int]] = {}
        for number in brokers:
            for event in self._events(number, EventKind.timeout_rollback):
                at = int(event["at"]) - self.found[number].zone_ms
                found.setdefault(int(event["transactional_id_code"]), []).append(at)
        return found

    def _told_by_itself(self, number: int) -> Pairs:
        """Lines that show the UTC time of their own writing (`Kafka startTimeMs`), against the time printed."""
        events = self._events(number, EventKind.time_told)
        return [[int(event["at"]) - int(event["number"])] for event in events if event["number"] >= 0]

    def _inherit(self, numbers: list[int]) -> None:
        """Sources without shared events take the zone of their neighbours, where those agree."""
        estimated = [number for number in numbers if number in self.found and not self._is_zoned(number)]
        for number in numbers:
            if number in self.found:
                continue
            folder = PurePosixPath(self.facts.sources[number].path).parent
            near = [other for other in estimated if PurePosixPath(self.facts.sources[other].path).parent == folder]
            zones = {self.found[other].zone_ms for other in near or estimated}
            if len(zones) == 1 and zones != {0}:
                like = self.facts.sources[(near or estimated)[0]].path
                self.found[number] = Clock(zones.pop(), zone_from=f"as {like}")
            else:
                self.found[number] = Clock()

    def _is_zoned(self, number: int) -> bool:
        return self.facts.sources[number].is_zoned

    def _grants_of_broker(self, number: int) -> Pairs:
        return self._grant_pairs(self._events(number, EventKind.initialized), self.grants)

    def _rollbacks_of(self, number: int) -> Pairs:
        pairs = []
        for event in self._events(number, EventKind.timeout_rollback):
            times = self.aborts.get(self._text(event, "transactional_id") or "")
            if times is not None and len(times):
                pairs.append((int(event["at"]) - times).tolist())
        return pairs

    def _grants_of_client(self, number: int, told: Grants) -> Pairs:
        events = self._events(number, EventKind.producer_id_set)
        return self._grant_pairs(events, self.grants) or self._grant_pairs(events, told)

    def _grant_pairs(self, events: Array, grants: Grants) -> Pairs:
        pairs = []
        for event in events:
            if event["producer_id"] >= 0:
                name = self.numbers.get(self._text(event, "transactional_id") or "", -1)
                times = grants.times_of(int(event["producer_id"]), int(event["producer_epoch"]), name)
                if times:
                    pairs.append([int(event["at"]) - time for time in times])
        return pairs

    def _told_by_brokers(self, brokers: list[int]) -> Grants:
        """Grants as the brokers' logs tell them, in UTC."""
        e = self.facts.events
        rows = e[(e["kind"] == EventKind.initialized) & (e["at"] >= 0) & np.isin(e["source"], brokers)]
        zones = np.array([self.found[number].zone_ms for number in brokers], np.int64)
        shift = zones[np.searchsorted(brokers, rows["source"])] if len(brokers) else 0
        names = [self.numbers[self.facts.strings[c]] if c >= 0 else -1 for c in rows["transactional_id_code"].tolist()]
        return Grants.of(rows["producer_id"], rows["producer_epoch"], np.array(names, np.int64), rows["at"] - shift)

    def _events(self, number: int, kind: EventKind) -> Array:
        """Timed events of a kind in a source, evenly thinned out where they are many."""
        e = self.facts.events
        rows: Array = e[(e["source"] == number) & (e["kind"] == kind) & (e["at"] >= 0)]
        return rows[:: -(-len(rows) // MOST_EVENTS)] if len(rows) > MOST_EVENTS else rows

    def _text(self, event: Any, column: str) -> str | None:
        code = int(event[f"{column}_code"])
        return self.facts.strings[code] if code >= 0 else None


def _clock(zone: int, grants: Pairs, rollbacks: Pairs, zone_from: str) -> Clock:
    """Measure what remains beside the zone."""
    remains = np.array([min((diff - zone for diff in diffs), key=abs) for diffs in grants], np.int64)
    others = np.array([min((diff - zone for diff in diffs), key=abs) for diffs in rollbacks], np.int64)
    remains = np.concatenate([remains, _alike(others, remains)])
    if not len(remains):
        return Clock(zone, zone_from=zone_from)
    skew = round(float(np.median(remains)))
    return Clock(zone, skew, round(float(np.median(np.abs(remains - skew)))), len(remains), zone_from)


def _alike(rollbacks: Array, grants: Array) -> Array:
    """Differences of rollbacks that agree with the grants, or among themselves where there is none.

    A rollback may be another one of its id; alone it would set the clock by which it is then judged.
    """
    if not len(grants) and len(rollbacks) < 2:
        return rollbacks[:0]
    middle = np.median(grants if len(grants) else rollbacks)
    alike = rollbacks[np.abs(rollbacks - middle) <= BROKERS_TOLERANCE_MS]
    return alike if len(grants) or len(alike) > 1 else rollbacks[:0]


def zone_of(pairs: Pairs) -> int | None:
    """The zone that most events agree on, None where there is no event; 0 where the differences are no zone's.

    An event votes once for each zone that one of its differences is near to; at equal votes UTC wins, then the nearest.
    """
    if not pairs:
        return None
    votes: dict[int, int] = {}
    for diffs in pairs:
        for zone in {zone for diff in diffs for zone in _zones_near(diff)}:
            votes[zone] = votes.get(zone, 0) + 1
    best = max(votes, key=lambda zone: (votes[zone], zone == 0, -abs(zone)), default=0)
    return best if 2 * votes.get(best, 0) > len(pairs) else 0


def _zones_near(difference: int) -> Iterator[int]:
    zone = round(difference / QUARTER_MS) * QUARTER_MS
    if abs(difference - zone) <= ZONE_SLACK_MS and abs(zone) <= FURTHEST_ZONE_MS:
        yield zone


def _zone_behind(difference: int) -> int | None:
    """The zone in which an event came within a minute behind another one; None where there is none."""
    zone, behind = divmod(difference, HALF_HOUR_MS)
    zone *= HALF_HOUR_MS
    return zone if behind <= REFUSED_WITHIN_MS and abs(zone) <= FURTHEST_ZONE_MS else None


_REFUSALS = (EventKind.failure, EventKind.to_fatal, EventKind.to_abortable, EventKind.fenced)


def _keys(producer_ids: Array, epochs: Array) -> Any:
    return producer_ids.astype(np.int64) * 65_536 + epochs.astype(np.int64)
