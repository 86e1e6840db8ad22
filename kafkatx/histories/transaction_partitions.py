"""Lays the coordinator's transactions over the spans of the partitions they list.

Grain: one data partition of a capture; `transaction_partitions` does all of them at once.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from kafkatx.histories.alignment import from_either_end, settle, stretches
from kafkatx.histories.skewed_clocks import DRIFT_MS, FEWEST_ALIKE, left_over, near, on_one_clock
from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.growing import Array
from kafkatx.kernels.matching import note_matches, own_data
from kafkatx.kernels.ordering import ranks
from kafkatx.kernels.rows import TRANSACTION_PARTITION
from kafkatx.kernels.spans import OPEN
from kafkatx.kernels.transactions import AFTER_HOLE
from kafkatx.terms.clocks import BROKERS_TOLERANCE_MS
from kafkatx.terms.records import dataclass


class Status(IntEnum):
    """How far a partition's part in a transaction is known."""

    MARKED = 0
    UNMARKED = 1
    UNDECIDED = 2
    ELSEWHERE = 3
    ONGOING = 4
    LOST = 5


DISPUTED = -2
"""In place of the transaction that data belong to: the evidence fits two."""


@dataclass(frozen=True, slots=True)
class TransactionPartitions:
    """`rows` (dtype PARTICIPATION), in order of transaction.

    `owner[span]`: transaction row that a span's data belong to, -1 for none, -2 where the evidence fits two.
    """

    rows: Array
    owner: Array

    def of(self, transaction: int) -> Array:
        """The rows of one transaction."""
        numbers = self.rows["transaction"]
        bounds = np.array((transaction, transaction + 1), numbers.dtype)  # of another type all rows would be converted
        first, end = np.searchsorted(numbers, bounds)
        return self.rows[first:end]


def transaction_partitions(
    transactions: Array, spans: Array, partition_lists: list[tuple[int, ...]], at_hand: Array, tolerance_ms: int
) -> TransactionPartitions:
    """Match transactions with spans.

    `at_hand[partition_code]` says whether the partition's log is in the evidence; `tolerance_ms` is what two brokers'
    clocks may differ by (0 where one broker wrote everything).
    """
    return matched(transactions, listed(transactions, partition_lists), spans, at_hand, tolerance_ms)


def matched(transactions: Array, rows: Array, spans: Array, at_hand: Array, tolerance_ms: int) -> TransactionPartitions:
    """Match the partitions that transactions list (`rows`, as of `listed`) with spans.

    Partitions don't know each other here: those of one partition and its spans alone give the same for it.
    """
    owner = np.full(len(spans), -1, np.int32)
    _match(transactions, rows, spans, owner, tolerance_ms)
    moved = on_one_clock(transactions, rows, spans)
    if moved is not None:
        _match_moved(transactions, rows, spans, moved, owner)
        spans = moved
    for number, span in list(near(transactions, rows, spans)):
        rows["status"][number], rows["marker"][number] = Status.MARKED, span
    for number, span in left_over(transactions, rows, spans):
        rows["status"][number], owner[span] = Status.UNDECIDED, DISPUTED
    unmarked = np.flatnonzero(rows["status"] == Status.UNMARKED)
    is_ongoing = transactions["decision"][rows["transaction"][unmarked]] < 0
    rows["status"][unmarked[is_ongoing]] = Status.ONGOING
    rows["status"][unmarked[~at_hand[rows["partition_code"][unmarked]]]] = Status.ELSEWHERE
    _assign_data(transactions, rows, spans, owner)
    return TransactionPartitions(rows, owner)


def _match(transactions: Array, rows: Array, spans: Array, owner: Array, tolerance_ms: int) -> None:
    """Write marker and status of each row, and which spans are in dispute; what that takes is given back at the end."""
    forward, backward = from_either_end(transactions, rows, spans, tolerance_ms)
    if (forward != backward).any():
        _settle(transactions, rows, spans, forward, backward, tolerance_ms)
    note_matches.count(len(rows))
    known = Status.MARKED.value, Status.UNMARKED.value, Status.UNDECIDED.value
    note_matches(rows, forward, backward, owner, *known, DISPUTED)


def _match_moved(transactions: Array, rows: Array, spans: Array, moved: Array, owner: Array) -> None:
    """Match the partitions again in which markers were moved; the others stand as they are."""
    codes = distinct(spans["partition_code"][moved["marker_timestamp"] != spans["marker_timestamp"]])
    here = np.flatnonzero(np.isin(rows["partition_code"], codes))
    ours = np.flatnonzero(np.isin(spans["partition_code"], codes))
    again, owners = rows[here], np.full(len(ours), -1, np.int32)
    _match(transactions, again, moved[ours], owners, DRIFT_MS)
    again["marker"] = np.where(again["marker"] >= 0, ours[again["marker"]], -1)
    rows[here], owner[ours] = again, owners


def listed(transactions: Array, partition_lists: list[tuple[int, ...]]) -> Array:
    """Return one row (dtype PARTICIPATION) for each partition of each transaction's list, in order of transaction."""
    lengths = np.array([len(members) for members in partition_lists] or [0], np.int64)
    flat = np.array([code for members in partition_lists for code in members] or [0], np.int32)
    begins = np.concatenate(([0], np.cumsum(lengths)[:-1]))
    lists = transactions["partitions_code"]
    counts = np.where(lists >= 0, lengths[lists], 0)
    rows = np.zeros(int(counts.sum()), TRANSACTION_PARTITION)
    rows["transaction"] = np.repeat(np.arange(len(transactions), dtype=np.int32), counts)
    at = np.repeat(begins[lists] - (np.cumsum(counts) - counts), counts)
    at += np.arange(len(rows))
    rows["partition_code"] = flat[at] if len(rows) else 0
    rows["span"] = rows["marker"] = -1
    return rows


@dataclass(frozen=True, slots=True)
class _Groups:
    """Rows and spans by (producer id, partition), each in the order of its log."""

    row_order: Any
    row_bounds: Any
    span_order: Any
    span_bounds: Any


def _groups(transactions: Array, rows: Array, spans: Array) -> _Groups:
    """Sort both sides by (producer id, partition) and line up the groups that both have."""
    row_order, row_begins, row_keys = _sorted(
        transactions["producer_id"][rows["transaction"]], rows["partition_code"], rows["transaction"]
    )
    place = np.where(spans["marker_offset"] >= 0, spans["marker_offset"], np.iinfo(np.int64).max)
    span_order, span_begins, span_keys = _sorted(spans["producer_id"], spans["partition_code"], place)
    numbers = _dense(np.concatenate((row_keys, span_keys)))
    wanted, known = numbers[: len(row_keys)], numbers[len(row_keys) :]
    bounds = np.append(span_begins, len(spans))
    return _Groups(
        row_order,
        np.append(row_begins, len(rows)),
        span_order,
        np.stack((bounds[np.searchsorted(known, wanted)], bounds[np.searchsorted(known, wanted, "right")]), 1),
    )


def _sorted(producer_ids: Array, partitions: Array, places: Array) -> tuple[Array, Array, Array]:
    """Order by (producer id, partition, place); where each group begins in it, and its producer id and partition.

    All that comes behind looks at groups: most evidence has far fewer of them than rows.
    """
    group, _ = ranks(partitions, producer_ids)
    order = _order(group, partitions, places).astype(np.int32)
    ordered = group[order]
    is_first = np.ones(len(order), bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    begins = np.flatnonzero(is_first)
    first = order[begins]
    return order, begins, np.stack((producer_ids[first], partitions[first].astype(np.int64)), 1)


def _order(group: Array, partitions: Array, places: Array) -> Array:
    """Order by group and place, by groups alone where rows of a partition come in order, as a log yields them."""
    if not len(places):
        return np.zeros(0, np.int64)
    ascends = places[1:] >= places[:-1]
    if ascends.all():
        return np.argsort(group, kind="stable")
    of_logs = (ascends | (partitions[1:] != partitions[:-1])).all() and (partitions[1:] >= partitions[:-1]).all()
    return np.argsort(group, kind="stable") if of_logs else np.lexsort((places, group))


def _dense(keys: Array) -> Array:
    """Rank of each (producer id, partition) pair: ordered like the pairs, so that both sorted halves stay sorted."""
    if not len(keys):
        return np.zeros(0, np.int64)
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    changed = np.ones(len(keys), bool)
    changed[1:] = (keys[order][1:] != keys[order][:-1]).any(axis=1)
    ranks = np.empty(len(keys), np.int64)
    ranks[order] = np.cumsum(changed) - 1
    return ranks


def _settle(transactions: Array, rows: Array, spans: Array, forward: Array, backward: Array, tolerance_ms: int) -> None:
    """Settle the stretches where the two directions disagree: there both give what was found."""
    groups = _groups(transactions, rows, spans)
    order = groups.row_order
    ordered_rows, markers, agreed = rows["transaction"][order], forward[order], (forward == backward)[order]
    disputed = distinct(np.searchsorted(groups.row_bounds, np.flatnonzero(~agreed), "right") - 1)
    exact = from_either_end(transactions, rows, spans, 0) if tolerance_ms else None
    for group in disputed.tolist():
        first, end = int(groups.row_bounds[group]), int(groups.row_bounds[group + 1])
        begin, stop = groups.span_bounds[group]
        inside = slice(first, end)
        group_spans = groups.span_order[begin:stop]
        for low, high, stretch in stretches(agreed[inside], markers[inside], ordered_rows[inside], group_spans):
            here = order[first + low : first + high]
            found = settle(stretch, transactions, spans, tolerance_ms)
            if found is None and exact is not None:
                found = _exact(spans, stretch.spans, exact[0][here], exact[1][here])
            if found is not None:
                closed = [span if span >= 0 and spans["marker_offset"][span] >= 0 else -1 for span in found]
                forward[here] = backward[here] = closed


def _exact(spans: Array, claimed: list[int], forward: Array, backward: Array) -> list[int] | None:
    """Return the marker of each row if by the times as they are every marker has one decision, and the same either way.

    Clocks that differed would leave some of them over; of a few markers that may be chance.
    """
    if (forward != backward).any() or (forward >= 0).sum() < FEWEST_ALIKE:
        return None
    closed = {span for span in claimed if spans["marker_offset"][span] >= 0}
    return forward.tolist() if closed == set(forward[forward >= 0].tolist()) else None


def _assign_data(transactions: Array, rows: Array, spans: Array, owner: Array) -> None:
    """Give every span with data its transaction.

    The span that a transaction's own marker ended is its data. Where that marker found nothing open, or where it is
    missing, the data
    are the span before it (or the open one) if its epoch is the transaction's and nobody else's marker claims it.
    """
    own_data.count(len(rows))
    own_data(rows, spans, owner)
    lost = np.flatnonzero(rows["status"] == Status.UNMARKED)
    lost = lost[transactions["completion_offset"][rows["transaction"][lost]] >= 0]
    if len(lost):
        from kafkatx.histories.lost_ends import assign_to_lost

        assign_to_lost(transactions, rows, spans, owner, lost)
    leftover = np.flatnonzero(rows["span"] < 0)
    leftover = leftover[rows["status"][leftover] != Status.ELSEWHERE]
    free = _free(spans, owner)
    if len(leftover) and len(free):
        _assign_free(transactions, rows, spans, owner, leftover, free)
    _assign_cut_off(transactions, rows, spans, owner)


def _free(spans: Array, owner: Array) -> Array:
    """Data that are nobody's, nor in dispute: of most evidence few."""
    free = np.flatnonzero(owner == -1)
    found: Array = free[spans["first_offset"][free] >= 0]
    return found


def _assign_cut_off(transactions: Array, rows: Array, spans: Array, owner: Array) -> None:
    """Give a transaction the data that a foreign marker cut off from those which its own marker ended.

    A producer has one transaction at a time: what somebody else ended between its start and its decision is part of it.
    Of the two the row names the data that were ended otherwise.
    """
    free = _free(spans, owner)
    free = free[spans["marker_timestamp"][free] >= 0]
    own = np.flatnonzero((rows["marker"] >= 0) & (rows["span"] == rows["marker"])) if len(free) else free
    if not len(own):
        return
    theirs = rows["marker"][own]
    keys = _dense(np.stack([spans[name][np.append(theirs, free)] for name in ("producer_id", "partition_code")], 1))
    order = np.lexsort((spans["marker_offset"][theirs], keys[: len(own)]))
    place = spans["marker_offset"][theirs][order]
    for span, key in zip(free.tolist(), keys[len(own) :].tolist(), strict=True):
        first, end = np.searchsorted(keys[: len(own)][order], (key, key + 1))
        next_own = first + int(np.searchsorted(place[first:end], spans["marker_offset"][span]))
        if next_own < end and _is_cut_off(transactions[rows["transaction"][own[order[next_own]]]], spans[span]):
            rows["span"][own[order[next_own]]] = span
            owner[span] = rows["transaction"][own[order[next_own]]]


def _is_cut_off(transaction: Array, span: Array) -> bool:
    """Whether data were ended under the epoch of a transaction's own, between its start and its decision.

    Rows with a hole between these two may be those of two transactions.
    """
    if transaction["flags"] & AFTER_HOLE:
        return False
    same_epoch = transaction["producer_epoch"] == span["producer_epoch"] == span["marker_epoch"]
    ended = int(span["marker_timestamp"])
    return bool(same_epoch and 0 <= transaction["started_at"] <= ended <= transaction["decided_at"])


def _assign_free(transactions: Array, rows: Array, spans: Array, owner: Array, leftover: Array, free: Array) -> None:
    """The few cases that markers did not settle, one by one.

    Unowned data against transactions without data in that partition. Which data those have whose markers are in dispute
    nobody knows: what they could have is nobody's for sure.
    """
    waiting: dict[tuple[int, int], list[int]] = {}
    for number in leftover.tolist():
        transaction = transactions[int(rows["transaction"][number])]
        waiting.setdefault((int(transaction["producer_id"]), int(rows["partition_code"][number])), []).append(number)
    ended = _enders(spans, owner)
    for number in free.tolist():
        span = spans[number]
        before = ended.get((int(span["partition_code"]), int(span["previous_marker_offset"])), -1)
        candidates = waiting.get((int(span["producer_id"]), int(span["partition_code"])), [])
        fitting = [
            row
            for row in candidates
            if rows["span"][row] < 0 and _can_hold(transactions, rows[row], span, spans, before)
        ]
        if len(fitting) == 1 and rows["status"][fitting[0]] != Status.UNDECIDED:
            rows["span"][fitting[0]] = number
            owner[number] = rows["transaction"][fitting[0]]
        elif fitting:
            owner[number] = DISPUTED


def _enders(spans: Array, owner: Array) -> dict[tuple[int, int], int]:
    """By partition and offset of a marker: the transaction that it ended."""
    known = np.flatnonzero((owner >= 0) & (spans["marker_offset"] >= 0))
    places = zip(spans["partition_code"][known].tolist(), spans["marker_offset"][known].tolist(), strict=True)
    return dict(zip(places, owner[known].tolist(), strict=True))


def _can_hold(transactions: Array, row: Array, span: Array, spans: Array, before: int) -> bool:
    """Whether unowned data can be of a transaction: its epoch, behind nothing that came later, before its own marker.

    An Ongoing row is always written before the data it allows, so data behind the marker of the transaction are not
    its data; nor are those behind the marker of a later one. `before` is the transaction that the marker before the
    data ended, -1 where none is known: then times say whether it came later.
    """
    number, marker = int(row["transaction"]), int(row["marker"])
    transaction = transactions[number]
    if transaction["producer_epoch"] >= 0 and span["producer_epoch"] != transaction["producer_epoch"]:
        return False
    decided = int(transaction["decided_at"])
    is_in_order = before >= 0 and transactions["state_partition"][before] == transaction["state_partition"]
    if marker >= 0:
        is_before_end = span["first_offset"] <= spans["marker_offset"][marker]
    elif is_in_order:
        is_before_end = number > before
    else:
        is_before_end = decided < 0 or span["previous_marker_timestamp"] <= decided
    slack = _behind_ms(transactions[before], span) if is_in_order and number > before else 0
    return bool(is_before_end and (span["flags"] & OPEN or _ended_within(transaction, span, marker >= 0, slack)))


def _behind_ms(transaction: Array, span: Array) -> int:
    """How far a leader's clock may be behind the coordinator's, as its marker before the data dates its decision."""
    written = int(span["previous_marker_timestamp"])
    if not 0 <= written < int(transaction["decided_at"]):
        return 0
    return min(max(int(transaction["completion_timestamp"]) - written, 0), BROKERS_TOLERANCE_MS)


def _ended_within(transaction: Array, span: Array, is_marked: bool, slack_ms: int) -> bool:
    """Whether the marker behind data came after a transaction began, and before its decision unless it has its own.

    Where their order says the first, and the leader's clock is behind, it dates that a little earlier (`slack_ms`).
    """
    ended, decided = int(span["marker_timestamp"]), int(transaction["decided_at"])
    return bool(transaction["started_at"] - slack_ms <= ended and (is_marked or decided < 0 or ended <= decided))
