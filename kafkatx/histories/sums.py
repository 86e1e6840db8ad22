"""What a transaction amounts to over all partitions it wrote to: records, bytes, data's span of time, last marker.

Grain: one capture; vectorised over its participations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.transaction_partitions import Status
from kafkatx.terms.records import dataclass


@dataclass(frozen=True, slots=True)
class Sums:
    """Arrays parallel to model.transactions.

    `last_marker_at` is -1 without a marker; `is_marked`: every listed partition has its marker, or is not at hand.
    """

    records: Any
    bytes: Any
    last_marker_at: Any
    is_marked: Any


def sums(model: CaptureModel) -> Sums:
    """Add up the partitions of every transaction."""
    rows, spans, count = model.parts.rows, model.spans, len(model.transactions)
    records, size = np.zeros(count, np.int64), np.zeros(count, np.int64)
    last, marked = np.full(count, -1, np.int64), np.ones(count, bool)
    with_data = rows[rows["span"] >= 0]
    np.add.at(records, with_data["transaction"], spans["records"][with_data["span"]])
    np.add.at(size, with_data["transaction"], spans["bytes"][with_data["span"]])
    with_marker = rows[rows["marker"] >= 0]
    np.maximum.at(last, with_marker["transaction"], spans["marker_timestamp"][with_marker["marker"]])
    settled = (rows["status"] == Status.MARKED) | (rows["status"] == Status.ELSEWHERE)
    marked[rows["transaction"][~settled]] = False
    return Sums(records, size, last, marked)
