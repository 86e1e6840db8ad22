"""What a partition of data says of the transactions that list it: which are to be held, whatever their rows say.

A transaction is plain where nothing that a rule asks of the model could be answered otherwise without it; those are
counted (histories/plain_rows.py). Here its data decide: they are plain where its own COMMIT ended them as its row says.
Of the plain ones these are held all the same, since somebody asks for them:

  the last of each producer in the log, and both sides of each change (of leader, coordinator, protocol, of times or
  epochs that go back): what is the newest or the greatest of a producer is one of them;
  the first and the last marker of each leadership, of the partition and of a coordinator, the oldest and the newest of
  each leader, and those farthest outside their transactions: clocks are laid beside each other by them;
  the last transaction that came by each coordinator: whether a log goes on is asked of it;
  all that was ended behind the first open data: readers wait for it, and it is told one by one.

Data that no row owns, since the cleaner took the rows, are plain where a COMMIT ended them; of them the same is held.

Grain: one data partition of a capture.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kafkatx.histories.extremes import extremes
from kafkatx.histories.producers_clocks import LEAST_MS
from kafkatx.histories.skewed_clocks import beside
from kafkatx.histories.transaction_partitions import Status, TransactionPartitions
from kafkatx.kernels.growing import Array
from kafkatx.kernels.spans import ABORT, COMMIT, OPEN
from kafkatx.terms.records import dataclass


@dataclass(frozen=True, slots=True)
class OfData:
    """What a partition says: numbers of transactions, in the table that it was given, and producer ids.

    `held` are to be held; the data of those that are `late` came so long after their start that these alone would speak
    of two clocks; of `producers` all transactions are to be held, since data of theirs that no row owns were aborted.
    `alone` are numbers of spans that no row owns and that may be counted.
    """

    held: Array
    late: Array
    producers: Array
    alone: Array


def said_of_data(
    transactions: Array, parts: TransactionPartitions, spans: Array, hiding: Array, is_trusted: bool
) -> OfData:
    """Say what a partition has to say.

    `parts` are the participations of `transactions` in it, `hiding` entries of its indexes (dtype HIDING_ENTRY). Where
    it is not `is_trusted` (offsets are missing, or a tool printed it) all are to be held.
    """
    rows, owner = parts.rows, parts.owner
    aborted = (owner == -1) & (spans["first_offset"] >= 0) & (spans["marker_kind"] == ABORT)
    producers = np.unique(np.append(spans["producer_id"][aborted], hiding["producer_id"]))
    if not is_trusted:
        return OfData(np.unique(rows["transaction"]), rows["transaction"][:0], producers, np.zeros(0, np.int32))
    is_plain = _is_plain(transactions, rows, spans)
    plain = rows[is_plain]
    asked = _asked_for(spans, owner)
    alone = np.flatnonzero(_is_plain_alone(spans, owner) & ~asked).astype(np.int32)
    held = (
        rows["transaction"][~is_plain],
        owner[asked & (owner >= 0)],
        plain["transaction"][_beside_others(transactions, plain, spans)],
    )
    sent = spans["first_timestamp"][plain["span"]]
    late = plain["transaction"][sent > transactions["started_at"][plain["transaction"]] + LEAST_MS]
    return OfData(np.unique(np.concatenate(held)), np.unique(late), producers, alone)


def _is_plain_alone(spans: Array, owner: Array) -> Any:
    """Whether a COMMIT ended data that no row owns, and nothing about them is told."""
    found = (owner == -1) & (spans["flags"] == 0) & (spans["marker_kind"] == COMMIT) & (spans["first_offset"] >= 0)
    for name in ("marker_timestamp", "first_timestamp", "last_timestamp", "coordinator_epoch"):
        found &= spans[name] >= 0
    step = spans["marker_epoch"] - spans["producer_epoch"]
    found &= (spans["producer_epoch"] >= 0) & ((step == 0) | (step == 1))
    return found


def _is_plain(transactions: Array, rows: Array, spans: Array) -> Any:
    """Whether the own COMMIT of each transaction ended its data here, as its row says in every respect."""
    found = (rows["status"] == Status.MARKED) & (rows["span"] >= 0) & (rows["span"] == rows["marker"])
    if not len(spans):
        return found
    span, of_row = rows["span"], rows["transaction"]
    found &= (spans["flags"][span] == 0) & (spans["marker_kind"][span] == COMMIT) & (spans["first_offset"][span] >= 0)
    for name, same in (
        ("producer_id", "producer_id"),
        ("producer_epoch", "producer_epoch"),
        ("marker_epoch", "decision_epoch"),
        ("coordinator_epoch", "decision_leader_epoch"),
    ):
        found &= spans[name][span] == transactions[same][of_row]
    for name in ("decided_at", "completion_timestamp"):
        found &= transactions[name][of_row] >= 0
    found &= (spans["marker_timestamp"][span] >= 0) & (spans["first_timestamp"][span] >= 0)
    found &= spans["first_timestamp"][span] >= transactions["started_at"][of_row] - LEAST_MS
    return found


def _asked_for(spans: Array, owner: Array) -> Any:
    """Which spans somebody asks for, whose ever they are."""
    found = np.zeros(len(spans), bool)
    is_open = spans["flags"] & OPEN != 0
    if is_open.any():
        found |= spans["marker_offset"] >= spans["first_offset"][is_open].min()
    closed = np.flatnonzero(spans["marker_offset"] >= 0)
    if not len(closed):
        return found
    order = closed[np.lexsort((spans["marker_offset"][closed], spans["producer_id"][closed]))]
    before, after = order[:-1], order[1:]
    same = spans["producer_id"][before] == spans["producer_id"][after]
    turns = np.zeros(len(after), bool)
    for name in ("leader_epoch", "coordinator_epoch"):
        turns |= spans[name][before] != spans[name][after]
    for name in ("producer_epoch", "marker_epoch", "marker_timestamp", "last_timestamp"):
        turns |= spans[name][before] > spans[name][after]
    step, is_alone = spans["marker_epoch"] - spans["producer_epoch"], owner < 0
    turns |= (step[before] != step[after]) | (is_alone[before] != is_alone[after])
    turns &= same
    found[before[turns | ~same]] = found[after[turns]] = True
    found[order[-1]] = True
    timed = closed[spans["marker_timestamp"][closed] >= 0]
    found[timed[extremes(spans["marker_timestamp"][timed], spans["leader_epoch"][timed])]] = True
    found[closed[extremes(spans["marker_offset"][closed], spans["leader_epoch"][closed])]] = True
    return found


def _beside_others(transactions: Array, plain: Array, spans: Array) -> Array:
    """Places of the participations by which clocks are compared, and by which a log is seen to go on."""
    told, markers = transactions[plain["transaction"]], plain["marker"]
    led_by, at = spans["leader_epoch"][markers], spans["marker_offset"][markers]
    coordinator = told["state_partition"]
    return np.concatenate(
        (
            extremes(at, led_by, coordinator, told["decision_leader_epoch"]),
            extremes(beside(transactions, plain, spans)),
            *(extremes(told[name], coordinator) for name in ("begin_offset", "decision_offset", "started_at")),
        )
    )
