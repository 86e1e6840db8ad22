"""Brokers that were still starting: `__transaction_state` could not be made yet, and was there moments later.

The broker says itself that its line can be ignored then; no setting was wrong, and no producer met more than a wait.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.events import EventKind

MADE = (
    EventKind.initialized, EventKind.coordinator_loading, EventKind.coordinator_loaded, EventKind.coordinator_elected,
    EventKind.producer_id_set,
)  # fmt: skip
"""Lines that show a partition of `__transaction_state` at work."""


def was_starting(logs: LogModel, rows: Iterable[int]) -> bool:
    """Whether lines say that brokers were too few, and the last of them is followed by a coordinator at work."""
    lines = list(rows)
    if not lines or any(logs.kind(row) is not EventKind.too_few_brokers for row in lines):
        return False
    return any(logs.is_before(lines[-1], row) for row in logs.of_kind(*MADE).tolist())
