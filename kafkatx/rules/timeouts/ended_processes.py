"""A producer's process that ended in the middle of its transaction: no timeout is too short for that.

Its client wrote no line, met no failure and was not closed from some time of the transaction on, no client that lived
beside it in the same log wrote one either, and from then on a client that was made anew does. A process that only
stood still would go on, and be refused.
"""

from __future__ import annotations

from kafkatx.findings.end_groups import EndGroup
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.ended import TransactionEnd
from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.words.explanation import remedy, step


def restarted(group: EndGroup) -> ClientInstance | None:
    """The first client of the process that followed, where one transaction timed out since its own had ended."""
    return _successor(group.model, TransactionEnd(group.model, group.numbers[0])) if len(group.numbers) == 1 else None


def _successor(model: CaptureModel, end: TransactionEnd) -> ClientInstance | None:
    client, logs = end.client, model.logs
    if client is None or client.until is None or client.closed_at is not None or client.failures:
        return None
    skew = logs.clocks[client.source].skew_ms or 0
    here = [one for one in logs.clients if one.source == client.source and one.since is not None]
    after = [one for one in here if one.has_start and (one.since or 0) > (client.until or 0)]
    first = min(after, key=lambda one: one.since or 0, default=None)
    if first is None or first.since is None or first.since - skew > int(end.row["decided_at"]):
        return None
    before = [one for one in here if (one.since or 0) < first.since and (one.has_start or not one.is_consumer)]
    return first if all((one.until or 0) < first.since for one in before) else None


BREAKS_OFF = step(
    "The log of T1's client breaks off in the transaction, and a new one is started at {restarted_at}",
    "no line of a client from before comes later",
    cites="restarted",
)
ITS_PROCESS = remedy(
    "No setting to change: its process ended in the transaction, and a new one was started at {restarted_at}. Find out "
    "why it ended (a kill, a crash, out of memory)",
    "operator",
)
"""What to do where no timeout could have been long enough."""
