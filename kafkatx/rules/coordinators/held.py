"""What an absence of a coordinator kept waiting before anything was refused, and what nobody tried behind a load."""

from __future__ import annotations

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.coordinator_unavailability import AGAIN_MS, Absence, held_over
from kafkatx.terms.records import dataclass
from kafkatx.words.evidence_refs import completion_row, decision_row
from kafkatx.words.explanation import left_open, step
from kafkatx.words.template import pick
from kafkatx.words.values import Instant, NameList, Refs


@dataclass(frozen=True, slots=True)
class Held:
    """Transactions that were decided before the first refused write, and complete only when writes succeeded again."""

    names: NameList
    decided_at: Instant
    completed_at: Instant
    rows: Refs


def held_by(model: CaptureModel, absence: Absence) -> Held | None:
    """Transactions that waited for the coordinator from before the first refused write on."""
    rows = held_over(model, absence) if "writing" in absence.told_by and absence.is_over else []
    if not len(rows):
        return None
    names = dict.fromkeys(model.transactional_id(int(row["id_code"])) for row in rows)
    return Held(
        NameList(name for name in names if name is not None),
        Instant(rows[0]["decided_at"]),
        Instant(max(int(row["completion_timestamp"]) for row in rows)),
        tuple(place for row in rows[:2] for place in (*decision_row(row), *completion_row(row))),
    )


def unwritable_until(absence: Absence, found: list[Absence]) -> int | None:
    """When writes to other partitions were last refused that began to be soon after one was loaded; None: never.

    Too few replicas in sync are the business of brokers, so a partition that nobody wrote to may have had as few.
    """
    if absence.told_by != {"loading"}:
        return None
    beside = (one for one in found if "writing" in one.told_by and not one.partitions & absence.partitions)
    near = [one.until for one in beside if one.since <= absence.until + AGAIN_MS and absence.until < one.until]
    return max(near, default=None)


HELD = pick(
    "held",
    {None: ""},
    " Transactions of {held.names:3}, decided at {held.decided_at}, were complete only at {held.completed_at}.",
)
HELD_STEP = step(
    "Transactions of {held.names:3} had waited since {held.decided_at} and were complete at {held.completed_at}",
    "decided before the first refused write, complete after the last",
    cites="held.rows",
    needs="held",
)
TOO_FEW_LATER = left_open(
    "whether too few replicas were in sync after the load",
    "writes to another partition of __transaction_state were refused until {unwritable_until}, and nobody is "
    "seen to write to {number:this one|these}",
    decided_by="the records of {partitions} in the metadata log",
    needs="unwritable_until",
)
