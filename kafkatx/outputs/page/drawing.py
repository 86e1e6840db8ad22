"""From times and offsets to places on a picture: scales, ticks of an axis, and marks as the templates take them.

Across, places are hundredths of the picture's width, which is that of the column that it stands in; downwards they are
pixels. So names and marks are as large on a telephone as on a desk, and only the distances between them shrink. A lane
is its name and below it what is drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from operator import add

from kafkatx.histories.endings import EndedBy
from kafkatx.histories.events import Outcome
from kafkatx.histories.pictures.crowd import PARTS, Member
from kafkatx.histories.pictures.lanes import Bar, Lane, LaneChart, LogLane, Tick, TickKind
from kafkatx.histories.pictures.offsets import UNMARKED, OffsetAxis, Stretch
from kafkatx.outputs.chart_words import FATE_WORDS, OUTCOME_WORDS, clock_note, in_words, lane_name, log_name, time_ticks
from kafkatx.outputs.history_words import ENDERS, sentence
from kafkatx.terms.printable import printable
from kafkatx.terms.records import dataclass
from kafkatx.words.plurals import plural

LEFT, RIGHT = 1.6, 96.8
"""Between which things lie: right of it is room for the arrow of what is still open."""
LANE, NAME, TOP, FOOT = 38, 13, 6, 30
"""Heights of a lane, of its name's line, and of what is above and below all lanes."""
LABEL = 18
"""Height of the line on which it is written where the last stable offset is."""
LEAST = 0.3
"""How wide a mark is at least: what took a millisecond is there as well."""
ROWS = {TickKind.start: "start", TickKind.bump: "next epoch", TickKind.expired: "expiry"}
"""What ticks that are no lines stand for."""
LEAST_HIGH = 5
"""The same of a column, in a box that is 24 high."""
MOST_TICKS = 6
NEAR_EDGE = 10.0
"""How near to an edge a tick must be to stand beside its line, not below it."""
LONGEST_NAME, LONGEST_NOTED = 48, 28
"""Characters of a lane's name that fit in a line of a telephone, and where a note stands there as well."""
LONGEST_ID, SHORTEST_ID = 22, 8
"""Characters of an id in the name of one of its lanes, at most and at least."""


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
class Label:
    """A place across that has a name: a line down to `until`, and the name beside its head."""

    x: float
    y: float
    until: float
    text: str
    anchor: str


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
    labels: tuple[Label, ...] = ()


def timeline_picture(title: str, charts: Iterable[tuple[str, LaneChart]]) -> Picture:
    """Return the picture of the lanes of one id, or of several on one axis: all charts are of the same window.

    A log that tells of several of them has one lane, below all others.
    """
    told = list(charts)
    since, until = told[0][1].since, told[0][1].until
    place, is_one = _scale(since, until), len(told) == 1
    names: dict[int, Name] = {}
    bars: list[Mark] = []
    marks: list[Mark] = []
    for (id, chart), (of_lanes, of_logs) in zip(told, _tops([chart for _, chart in told]), strict=True):
        owner, has_one = "" if is_one else id, len(of_lanes) == 1
        names |= {y: _lane_name(lane, y, owner, has_one) for lane, y in zip(chart.lanes, of_lanes, strict=True)}
        names |= {y: _log_name(log, y) for log, y in zip(chart.logs, of_logs, strict=True)}
        bars += [_bar(bar, place, _middle(of_lanes[bar.lane])) for bar in chart.bars]
        marks += [_tick(tick, place, _middle(of_lanes[tick.lane])) for tick in chart.ticks]
        marks += [_tick(tick, place, _middle(of_logs[tick.lane])) for tick in chart.log_ticks]
    return Picture(
        title=printable(title),
        says="; ".join(f"{'' if is_one else f'{printable(id)}: '}{in_words(chart)}" for id, chart in told),
        height=TOP + LANE * len(names) + FOOT,
        names=tuple(names[y] for y in sorted(names)),
        ticks=_axis(place, time_ticks(since, until, MOST_TICKS)),
        bars=tuple(bars),
        marks=tuple(marks),
        kinds=frozenset(mark.kind for mark in (*bars, *marks)),
    )


def _tops(charts: list[LaneChart]) -> list[tuple[list[int], list[int]]]:
    """Where the lanes and the logs of each chart begin: one below the other, logs of several behind all."""
    count = Counter(log.path for chart in charts for log in chart.logs)
    top, lanes = TOP, list[list[int]]()
    logs: dict[str, int] = {}
    for chart in charts:
        lanes.append([top + LANE * at for at in range(len(chart.lanes))])
        top += LANE * len(chart.lanes)
        for log in chart.logs:
            if count[log.path] == 1:
                logs[log.path] = top
                top += LANE
    for path in [path for path in count if path not in logs]:
        logs[path] = top
        top += LANE
    return [(of_one, [logs[log.path] for log in chart.logs]) for of_one, chart in zip(lanes, charts, strict=True)]


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


def _lane_name(lane: Lane, top: int, id: str, has_one: bool) -> Name:
    """Its producer; where several ids are in a picture, behind as much of the id as has room.

    There the first and only producer of an id is no T1: findings call the ids so.
    """
    whole = lane_name(lane)
    if not id:
        return Name(_short(whole), whole, "", top + NAME)
    fits = len(id) + len(f": {whole}") <= LONGEST_NAME
    told, whole = (name.removeprefix("T1, ") if has_one else name for name in (lane_name(lane, with_ids=fits), whole))
    room = max(SHORTEST_ID, min(LONGEST_ID, LONGEST_NAME - len(f": {told}")))
    short = id if len(id) <= room else f"{id[: room // 2]}..{id[2 - room // 2 :]}"
    return Name(_short(f"{printable(short)}: {told}"), f"{printable(id)}: {whole}", "", top + NAME)


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
    says = sentence(tick.event) if tick.event is not None else plural(tick.count, ROWS.get(tick.kind, "line"))
    return Mark(tick.kind.value, place(tick.at), y, LEAST, printable(says))


def axis_picture(axis: OffsetAxis) -> Picture:
    """Return the picture of a partition's offsets; where the last stable offset hides something it is marked."""
    place = _scale(axis.log_start, axis.log_end)
    shift = LABEL if axis.hidden else 0
    y = _middle(TOP) + shift
    bars = [_stretch(one, place, y) for one in sorted(axis.stretches, key=lambda one: one.fate in UNMARKED)]
    marks: list[Mark] = []
    labels: list[Label] = []
    if axis.hidden:
        x = place(axis.stable)
        says = f"offsets {axis.stable:,} to {axis.log_end - 1:,}: read_committed consumers wait at {axis.stable:,}"
        marks = [Mark("hidden", x, y, _wide(x, place(axis.log_end)), says)]
        anchor = "start" if x <= (LEFT + RIGHT) / 2 else "end"
        labels = [Label(x, TOP + NAME + LABEL - 2, y + 11, f"LSO {axis.stable:,}", anchor)]
    name = printable(f"{axis.topic}-{axis.partition}")
    return Picture(
        title=f"Offsets of {name}",
        says=f"log from {axis.log_start:,} to {axis.log_end:,}, last stable offset {axis.stable:,}",
        height=TOP + LANE + shift + FOOT,
        names=(Name(_short(name), name, "", TOP + NAME),),
        ticks=_axis(place, ((at, f"{at:,}") for at in offset_ticks(axis.log_start, axis.log_end))),
        bars=tuple(bars),
        marks=tuple(marks),
        kinds=frozenset(mark.kind for mark in (*bars, *marks)),
        labels=tuple(labels),
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
    says = f"offsets {one.first:,} to {one.last:,}: {FATE_WORDS[one.fate]}, {amount}"
    x = place(one.first)
    return Mark(one.fate.value, x, y, _wide(x, place(one.last + 1)), says)


def share_paths(member: Member, most: int) -> tuple[str, str, str]:
    """What an id began over the time of its capture, what of it was not ended or was aborted, and what was aborted.

    Paths in a box of 160 by 24, to be painted one over the other; `most` transactions are as high as the box.
    """
    unkept = tuple(map(add, member.open, member.aborted)) if any(member.open) else ()
    return _columns(member.begun, most), _columns(unkept, most), _columns(member.aborted, most)


def highest(member: Member) -> int:
    """How many transactions of an id are in the fullest part of the capture's time."""
    return max((*member.begun, *(open + lost for open, lost in zip(member.open, member.aborted, strict=True))))


def _columns(counts: tuple[int, ...], most: int) -> str:
    wide, high = 160 // PARTS, 24
    heights = [max(LEAST_HIGH, round(high * count / most)) if count else 0 for count in counts]
    return "".join(f"M{at * wide} {high}v-{one}h{wide - 1}v{one}z" for at, one in enumerate(heights) if one)
