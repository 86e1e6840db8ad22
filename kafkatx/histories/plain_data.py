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
from kafkatx.kernels.plain import (
    COMPARED,
    DONE,
    LEADERS_FULL,
    OF_LEADER,
    OF_PRODUCER,
    PRODUCERS_FULL,
    look_at_parts,
    look_at_spans,
)
from kafkatx.kernels.spans import ABORT, OPEN, place_producers
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
    aborted = np.flatnonzero(owner == -1)
    aborted = aborted[(spans["first_offset"][aborted] >= 0) & (spans["marker_kind"][aborted] == ABORT)]
    producers = distinct(np.append(spans["producer_id"][aborted], hiding["producer_id"]))
    if not is_trusted:
        return OfData(distinct(rows["transaction"]), rows["transaction"][:0], producers, np.zeros(0, np.int32))
    is_plain, is_late, beside_others = _looked_at(transactions, rows, spans)
    asked, is_alone = _asked_for(spans, owner)
    alone = np.flatnonzero(is_alone & ~asked).astype(np.int32)
    held = np.zeros(len(transactions), bool)
    for numbers in (rows["transaction"][~is_plain], owner[asked & (owner >= 0)], beside_others):
        held[numbers] = True
    late = rows["transaction"][is_late]
    return OfData(np.flatnonzero(held), distinct(late), producers, alone)


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
    producers, leaders = _looked_at_spans(spans, owner, found, alone)
    found[producers["last"]] = True
    is_open = np.flatnonzero(spans["flags"] & OPEN)
    if len(is_open):
        found |= spans["marker_offset"] >= spans["first_offset"][is_open].min()
    for column, names in (("marker_offset", ("first", "last")), ("marker_timestamp", ("oldest", "newest"))):
        places = distinct(np.concatenate([leaders[name] for name in names]))
        places = places[places >= 0]
        found[places[extremes(spans[column][places], spans["leader_epoch"][places])]] = True
    return found, alone


def _looked_at_spans(spans: Array, owner: Array, asked: Array, alone: Array) -> tuple[Array, Array]:
    """Look at each span (kernels/plain.py); returns what is known of producers and leaders of those that are ended."""
    for kernel in (look_at_spans, place_producers):
        kernel.count(len(spans))
    producers, slots, leaders = np.zeros(64, OF_PRODUCER), np.full(128, -1, np.int32), np.zeros(64, OF_LEADER)
    counts, row, why = np.zeros(2, np.int64), 0, PRODUCERS_FULL
    while why != DONE:
        why, row = look_at_spans(spans, owner, row, slots, producers, leaders, counts, asked, alone)
        if why == PRODUCERS_FULL:
            producers = with_length(producers, 2 * len(producers))
            slots = np.full(2 * len(producers), -1, np.int32)
            place_producers(slots, producers, int(counts[0]))
        elif why == LEADERS_FULL:
            leaders = with_length(leaders, 2 * len(leaders))
    return producers[: counts[0]], leaders[: counts[1]]
