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
from kafkatx.kernels.growing import Array
from kafkatx.kernels.ordering import ranks
from kafkatx.kernels.plain import look_at_rows, of_ids
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


def counted_rows(t: Array, rows: Array, has_data: Array) -> Array:
    """Count `rows` of transactions (dtype TRANSACTION) by id and producer id; `has_data`: of which data are at hand."""
    ids, producers = t["id_code"][rows], t["producer_id"][rows]
    if not len(rows):
        return np.zeros(0, COUNTED)
    place, groups = ranks(producers, ids)
    transactions = np.bincount(place, minlength=groups)
    of_group = np.zeros(groups, np.int64)
    of_group[place] = np.arange(len(rows))
    found = np.zeros(groups, COUNTED)
    found["id_code"], found["producer_id"] = ids[of_group], producers[of_group]
    found["transactions"], found["with_data"] = transactions, np.bincount(place, weights=has_data, minlength=groups)
    return found[transactions > 0]


def listed_partitions(t: Array, rows: Array, partition_lists: list[tuple[int, ...]]) -> Array:
    """Return the partitions that these transactions of each id list (dtype LISTED), each once."""
    ids, lists = t["id_code"][rows], t["partitions_code"][rows]
    if not len(rows):
        return np.zeros(0, LISTED)
    group, groups = ranks(lists, ids)
    of_group = np.full(groups, -1, np.int64)
    of_group[group] = np.arange(len(rows))
    one = of_group[of_group >= 0]
    listed = zip(ids[one].tolist(), lists[one].tolist(), strict=True)
    pairs = sorted({(code, member) for code, number in listed for member in partition_lists[number]})
    return np.array(pairs, LISTED)
