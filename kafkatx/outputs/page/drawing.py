"""From times and offsets to places on a picture: scales, ticks of an axis, and marks as the templates take them.

A picture is WIDTH units wide, of which the first GUTTER are names of lanes; a browser scales it to its column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kafkatx.histories.endings import EndedBy
from kafkatx.histories.events import Outcome
from kafkatx.histories.pictures.crowd import PARTS, Member
from kafkatx.histories.pictures.lanes import Bar, Lane, LaneChart, LogLane, Tick
from kafkatx.histories.pictures.offsets import OffsetAxis, Stretch
from kafkatx.outputs.chart_words import OUTCOME_WORDS, clock_note, in_words, lane_name, log_name, time_ticks
from kafkatx.outputs.history_words import ENDERS, sentence
from kafkatx.terms.events import Level
from kafkatx.terms.printable import printable
from kafkatx.words.evidence_refs import plural

WIDTH, GUTTER, EDGE = 1_000, 210, 12
LANE, TOP = 30, 8
LEAST = 3
"""Units that a mark is wide at least: what took a millisecond is there as well."""
MOST_TICKS = 6
LONGEST_NAME = 30
"""Characters of a lane's name that fit in the gutter; the whole is the picture's title."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark of a picture: its class, place and size, and what it says when pointed at."""

    kind: str
    x: float
    y: float
    width: float
    says: str
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a lane, short and whole, and the middle of the lane."""

    text: str
    whole: str
    note: str
    y: float


@dataclass(frozen=True, slots=True)
class AxisTick:
    """A place of an axis, and what stands there."""

    x: float
    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """What a template draws; `title` and `says` are what a screen reader reads."""

    title: str
    says: str
    width: int
    height: int
    gutter: int
    names: tuple[Name, ...]
    ticks: tuple[AxisTick, ...]
    bars: tuple[Mark, ...]
    marks: tuple[Mark, ...]
    kinds: frozenset[str]


def timeline_picture(title: str, chart: LaneChart) -> Picture:
    """Return the picture of an id's lanes in a window of time."""
    place = _scale(chart.since, chart.until)
    middles = [TOP + LANE * at + LANE / 2 for at in range(len(chart.lanes) + len(chart.logs))]
    names = [*(_lane_name(lane, y) for lane, y in zip(chart.lanes, middles, strict=False))]
    names += [_log_name(log, y) for log, y in zip(chart.logs, middles[len(chart.lanes) :], strict=True)]
    bars = tuple(_bar(bar, place, middles[bar.lane]) for bar in chart.bars)
    marks = [_tick(tick, place, middles[tick.lane]) for tick in chart.ticks]
    marks += [_tick(tick, place, middles[len(chart.lanes) + tick.lane]) for tick in chart.log_ticks]
    return Picture(
        title=printable(title),
        says=in_words(chart),
        width=WIDTH,
        height=int(TOP + LANE * len(middles) + 34),
        gutter=GUTTER,
        names=tuple(names),
        ticks=tuple(AxisTick(place(at), text) for at, text in time_ticks(chart.since, chart.until, MOST_TICKS)),
        bars=bars,
        marks=tuple(marks),
        kinds=frozenset(mark.kind for mark in (*bars, *marks)),
    )


def _scale(low: int, high: int) -> Callable[[int], float]:
    """From a value to a place right of the gutter."""
    span, room = max(1, high - low), WIDTH - GUTTER - EDGE
    return lambda value: round(GUTTER + room * (min(max(value, low), high) - low) / span, 1)


def _lane_name(lane: Lane, y: float) -> Name:
    whole = lane_name(lane)
    return Name(_short(whole), whole, "", y)


def _log_name(log: LogLane, y: float) -> Name:
    name = log_name(log)
    short = name if len(name) <= LONGEST_NAME else f"...{name[3 - LONGEST_NAME :]}"
    return Name(short, printable(log.path), clock_note(log.clock), y)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 3]}..."


def _bar(bar: Bar, place: Callable[[int], float], y: float) -> Mark:
    x, end = place(bar.begin), place(bar.end) if bar.end is not None else float(WIDTH - EDGE)
    return Mark(bar.outcome.value, x, y, max(LEAST, round(end - x, 1)), printable(_bar_says(bar)), bar.end is None)


def _bar_says(bar: Bar) -> str:
    if bar.event is not None:
        return sentence(bar.event)
    who = f" {ENDERS[bar.ended_by]}" if bar.outcome is Outcome.aborted and bar.ended_by is not EndedBy.unknown else ""
    return f"{plural(bar.count, 'transaction')} {OUTCOME_WORDS[bar.outcome]}{who}"


def _tick(tick: Tick, place: Callable[[int], float], y: float) -> Mark:
    kind = "start" if tick.level is None else _loudness(tick.level)
    if tick.event is not None:
        says = sentence(tick.event)
    else:
        says = plural(tick.count, "line") if tick.level is not None else plural(tick.count, "start")
    return Mark(kind, place(tick.at), y, LEAST, printable(says))


def _loudness(level: Level) -> str:
    return "error" if level >= Level.error else "warning" if level >= Level.warn else "line"


def axis_picture(axis: OffsetAxis) -> Picture:
    """Return the picture of a partition's offsets."""
    place = _scale(axis.log_start, axis.log_end)
    y = TOP + LANE / 2
    bars = [_stretch(one, place, y) for one in sorted(axis.stretches, key=lambda one: one.fate.value == "open")]
    marks = []
    if axis.hidden:
        says = f"offsets {axis.stable:,} to {axis.log_end - 1:,}: read_committed consumers wait at {axis.stable:,}"
        marks = [Mark("hidden", place(axis.stable), y, max(LEAST, place(axis.log_end) - place(axis.stable)), says)]
    name = printable(f"{axis.topic}-{axis.partition}")
    note = f"LSO {axis.stable:,}" if axis.hidden else ""
    return Picture(
        title=f"Offsets of {name}",
        says=f"log from {axis.log_start:,} to {axis.log_end:,}, last stable offset {axis.stable:,}",
        width=WIDTH,
        height=TOP + LANE + 34,
        gutter=GUTTER,
        names=(Name(_short(name), name, note, y),),
        ticks=tuple(AxisTick(place(at), f"{at:,}") for at in offset_ticks(axis.log_start, axis.log_end)),
        bars=tuple(bars),
        marks=tuple(marks),
        kinds=frozenset(mark.kind for mark in (*bars, *marks)),
    )


def offset_ticks(low: int, high: int) -> Iterator[int]:
    """Yield round offsets between two."""
    step = 1
    while (high - low) / step > MOST_TICKS:
        step *= 5 if str(step)[0] == "2" and (high - low) / (step * 5 // 2) > MOST_TICKS else 2
    yield from range(-(-low // step) * step, high + 1, step)


def _stretch(one: Stretch, place: Callable[[int], float], y: float) -> Mark:
    who = "" if one.producer_id is None else f" of producer id {one.producer_id} epoch {one.producer_epoch}"
    amount = f"{plural(one.records, 'record')}{who}" if one.count == 1 else plural(one.count, "transaction")
    says = f"offsets {one.first:,} to {one.last:,}: {one.fate.value}, {amount}"
    x = place(one.first)
    return Mark(one.fate.value, x, y, max(LEAST, round(place(one.last + 1) - x, 1)), says, one.fate.value == "open")


def share_paths(member: Member) -> tuple[str, str]:
    """What an id ended over the time of its capture, and what of it was aborted, as paths in a box of 160 by 24."""
    most = max(member.ended, default=0)
    return _columns(member.ended, most), _columns(member.aborted, most)


def _columns(counts: tuple[int, ...], most: int) -> str:
    wide, high = 160 // PARTS, 24
    heights = [max(1, round(high * count / most)) if count else 0 for count in counts]
    return "".join(f"M{at * wide} {high}v-{one}h{wide - 1}v{one}z" for at, one in enumerate(heights) if one)
