"""Which transactions of a partition of `__transaction_state` are held, and which are only counted.

Nearly all transactions of a large cluster are plain: committed by their client in time, marked at once, complete, and
followed by the next one of the same producer. No rule tells of one; rules count them, and ask for the newest, the
longest, the one before. So these are counted, by id and producer id, but for those that are asked for, and a model
holds what is not plain. What rules ask is listed here and in plain_data.py; whatever else a rule comes to ask of plain
transactions must be added, and tests/stages/test_counting.py fails for recorded captures where it is not.

Held though plain are, of each id, the first and the last, the longest, the earliest and latest by each time, the one
before each that is not plain, and both sides of each change (of producer id, protocol, timeout, coordinator, of times
that go back, of rows that are missing between); so the first and the last decision of each leadership are, and the
least and the greatest of each time. All are held of the producers that data ask for, and of ids that often wait.

Grain: one partition of `__transaction_state` of a capture.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from kafkatx.histories.extremes import extremes
from kafkatx.histories.slow_markers import SLOW_MS, is_often
from kafkatx.kernels.growing import Array
from kafkatx.kernels.rows import COUNTED, LISTED
from kafkatx.kernels.transactions import ONGOING, PREPARE_COMMIT
from kafkatx.terms.records import dataclass

IN_ORDER = ("begin_timestamp", "decision_timestamp", "completion_timestamp", "next_timestamp")
TIMES = ("started_at", "decided_at", *IN_ORDER)
SAME = (
    ("producer_id", "completed_producer_id"),
    ("producer_id", "next_producer_id"),
    ("decision_epoch", "completion_epoch"),
    ("completion_epoch", "next_epoch"),
    ("timeout_ms", "next_timeout_ms"),
    ("begin_leader_epoch", "decision_leader_epoch"),
)
"""Columns of a plain transaction that are alike."""
STEADY = ("producer_id", "begin_version", "decision_version", "timeout_ms", "decision_leader_epoch")
"""Columns that are alike from one to the next of an id."""


@dataclass(frozen=True, slots=True)
class AskedFor:
    """What partitions of data ask for: `rows` says of each transaction whether; of `producers` all are."""

    rows: Array
    producers: Array


def held_rows(t: Array, asked: AskedFor) -> Array:
    """Say of each transaction (dtype TRANSACTION, those of an id oldest first) whether it is held."""
    plain = _is_plain(t)
    held = ~plain | asked.rows | np.isin(t["producer_id"], asked.producers)
    if not len(t):
        return held
    held |= _is_of_slow_id(t)
    held[_of_ids(t, plain)] = True
    among = np.flatnonzero(plain)  # of the others all are held
    held[among[extremes(t["decided_at"][among] - t["started_at"][among], t["id_code"][among])]] = True
    return held


def counted_rows(t: Array, has_data: Array) -> Array:
    """Count transactions (dtype TRANSACTION) by id and producer id; `has_data` says of which data are at hand."""
    keys, place = np.unique(np.stack((t["id_code"], t["producer_id"]), 1), axis=0, return_inverse=True)
    found = np.zeros(len(keys), COUNTED)
    found["id_code"], found["producer_id"] = keys.reshape(-1, 2).T
    found["transactions"] = np.bincount(place.ravel(), minlength=len(keys))
    found["with_data"] = np.bincount(place.ravel(), weights=has_data, minlength=len(keys))
    return found


def listed_partitions(t: Array, partition_lists: list[tuple[int, ...]]) -> Array:
    """Return the partitions that transactions of each id list (dtype LISTED), each once."""
    lists = np.unique(np.stack((t["id_code"], t["partitions_code"]), 1), axis=0).tolist()
    pairs = sorted({(code, member) for code, number in lists for member in partition_lists[number]})
    return np.array(pairs, LISTED)


def _is_plain(t: Array) -> Any:
    found = (t["decision"] == PREPARE_COMMIT) & (t["next_state"] == ONGOING) & (t["flags"] == 0)
    for name in ("begin_offset", "completion_offset", "started_at", "producer_epoch", "partitions_code", "timeout_ms"):
        found &= t[name] >= 0
    for one, other in SAME:
        found &= t[one] == t[other]
    found &= t["begin_timestamp"] >= 0
    for before, after in pairwise(IN_ORDER):
        found &= t[before] <= t[after]
    step, took = t["decision_epoch"] - t["producer_epoch"], t["decided_at"] - t["started_at"]
    found &= ((step == 0) | (step == 1)) & (took >= 0) & (took <= t["timeout_ms"])
    found &= t["completion_timestamp"] - t["decision_timestamp"] <= SLOW_MS
    return found


def _is_of_slow_id(t: Array) -> Any:
    """Whether the id of each often waits for its markers: what is told of it are shares of all its transactions."""
    known = (t["decision_timestamp"] >= 0) & (t["completion_timestamp"] >= t["decision_timestamp"])
    slow = known & (t["completion_timestamp"] - t["decision_timestamp"] > SLOW_MS)
    ids = int(t["id_code"].max()) + 1
    of_id = (np.bincount(t["id_code"][chosen], minlength=ids) for chosen in (slow, known))
    return is_often(*of_id)[t["id_code"]]


def _of_ids(t: Array, plain: Array) -> Array:
    """Numbers of those that are held for what they are among those of their id."""
    order = np.argsort(t["id_code"], kind="stable")
    before, after = order[:-1], order[1:]
    same = t["id_code"][before] == t["id_code"][after]
    turns = t["next_offset"][before] != t["begin_offset"][after]
    for name in STEADY:
        turns |= t[name][before] != t[name][after]
    for name in TIMES:
        turns |= t[name][before] > t[name][after]
    step = t["decision_epoch"] - t["producer_epoch"]
    turns = (turns | (step[before] != step[after])) & same
    is_edge = turns | ~same
    return np.concatenate((before[same & ~plain[after]], before[is_edge], after[is_edge], order[[0, -1]]))
