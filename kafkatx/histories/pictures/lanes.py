"""What is drawn of an id: a lane for each producer that had it, bars of transactions, a lane of lines for each log.

Grain: one timeline and a window of time. The number of marks is bounded: above it those of one lane and outcome that
lie in one of `BINS` equal parts of the window are one mark with a count, so a hundred thousand transactions are drawn
like a hundred. Times are milliseconds of the brokers' clocks; lines of logs by the brokers' zone, their clock's skew
beside. What has not ended reaches to the end of the evidence, which is as far as anybody knows of it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np

from kafkatx.histories.endings import EndedBy
from kafkatx.histories.events import Event, Outcome
from kafkatx.histories.initialisations import Why
from kafkatx.histories.logs.log_model import Clock
from kafkatx.histories.timeline import Timeline
from kafkatx.histories.timeline_rows import FOREVER, INITIALISATION, LEFTOVER, LINE, TRANSACTION
from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.growing import Array
from kafkatx.kernels.spans import ABORT, COMMIT, OPEN
from kafkatx.kernels.transactions import NOTHING, PREPARE_ABORT, PREPARE_COMMIT
from kafkatx.terms.events import EventKind, Level
from kafkatx.terms.records import dataclass

MOST_LANES = 12
"""Producers of one id that have a lane of their own; of more all share one."""
MOST_LOGS = 8
"""Logs that have a lane; those with the loudest lines stand first."""
MOST_MARKS = 200
"""Bars, and ticks, above which alike ones near to each other are one."""
BINS = 120
OUTCOMES = tuple(Outcome)
FAILED = (
    EventKind.failure, EventKind.to_abortable, EventKind.to_fatal, EventKind.await_timeout, EventKind.produce_failed,
    EventKind.batch_expired, EventKind.batches_failed,
)  # fmt: skip
"""Lines that tell of a failure whatever their level: some clients print none, others print failures at INFO."""


class TickKind(StrEnum):
    """What a tick stands for; of lines the louder stands behind."""

    start = "start"
    """A producer got the id."""
    bump = "bump"
    """The producer that has the id was given its next epoch (KIP-360)."""
    expired = "expired"
    """The coordinator forgot the id."""
    line = "line"
    warning = "warning"
    error = "error"
    """A line at ERROR, or one that tells of a failure."""


TICKS = tuple(TickKind)


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
    """A row that began or ended a producer (lane of a producer), or lines of a log (`kind` is the loudest of them)."""

    lane: int
    at: int
    kind: TickKind
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

    @property
    def is_bare(self) -> bool:
        """Whether it shows next to nothing: no transaction, and no two times of which one is more than a quiet line."""
        marks = (*self.ticks, *self.log_ticks)
        is_quiet = all(tick.kind is TickKind.line for tick in marks)
        return not self.bars and (is_quiet or len({tick.at for tick in marks}) < 2)


def reach(timeline: Timeline) -> tuple[int, int] | None:
    """Return from when to when a timeline tells something, None where nothing of it has a time.

    What has not ended reaches to the end of the evidence; quiet lines of logs count where there is nothing else.
    """
    items = timeline.items[timeline.items["at"] >= 0]
    if not len(items):
        return None
    told = items[(items["kind"] != LINE) | _is_loud(timeline, items)]
    begins, ends = (told if len(told) else items)["at"], items["until"]
    has_open = bool(np.any(ends == FOREVER))
    last = int(np.where(ends == FOREVER, items["at"], ends).max())
    return int(begins.min()), max(last, timeline.model.facts.evidence_end if has_open else last)


def _is_loud(timeline: Timeline, items: Array) -> Array:
    """Which items are lines at WARN and above, or of failures."""
    is_loud = np.zeros(len(items), bool)
    lines = np.flatnonzero(items["kind"] == LINE)
    is_loud[lines] = _loudness(timeline, items["row"][lines]) > TICKS.index(TickKind.line)
    return is_loud


def _loudness(timeline: Timeline, rows: Array) -> Any:
    """Numbers in TICKS of events of logs."""
    events = timeline.model.logs.events[rows]
    level, has_failed = events["level"], np.isin(events["kind"], FAILED)
    kinds = (TickKind.error, TickKind.warning)
    return np.select(
        [has_failed | (level >= Level.error), level >= Level.warn],
        [TICKS.index(kind) for kind in kinds],
        TICKS.index(TickKind.line),
    )


def lane_chart(
    timeline: Timeline,
    since: int | None = None,
    until: int | None = None,
    most_lanes: int = MOST_LANES,
    most_logs: int = MOST_LOGS,
) -> LaneChart | None:
    """Return what is drawn of a timeline in a window of time (None: all of it); None where nothing is in it.

    More producers than `most_lanes` share one lane, of more logs than `most_logs` the loudest have one.
    """
    items, told = timeline.items, reach(timeline)
    if told is None:
        return None
    begin = min(told[0], int(items["at"][items["at"] >= 0].min())) if since is None else since
    end = told[1] if until is None else until
    seen = np.flatnonzero((items["at"] >= 0) & (items["at"] <= end) & (items["until"] >= begin))
    if begin > end or not len(seen):
        return None
    window = _Window(timeline, seen, begin, max(end, begin + 1), most_lanes, most_logs)
    return window.chart()


@dataclass(frozen=True)
class _Window:
    """The items of a timeline that lie in a window."""

    timeline: Timeline
    seen: Array
    since: int
    until: int
    most_lanes: int
    most_logs: int

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
        shown = distinct(items["instance"][told])
        if not len(shown):
            return (), np.zeros(len(items), np.int64)
        if len(shown) > self.most_lanes:
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
            producers=len(distinct(items["instance"])),
            producer_ids=tuple(distinct(producers[producers >= 0]).tolist()),
            first_epoch=int(known.min()) if len(known) else None,
            last_epoch=int(known.max()) if len(known) else None,
        )

    def _logs(self) -> tuple[tuple[LogLane, ...], Array]:
        """The logs that have a lane, and for each line that is seen the number of its lane, -1 for none."""
        logs = self.timeline.model.logs
        rows = self.timeline.items["row"][self._of_kind(LINE)]
        sources, places, counts = np.unique(logs.events["source"][rows], return_inverse=True, return_counts=True)
        loudest = np.zeros(len(sources), np.int64)
        np.maximum.at(loudest, places, _loudness(self.timeline, rows))
        chosen = np.sort(np.lexsort((-counts, -loudest))[: self.most_logs])
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
        is_open = (items["until"] == FOREVER) & (outcomes != _number(Outcome.lost))
        end = np.where(is_open | (items["until"] != FOREVER), np.minimum(items["until"], self.until), begin)
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
        kinds = self._kinds(items)
        counts = np.maximum(items["lines"], 1)
        times = np.clip(items["at"], self.since, self.until)
        if len(items) <= MOST_MARKS:
            return [
                Tick(lane, at, TICKS[kind], count, self.timeline.event(number))
                for number, lane, at, kind, count in zip(
                    chosen.tolist(), lanes.tolist(), times.tolist(), kinds.tolist(), counts.tolist(), strict=True
                )
                if lane >= 0
            ]
        is_line = kinds >= TICKS.index(TickKind.line)
        keys = np.stack([lanes, np.where(is_line, -1, kinds), self._bins(times)], axis=1)
        groups, places = np.unique(keys, axis=0, return_inverse=True)
        places = places.reshape(-1)
        first, loudest, amount = np.full(len(groups), FOREVER), np.full(len(groups), -1), np.zeros(len(groups), int)
        np.minimum.at(first, places, times)
        np.maximum.at(loudest, places, kinds)
        np.add.at(amount, places, counts)
        return [
            Tick(lane, at, TICKS[kind], count, None)
            for (lane, *_), at, kind, count in zip(
                groups.tolist(), first.tolist(), loudest.tolist(), amount.tolist(), strict=True
            )
            if lane >= 0
        ]

    def _kinds(self, items: Array) -> Any:
        """Numbers in TICKS of items of one kind: lines of logs, or rows that began or ended a producer."""
        if len(items) and items["kind"][0] == LINE:
            return _loudness(self.timeline, items["row"])
        why = self.timeline.book.initialisations.why[items["row"]]
        kinds = (TickKind.bump, TickKind.expired)
        return np.select(
            [why == Why.own_bump, why == Why.expired],
            [TICKS.index(kind) for kind in kinds],
            TICKS.index(TickKind.start),
        )

    def _bins(self, times: Array) -> Any:
        """Which part of the window each time lies in."""
        return ((times - self.since) * BINS // (self.until - self.since + 1)).clip(0, BINS - 1)


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
