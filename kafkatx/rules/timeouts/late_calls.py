"""How long an application took until it called commitTransaction, where it did so behind the timeout.

The refusal of that call tells it. Where its client met no trouble with brokers meanwhile, it was the application that
took so long, not its sends: how often those may be repeated has nothing to do with it.
"""

from __future__ import annotations

from kafkatx.findings.end_groups import EndGroup
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.ended import TransactionEnd
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.words.explanation import step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.values import Duration, Instant, Refs

REFUSALS = ("state_refused", "refusal")
"""Witnesses of a call that found its transaction ended."""
COMMIT = "commitTransaction"
TROUBLE = (
    EventKind.request_cancelled,
    EventKind.request_timed_out,
    EventKind.node_disconnected,
    EventKind.connection_failed,
    EventKind.produce_retry,
    EventKind.batch_expired,
)
"""Lines that show sends or connections failing."""


@dataclass(frozen=True, slots=True)
class LateCall:
    """When commitTransaction was called, by the client's clock, and how long after the start, by the brokers'."""

    at: Instant
    after: Duration
    lines: Refs


def called_late(group: EndGroup) -> LateCall | None:
    """The latest call of the transactions of a group, None where none is known or something else held one up."""
    found = [_of(group.model, TransactionEnd(group.model, number)) for number in group.numbers]
    return max((one for one in found if one is not None), key=lambda one: one.after, default=None)


def _of(model: CaptureModel, end: TransactionEnd) -> LateCall | None:
    client, logs, started_at = end.client, model.logs, int(end.row["started_at"])
    rows = {end.witnesses[kind] for kind in REFUSALS if kind in end.witnesses}
    if client is None or started_at < 0 or not rows:
        return None
    threw = [one for one in client.failures if one.call == COMMIT and rows & {one.row, *one.rows}]
    at = min((one.at for one in threw if one.at is not None), default=None)
    if at is None:
        return None
    after = logs.clocks[client.source].to_brokers(at) - started_at
    since = at - after
    met = [logs.at(row) for row in logs.of_client(client.number, *TROUBLE).tolist()]
    if after < int(end.took_ms or 0) or any(time is not None and since <= time <= at for time in met):
        return None
    return LateCall(Instant(at), Duration(after), event_refs(model, [one.row for one in threw[:1]]))


CALLED_LATE = step(
    "The application called commitTransaction {late_call.after} after the start, at {late_call.at}",
    "the refusal of that call; its client met no failed request meanwhile",
    cites="late_call.lines",
    needs="late_call",
)
