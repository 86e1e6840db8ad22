"""Many alike transactions as one finding: by transactional.id, with count, span, first, typical and last subject."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypedDict

import numpy as np

from kafkatx.findings.finding import Subject
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.kernels.growing import Array
from kafkatx.words.evidence_refs import data_of
from kafkatx.words.facts import offsets
from kafkatx.words.values import OffsetRange

MOST_NAMED = 100
"""Transactions of a group whose data are looked at one by one."""


class Spread(TypedDict):
    """The columns of a finding that are single-valued only where all its transactions agree."""

    producer_id: int | None
    producer_epoch: int | None
    topic: str | None
    partition: int | None
    first_offset: int | None
    last_offset: int | None
    since: int | None
    until: int | None


class DataColumns(TypedDict, total=False):
    """The columns that place data."""

    topic: str | None
    partition: int | None
    first_offset: int | None
    last_offset: int | None


class SpanColumns(DataColumns, total=False):
    """The columns that place a span."""

    producer_id: int | None
    producer_epoch: int | None


class CaseColumns(SpanColumns, total=False):
    """The columns that place a case."""

    transactional_id: str | None
    count: int
    subjects: tuple[Subject, ...]
    since: int | None
    until: int | None


def columns_of(data: OffsetRange) -> DataColumns:
    """The columns that place data; of a text that names no partition there are only offsets."""
    is_named = data.partition >= 0
    return DataColumns(
        topic=data.topic if is_named else None,
        partition=data.partition if is_named else None,
        first_offset=data.first_offset,
        last_offset=data.last_offset,
    )


def columns_of_part(model: CaptureModel, part: Array) -> DataColumns:
    """The columns that place a participation: its partition, and its data where they are at hand."""
    if part["span"] >= 0:
        return columns_of(offsets(model, model.spans[int(part["span"])]))
    topic, partition = model.topic_partition(int(part["partition_code"]))
    return DataColumns(topic=topic, partition=partition)


def by_transactional_id(model: CaptureModel, rows: Any) -> Iterator[tuple[str, list[int]]]:
    """Group rows of the table of transactions by their id, ids in the order of their names."""
    ordered = rows[np.argsort(model.transactions["id_code"][rows], kind="stable")]
    codes = model.transactions["id_code"][ordered]
    edges = np.flatnonzero(np.diff(codes)) + 1
    groups = [group for group in np.split(ordered, edges) if len(group)]
    named = [(model.transactional_id(int(model.transactions["id_code"][group[0]])), group.tolist()) for group in groups]
    yield from sorted(named)


def spread(model: CaptureModel, rows: list[int]) -> Spread:
    """The columns that place a finding; times are starts and decisions by the coordinator's clock."""
    place, numbers = _place(model, rows), np.array(rows)
    names = ("started_at", "decided_at", "completion_timestamp", "producer_id", "producer_epoch")
    starts, decided, completed, producers, epochs = (model.transactions[name][numbers] for name in names)
    starts, ends = starts[starts >= 0], np.maximum(decided, completed)
    return Spread(
        producer_id=_only(producers),
        producer_epoch=_only(epochs),
        topic=place.topic,
        partition=place.partition,
        first_offset=place.first_offset,
        last_offset=place.last_offset,
        since=int(starts.min()) if len(starts) else None,
        until=int(ends.max()) if len(ends) and ends.max() >= 0 else None,
    )


def subjects_of(model: CaptureModel, rows: list[int]) -> tuple[Subject, ...]:
    """First, typical and last of a group of two or more."""
    if len(rows) < 2:
        return ()
    chosen = dict.fromkeys((rows[0], rows[len(rows) // 2], rows[-1]))
    return tuple(_place(model, [row]) for row in chosen)


def _place(model: CaptureModel, rows: list[int]) -> Subject:
    """Id, producer and, where all data lie in one partition, the partition and its offsets."""
    producer_id = _only(model.transactions["producer_id"][rows])
    spans = [span for row in rows[:MOST_NAMED] for span in data_of(model, row)]
    codes = {int(span["partition_code"]) for span in spans}
    name = model.transactional_id(int(model.transactions["id_code"][rows[0]]))
    if len(codes) != 1:
        return Subject(name, producer_id)
    topic, partition = model.topic_partition(codes.pop())
    first, last = min(int(span["first_offset"]) for span in spans), max(int(span["last_offset"]) for span in spans)
    return Subject(name, producer_id, topic, partition, first, last)


def _only(values: Any) -> int | None:
    """The value that all share, None where they differ or it is absent."""
    first = int(values[0]) if len(values) else -1
    return first if first >= 0 and (values == first).all() else None
