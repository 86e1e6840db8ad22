"""Aborts that a client shows without an id (librdkafka at debug level) or a date, and that nothing forced.

The library prints what the application asked for. Where the same source tells no failure of Kafka, but for calls that
met the producer closed, the application had reasons of its own; a framework's line before may name them. Lines without
a date have no place in the history of transactions, where an abort is found otherwise. Batches that were dropped since
their transaction was aborted tell of an abort whose own line is not at hand.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.client_lines import by_client, is_cut_out, rows_of, seen, times_of
from kafkatx.findings.one_failure import left
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import ActorWords, Bound, Words, included, left_open, remedy, step
from kafkatx.words.facts import client_name
from kafkatx.words.log_refs import ROLLBACK, event_refs
from kafkatx.words.values import ClientName, Count, Refs, bare, facts

MECHANISM = "aborted_by_client"
BY_ABORT = "transaction was aborted"
"""In the words of the client about a batch that an abort threw away."""


@facts
class NamelessAborts:
    """Aborts of a client."""

    name: ClientName
    client: Bound[ActorWords] | None
    count: Count
    reason: str | None
    reason_lines: Refs
    lines: Refs
    dropped: Refs


@facts
class DroppedBatches:
    """Batches that a client dropped since their transaction was aborted, and no line tells by whom."""

    name: ClientName
    client: Bound[ActorWords] | None
    count: Count
    lines: Refs


def aborted_without_id(model: CaptureModel) -> Iterator[Case]:
    """One case for each client that names no id or no date, aborted, and met no failure of Kafka.

    Then one for each whose batches were dropped by an abort that no line shows.
    """
    logs = model.logs
    failed = {int(logs.events["source"][row]) for told in left(model) if MECHANISM not in told.candidates
              for row in told.rows}  # fmt: skip
    for client in logs.clients:
        if client.source in failed or not (rows := _aborts(logs, client)):
            continue
        since, until = times_of(logs, rows)
        why = _why(logs, rows[0])
        is_asked = why is not None or client.transactional_id is None or not _dropped(logs, rows[0])
        yield Case(
            facts=NamelessAborts(
                name=client_name(client),
                client=seen(model, client),
                count=Count(len(rows)),
                reason=bare(logs.string(why, "error") or "") if why is not None else None,
                reason_lines=event_refs(model, [why]) if why is not None else (),
                lines=event_refs(model, rows, 4),
                dropped=event_refs(model, _dropped(logs, rows[0]), 2),
            ),
            verdict=Verdict.likely if is_asked else Verdict.possible,
            severity=Severity.warning if is_asked and is_cut_out(logs, rows) else Severity.info,
            transactional_id=client.transactional_id,
            since=since,
            until=until,
            count=len(rows),
        )
    yield from _without_abort(model, failed)


def _without_abort(model: CaptureModel, failed: set[int]) -> Iterator[Case]:
    """One case for each client, or nobody, whose batches were dropped in a source that shows no abort."""
    logs = model.logs
    aborts = logs.of_kind(EventKind.abort_called, EventKind.abort_on_close).tolist()
    shown = {logs.path(row) for row in aborts}
    rows = [
        row
        for row in logs.of_kind(EventKind.batches_failed).tolist()
        if logs.path(row) not in shown and int(logs.events["source"][row]) not in failed and _is_by_abort(logs, row)
    ]
    for client, mine in by_client(model, rows):
        since, until = times_of(logs, mine)
        yield Case(
            facts=DroppedBatches(
                client_name(client), seen(model, client), Count(len(mine)), event_refs(model, mine, 4)
            ),
            verdict=Verdict.likely,
            severity=Severity.info,
            transactional_id=client.transactional_id if client is not None else None,
            since=since,
            until=until,
            count=len(mine),
        )


def _is_by_abort(logs: LogModel, row: int) -> bool:
    return BY_ABORT in (logs.string(row, "detail") or "") or "TransactionAborted" in (logs.string(row, "error") or "")


def _dropped(logs: LogModel, row: int) -> list[int]:
    """Batches that a file says were dropped behind a line."""
    rows = logs.of_kind(EventKind.batches_failed).tolist()
    beside = [one for one in rows if logs.path(one) == logs.path(row) and _is_by_abort(logs, one)]
    return [one for one in beside if logs.events["line"][one] > logs.events["line"][row]]


def _why(logs: LogModel, row: int) -> int | None:
    """The last line above an abort by which a framework names the exception that it aborts for."""
    rows = logs.of_kind(EventKind.client_state).tolist()
    told = [one for one in rows if logs.path(one) == logs.path(row) and logs.string(one, "api") == ROLLBACK]
    return max((one for one in told if logs.events["line"][one] < logs.events["line"][row]), default=None)


def _aborts(logs: LogModel, client: ClientInstance) -> list[int]:
    """Lines by which a client says that it aborts; of one with an id those that have no date.

    Of abortTransaction without a date they count where a reason or dropped batches show that something was lost. Where
    librdkafka shows no call, its lines of what it does in each of them count.
    """
    if client.transactional_id is not None:
        closed: list[int] = rows_of(logs, client, EventKind.abort_on_close).tolist()
        asked: list[int] = rows_of(logs, client, EventKind.abort_called).tolist()
        closed += [row for row in asked if _why(logs, row) is not None or _dropped(logs, row)]
        return sorted(row for row in closed if logs.at(row) is None)
    called: list[int] = rows_of(logs, client, EventKind.abort_called).tolist()
    done = rows_of(logs, client, EventKind.client_state).tolist()
    return called or [row for row in done if logs.string(row, "api") == "abortTransaction"]


NAMELESS_WORDS = Words(
    NamelessAborts,
    title="{count:transaction} aborted by its own client[ after {reason}]",
    summary=(
        "{name:The} aborted {count:transaction} by abortTransaction or close(): nothing of Kafka failed before, so "
        "the application[ {perhaps}] had reasons of its own[, after {reason}]. Readers never get these records."
    ),
    actors=(included("client"),),
    steps=(
        step("The application ended its work with {reason}", cites="reason_lines", needs="reason_lines"),
        step("The client was asked to abort", "its log tells no failure before", cites="lines"),
        step("What was not sent yet was thrown away: an effect of the abort", cites="dropped", needs="dropped"),
    ),
    considered=(
        left_open(
            "a failure that this log does not show",
            "an abort is how applications answer an error",
            decided_by="the application's whole log before the abort",
        ),
    ),
    remedies=(
        remedy(
            "If the records were meant to be written, find out why the application aborted, and let it report its "
            "input as not done",
            "application",
        ),
    ),
)
DROPPED_WORDS = Words(
    DroppedBatches,
    title="records dropped by an abort",
    summary="The transaction of {name}[ {perhaps}] was aborted while records of it were not sent yet: these were "
    "thrown "
    "away, and readers get none of that transaction. Who aborted it does not stand here.",
    actors=(included("client"),),
    steps=(step("Batches were dropped, {count:time}", "the error names the abort", cites="lines"),),
    considered=(
        left_open(
            "aborted_by_client",
            "applications and frameworks abort after an error of their own",
            decided_by="the application's log before these lines: its exception, or the error of Kafka that it met",
        ),
    ),
    remedies=(
        remedy(
            "Look for the exception before these lines: the application, or its framework, aborted for it",
            "application",
        ),
    ),
)
