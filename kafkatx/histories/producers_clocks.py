"""How far the coordinators' clocks are ahead of a producer's, as its transactions show it.

A client stamps its records, a coordinator the row that lets them in, within moments of each other. A time of
open data says something about a time of `__transaction_state` only when it is moved by what these two differ by.
"""

from __future__ import annotations

import numpy as np

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.once import once
from kafkatx.kernels.growing import Array

ANY = -1
"""Stands for all producers of a capture."""
LEAST_MS = 2_000
"""Less is what a record waits to be sent."""


def by_coordinator(model: CaptureModel, producer_id: int, time: int) -> int:
    """Return when a time of a producer's data was at the latest, by the clock of who wrote its transactions' rows."""
    return time + max(0, behind_ms(model, producer_id))


def behind_ms(model: CaptureModel, producer_id: int) -> int:
    """Milliseconds that a producer's clock is behind, below 0 where it is ahead; 0 where nothing shows that it differs.

    Of a producer without transactions what others' clocks show is taken: where brokers are ahead they are so of all.
    """
    known = _behind(model)
    return known.get(producer_id, known.get(ANY, 0))


@once
def _behind(model: CaptureModel) -> dict[int, int]:
    """By producer id, and of all: what its records' times are typically behind the starts of their transactions.

    Less than LEAST_MS is no difference; nor is there one of the transactions that are counted.
    """
    rows = model.parts.rows[model.parts.rows["span"] >= 0]
    numbers, sent = rows["transaction"], model.spans["first_timestamp"][rows["span"]] if len(rows) else rows["span"]
    started = model.transactions["started_at"][numbers]
    is_told = (sent >= 0) & (started >= 0)
    numbers, sent, started = numbers[is_told], sent[is_told], started[is_told]
    order = np.lexsort((sent, numbers))
    first = np.unique(numbers[order], return_index=True)[1]
    chosen = order[first]
    behind = started[chosen] - sent[chosen]
    counted = model.counted.rows[model.counted.rows["with_data"] > 0]
    behind = np.where(abs(behind) > LEAST_MS, behind, 0)
    return _typical(model.transactions["producer_id"][numbers[chosen]], behind, counted)


def _typical(producers: Array, behind: Array, counted: Array) -> dict[int, int]:
    """The medians; of those that are `counted` nothing is behind."""
    if not len(producers) and not len(counted):
        return {}
    order = np.argsort(producers, kind="stable")
    ids, begins = np.unique(producers[order], return_index=True)
    held = dict(zip(ids.tolist(), np.split(behind[order], begins[1:]), strict=True)) if len(ids) else {}
    zeros: dict[int, int] = {}
    for producer, count in zip(counted["producer_id"].tolist(), counted["with_data"].tolist(), strict=True):
        zeros[producer] = zeros.get(producer, 0) + count
    known = {ANY: median_with_zeros(behind, sum(zeros.values()))}
    for producer in held.keys() | zeros.keys():
        known[producer] = median_with_zeros(held.get(producer, behind[:0]), zeros.get(producer, 0))
    return {producer: value if abs(value) > LEAST_MS else 0 for producer, value in known.items()}


def median_with_zeros(values: Array, zeros: int) -> int:
    """Return the median of values and so many zeros more; there is one of them at least."""
    ordered, count = np.sort(values), len(values) + zeros
    below = int(np.searchsorted(ordered, 0))

    def at(place: int) -> int:
        if place < below:
            return int(ordered[place])
        return 0 if place < below + zeros else int(ordered[place - zeros])

    return int((at((count - 1) // 2) + at(count // 2)) / 2)
