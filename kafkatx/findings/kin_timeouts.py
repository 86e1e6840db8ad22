"""Timeouts of the other ids of one job: what it means for a transaction of it that is open.

A Flink sink has a new id for each subtask and checkpoint. Where transactions of its other ids timed out, with the same
timeout, the one that is open is on its way to the same end: its own history says nothing, its job's does.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.endings import EndedBy
from kafkatx.histories.frameworks import framework_of
from kafkatx.histories.logs.once import once
from kafkatx.terms.catalogue.frameworks import FLINK
from kafkatx.words.values import Count


def timed_out_kin(model: CaptureModel, name: str, timeout_ms: int) -> Count | None:
    """How many transactions of the same Flink job timed out with the same timeout; None where none did."""
    job = _job(model, name)
    return Count(_timed_out(model)[job, timeout_ms]) or None if job is not None else None


@once
def _timed_out(model: CaptureModel) -> Counter[tuple[str, int]]:
    """Transactions that timed out, by job and timeout."""
    found: Counter[tuple[str, int]] = Counter()
    ends, t = model.ends.rows(), model.transactions
    for number in np.flatnonzero(ends.ended_by == EndedBy.timeout).tolist():
        job = _job(model, model.transactional_id(int(t["id_code"][number])))
        if job is not None:
            found[job, int(t["timeout_ms"][number])] += 1
    return found


def _job(model: CaptureModel, name: str) -> str | None:
    """The prefix of an id that a Flink job gave it."""
    found = framework_of(model, name)
    return found.member or None if found is not None and found.name in FLINK else None
