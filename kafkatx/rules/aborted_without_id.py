"""Aborts that a client shows without an id (librdkafka at debug level) or a date, and that nothing forced.

The library prints what the application asked for. Where the same source tells no failure of Kafka, but for calls that
met the producer closed, the application had reasons of its own. Lines without a date have no place in the history of
transactions, where an abort is found otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.client_lines import is_cut_out, rows_of, seen, times_of
from kafkatx.findings.one_failure import left
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import ActorWords, Bound, Words, included, left_open, remedy, step
from kafkatx.words.facts import client_name
from kafkatx.words.log_refs import event_refs
from kafkatx.words.values import ClientName, Count, Refs, facts

MECHANISM = "aborted_by_client"


@facts
class NamelessAborts:
    """Aborts of a client."""

    name: ClientName
    client: Bound[ActorWords] | None
    count: Count
    lines: Refs


def aborted_without_id(model: CaptureModel) -> Iterator[Case]:
    """One case for each client that names no id or no date, aborted, and met no failure of Kafka."""
    logs = model.logs
    failed = {int(logs.events["source"][row]) for told in left(model) if MECHANISM not in told.candidates
              for row in told.rows}  # fmt: skip
    for client in logs.clients:
        if client.source in failed or not (rows := _aborts(logs, client)):
            continue
        since, until = times_of(logs, rows)
        yield Case(
            facts=NamelessAborts(
                client_name(client), seen(model, client), Count(len(rows)), event_refs(model, rows, 4)
            ),
            verdict=Verdict.likely,
            severity=Severity.warning if is_cut_out(logs, rows) else Severity.info,
            transactional_id=client.transactional_id,
            since=since,
            until=until,
            count=len(rows),
        )


def _aborts(logs: LogModel, client: ClientInstance) -> list[int]:
    """Lines by which a client says that it aborts; of one with an id those of close() that have no date.

    Where librdkafka shows no call, its lines of what it does in each of them count.
    """
    if client.transactional_id is not None:
        closed: list[int] = rows_of(logs, client, EventKind.abort_on_close).tolist()
        return [row for row in closed if logs.at(row) is None]
    called: list[int] = rows_of(logs, client, EventKind.abort_called).tolist()
    done = rows_of(logs, client, EventKind.client_state).tolist()
    return called or [row for row in done if logs.string(row, "api") == "abortTransaction"]


NAMELESS_WORDS = Words(
    NamelessAborts,
    title="{count:transaction} aborted by its own client",
    summary="{name:The} aborted {count:transaction} by abortTransaction or close(): nothing of Kafka failed before, so "
    "the application[ {perhaps}] had reasons of its own. Readers never get these records.",
    actors=(included("client"),),
    steps=(step("The client was asked to abort", "its log tells no failure before", cites="lines"),),
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
