"""Epochs of a producer id that InitProducerId took: what its grants show, in rows and in the coordinator's log.

A grant one epoch above the one before it took that epoch itself. Between two that lie further apart, transactions may
have taken some (transactions v2), unless there were more epochs than milliseconds: a producer ends one transaction
after the other, and each waits for brokers several times.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.words.evidence_refs import initialised_row
from kafkatx.words.log_refs import event_refs
from kafkatx.words.values import Refs


@dataclass(frozen=True, slots=True)
class Starts:
    """How many epochs starts took for certain, within how many milliseconds, and the first and last grants."""

    taken: int
    took_ms: int
    shown: Refs


Grant = tuple[int, int, int]
"""When, which epoch, and the number of the row or line that tells it."""


def starts_of(model: CaptureModel, name: str, producer_id: int) -> Starts:
    """What starts took of the epochs of a producer id, by the witness that shows most of them."""
    by_rows, by_logs = _in_rows(model, name, producer_id), _in_logs(model, name, producer_id)
    best = max((by_rows, *by_logs), key=_taken)
    shown = [grant for pair in _pairs(best) for grant in pair]
    ends = [shown[0], shown[-1]] if shown else []
    cited = (
        tuple(initialised_row(model.initialisations[number]) for _, _, number in ends)
        if best is by_rows
        else event_refs(model, [number for _, _, number in ends])
    )
    return Starts(_taken(best), ends[1][0] - ends[0][0] if ends else 0, cited)


def _in_rows(model: CaptureModel, name: str, producer_id: int) -> list[Grant]:
    rows = model.initialisations
    is_meant = (rows["id_code"] == model.id_code(name)) & (rows["producer_id"] == producer_id)
    mine = np.flatnonzero(is_meant & (rows["is_tombstone"] == 0))
    told = zip(rows["timestamp"][mine].tolist(), rows["producer_epoch"][mine].tolist(), mine.tolist(), strict=True)
    return sorted(told)


def _in_logs(model: CaptureModel, name: str, producer_id: int) -> list[list[Grant]]:
    """The coordinator's lines, of each log by itself: it has one clock."""
    logs, by_source = model.logs, dict[int, list[Grant]]()
    for row in logs.of_kind(EventKind.initialized).tolist():
        at, epoch = logs.at(row), logs.number(row, "producer_epoch")
        is_meant = logs.number(row, "producer_id") == producer_id and logs.transactional_id(row) == name
        if is_meant and at is not None and epoch is not None:
            by_source.setdefault(int(logs.events["source"][row]), []).append((at, epoch, row))
    return [sorted(told) for told in by_source.values()]


def _taken(grants: list[Grant]) -> int:
    return sum(after[1] - before[1] for before, after in _pairs(grants))


def _pairs(grants: list[Grant]) -> list[tuple[Grant, Grant]]:
    """Grants and the next ones, where starts took the epochs between them."""
    return [
        (before, after)
        for before, after in pairwise(grants)
        if after[1] - before[1] == 1 or after[1] - before[1] > after[0] - before[0]
    ]
