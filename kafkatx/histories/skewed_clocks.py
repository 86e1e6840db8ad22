"""What the clock of a partition's leader is ahead of its coordinator's, as markers and decisions show it.

A marker has the time of the leader that wrote it, its decision that of the coordinator. As long as both lead, they
differ by one number, the same for every producer, and each pair of a decision and its marker bounds it: the marker lies
between decision and completion. Where decisions lack their markers while markers lack their decisions, the number that
most pairs allow is what the clocks differ by; order and epochs alone would fit one transaction as well as the next.

Grain: one data partition; `on_one_clock` does all of them at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from kafkatx.kernels.distinct import distinct, in_both
from kafkatx.kernels.growing import Array
from kafkatx.kernels.matching import fits
from kafkatx.kernels.ordering import order_of
from kafkatx.kernels.spans import UNKNOWN_KIND
from kafkatx.terms.clocks import BROKERS_TOLERANCE_MS

MOST_SAMPLED, MOST_DECISIONS = 64, 2_048
"""Markers of one leader that are asked, and decisions that each is laid beside."""
AT_ONCE = 1 << 16
"""Rows that are looked at together."""
V2 = 2
"""The client transaction version whose ends raise the epoch: a producer id and an epoch are one transaction."""
DRIFT_MS = 250
"""What two clocks that are set by NTP may wander against each other."""
FEWEST_ALIKE, LEAST_SHARE = 5, 0.25
"""So many pairs, and such a share of the markers asked, must allow the same number: fewer can by chance."""
FEWEST_OF_ALL = 3
"""So many do where they are all markers that there are."""
MOST_ELSEWHERE = 0.5
"""What share of them another number may be allowed by: a producer that commits at regular intervals fits many."""


def on_one_clock(transactions: Array, rows: Array, spans: Array) -> Array | None:
    """Return the spans with the times of their markers by the coordinators' clocks; None where nothing is to be moved.

    `rows` are matched by the times as they are; where that leaves nobody over on both sides no clock is asked.
    """
    lacking = _lacking(transactions, rows)
    if not lacking.any():
        return None
    concerned = in_both(rows["partition_code"][lacking], spans["partition_code"][_unclaimed(rows, spans)])
    if not len(concerned):
        return None
    moved: Array | None = None
    timed = np.flatnonzero(_has_time(spans))
    of_rows, of_spans = _by_partition(rows["partition_code"]), _by_partition(spans["partition_code"][timed])
    for code in concerned.tolist():
        mine = transactions[rows["transaction"][of_rows(code)]]
        mine = mine[(mine["completion_timestamp"] >= 0) & (mine["decided_at"] >= 0)]
        for inside in _leaderships(mine, spans, timed[of_spans(code)]):
            ahead = _ahead(mine, spans[inside])
            if ahead:
                moved = spans.copy() if moved is None else moved
                moved["marker_timestamp"][inside] -= ahead
                moved["previous_marker_timestamp"][inside] -= ahead
    return moved


def _by_partition(codes: Array) -> Callable[[int], Array]:
    """Return what gives the places of a partition's entries, in order, without looking at all others."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]

    def places(code: int) -> Array:
        first, end = np.searchsorted(ordered, np.array((code, code + 1), ordered.dtype))
        found: Array = order[first:end]
        return found

    return places


def left_over(transactions: Array, rows: Array, spans: Array) -> Iterator[tuple[int, int]]:
    """Yield completed transactions without a marker and a marker without a decision that may be theirs after all.

    Such a pair has one producer, epoch and kind; a marker that only repeats the one before it is nobody's.
    """
    lacking = _lacking(transactions, rows)
    if not lacking.any():
        return
    unclaimed = _unclaimed(rows, spans)
    producers = transactions["producer_id"][rows["transaction"]]
    for ours, theirs in ((rows["partition_code"], spans["partition_code"]), (producers, spans["producer_id"])):
        lacking &= np.isin(ours, distinct(theirs[unclaimed]))
        unclaimed &= np.isin(theirs, distinct(ours[lacking]))
    if not unclaimed.any():
        return
    free: dict[tuple[int, ...], list[int]] = {}
    for span in np.flatnonzero(unclaimed & ~_repeats(spans)).tolist():
        one = spans[span]
        names = ("partition_code", "producer_id", "marker_epoch", "marker_kind")
        free.setdefault(tuple(int(one[name]) for name in names), []).append(span)
    for number in np.flatnonzero(lacking).tolist():
        decided = transactions[rows["transaction"][number]]
        producer, epoch, kind = decided["producer_id"], decided["decision_epoch"], 3 - int(decided["decision"])
        for span in free.get((int(rows["partition_code"][number]), int(producer), int(epoch), kind), ()):
            yield number, span


def near(transactions: Array, rows: Array, spans: Array) -> Iterator[tuple[int, int]]:
    """Yield rows and markers that are left over, and each other's only ones within what brokers' clocks may differ by.

    One data directory holds what several leaders wrote, and nothing in it says so. In the order of a producer's
    transactions their markers must stand in the order of the log.
    """
    pairs = [
        (number, span)
        for number, span in left_over(transactions, rows, spans)
        if fits.plain(transactions, int(rows["transaction"][number]), spans, span, BROKERS_TOLERANCE_MS)
    ]
    of_row, of_span = (Counter(side) for side in zip(*pairs, strict=True)) if pairs else (Counter(), Counter())
    found = {number: span for number, span in pairs if of_row[number] == of_span[span] == 1}
    producers, codes = transactions["producer_id"][rows["transaction"]], rows["partition_code"]
    for number, span in found.items():
        alike = np.flatnonzero((codes == codes[number]) & (producers == producers[number]))
        markers = np.array([found.get(one, int(rows["marker"][one])) for one in alike.tolist()])
        marked = alike[markers >= 0][np.argsort(rows["transaction"][alike[markers >= 0]], kind="stable")]
        places = spans["marker_offset"][[found.get(one, int(rows["marker"][one])) for one in marked.tolist()]]
        if (np.diff(places) > 0).all():
            yield number, span


def beside(transactions: Array, rows: Array, spans: Array) -> Array:
    """How far the marker of each row lies before its decision (below 0) or behind its completion; 0 between them.

    One broker writes all three in this order. `rows` have markers, and all their times are known.
    """
    of_row, written = rows["transaction"], spans["marker_timestamp"][rows["marker"]]
    late, early = written - transactions["completion_timestamp"][of_row], written - transactions["decided_at"][of_row]
    found: Array = np.maximum(late, 0) + np.minimum(early, 0)
    return found


def with_times(transactions: Array, rows: Array, spans: Array) -> Array:
    """Return the rows of which marker, decision and completion have their times."""
    of_row, marker = rows["transaction"], rows["marker"]
    is_told = (marker >= 0) & (transactions["decided_at"][of_row] >= 0)
    is_told &= (transactions["completion_timestamp"][of_row] >= 0) & (spans["marker_timestamp"][marker] >= 0)
    found: Array = rows[is_told]
    return found


def is_one_clock(transactions: Array, rows: Array, spans: Array) -> bool:
    """Whether every marker lies between its decision and its completion, as where one broker wrote everything.

    Asked only where a transaction was begun and decided under two leaderships.
    """
    if not len(spans) or (transactions["begin_leader_epoch"] == transactions["decision_leader_epoch"]).all():
        return True
    return not beside(transactions, with_times(transactions, rows, spans), spans).any()


def known_difference(transactions: Array, rows: Array, spans: Array) -> int:
    """By how many milliseconds two brokers' clocks differ at least: 0 where neither markers nor rows show any.

    Markers lie outside their transactions, or times go back from one leadership of a log to the next.
    """
    most = 0
    for block in _blocks(rows) if len(spans) else ():
        told = with_times(transactions, block, spans)
        most = max(most, int(np.abs(beside(transactions, told, spans)).max(initial=0)))
    decided = (("state_partition", "decision_leader_epoch", "decided_at"), transactions)
    marked = (("partition_code", "leader_epoch", "marker_timestamp"), spans)
    return max(most, *(_largest_step_back(table, *names) for names, table in (decided, marked)))


def _largest_step_back(table: Array, log: str, epoch: str, time: str) -> int:
    """By how much a leadership's first time is at most older than the last one of a leadership before it."""
    first, last = dict[tuple[int, int], int](), dict[tuple[int, int], int]()
    for block in _blocks(table):
        told = np.flatnonzero((block[time] >= 0) & (block[epoch] >= 0))
        of_both = (block[log].astype(np.int64) << 32 | block[epoch])[told]
        order = order_of(block[epoch][told], block[log][told]) if len(told) else told
        times, ordered = block[time][told[order]], of_both[order]
        begins = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if len(told) else told
        keys, lowest, highest = ordered[begins], np.minimum.reduceat(times, begins), np.maximum.reduceat(times, begins)
        for both, low, high in zip(keys.tolist(), lowest.tolist(), highest.tolist(), strict=True):
            key = both >> 32, both & 0xFFFFFFFF
            first[key], last[key] = min(first.get(key, low), low), max(last.get(key, high), high)
    most, before = 0, dict[int, int]()
    for key in sorted(first):
        most = max(most, before.get(key[0], 0) - first[key])
        before[key[0]] = max(before.get(key[0], 0), last[key])
    return most


def _blocks(table: Array) -> Iterator[Array]:
    """A table in pieces: what is worked out of each does not grow with it."""
    return (table[first : first + AT_ONCE] for first in range(0, len(table), AT_ONCE))


def _has_time(spans: Array) -> Any:
    return (spans["marker_offset"] >= 0) & (spans["marker_timestamp"] >= 0)


def _unclaimed(rows: Array, spans: Array) -> Any:
    """Markers that no decision has."""
    found = np.ones(len(spans), bool)
    found[rows["marker"][rows["marker"] >= 0]] = False
    left = np.flatnonzero(found)  # few: nearly all are somebody's
    found[left] = (spans["marker_offset"][left] >= 0) & (spans["marker_timestamp"][left] >= 0)
    return found


def _lacking(transactions: Array, rows: Array) -> Any:
    """Partitions of completed transactions without a marker."""
    found = rows["marker"] < 0
    left = np.flatnonzero(found)
    of_row = rows["transaction"][left]
    found[left] = (transactions["completion_timestamp"][of_row] >= 0) & (transactions["decision"][of_row] >= 0)
    return found


def _repeats(spans: Array) -> Any:
    """Markers that end nothing and say what their producer's marker before says, as a new coordinator writes them."""
    order = np.lexsort((spans["marker_offset"], spans["producer_id"], spans["partition_code"]))
    ordered, alike = spans[order], np.zeros(len(spans), bool)
    same = np.ones(max(len(spans) - 1, 0), bool)
    for name in ("partition_code", "producer_id", "marker_epoch", "marker_kind"):
        same &= ordered[name][1:] == ordered[name][:-1]
    alike[order[1:]] = same & (ordered["first_offset"][1:] < 0)
    return alike


def _leaderships(transactions: Array, spans: Array, numbers: Array) -> Iterator[Array]:
    """Yield the markers that one leader wrote for one coordinator, each for as long as it was that."""
    state_of = dict(zip(transactions["producer_id"].tolist(), transactions["state_partition"].tolist(), strict=True))
    states = [state_of.get(producer, -1) for producer in spans["producer_id"][numbers].tolist()]
    keys = np.stack((np.array(states), spans["coordinator_epoch"][numbers], spans["leader_epoch"][numbers]), 1)
    _, group = np.unique(keys, axis=0, return_inverse=True)
    for number in range(int(group.max()) + 1 if len(group) else 0):
        yield numbers[group.ravel() == number]


def _ahead(transactions: Array, spans: Array) -> int:
    """What the clock of the leader is ahead; 0 where about as many markers fit as they are, too few any, some two.

    A marker that no decision of its producer could have asked for says nothing of clocks.
    """
    sampled = spans[distinct(np.linspace(0, len(spans) - 1, min(len(spans), MOST_SAMPLED)).astype(int))]
    pairs = [found for one in sampled if len((found := _bounds(transactions, one))[0])]
    if not pairs:
        return 0
    low, high, is_v2 = (np.concatenate(column) for column in zip(*pairs, strict=True))
    as_they_are = sum(bool(((a <= 0) & (b >= 0)).any()) for a, b, _ in pairs)
    edges = np.sort(low)
    alike = np.searchsorted(edges, edges, "right") - np.searchsorted(np.sort(high), edges, "left")
    best = int(alike.max())
    enough = FEWEST_OF_ALL if best == len(pairs) else FEWEST_ALIKE
    fewest = 1 if is_v2.all() else max(enough, LEAST_SHARE * len(pairs))
    if best < fewest or as_they_are >= 0.9 * best:
        return 0
    least = edges[alike == best]
    begin = int(least[np.abs(least).argmin()])
    end = int(high[(low <= begin) & (high >= begin)].min())
    elsewhere = alike[(edges < begin - DRIFT_MS) | (edges > end + DRIFT_MS)]
    if not is_v2.all() and len(elsewhere) and elsewhere.max() > MOST_ELSEWHERE * best:
        return 0
    return (begin + end) // 2


def _bounds(transactions: Array, span: Array) -> tuple[Array, Array, Array]:
    """Between which numbers a clock is ahead if a marker is that of each decision of its producer, epoch and kind."""
    kind, epoch = int(span["marker_kind"]), int(span["marker_epoch"])
    fitting = transactions["producer_id"] == span["producer_id"]
    if kind != UNKNOWN_KIND:
        fitting &= transactions["decision"] == 3 - kind
    if epoch >= 0:
        fitting &= transactions["decision_epoch"] == epoch
    near = transactions[fitting]
    if len(near) > MOST_DECISIONS:
        near = near[np.argsort(np.abs(near["decided_at"] - span["marker_timestamp"]), kind="stable")[:MOST_DECISIONS]]
    written = span["marker_timestamp"]
    return written - near["completion_timestamp"], written - near["decided_at"], near["decision_version"] == V2
