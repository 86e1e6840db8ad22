"""Markers of an id that took long now and then, by the times of the coordinator's records."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.slow_markers import FEWEST, PERCENT, SLOW_MS, is_often
from kafkatx.kernels.growing import Array
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.config_context import advised
from kafkatx.words.evidence_refs import completion_row, decision_row
from kafkatx.words.explanation import Phrase, Words, included, measure, ruled_out, step
from kafkatx.words.proposals import Lasted, Remedies
from kafkatx.words.remedies import larger_transactions
from kafkatx.words.values import Count, Duration, Refs, facts

TIMES_MEDIAN = 10


@dataclass(frozen=True, slots=True)
class Waited:
    """A transaction that waited long for its markers."""

    took: Duration
    rows: Refs


@facts
class StormInRows:
    """Markers of an id that took long now and then, by the times of the coordinator's records."""

    id: str
    transactions: Count
    median: Duration
    slow: Duration
    worst: tuple[Waited, ...]
    larger: Remedies


def often_slow(model: CaptureModel) -> Array:
    """Codes of the ids of which one transaction in twenty waited long for its markers: only they are looked at."""
    t = model.transactions
    known = (t["decision_timestamp"] >= 0) & (t["completion_timestamp"] >= t["decision_timestamp"])
    is_slow = known & (t["completion_timestamp"] - t["decision_timestamp"] > SLOW_MS)
    ids = len(model.labels.transactional_ids)
    ended, slow = np.bincount(t["id_code"][known], minlength=ids), np.bincount(t["id_code"][is_slow], minlength=ids)
    return np.flatnonzero(is_often(slow, ended + model.counted.by_id(ids)))


def slow_in_rows(model: CaptureModel, code: int) -> Iterator[Case]:
    """Markers that take long now and then, by the times of the coordinator's records."""
    rows = model.transactions_of(code)
    t = model.transactions[rows]
    known = (t["decision_timestamp"] >= 0) & (t["completion_timestamp"] >= t["decision_timestamp"])
    rows, took = rows[known], (t["completion_timestamp"] - t["decision_timestamp"])[known]
    if len(took) < FEWEST:
        return
    median, slow = int(np.median(took)), int(np.percentile(took, PERCENT, method="lower"))
    if slow <= SLOW_MS or slow <= TIMES_MEDIAN * median:
        return
    name, worst = model.transactional_id(code), np.argsort(-took, kind="stable")[:3]
    measured = TOOK.of(Lasted(Duration(slow)))
    yield Case(
        facts=StormInRows(
            id=name,
            transactions=Count(len(took)),
            median=Duration(median),
            slow=Duration(slow),
            worst=tuple(Waited(Duration(took[at]), _pair(model.transactions[rows[at]])) for at in worst),
            larger=larger_transactions(advised(model, name), None, measured),
        ),
        verdict=Verdict.likely,
        severity=Severity.warning,
        transactional_id=name,
        since=int(t["decided_at"].min()),
        until=int(t["completion_timestamp"].max()),
        count=int(np.count_nonzero(took > SLOW_MS)),
    )


def _pair(transaction: Array) -> Refs:
    return (*decision_row(transaction), *completion_row(transaction))


TOOK = Phrase(Lasted, measure("Prepare* to Complete* took {time}"))
ROW_WORDS = Words(
    StormInRows,
    title="waited {slow} or more for markers, 1 time in 20",
    summary="One in twenty of the {transactions:transaction} of {id} waited {slow} or more for its markers; the median "
    "is {median}. Meanwhile its requests were[ {perhaps}] answered CONCURRENT_TRANSACTIONS.",
    steps=(
        step(
            "A transaction waited {each.took} for its markers",
            "timestamps of its Prepare* and Complete* records",
            cites="each.rows",
            each="worst",
        ),
    ),
    considered=(ruled_out("stuck_prepare", "all of these transactions were completed"),),
    remedies=(included("larger"),),
)
