"""A coordinator that fenced a producer at its timeout and could not write that: the client may hear of it first.

It raises the epoch in its memory, then writes; where its log takes no writes the rows come when it does again, and the
client may have been refused by then (`TransactionCoordinator.endTransaction`, "epoch fence").
"""

from __future__ import annotations

from kafkatx.findings.end_groups import EndGroup
from kafkatx.histories.ended import TransactionEnd
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.words.explanation import step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.values import Instant, Refs

EPOCH_FENCE = "epoch fence"
"""What the catalogue of log texts calls that failed write."""


@dataclass(frozen=True, slots=True)
class EarlyFence:
    """When the epoch was raised first, and the line that tells it."""

    at: Instant
    lines: Refs


def fenced_early(group: EndGroup) -> EarlyFence | None:
    """The first raise of the epoch of the first transaction that could not be written, None where no line tells one."""
    end, logs = TransactionEnd(group.model, group.numbers[0]), group.model.logs
    since, until = int(end.row["started_at"]), int(end.row["decided_at"])
    for row in logs.of_kind(EventKind.state_append_failed).tolist():
        at = logs.at(row)
        is_its = logs.transactional_id(row) == end.transactional_id and logs.string(row, "detail") == EPOCH_FENCE
        if at is not None and is_its and since <= at < until:
            return EarlyFence(Instant(at), event_refs(group.model, [row]))
    return None


FENCED_EARLY = step(
    "At {early.at} the coordinator had raised the epoch, but could not write it: T1 could be refused from then on",
    "the coordinator's log",
    cites="early.lines",
)
