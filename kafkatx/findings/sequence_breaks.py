"""Breaks of sequences in data partitions, grouped by partition and producer: what the rules about sequences share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from kafkatx.findings.grouping import columns_of
from kafkatx.findings.refused_writes import owner_of
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.ended import known
from kafkatx.kernels.growing import Array
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import time_or_none
from kafkatx.words.explained import EvidenceRef
from kafkatx.words.facts import lasting
from kafkatx.words.plurals import plural
from kafkatx.words.values import Count, Duration, OffsetRange, Producer, Refs, TopicPartition, facts

MOST_CITED = 3


@facts
class BreakFacts:
    """Breaks of one producer in one partition; `first` and the sequences are of the first of them.

    `later` are the data that do not follow, `before` those that they are held against; `left_out` are the sequences
    that are missing in all, None where none are; `is_new_leader`: the leader changed in between.
    """

    id: str | None
    producer: Producer
    later: OffsetRange
    before: OffsetRange
    first_sequence: int
    last_sequence: int
    before_last_sequence: int
    count: Count
    records: Count
    left_out: Count | None
    apart: Duration | None
    is_new_leader: bool
    earlier_batches: Refs
    later_batches: Refs

    @property
    def place(self) -> TopicPartition | None:
        """The partition, None where the text does not name it."""
        return self.later.place if self.later.partition >= 0 else None


def by_producer(model: CaptureModel, is_meant: Callable[[Array], Any]) -> Iterator[Array]:
    """Yield the breaks that a rule means, those of one producer, epoch and partition together."""
    rows = model.sequence_breaks[is_meant(model.sequence_breaks)]
    keys = ("partition_code", "producer_id", "producer_epoch")
    for key in dict.fromkeys(zip(*(rows[name].tolist() for name in keys), strict=True)):
        chosen = np.ones(len(rows), bool)
        for name, value in zip(keys, key, strict=True):
            chosen &= rows[name] == value
        yield rows[chosen]


def break_case(model: CaptureModel, rows: Array, facts: BreakFacts, verdict: Verdict, severity: Severity) -> Case:
    """Return the case about breaks of one producer."""
    columns = columns_of(facts.later)
    columns["last_offset"] = int(rows["last_offset"][-1])
    times = rows["timestamp"]
    return Case(
        facts=facts,
        verdict=verdict,
        severity=severity,
        transactional_id=facts.id,
        producer_id=facts.producer.id,
        producer_epoch=facts.producer.epoch,
        since=time_or_none(int(rows["before_timestamp"][0])),
        until=time_or_none(int(times.max())),
        count=len(rows),
        **columns,
    )


def break_facts(model: CaptureModel, rows: Array) -> dict[str, Any]:
    """Return the fields of BreakFacts."""
    first = rows[0]
    times = (int(first["before_timestamp"]), int(first["timestamp"]))
    leaders = (int(first["before_leader_epoch"]), int(first["leader_epoch"]))
    return {
        "id": owner_of(model, int(first["producer_id"])),
        "producer": Producer(int(first["producer_id"]), known(first["producer_epoch"])),
        "later": _range(model, first, ""),
        "before": _range(model, first, "before_"),
        "first_sequence": int(first["first_sequence"]),
        "last_sequence": int(first["last_sequence"]),
        "before_last_sequence": int(first["before_last_sequence"]),
        "count": Count(len(rows)),
        "records": Count(rows["records"].sum()),
        "left_out": Count(rows["missing"].sum()) if first["missing"] else None,
        "apart": lasting(times[1] - times[0] if 0 <= times[0] < times[1] else None),
        "is_new_leader": 0 <= leaders[0] < leaders[1],
        "earlier_batches": tuple(_ref(model, row, "before_") for row in rows[:MOST_CITED]),
        "later_batches": tuple(_ref(model, row, "") for row in rows[:MOST_CITED]),
    }


def _range(model: CaptureModel, row: Array, prefix: str) -> OffsetRange:
    first, last = int(row[f"{prefix}first_offset"]), int(row[f"{prefix}last_offset"])
    return OffsetRange(*model.topic_partition(int(row["partition_code"])), first, last, Count(last - first + 1))


def _ref(model: CaptureModel, row: Array, prefix: str) -> EvidenceRef:
    place = _range(model, row, prefix)
    who = f"producer id {int(row['producer_id'])} epoch {int(row['producer_epoch'])}"
    text = f"{plural(int(place.records), 'record')} of {who}, last sequence {int(row[f'{prefix}last_sequence'])}"
    at = time_or_none(int(row[f"{prefix}timestamp"]))
    return EvidenceRef(place.topic, place.partition, place.first_offset, at, text)
