"""How much a diagnosis looked at: what a clean bill rests on, and what tells it from evidence with nothing to judge.

Grain: one capture; captures are added up, since equal names in two captures are two.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kafkatx.findings.diagnosis import MOST_NAMED, Examined, Selection
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.kernels.distinct import distinct
from kafkatx.terms.events import EventKind
from kafkatx.terms.topics import INTERNAL, UNNAMED

SPARSE = 8
"""Producer ids that are farther apart than so many times their number are sorted."""
AT_WORK = (EventKind.produce_retry, EventKind.produce_failed, EventKind.batch_expired, EventKind.begin_called)
"""What only producers tell."""
DECIDED = ("started_at", "decision_timestamp", "completion_timestamp")


def examined(model: CaptureModel) -> Examined:
    """Count what rules could look at in a capture."""
    times = np.array([*_ends(_times_of_brokers(model))] or [*_ends(_times_of_data(model))], np.int64)
    return Examined(
        transactions=len(model.transactions) + model.counted.transactions + _of_data_alone(model),
        transactional_ids=len(model.labels.transactional_ids)
        + sum(model.id_code(name) < 0 for name in _named(model, "transactional_id")),
        producers=len(_producers(model)),
        groups=len(_named(model, "group")),
        since=int(times.min()) if len(times) else None,
        until=int(times.max()) if len(times) else None,
        has_zone=not _are_without_zone(model),
        clients=_without_ids(model),
    )


def _without_ids(model: CaptureModel) -> int:
    """Producers that lines show at work and that name neither a transactional.id nor a producer id."""
    logs = model.logs
    mine = (one for one in logs.clients if one.transactional_id is None and not one.producer_ids)
    return sum(bool(len(logs.of_client(one.number, *AT_WORK))) for one in mine)


def _are_without_zone(model: CaptureModel) -> bool:
    """Whether all that has times are logs of which nothing tells the zone."""
    logs = model.logs
    timed = [source.path for source in logs.facts.sources if source.last_at >= 0]
    rows = (*(model.transactions[name] for name in DECIDED), model.latest["timestamp"], model.spans["marker_timestamp"])
    is_of_logs = all(int(column.max(initial=-1)) < 0 for column in rows)
    return is_of_logs and bool(timed) and all(path in logs.without_zone for path in timed)


def occurs(model: CaptureModel, found: Examined, selection: Selection) -> bool:
    """Whether what the limits of a selection name is in a capture; `found` is what was examined of it."""
    name, producer_id = selection.transactional_id, selection.producer_id
    return (
        (name is None or model.id_code(name) >= 0 or name in _named(model, "transactional_id"))
        and (producer_id is None or producer_id in _producers(model))
        and _has_place(model, selection.topic, selection.partition)
        and selection.touches(found.since, found.until)
    )


def nameable(model: CaptureModel) -> tuple[tuple[str, ...], tuple[int, ...], tuple[str, ...]]:
    """Return what limits of a selection can name, the first ones: transactional.ids, producer ids, topics."""
    ids = {*model.labels.transactional_ids, *_named(model, "transactional_id")}
    topics = {topic for topic, _ in model.labels.topic_partitions} - INTERNAL - {UNNAMED}
    topics |= _named(model, "topic") - INTERNAL
    producers = _producers(model)[:MOST_NAMED].tolist()
    return tuple(sorted(ids)[:MOST_NAMED]), tuple(producers), tuple(sorted(topics)[:MOST_NAMED])


def _has_place(model: CaptureModel, topic: str | None, partition: int | None) -> bool:
    """Whether a partition, or one of a topic, is known from rows, data or logs."""
    if topic is None and partition is None:
        return True
    known = any(topic in (None, of) and partition in (None, number) for of, number in model.labels.topic_partitions)
    return known or (partition is None and topic in _named(model, "topic"))


def _of_data_alone(model: CaptureModel) -> int:
    """Transactions that only data tell of, at least: of each producer as many as one partition has of it."""
    spans, counted = model.spans, model.counted.alone
    rows = np.flatnonzero((model.parts.owner == -1) & (spans["first_offset"] >= 0))
    if not len(rows) and not len(counted):
        return 0
    producers, partitions = (
        np.concatenate((spans[name][rows], counted[name])) for name in ("producer_id", "partition_code")
    )
    order = np.lexsort((partitions, producers))
    numbers = np.concatenate((np.ones(len(rows), np.int64), counted["spans"]))[order]
    producers, partitions = producers[order], partitions[order]
    first = np.flatnonzero(np.r_[True, (np.diff(producers) != 0) | (np.diff(partitions) != 0)])
    counts, owners = np.add.reduceat(numbers, first), producers[first]
    return int(np.maximum.reduceat(counts, np.flatnonzero(np.r_[True, np.diff(owners) != 0])).sum())


def _producers(model: CaptureModel) -> Any:
    """Every producer id that rows, data and logs name, once."""
    tables = (model.transactions, model.initialisations, model.latest, model.spans, model.logs.events)
    found = distinct(np.concatenate([_distinct(table["producer_id"]) for table in tables]))
    return found[found >= 0]


def _distinct(column: Any) -> Any:
    """Every value once; without sorting where they lie close together, as producer ids do (blocks of 1,000)."""
    if not len(column):
        return column
    least, greatest = int(column.min()), int(column.max())
    if greatest - least > SPARSE * len(column):
        return distinct(column)
    seen = np.zeros(greatest - least + 1, bool)
    seen[column - least] = True
    return np.flatnonzero(seen) + least


def _named(model: CaptureModel, column: str) -> set[str]:
    """Names of a column that lines of logs give, and of ids those that clients were configured with."""
    logs = model.logs
    codes = distinct(logs.events[f"{column}_code"]).tolist()
    names = {logs.facts.strings[code] for code in codes if code >= 0}
    if column == "transactional_id":
        names |= {client.transactional_id for client in logs.clients if client.transactional_id is not None}
    return names


def _times_of_brokers(model: CaptureModel) -> Iterator[Any]:
    """Columns of times of brokers' clocks, and those of logs."""
    yield from (model.transactions[name] for name in DECIDED)
    yield model.initialisations["timestamp"]
    yield model.latest["timestamp"]
    yield model.spans["marker_timestamp"]
    yield model.logs.times
    yield np.array([*_reached(model)], np.int64)


def _reached(model: CaptureModel) -> Iterator[int]:
    """Times up to which brokers wrote and logs go, whether a transaction is there or not; -1 for none.

    Records of applications carry their own time: of their partitions only what a broker stamped counts.
    """
    for log_extent in model.log_extents.values():
        yield log_extent.newest if log_extent.topic in INTERNAL else log_extent.broker_time
    yield from (log_extent.newest for log_extent in model.state_log_extents.values())
    for source, clock in zip(model.logs.facts.sources, model.logs.clocks, strict=True):
        yield source.last_at - clock.zone_ms if source.last_at >= 0 else -1


def _times_of_data(model: CaptureModel) -> Iterator[Any]:
    """Columns of times that clients gave their records."""
    yield model.spans["first_timestamp"]
    yield model.spans["last_timestamp"]


def _ends(columns: Iterator[Any]) -> Iterator[int]:
    """The least and the greatest of what is known in each column."""
    for column in columns:
        greatest = int(column.max(initial=-1))
        if greatest >= 0:
            yield from (int(column.min(where=column >= 0, initial=greatest)), greatest)
