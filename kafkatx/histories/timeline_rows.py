"""Everything that happened in a capture, put in order by transactional.id (or by producer id where no row names one).

Grain: one capture. Items are rows of an array; objects are made of the chosen ones only (histories/timeline.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.initialisations import Why
from kafkatx.histories.timeline_lines import logged
from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.growing import Array
from kafkatx.kernels.transactions import NOTHING
from kafkatx.terms.records import dataclass

INITIALISATION, TRANSACTION, LEFTOVER, LINE = 0, 1, 2, 3
"""Kinds of items: rows of model.initialisations, model.transactions, spans that no transaction owns, and lines of logs.
"""

ITEM = np.dtype(
    [
        ("group", "i8"),
        ("row", "i8"),
        ("place", "i8"),
        ("at", "i8"),
        ("until", "i8"),
        ("instance", "i4"),
        ("lines", "i4"),
        ("kind", "i1"),
        ("is_headless", "i1"),
    ],
    align=True,
)
"""`place` is the offset in the coordinator's log (for a leftover: in its partition, for a line: its row); `at` and
`until` span the time, -1 where unknown; `instance` counts the producers that had the id, from 1; `is_headless`: the
id's first row, and no start of a producer stands there; `lines` counts the lines of a log that one of them stands for.
"""

FOREVER = int(np.iinfo(np.int64).max)
"""`until` of what has not ended."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What of a history is asked for; None: no limit. Times in milliseconds."""

    transactional_id: str | None = None
    producer_id: int | None = None
    topic: str | None = None
    partition: int | None = None
    since: int | None = None
    until: int | None = None


@dataclass(frozen=True, slots=True)
class Items:
    """Items in order of group and time.

    Group n is the transactional.id with code n, then strangers[n - ids], then ids that only logs name (`in_logs`).
    """

    rows: Array
    strangers: Array
    ids: int
    in_logs: list[str]

    def name(self, group: int) -> str | None:
        """The id of a group that logs alone name, None for all others."""
        first = self.ids + len(self.strangers)
        return self.in_logs[group - first] if group >= first else None


def items_of(model: CaptureModel, why: Array, wanted: Wanted) -> Items:
    """Order everything, number the instances, then keep what is wanted.

    `why` is parallel to model.initialisations (histories/initialisations.py). A group that loses all its transactions
    and leftovers to a limit of topic or partition is left out whole.
    """
    owners = _Owners(model)
    items = _ordered(np.concatenate([_initialisations(model), _transactions(model), _leftovers(model, owners)]))
    _number_instances(items, why)
    items, in_logs = _with_lines(model, items, owners)
    items = items[_in_time(items, wanted)]
    items = items[_in_partitions(model, items, wanted)]
    if wanted.transactional_id is not None or wanted.producer_id is not None:
        items = items[np.isin(items["group"], _wanted_groups(model, owners, wanted, in_logs))]
    return Items(items, owners.strangers, owners.ids, in_logs)


def _with_lines(model: CaptureModel, items: Array, owners: _Owners) -> tuple[Array, list[str]]:
    """Lay lines of logs between what rows and data tell, by time; also return the ids that they alone name."""
    if not len(model.logs.events):
        return items, []
    told = logged(model)
    lines = _items(len(told.rows), LINE)
    lines["group"] = np.where(told.codes < owners.ids, told.codes, told.codes + len(owners.strangers))
    lines["row"] = lines["place"] = told.rows
    lines["at"] = lines["until"] = told.at
    lines["lines"] = told.lines
    every = np.concatenate([items, lines])
    reached = np.concatenate([_reached(items), lines["at"]])
    order = np.lexsort((every["kind"] == LINE, reached, every["group"]))
    every = every[order]
    last = np.maximum.accumulate(np.where(every["kind"] != LINE, np.arange(len(every)), -1))
    same = (last >= 0) & (every["group"][last] == every["group"])
    every["instance"] = np.where(every["kind"] != LINE, every["instance"], np.where(same, every["instance"][last], 0))
    return every, told.strangers


def _reached(items: Array) -> Array:
    """Times of items that never go back within their group, whose order stands."""
    times = items["at"]
    rank = np.unique(times, return_inverse=True)[1].astype(np.int64) + items["group"] * (len(items) + 1)
    best = np.maximum.accumulate(rank)
    first = np.unique(rank, return_index=True)
    found: Array = times[first[1]][np.searchsorted(first[0], best)]
    return found


class _Owners:
    """Which group a producer id belongs to: its transactional.id's by any row, else one of its own."""

    def __init__(self, model: CaptureModel) -> None:
        self.ids = len(model.labels.transactional_ids)
        tables = (
            (model.initialisations, "producer_id"),
            (model.transactions, "producer_id"),
            (model.transactions, "completed_producer_id"),
            (model.latest, "producer_id"),
        )
        producers = np.concatenate([table[name] for table, name in tables])
        codes = np.concatenate([table["id_code"] for table, _ in tables])
        known = producers >= 0
        self.producers, first = np.unique(producers[known], return_index=True)
        self.codes = codes[known][first]
        self.strangers = np.setdiff1d(model.spans["producer_id"], self.producers)

    def groups(self, producers: Array) -> Any:
        """Group of each producer id."""
        owned, at = np.isin(producers, self.producers), np.searchsorted(self.producers, producers)
        found: Array = self.ids + np.searchsorted(self.strangers, producers)
        if len(self.producers):
            found = np.where(owned, self.codes[at.clip(max=len(self.producers) - 1)], found)
        return found

    def group_of(self, producer_id: int) -> list[int]:
        """Groups in which a producer id occurs."""
        known = np.isin(producer_id, self.producers) or np.isin(producer_id, self.strangers)
        return [int(self.groups(np.array([producer_id]))[0])] if known else []


def _items(count: int, kind: int) -> Array:
    rows = np.zeros(count, ITEM)
    rows["kind"] = kind
    return rows


def _initialisations(model: CaptureModel) -> Array:
    table = model.initialisations
    items = _items(len(table), INITIALISATION)
    items["group"], items["row"], items["place"] = table["id_code"], np.arange(len(table)), table["offset"]
    items["at"] = items["until"] = table["timestamp"]
    return items


def _transactions(model: CaptureModel) -> Array:
    t = model.transactions
    items = _items(len(t), TRANSACTION)
    items["group"], items["row"] = t["id_code"], np.arange(len(t))
    items["place"] = _first_known(t["begin_offset"], t["decision_offset"], t["completion_offset"])
    items["at"] = _first_known(t["started_at"], t["decided_at"], t["completion_timestamp"])
    ended = np.maximum(
        items["at"], _first_known(t["completion_timestamp"], t["decision_timestamp"], t["begin_timestamp"])
    )
    items["until"] = np.where((t["completion_offset"] < 0) & (t["next_state"] == NOTHING), FOREVER, ended)
    return items


def _leftovers(model: CaptureModel, owners: _Owners) -> Array:
    numbers = np.flatnonzero(model.parts.owner < 0)
    spans = model.spans[numbers]
    items = _items(len(numbers), LEFTOVER)
    items["group"], items["row"] = owners.groups(spans["producer_id"]), numbers
    items["place"] = np.where(spans["marker_offset"] >= 0, spans["marker_offset"], spans["first_offset"])
    written = _first_known(spans["first_timestamp"], spans["last_timestamp"])
    behind_last_marker = np.maximum(written, spans["previous_marker_timestamp"])
    items["at"] = np.where(spans["marker_offset"] >= 0, spans["marker_timestamp"], behind_last_marker)
    items["until"] = np.where(spans["marker_offset"] < 0, FOREVER, np.maximum(items["at"], spans["last_timestamp"]))
    return items


def _number_instances(items: Array, why: Array) -> None:
    """Count what begins a producer; a group whose first start is not at hand has had one before all that is.

    What clocks alone put before the first start of an id (data by their producer's, markers by their leader's) came
    behind it.
    """
    starts = items["kind"] == INITIALISATION
    rows = items["row"][starts]
    of_first_start = items["group"][starts][why[rows] == Why.first_start]
    starts[starts] = ~np.isin(why[rows], (Why.own_bump, Why.expired))
    counted = np.cumsum(starts)
    first = np.flatnonzero(np.diff(items["group"], prepend=-1))
    by_clocks = (items["kind"][first] == LEFTOVER) & np.isin(items["group"][first], of_first_start)
    is_headless = ~starts[first] & ~by_clocks
    offset = is_headless - (counted[first] - starts[first])
    items["is_headless"][first] = is_headless
    items["instance"] = np.maximum(counted + np.repeat(offset, np.diff(np.append(first, len(items)))), 1)


def _first_known(*columns: Array) -> Any:
    """The first column that is not negative, row by row."""
    return np.select([column >= 0 for column in columns], columns, -1)


def _in_partitions(model: CaptureModel, items: Array, wanted: Wanted) -> Any:
    """Transactions and leftovers that touch the partitions asked for, and the initialisations of their ids."""
    if wanted.topic is None and wanted.partition is None:
        return np.ones(len(items), bool)
    pairs = enumerate(model.labels.topic_partitions)
    chosen = [
        code for code, (topic, number) in pairs if wanted.topic in (None, topic) and wanted.partition in (None, number)
    ]
    touching = distinct(model.parts.rows["transaction"][np.isin(model.parts.rows["partition_code"], chosen)])
    kept = (items["kind"] == TRANSACTION) & np.isin(items["row"], touching)
    left = np.flatnonzero(items["kind"] == LEFTOVER)
    kept[left] = np.isin(model.spans["partition_code"][items["row"][left]], chosen)
    beside = (items["kind"] == INITIALISATION) | ((items["kind"] == LINE) & _lines_in(model, items, wanted))
    return kept | (beside & np.isin(items["group"], distinct(items["group"][kept])))


def _lines_in(model: CaptureModel, items: Array, wanted: Wanted) -> Any:
    """Lines of logs that name a partition asked for, or none at all."""
    names = model.logs.facts.strings
    found = np.zeros(len(items), bool)
    at = np.flatnonzero(items["kind"] == LINE)
    events = model.logs.events[items["row"][at]]
    topics = np.array([wanted.topic in (None, name) for name in names] + [True], bool)
    partitions = (events["partition"] == wanted.partition) | (events["topic_code"] < 0) | (wanted.partition is None)
    found[at] = topics[events["topic_code"]] & partitions
    return found


def _in_time(items: Array, wanted: Wanted) -> Any:
    """Items that overlap the time asked for; one of unknown time is kept."""
    kept = np.ones(len(items), bool)
    if wanted.since is not None:
        kept &= (items["until"] >= wanted.since) | (items["until"] < 0)
    if wanted.until is not None:
        kept &= items["at"] <= wanted.until
    return kept


def _wanted_groups(model: CaptureModel, owners: _Owners, wanted: Wanted, in_logs: list[str]) -> list[int]:
    groups = [code for code, name in enumerate(model.labels.transactional_ids) if name == wanted.transactional_id]
    first = owners.ids + len(owners.strangers)
    groups += [first + number for number, name in enumerate(in_logs) if name == wanted.transactional_id]
    if wanted.producer_id is None:
        return groups
    of_producer = owners.group_of(wanted.producer_id)
    of_clients = {client.transactional_id for client in model.logs.clients if wanted.producer_id in client.producer_ids}
    of_producer += [first + number for number, name in enumerate(in_logs) if name in of_clients]
    return of_producer if wanted.transactional_id is None else [group for group in groups if group in of_producer]


def _ordered(items: Array) -> Array:
    """By group; rows of the coordinator by their offset, leftovers between them by time.

    The coordinator's offsets are the truth of their order: where its clock went back, a row takes the highest time
    before it.
    """
    by_place = np.lexsort((items["place"], items["kind"] == LEFTOVER, items["group"]))
    items = items[by_place]
    rank = np.unique(items["at"], return_inverse=True)[1].astype(np.int64)
    from_log = items["kind"] != LEFTOVER
    reached = np.maximum.accumulate(np.where(from_log, items["group"] * (len(items) + 1) + rank, -1))
    when = np.where(from_log, reached - items["group"] * (len(items) + 1), rank)
    return items[np.lexsort((items["place"], ~from_log, when, items["group"]))]
