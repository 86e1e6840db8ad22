"""A timeline short enough to read: things alike in a row are told as one, what stands out is told in full.

The shorter it must be, the more counts as alike: first only ends by the client of one kind and plain restarts, then all
that the client did, then everything that was ended and marked. What is open, unmarked, undecided or lacks rows is never
folded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from kafkatx.histories.endings import EndedBy, Protocol
from kafkatx.histories.events import Folded, Outcome, TimelineEntry
from kafkatx.histories.initialisations import Why
from kafkatx.histories.timeline import Timeline
from kafkatx.histories.timeline_events import rows_missing
from kafkatx.histories.timeline_rows import INITIALISATION, LEFTOVER, LINE, TRANSACTION
from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.growing import Array
from kafkatx.kernels.transactions import PREPARE_COMMIT
from kafkatx.terms.events import EventKind

SHORTEST_FOLD = 4
"""Fewer things than this are told one by one."""
MOST_ENTRIES = 60
"""A timeline longer than this is folded harder."""
REPEATING = (
    EventKind.produce_retry, EventKind.node_disconnected, EventKind.connection_failed, EventKind.request_timed_out,
    EventKind.request_cancelled, EventKind.batch_expired, EventKind.concurrent_transactions, EventKind.marker_retry,
    EventKind.stale_epoch, EventKind.sequence_refused,
)  # fmt: skip
APART = -1
"""Class of what is told in full; anything else may be folded with its neighbours of the same class."""
LEVELS = 3


def folded(timeline: Timeline, most: int = MOST_ENTRIES) -> Iterator[TimelineEntry]:
    """Yield the events of a timeline with stretches folded, to at most about `most` entries where that is possible."""
    starts = np.zeros(0, np.int64)
    for level in range(LEVELS):
        starts = _starts(timeline, _classes(timeline, level))
        if len(starts) <= most:
            break
    for first, end in pairwise([*starts.tolist(), len(timeline.items)]):
        if end - first < SHORTEST_FOLD:
            for at in range(first, end):
                yield from timeline.notes(at)
                yield timeline.event(at)
        else:
            yield from timeline.notes(first)
            yield _fold(timeline, first, end)


def _classes(timeline: Timeline, level: int) -> Array:
    """Class of each item: what may be folded together at a level."""
    items, model, book = timeline.items, timeline.model, timeline.book
    found = np.full(len(items), APART)
    at = np.flatnonzero(items["kind"] == TRANSACTION)
    found[at] = _of_transactions(timeline, items["row"][at], level)
    at = np.flatnonzero(items["kind"] == INITIALISATION)
    why, missing = (
        book.initialisations.why[items["row"][at]],
        model.initialisations["is_contiguous"][items["row"][at]] == 0,
    )
    plain = [
        np.isin(why, (Why.restart, Why.own_bump)) & ~missing,
        np.isin(why, (Why.restart, Why.own_bump)),
        why != Why.expired,
    ]
    found[at] = np.where(plain[level], (10 + why, 1, 1)[level], APART)
    at = np.flatnonzero(items["kind"] == LEFTOVER)
    spans = model.spans[items["row"][at]]
    of_kind = 20 + spans["marker_kind"].astype(np.int64) + 10 * (spans["first_offset"] < 0)
    found[at] = np.where(spans["marker_offset"] >= 0, (of_kind, 20, 1)[level], APART)
    at = np.flatnonzero(items["kind"] == LINE)
    found[at] = _of_lines(model.logs.events["kind"][items["row"][at]].astype(np.int64), level)
    return found


def _of_lines(kinds: Array, level: int) -> Array:
    """Lines that repeat themselves while something lasts are alike first, then all of a kind, then whatever is told."""
    if level == 2:
        return np.ones(len(kinds), np.int64)
    repeating = np.isin(kinds, REPEATING) | (level == 1)
    found: Array = np.where(repeating, 100 + kinds, APART)
    return found


def _of_transactions(timeline: Timeline, rows: Array, level: int) -> Array:
    model, sums = timeline.model, timeline.book.sums
    t = model.transactions[rows]
    whole = (t["completion_offset"] >= 0) & sums.is_marked[rows] & ~rows_missing(t)
    by_client = model.ends.ended_by[rows] == EndedBy.client
    same_producer = t["completed_producer_id"] == t["producer_id"]
    if level == 0:
        return np.where(whole & by_client & same_producer, 2 + t["decision"].astype(np.int64), APART)
    return np.where(whole & ((by_client & same_producer) | (level == 2)), 1, APART)


def _starts(timeline: Timeline, classes: Array) -> Array:
    """First item of each stretch; a stretch that is too short to be folded counts item by item."""
    new = np.ones(len(classes), bool)
    new[1:] = (classes[1:] != classes[:-1]) | (classes[1:] == APART)
    new |= (timeline.idle_since >= 0) | (timeline.protocol_before != Protocol.unknown)
    starts = np.flatnonzero(new)
    lengths = np.diff(np.append(starts, len(classes)))
    new[np.repeat(lengths < SHORTEST_FOLD, lengths)] = True
    return np.flatnonzero(new)


def _fold(timeline: Timeline, first: int, end: int) -> Folded:
    """Sum up the items of a stretch."""
    items, model, sums = timeline.items[first:end], timeline.model, timeline.book.sums
    rows = items["row"][items["kind"] == TRANSACTION]
    spans = model.spans[items["row"][items["kind"] == LEFTOVER]]
    duration = model.ends.duration_ms[rows]
    duration = duration[duration >= 0]
    epochs = model.ends.data_epoch[rows]
    return Folded(
        at=int(items["at"].min()),
        until=int(items["until"].max()),
        transactions=_counts(timeline, rows),
        initialisations=int(np.count_nonzero(items["kind"] == INITIALISATION)),
        leftovers=len(spans),
        records=int(sums.records[rows].sum()) + int(spans["records"].sum()),
        shortest_ms=int(duration.min()) if len(duration) else None,
        longest_ms=int(duration.max()) if len(duration) else None,
        first_epoch=int(epochs[0]) if len(epochs) and epochs[0] >= 0 else None,
        last_epoch=int(epochs[-1]) if len(epochs) and epochs[-1] >= 0 else None,
        log_lines=int(items["lines"].sum()),
        log_kind=_only_kind(model.logs.events["kind"][items["row"][items["kind"] == LINE]]),
    )


def _only_kind(kinds: Array) -> EventKind | None:
    return EventKind(int(kinds[0])) if len(distinct(kinds)) == 1 else None


def _counts(timeline: Timeline, rows: Array) -> tuple[tuple[Outcome, EndedBy, int], ...]:
    committed = timeline.model.transactions["decision"][rows] == PREPARE_COMMIT
    found = Counter(zip(committed.tolist(), timeline.model.ends.ended_by[rows].tolist(), strict=True))
    names = {True: Outcome.committed, False: Outcome.aborted}
    return tuple(
        (names[is_commit], EndedBy(by), count)
        for (is_commit, by), count in sorted(found.items(), key=lambda entry: -entry[1])
    )
