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

import numpy as np

from kafkatx.histories.slow_markers import SLOW_MS, is_often
from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.growing import Array, with_length
from kafkatx.kernels.plain import GROUPS_FULL, OF_GROUP, count_groups, look_at_rows, of_ids, place_groups_of_rows
from kafkatx.kernels.rows import COUNTED, LISTED
from kafkatx.terms.records import dataclass


@dataclass(frozen=True, slots=True)
class AskedFor:
    """What partitions of data ask for: `rows` says of each transaction whether; of `producers` all are."""

    rows: Array
    producers: Array


def held_rows(t: Array, asked: AskedFor) -> Array:
    """Say of each transaction (dtype TRANSACTION, those of an id oldest first) whether it is held."""
    held: Array = asked.rows.copy()
    if len(asked.producers):
        held |= np.isin(t["producer_id"], asked.producers)
    if not len(t):
        return held
    ids = of_ids(int(t["id_code"].max()) + 1)
    look_at_rows.count(len(t))
    look_at_rows(t, ids, SLOW_MS, held)
    often = is_often(ids["slow"], ids["known"])
    if often.any():
        held |= often[t["id_code"]]
    for name in ("last", "shortest", "longest"):
        held[ids[name][ids[name] >= 0]] = True
    return held


def counted_groups(t: Array, held: Array) -> Array:
    """Count the transactions that are not held by id, producer id and list of partitions (dtype OF_GROUP)."""
    for kernel in (count_groups, place_groups_of_rows):
        kernel.count(len(t))
    groups, slots, count, row, why = np.zeros(128, OF_GROUP), np.full(256, -1, np.int32), 0, 0, GROUPS_FULL
    while why == GROUPS_FULL:
        why, row, count = count_groups(t, held, row, slots, groups, count)
        if why == GROUPS_FULL:
            groups = with_length(groups, 4 * len(groups))
            slots = np.full(2 * len(groups), -1, np.int32)
            place_groups_of_rows(slots, groups, count)
    return groups[:count]


def counted_rows(groups: Array, has_data: Array) -> Array:
    """Put groups of one id and producer id together (dtype COUNTED); `has_data`: of which lists data are at hand."""
    if not len(groups):
        return np.zeros(0, COUNTED)
    order = np.lexsort((groups["producer_id"], groups["id_code"]))
    ids, producers = groups["id_code"][order], groups["producer_id"][order]
    begins = np.flatnonzero(np.append(True, (ids[1:] != ids[:-1]) | (producers[1:] != producers[:-1])))
    transactions = groups["transactions"][order]
    found = np.zeros(len(begins), COUNTED)
    found["id_code"], found["producer_id"] = ids[begins], producers[begins]
    found["transactions"] = np.add.reduceat(transactions, begins)
    with_data = np.where(has_data[groups["partitions_code"][order]], transactions, 0)
    found["with_data"] = np.add.reduceat(with_data, begins)
    return found


def listed_partitions(groups: Array, partition_lists: list[tuple[int, ...]]) -> Array:
    """Return the partitions that transactions of each id list (dtype LISTED), each once."""
    both = distinct(groups["id_code"].astype(np.int64) << 32 | groups["partitions_code"])
    ids, lists = (both >> 32).tolist(), (both & 0xFFFFFFFF).tolist()
    pairs = {(who, member) for who, number in zip(ids, lists, strict=True) for member in partition_lists[number]}
    return np.array(sorted(pairs), LISTED)
