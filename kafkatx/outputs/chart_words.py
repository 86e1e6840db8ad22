"""What pictures of a timeline say, on a page and on a terminal: names of lanes, outcomes, ticks of an axis of time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from kafkatx.histories.events import Outcome
from kafkatx.histories.logs.log_model import Clock
from kafkatx.histories.pictures.lanes import Lane, LaneChart, LogLane
from kafkatx.histories.pictures.offsets import Fate
from kafkatx.terms.printable import printable
from kafkatx.terms.times import duration, iso
from kafkatx.words.plurals import plural

OUTCOME_WORDS = {
    Outcome.committed: "committed",
    Outcome.aborted: "aborted",
    Outcome.committing: "decided to commit, and not complete",
    Outcome.aborting: "decided to abort, and not complete",
    Outcome.open: "open",
    Outcome.lost: "without its end in what was read",
}
FATE_WORDS = {
    Fate.committed: OUTCOME_WORDS[Outcome.committed],
    Fate.undecided: OUTCOME_WORDS[Outcome.lost],
    Fate.aborted: OUTCOME_WORDS[Outcome.aborted],
    Fate.aborting: OUTCOME_WORDS[Outcome.aborting],
    Fate.committing: OUTCOME_WORDS[Outcome.committing],
    Fate.open: OUTCOME_WORDS[Outcome.open],
}
"""The same of stretches of a partition's offsets."""
SKEW_WORTH_TELLING_MS = 500
"""How far a log's clock must be off to be told."""
STEPS = tuple(
    unit * number
    for unit, numbers in (
        (1, (1, 2, 5, 10, 20, 50, 100, 200, 500)),
        (1_000, (1, 2, 5, 10, 15, 30)),
        (60_000, (1, 2, 5, 10, 15, 30)),
        (3_600_000, (1, 2, 3, 6, 12)),
        (86_400_000, (1, 2, 7, 14, 30, 90, 365)),
    )
    for number in numbers
)
"""Milliseconds between two ticks of an axis of time."""
MOST_IDS = 3
"""Producer ids that the name of a lane lists."""


def lane_name(lane: Lane, *, with_ids: bool = True) -> str:
    """Return `T1, producer id 7, epochs 0 to 4`, or the same without the id."""
    epochs = "" if lane.first_epoch is None else f"epoch {lane.first_epoch}"
    if lane.last_epoch != lane.first_epoch:
        epochs = f"epochs {lane.first_epoch} to {lane.last_epoch}"
    ids = [*map(str, lane.producer_ids[:MOST_IDS]), *(["..."] if len(lane.producer_ids) > MOST_IDS else [])]
    what = f"T{lane.number}" if lane.number else plural(lane.producers, "producer")
    return ", ".join(filter(None, (what, f"producer id {', '.join(ids)}" if ids and with_ids else "", epochs)))


def log_name(log: LogLane) -> str:
    """Return the name of a log's file."""
    return printable(PurePath(log.path).name)


def clock_note(clock: Clock) -> str:
    """Return `clock 1.2 s ahead (estimated)`, empty where it is right as far as a reader cares."""
    skew = clock.skew_ms
    if skew is None or abs(skew) < SKEW_WORTH_TELLING_MS:
        return ""
    return f"clock {duration(abs(skew))} {'ahead' if skew > 0 else 'behind'} (estimated)"


def time_ticks(since: int, until: int, most: int) -> Iterator[tuple[int, str]]:
    """Yield times at round steps, at most about `most`, and how they are written: the shorter the time, the finer."""
    step = next((one for one in STEPS if (until - since) / one <= most), STEPS[-1])
    for at in range(-(-since // step) * step, until + 1, step):
        text = iso(at)
        if text is not None:
            date, time = text[:10], text[11:23]
            yield at, date if step >= STEPS[-7] else time[:8] if step >= 1_000 else time


def in_words(chart: LaneChart) -> str:
    """Return what a chart shows: how many lanes and logs, and transactions by outcome."""
    counts = {outcome: sum(bar.count for bar in chart.bars if bar.outcome is outcome) for outcome in Outcome}
    told = [f"{count:,} {OUTCOME_WORDS[outcome]}" for outcome, count in counts.items() if count]
    lanes = f"{plural(len(chart.lanes), 'lane')} of producers and {plural(len(chart.logs), 'log')}"
    return f"{lanes}; transactions: {', '.join(told) or 'none'}"
