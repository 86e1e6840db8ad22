"""Aborts that a client's log shows and no record."""

from __future__ import annotations

from dataclasses import replace

from kafkatx.findings.client_lines import is_cut_out, rows_of
from kafkatx.findings.end_groups import EndGroup
from kafkatx.findings.ends_in_logs import LogEndFacts, log_facts
from kafkatx.findings.one_failure import left
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.transaction_ends import LogEnding, ToldBy
from kafkatx.rules.aborts.reasons import (
    BEFORE_MS,
    BY_REASON,
    NOTHING,
    SAID_BEFORE,
    SAYS_NOTHING,
    Announced,
    announced,
    reason_of,
)
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.words.explanation import Words, included, left_open, step
from kafkatx.words.facts import thrown
from kafkatx.words.log_refs import event_refs, failure_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Refs, ShownError, bare


@dataclass(frozen=True, slots=True, kw_only=True)
class AbortedInLogs(LogEndFacts):
    """Aborts that a client's log shows; `reason` is what went wrong just before the first.

    `announced` is what the application logged right before.
    """

    announced: Announced | None
    aborts: Count
    all_by_close: bool
    reason: ShownError | None
    reason_lines: Refs
    lines: Refs

    @property
    def is_often(self) -> bool:
        """Whether they are a share of its transactions to warn of: logs do not count those."""
        return False

    @property
    def by_close(self) -> bool:
        """Whether close() aborted all of them."""
        return self.all_by_close

    @property
    def why(self) -> str | None:
        """The exception before the first, where it says more than that there was one."""
        name = bare(self.reason.exception) if self.reason is not None else ""
        return name if name not in SAYS_NOTHING else None


def is_shown_close(model: CaptureModel, group: EndGroup) -> bool:
    """Whether somebody shows a producer that was closed with its transaction open, and nothing else that went wrong."""
    rows = [row for end in group.logs for row in end.rows] if group.told_by is ToldBy.logs else []
    by_close = all(model.logs.kind(row) is EventKind.abort_on_close for row in rows)
    return bool(rows) and by_close and is_cut_out(model.logs, rows) and not left(model)


def told_in_logs(group: EndGroup) -> AbortedInLogs:
    """Return what logs tell of aborts, of which the first is explained."""
    model, ends = group.model, group.logs
    rows = [row for end in ends for row in end.rows]
    reason = reason_of(ends[0])
    return AbortedInLogs(
        **log_facts(group, ends[0], ()),
        announced=announced(model, rows),
        aborts=Count(len(rows)),
        all_by_close=all(model.logs.kind(row) is EventKind.abort_on_close for row in rows),
        reason=thrown(reason) if reason is not None else None,
        reason_lines=failure_refs(model, reason) if reason is not None else (),
        lines=event_refs(model, rows),
    )


def was_asked_for(group: EndGroup) -> bool:
    """Whether each abort answered an error that left the client no choice: what it met may have ended all before."""
    return group.told_by is ToldBy.logs and all(_answers_error(group.model.logs, end) for end in group.logs)


def _answers_error(logs: LogModel, end: LogEnding) -> bool:
    """Whether an abortable error, or the client's own abortable state, came just before an abort."""
    why = reason_of(end)
    if why is not None and why.category == "abortable":
        return True
    rows = rows_of(logs, end.client, EventKind.to_abortable).tolist() if end.client is not None else ()
    return any(end.at - BEFORE_MS <= int(logs.times[row]) <= end.at for row in rows)


LOG_WORDS = Words(
    AbortedInLogs,
    title="{aborts:transaction} aborted by its own client",
    summary=(
        "The client of {whom}[ {perhaps}] aborted {aborts:transaction} by ",
        pick("all_by_close", {True: "close()"}, "abortTransaction"),
        pick("aborts", {1: " at {at}."}, ", the first at {at}."),
    ),
    actors=(included("client"),),
    steps=(
        step("Before that {reason}", cites="reason_lines"),
        SAID_BEFORE,
        step("The client aborted the transaction at {at}", "no refusal follows in its log", cites="lines"),
    ),
    considered=(
        left_open(
            "an abort without effect",
            "the log does not show whether anything was written, or who ended it first",
            decided_by="the ABORT markers, or the records of {whom} in __transaction_state around {at}",
        ),
    ),
    remedies=(*BY_REASON, replace(NOTHING, unless="why by_close announced")),
)
