"""What is drawn of an id: a lane for each producer that had it, bars of transactions, a lane of lines for each log.

Grain: one timeline and a window of time. The number of marks is bounded: above it those of one lane and outcome that
lie in one of `BINS` equal parts of the window are one mark with a count, so a hundred thousand transactions are drawn
like a hundred. Times are milliseconds of the brokers' clocks; lines of logs by the brokers' zone, their clock's skew
beside.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kafkatx.histories.endings import EndedBy
from kafkatx.histories.events import Event, Outcome
from kafkatx.histories.logs.log_model import Clock
from kafkatx.histories.timeline import Timeline
from kafkatx.histories.timeline_rows import FOREVER, INITIALISATION, LEFTOVER, LINE, TRANSACTION
from kafkatx.kernels.growing import Array
from kafkatx.kernels.spans import ABORT, COMMIT, OPEN
from kafkatx.kernels.transactions import NOTHING, PREPARE_ABORT, PREPARE_COMMIT
from kafkatx.terms.events import Level
from kafkatx.terms.records import dataclass

MOST_LANES = 12
"""Producers of one id that have a lane of their own; of more all share one."""
MOST_LOGS = 8
"""Logs that have a lane; those with the loudest lines stand first."""
MOST_MARKS = 200
"""Bars, and ticks, above which alike ones near to each other are one."""
BINS = 120
OUTCOMES = tuple(Outcome)


@dataclass(frozen=True, slots=True)
class Lane:
    """A producer that had the id, by its number from 1, or all of them (number 0)."""

    number: int
    producers: int
    producer_ids: tuple[int, ...]
    first_epoch: int | None
    last_epoch: int | None


@dataclass(frozen=True, slots=True)
class LogLane:
    """A log whose lines tell of the id; `path` as given."""

    path: str
    clock: Clock
    lines: int


@dataclass(frozen=True, slots=True)
class Bar:
    """Transactions of one outcome; `end` None: not ended. `event` is the one that it stands for, None for several."""

    lane: int
    begin: int
    end: int | None
    outcome: Outcome
    ended_by: EndedBy
    count: int
    event: Event | None


@dataclass(frozen=True, slots=True)
class Tick:
    """A row that began or ended a producer (lane of a producer), or lines of a log (`level` is the loudest of them)."""

    lane: int
    at: int
    level: Level | None
    count: int
    event: Event | None


@dataclass(frozen=True, slots=True)
class LaneChart:
    """A window of a timeline; `ticks` lie on `lanes`, `log_ticks` on `logs`."""

    since: int
    until: int
    lanes: tuple[Lane, ...]
    logs: tuple[LogLane, ...]
    bars: tuple[Bar, ...]
    ticks: tuple[Tick, ...]
    log_ticks: tuple[Tick, ...]


def lane_chart(timeline: Timeline, since: int | None = None, until: int | None = None) -> LaneChart | None:
    """Return what is drawn of a timeline in a window of time (None: all of it); None where nothing has a time."""
    items = timeline.items
    ends = np.where(items["until"] == FOREVER, items["at"], items["until"])
    begin = int(items["at"][items["at"] >= 0].min(initial=FOREVER)) if since is None else since
    end = int(ends.max(initial=-1)) if until is None else until
    seen = np.flatnonzero((items["at"] >= 0) & (items["at"] <= end) & (items["until"] >= begin))
    if begin > end or not len(seen):
        return None
    window = _Window(timeline, seen, begin, max(end, begin + 1))
    return window.chart()


@dataclass(frozen=True)
class _Window:
    """The items of a timeline that lie in a window."""

    timeline: Timeline
    seen: Array
    since: int
    until: int

    def chart(self) -> LaneChart:
        """Put them on lanes."""
        lanes, lane_of = self._lanes()
        logs, log_of = self._logs()
        return LaneChart(
            since=self.since,
            until=self.until,
            lanes=lanes,
            logs=logs,
            bars=tuple(self._bars(lane_of)),
            ticks=tuple(self._ticks(self._of_kind(INITIALISATION), lane_of[self._places(INITIALISATION)])),
            log_ticks=tuple(self._ticks(self._of_kind(LINE), log_of)),
        )

    def _places(self, *kinds: int) -> Array:
        """Where the items of these kinds stand among those that are seen."""
        return np.flatnonzero(np.isin(self.timeline.items["kind"][self.seen], kinds))

    def _of_kind(self, *kinds: int) -> Array:
        return self.seen[self._places(*kinds)]

    def _lanes(self) -> tuple[tuple[Lane, ...], Array]:
        """The lanes, and the number of the lane of each item that is seen."""
        items = self.timeline.items[self.seen]
        told = items["kind"] != LINE
        numbers, places = np.unique(items["instance"], return_inverse=True)
        shown = np.unique(items["instance"][told])
        if not len(shown):
            return (), np.zeros(len(items), np.int64)
        if len(shown) > MOST_LANES:
            return (self._lane(0, items[told]),), np.zeros(len(items), np.int64)
        lanes = tuple(self._lane(int(number), items[told & (items["instance"] == number)]) for number in shown)
        return lanes, np.searchsorted(shown, numbers)[places]

    def _lane(self, number: int, items: Array) -> Lane:
        model = self.timeline.model
        inits = model.initialisations[items["row"][items["kind"] == INITIALISATION]]
        rows = items["row"][items["kind"] == TRANSACTION]
        spans = model.spans[items["row"][items["kind"] == LEFTOVER]]
        producers = np.concatenate(
            [inits["producer_id"], model.transactions["producer_id"][rows], spans["producer_id"]]
        )
        epochs = np.concatenate([inits["producer_epoch"], model.ends.data_epoch[rows], spans["producer_epoch"]])
        known = epochs[epochs >= 0]
        return Lane(
            number=number,
            producers=len(np.unique(items["instance"])),
            producer_ids=tuple(np.unique(producers[producers >= 0]).tolist()),
            first_epoch=int(known.min()) if len(known) else None,
            last_epoch=int(known.max()) if len(known) else None,
        )

    def _logs(self) -> tuple[tuple[LogLane, ...], Array]:
        """The logs that have a lane, and for each line that is seen the number of its lane, -1 for none."""
        logs = self.timeline.model.logs
        rows = self.timeline.items["row"][self._of_kind(LINE)]
        sources, places, counts = np.unique(logs.events["source"][rows], return_inverse=True, return_counts=True)
        loudest = np.zeros(len(sources), np.int64)
        np.maximum.at(loudest, places, logs.events["level"][rows])
        chosen = np.sort(np.lexsort((-counts, -loudest))[:MOST_LOGS])
        lanes = tuple(
            LogLane(logs.facts.sources[int(sources[at])].path, logs.clocks[int(sources[at])], int(counts[at]))
            for at in chosen.tolist()
        )
        of_source = np.full(len(sources), -1)
        of_source[chosen] = np.arange(len(chosen))
        return lanes, of_source[places]

    def _bars(self, lane_of: Array) -> list[Bar]:
        places = self._places(TRANSACTION, LEFTOVER)
        items, lanes = self.timeline.items[self.seen[places]], lane_of[places]
        outcomes, enders = _fates(self.timeline, items)
        begin = np.maximum(items["at"], self.since)
        end = np.minimum(items["until"], self.until)
        is_open = items["until"] == FOREVER
        if len(items) <= MOST_MARKS:
            return [
                Bar(lane, first, None if still else last, OUTCOMES[outcome], EndedBy(by), 1, self.timeline.event(at))
                for at, lane, first, last, still, outcome, by in zip(
                    self.seen[places].tolist(), lanes.tolist(), begin.tolist(), end.tolist(), is_open.tolist(),
                    outcomes.tolist(), enders.tolist(), strict=True,
                )
            ]  # fmt: skip
        return self._binned_bars(lanes, begin, end, is_open, outcomes, enders)

    def _binned_bars(self, *columns: Array) -> list[Bar]:
        """Those of one lane, outcome and ender that begin in one part of the window as one."""
        lanes, begin, end, is_open, outcomes, enders = columns
        keys = np.stack([lanes, outcomes, enders, is_open.astype(np.int64), self._bins(begin)], axis=1)
        groups, places, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
        places = places.reshape(-1)
        first, last = np.full(len(groups), FOREVER), np.full(len(groups), -1)
        np.minimum.at(first, places, begin)
        np.maximum.at(last, places, end)
        return [
            Bar(lane, since, None if still else until, OUTCOMES[outcome], EndedBy(by), count, None)
            for (lane, outcome, by, still, _), since, until, count in zip(
                groups.tolist(), first.tolist(), last.tolist(), counts.tolist(), strict=True
            )
        ]

    def _ticks(self, chosen: Array, lanes: Array) -> list[Tick]:
        """Ticks of items on their lanes; those without a lane have none."""
        items = self.timeline.items[chosen]
        levels = np.full(len(items), -1)
        if len(items) and items["kind"][0] == LINE:
            levels = self.timeline.model.logs.events["level"][items["row"]].astype(np.int64)
        counts = np.maximum(items["lines"], 1)
        times = np.clip(items["at"], self.since, self.until)
        if len(items) <= MOST_MARKS:
            return [
                Tick(lane, at, _level(level), count, self.timeline.event(number))
                for number, lane, at, level, count in zip(
                    chosen.tolist(), lanes.tolist(), times.tolist(), levels.tolist(), counts.tolist(), strict=True
                )
                if lane >= 0
            ]
        keys = np.stack([lanes, self._bins(times)], axis=1)
        groups, places = np.unique(keys, axis=0, return_inverse=True)
        places = places.reshape(-1)
        first, loudest, amount = np.full(len(groups), FOREVER), np.full(len(groups), -1), np.zeros(len(groups), int)
        np.minimum.at(first, places, times)
        np.maximum.at(loudest, places, levels)
        np.add.at(amount, places, counts)
        return [
            Tick(lane, at, _level(level), count, None)
            for (lane, _), at, level, count in zip(
                groups.tolist(), first.tolist(), loudest.tolist(), amount.tolist(), strict=True
            )
            if lane >= 0
        ]

    def _bins(self, times: Array) -> Any:
        """Which part of the window each time lies in."""
        return ((times - self.since) * BINS // (self.until - self.since + 1)).clip(0, BINS - 1)


def _level(level: int) -> Level | None:
    return Level(level) if level >= 0 else None


def _fates(timeline: Timeline, items: Array) -> tuple[Any, Any]:
    """Numbers in OUTCOMES, and EndedBy, of transactions and of data that no transaction owns."""
    model, is_whole = timeline.model, items["kind"] == TRANSACTION
    outcomes, enders = np.zeros(len(items), np.int64), np.full(len(items), int(EndedBy.unknown))
    rows = items["row"][is_whole]
    t = model.transactions[rows]
    done, follows = t["completion_offset"] >= 0, t["next_state"] != NOTHING
    outcomes[is_whole] = np.select(
        [(t["decision"] == PREPARE_COMMIT) & done, t["decision"] == PREPARE_COMMIT,
         (t["decision"] == PREPARE_ABORT) & done, t["decision"] == PREPARE_ABORT, ~follows],
        [_number(Outcome.committed), _number(Outcome.committing), _number(Outcome.aborted), _number(Outcome.aborting),
         _number(Outcome.open)],
        _number(Outcome.lost),
    )  # fmt: skip
    enders[is_whole] = model.ends.ended_by[rows]
    spans = model.spans[items["row"][~is_whole]]
    marked = spans["marker_offset"] >= 0
    outcomes[~is_whole] = np.select(
        [marked & (spans["marker_kind"] == COMMIT), marked & (spans["marker_kind"] == ABORT),
         (spans["flags"] & OPEN) != 0],
        [_number(Outcome.committed), _number(Outcome.aborted), _number(Outcome.open)],
        _number(Outcome.lost),
    )  # fmt: skip
    return outcomes, enders


def _number(outcome: Outcome) -> int:
    return OUTCOMES.index(outcome)
