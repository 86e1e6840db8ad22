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

import numpy as np

from kafkatx.histories.extremes import Extremes, extremes
from kafkatx.histories.producers_clocks import LEAST_MS
from kafkatx.histories.transaction_partitions import TransactionPartitions
from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.growing import Array, with_length
from kafkatx.kernels.plain import COMPARED, OF_PRODUCER, PRODUCERS_FULL, look_at_parts, look_at_spans
from kafkatx.kernels.spans import ABORT, OPEN, producer_slot
from kafkatx.terms.records import dataclass

AT_ONCE = 1 << 14
"""Participations that are looked at together: what is noted of them stays in a core's cache."""


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
    producers = distinct(np.append(spans["producer_id"][aborted], hiding["producer_id"]))
    if not is_trusted:
        return OfData(distinct(rows["transaction"]), rows["transaction"][:0], producers, np.zeros(0, np.int32))
    is_plain, is_late, beside_others = _looked_at(transactions, rows, spans)
    asked, is_alone = _asked_for(spans, owner)
    alone = np.flatnonzero(is_alone & ~asked).astype(np.int32)
    held = rows["transaction"][~is_plain], owner[asked & (owner >= 0)], beside_others
    late = rows["transaction"][is_late]
    return OfData(distinct(np.concatenate(held)), distinct(late), producers, alone)


def _looked_at(transactions: Array, rows: Array, spans: Array) -> tuple[Array, Array, Array]:
    """Which participations are plain, and which late; transactions by which clocks are compared, and logs go on."""
    is_plain, is_late = np.zeros(len(rows), bool), np.zeros(len(rows), bool)
    compared = np.zeros(min(len(rows), AT_ONCE), COMPARED)
    beside_others = Extremes(
        ("marker_offset", "leader_epoch", "state_partition", "coordinator_epoch"),
        ("beside",),
        *((name, "state_partition") for name in ("begin_offset", "decision_offset", "started_at")),
    )
    look_at_parts.count(len(rows))
    for first in range(0, max(len(rows), 1), AT_ONCE):
        here = slice(first, first + AT_ONCE)
        plain, late = is_plain[here], is_late[here]
        count = look_at_parts(rows[here], transactions, spans, LEAST_MS, plain, late, compared)
        beside_others.add(compared[:count])
    return is_plain, is_late, beside_others.rows()["transaction"]


def _asked_for(spans: Array, owner: Array) -> tuple[Array, Array]:
    """Which spans somebody asks for, whose ever they are; and which are plain and nobody's."""
    found, alone = np.zeros(len(spans), bool), np.zeros(len(spans), bool)
    found[_last_of_producers(spans, owner, found, alone)] = True
    is_open = spans["flags"] & OPEN != 0
    if is_open.any():
        found |= spans["marker_offset"] >= spans["first_offset"][is_open].min()
    markers, times, leaders = (
        np.ascontiguousarray(spans[name]) for name in ("marker_offset", "marker_timestamp", "leader_epoch")
    )
    for column, known in ((times, (markers >= 0) & (times >= 0)), (markers, markers >= 0)):
        if known.all():
            found[extremes(column, leaders)] = True
        else:
            places = np.flatnonzero(known)
            found[places[extremes(column[places], leaders[places])]] = True
    return found, alone


def _last_of_producers(spans: Array, owner: Array, asked: Array, alone: Array) -> Array:
    """Look at each span (kernels/plain.py); returns the last ended span of each producer."""
    look_at_spans.count(len(spans))
    producers, slots, count = np.zeros(64, OF_PRODUCER), np.full(128, -1, np.int32), 0
    row, why = 0, PRODUCERS_FULL
    while why == PRODUCERS_FULL:
        why, row, count = look_at_spans(spans, owner, row, slots, producers, count, asked, alone)
        if why == PRODUCERS_FULL:
            producers = with_length(producers, 2 * len(producers))
            slots = np.full(2 * len(producers), -1, np.int32)
            for number, producer_id in enumerate(producers["producer_id"][:count].tolist()):
                slots[producer_slot.plain(producer_id, slots, producers)] = number
    return producers["last"][:count]
