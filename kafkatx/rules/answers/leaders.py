"""What leaders answered about data of a partition that has no marker: that the transaction is open.

`describe-producers` doesn't print which partition it was asked of; where its question is not at hand, the producer id
and the first offset of the transaction say which data it means.
"""

from __future__ import annotations

from kafkatx.findings.open_spans import OpenSpan
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.rules.answers.places import place_of
from kafkatx.terms.events import EventKind

LIVE = "describe-producers"
"""Answers of a running leader; a producer snapshot tells of an earlier time."""


def told_open(one: OpenSpan) -> list[int]:
    """Rows of the leader's answers that have the transaction of some data open, from its first offset on."""
    logs, data = one.model.logs, one.data
    return [
        row
        for row in told_of(one.model, data.topic, data.partition)
        if (logs.number(row, "producer_id"), logs.number(row, "offset")) == (one.producer_id, data.first_offset)
    ]


def told_of(model: CaptureModel, topic: str, partition: int) -> list[int]:
    """Rows of the open transactions that a partition's leader told, and of those told of no partition by name."""
    found = []
    for row in model.logs.of_kind(EventKind.transaction_open).tolist():
        place = place_of(model.logs, row)
        is_of_it = (place.topic, place.partition) == (topic, partition) or place.partition < 0
        if is_of_it and model.logs.string(row, "detail") == LIVE:
            found.append(row)
    return found
