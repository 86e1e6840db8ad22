"""Ends at a client's own epoch that its log does not show: somebody else sent EndTxn with its producer id and epoch.

Classic     only an EndTxn with the epoch of the data keeps it, so rows show that one came; who sent it they don't.
The log     a Java client from 2.6 on logs each abort at INFO. Where its log covers that time without one, and it still
            wrote or aborted later as if its transaction was open, the request was late, doubled or foreign.
Source      KafkaProducer.abortTransaction (2.6), TransactionCoordinator.endTransaction (0.11 to 4.4).
"""

from __future__ import annotations

import numpy as np

from kafkatx.findings.ends import T1, WITHIN_TIMEOUT, WITNESSED, WROTE, RowEnd
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.ended import TransactionEnd
from kafkatx.histories.endings import Reason
from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.kernels.growing import Array
from kafkatx.terms.events import EventKind, Level
from kafkatx.terms.records import dataclass
from kafkatx.words.explanation import Words, left_open, remedy, ruled_out, step
from kafkatx.words.values import Refs

SAYS_ABORT = (2, 6)
"""From this release on a Java client logs abortTransaction."""
ABORTS = (EventKind.abort_called, EventKind.abort_on_close)
GOES_ON = (*ABORTS, EventKind.to_abortable, EventKind.to_fatal, EventKind.produce_failed, EventKind.failure)
"""Lines of a client that took its transaction for open, or learned that it was not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsent(RowEnd):
    """Ends that the client's log does not show; `went_on` are lines by which it took its transaction for open."""

    is_unsent: bool
    went_on: Refs


def unwitnessed(model: CaptureModel, chosen: Array) -> list[int]:
    """Of ends at the client's epoch those whose client is known, and of which no line of it or of a request tells."""
    ends, seen = model.ends, model.ends.witnesses
    rows = ends.rows()
    if len(seen.instance) < len(chosen):
        return []
    here = slice(len(chosen))
    untold = (seen.instance[here] >= 0) & (seen.client_abort[here] < 0) & (seen.end_request[here] < 0)
    found: list[int] = np.flatnonzero(chosen & untold & (rows.reason == Reason.own_epoch)).tolist()
    return found


def later_lines(model: CaptureModel, number: int) -> list[int]:
    """Lines by which a client went on in a transaction that was ended at its epoch, none where it may have ended it."""
    end = TransactionEnd(model, number)
    client = end.client
    if client is None or not logs_aborts(model, client):
        return []
    logs, row = model.logs, end.row
    clock = logs.clocks[client.source]
    slack, skew = clock.tolerance_ms, clock.skew_ms or 0
    since, until = (int(row[name]) + skew for name in ("started_at", "decided_at"))
    if not logs.covers(client.source, since, until + slack):
        return []
    next_at = int(row["next_timestamp"]) + skew + slack if row["next_timestamp"] >= 0 else None
    own = logs.of_client(client.number, *GOES_ON).tolist()
    aborts = [line for line in own if logs.kind(line) in ABORTS and since - slack <= logs.times[line] <= until + slack]
    later = [line for line in own if until + slack < logs.times[line] <= (next_at or logs.times[line])]
    return [] if aborts else later


def logs_aborts(model: CaptureModel, client: ClientInstance) -> bool:
    """Whether an abort of this client would stand in its log."""
    is_told = client.implementation == "java" and client.release >= SAYS_ABORT and client.owns_producer_ids
    return is_told and model.logs.facts.sources[client.source].lowest_level <= Level.info


UNSENT_WORDS = Words(
    Unsent,
    title="aborted by an EndTxn that its client did not send",
    summary="An EndTxn(abort) with the producer id and epoch of {whom} ended its open transaction[ at {at}][, with "
    "{affected}]. The client's log shows no such call then: the request was[ {perhaps}] late, doubled or foreign.",
    actors=(T1,),
    steps=(
        WROTE,
        step(
            "An EndTxn(abort) ended it[ {took} after its start]",
            "PrepareAbort with the epoch of the data: only an EndTxn with it keeps it",
            cites="decided completed markers",
        ),
        step(
            "T1's client called no abort then, and went on as if it was open",
            "its log covers that time; what it met and called is later",
            cites="went_on",
        ),
        WITNESSED,
    ),
    considered=(
        ruled_out("transaction_timed_out", WITHIN_TIMEOUT, cites="decided"),
        ruled_out("fenced_by_new_instance", "the epoch was kept", cites="decided"),
        left_open(
            "an abort of its own, after all",
            "a line may be missing in its log",
            decided_by="the coordinator's request log (kafka.request.logger) around {at}",
        ),
    ),
    remedies=(
        remedy(
            "Find out who sent EndTxn for {whom}[ at {at}]: a proxy that repeats requests, or a second process with a "
            "copy of its producer id and epoch",
            "operator",
        ),
        remedy(
            "Send the aborted records again if the application has not done so already",
            "application",
            unless="may_lose_nothing",
        ),
    ),
)
