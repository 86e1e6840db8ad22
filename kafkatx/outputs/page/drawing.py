"""From times and offsets to places on a picture: scales, ticks of an axis, and marks as the templates take them.

Across, places are hundredths of the picture's width, which is that of the column that it stands in; downwards they are
pixels. So names and marks are as large on a telephone as on a desk, and only the distances between them shrink. A lane
is its name and below it what is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import add

from kafkatx.histories.endings import EndedBy
from kafkatx.histories.events import Outcome
from kafkatx.histories.pictures.crowd import PARTS, Member
from kafkatx.histories.pictures.lanes import Bar, Lane, LaneChart, LogLane, Tick
from kafkatx.histories.pictures.offsets import OffsetAxis, Stretch
from kafkatx.outputs.chart_words import OUTCOME_WORDS, clock_note, in_words, lane_name, log_name, time_ticks
from kafkatx.outputs.history_words import ENDERS, sentence
from kafkatx.terms.events import Level
from kafkatx.terms.printable import printable
from kafkatx.terms.records import dataclass
from kafkatx.words.plurals import plural

LEFT, RIGHT = 1.6, 96.8
"""Between which things lie: right of it is room for the arrow of what is still open."""
LANE, NAME, TOP, FOOT = 46, 13, 6, 30
"""Heights of a lane, of its name's line, and of what is above and below all lanes."""
LEAST = 0.3
"""How wide a mark is at least: what took a millisecond is there as well."""
MOST_TICKS = 6
NEAR_EDGE = 10.0
"""How near to an edge a tick must be to stand beside its line, not below it."""
LONGEST_NAME, LONGEST_NOTED = 48, 28
"""Characters of a lane's name that fit in a line of a telephone, and where a note stands there as well."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark of a picture: its class, place (`y` is its middle) and width, and what it says when pointed at."""

    kind: str
    x: float
    y: float
    width: float
    says: str
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a lane, short and whole, and where the line stands on which it is written."""

    text: str
    whole: str
    note: str
    y: float


@dataclass(frozen=True, slots=True)
class AxisTick:
    """A place of an axis, and what stands there; `is_spare`: not where there is little room."""

    x: float
    text: str
    anchor: str
    is_spare: bool


@dataclass(frozen=True, slots=True)
class Picture:
    """What a template draws; `title` and `says` are what a screen reader reads."""

    title: str
    says: str
    height: int
    names: tuple[Name, ...]
    ticks: tuple[AxisTick, ...]
    bars: tuple[Mark, ...]
    marks: tuple[Mark, ...]
    kinds: frozenset[str]


def timeline_picture(title: str, chart: LaneChart) -> Picture:
    """Return the picture of an id's lanes in a window of time."""
    place = _scale(chart.since, chart.until)
    tops = [TOP + LANE * at for at in range(len(chart.lanes) + len(chart.logs))]
    middles = [_middle(top) for top in tops]
    names = [*(_lane_name(lane, y) for lane, y in zip(chart.lanes, tops, strict=False))]
    names += [_log_name(log, y) for log, y in zip(chart.logs, tops[len(chart.lanes) :], strict=True)]
    bars = tuple(_bar(bar, place, middles[bar.lane]) for bar in chart.bars)
    marks = [_tick(tick, place, middles[tick.lane]) for tick in chart.ticks]
    marks += [_tick(tick, place, middles[len(chart.lanes) + tick.lane]) for tick in chart.log_ticks]
    return Picture(
        title=printable(title),
        says=in_words(chart),
        height=TOP + LANE * len(tops) + FOOT,
        names=tuple(names),
        ticks=_axis(place, time_ticks(chart.since, chart.until, MOST_TICKS)),
        bars=bars,
        marks=tuple(marks),
        kinds=frozenset(mark.kind for mark in (*bars, *marks)),
    )


def _scale(low: int, high: int) -> Callable[[int], float]:
    """From a value to a place."""
    span = max(1, high - low)
    return lambda value: round(LEFT + (RIGHT - LEFT) * (min(max(value, low), high) - low) / span, 2)


def _axis(place: Callable[[int], float], ticks: Iterable[tuple[int, str]]) -> tuple[AxisTick, ...]:
    """The ticks of an axis; every other one is spare."""
    placed = [(place(at), text) for at, text in ticks]
    return tuple(AxisTick(x, text, _anchor(x), number % 2 == 1) for number, (x, text) in enumerate(placed))


def _anchor(x: float) -> str:
    return "start" if x < NEAR_EDGE else "end" if x > 100 - NEAR_EDGE else "middle"


def _middle(top: int) -> float:
    """Where a lane is drawn that begins at `top`."""
    return top + NAME + (LANE - NAME) / 2


def _lane_name(lane: Lane, top: int) -> Name:
    whole = lane_name(lane)
    return Name(_short(whole), whole, "", top + NAME)


def _log_name(log: LogLane, top: int) -> Name:
    name, note = log_name(log), clock_note(log.clock)
    most = LONGEST_NOTED if note else LONGEST_NAME
    short = name if len(name) <= most else f"...{name[3 - most :]}"
    return Name(short, printable(log.path), note, top + NAME)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 3]}..."


def _bar(bar: Bar, place: Callable[[int], float], y: float) -> Mark:
    x, end = place(bar.begin), place(bar.end) if bar.end is not None else RIGHT
    return Mark(bar.outcome.value, x, y, _wide(x, end), printable(_bar_says(bar)), bar.end is None)


def _wide(x: float, end: float) -> float:
    return max(LEAST, round(end - x, 2))


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
    y = _middle(TOP)
    bars = [_stretch(one, place, y) for one in sorted(axis.stretches, key=lambda one: one.fate.value == "open")]
    marks = []
    if axis.hidden:
        says = f"offsets {axis.stable:,} to {axis.log_end - 1:,}: read_committed consumers wait at {axis.stable:,}"
        marks = [Mark("hidden", place(axis.stable), y, _wide(place(axis.stable), place(axis.log_end)), says)]
    name = printable(f"{axis.topic}-{axis.partition}")
    note = f"LSO {axis.stable:,}" if axis.hidden else ""
    return Picture(
        title=f"Offsets of {name}",
        says=f"log from {axis.log_start:,} to {axis.log_end:,}, last stable offset {axis.stable:,}",
        height=TOP + LANE + FOOT,
        names=(Name(_short(name), name, note, TOP + NAME),),
        ticks=_axis(place, ((at, f"{at:,}") for at in offset_ticks(axis.log_start, axis.log_end))),
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
    return Mark(one.fate.value, x, y, _wide(x, place(one.last + 1)), says, one.fate.value == "open")


def share_paths(member: Member) -> tuple[str, str, str]:
    """What an id began over the time of its capture, what of it is open or was aborted, and what was aborted.

    Paths in a box of 160 by 24, to be painted one over the other.
    """
    most = max(member.begun, default=0)
    unkept = tuple(map(add, member.open, member.aborted)) if any(member.open) else ()
    return _columns(member.begun, most), _columns(unkept, most), _columns(member.aborted, most)


def _columns(counts: tuple[int, ...], most: int) -> str:
    wide, high = 160 // PARTS, 24
    heights = [max(1, round(high * count / most)) if count else 0 for count in counts]
    return "".join(f"M{at * wide} {high}v-{one}h{wide - 1}v{one}z" for at, one in enumerate(heights) if one)
