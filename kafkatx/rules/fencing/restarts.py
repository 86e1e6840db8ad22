"""A take-over by the process that followed in the same log: the old one had ended, so nobody else is fenced by it.

The log of the client that ran the transaction breaks off before the abort, and a client of the process that begins in
the same log then is given the epoch that follows. An abort of its own a Java client from 2.6 on logs; that log reaches
over the time of the abort and has none. Only of a framework that hands ids on: it closes the producer that it
replaces, which would stand in the log, so that a producer without a close ended with its process.
"""

from __future__ import annotations

from kafkatx.findings.end_groups import EndGroup
from kafkatx.findings.ends import hands_ids_on
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.ended import TransactionEnd
from kafkatx.rules.aborts.unsent import logs_aborts
from kafkatx.rules.timeouts.ended_processes import restarted
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.words.explanation import ruled_out, step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.values import Instant, Refs

ABORTS = (EventKind.abort_called, EventKind.abort_on_close)


@dataclass(frozen=True, slots=True)
class Restart:
    """When the process that followed was started, and the line that shows it."""

    at: Instant
    rows: Refs


def restart_of(group: EndGroup) -> Restart | None:
    """The start of the process that took the id over after its own one had ended, None where that is not shown."""
    successor = restarted(group)
    if successor is None or successor.since is None or not hands_ids_on(group.model, group.transactional_id):
        return None
    model, end = group.model, TransactionEnd(group.model, group.numbers[0])
    taken = end.witnesses.get("taken_over")
    new = model.logs.client(int(model.logs.owners[taken])) if taken is not None else None
    if new is None or new.source != successor.source or (new.since or 0) < successor.since or _may_be_own(model, end):
        return None
    return Restart(Instant(successor.since), event_refs(model, successor.rows[:1]))


def _may_be_own(model: CaptureModel, end: TransactionEnd) -> bool:
    """Whether the client may have aborted by itself: its log would not show it, or shows it."""
    client, logs = end.client, model.logs
    if client is None or not logs_aborts(model, client):
        return True
    slack = logs.clocks[client.source].tolerance_ms
    since, until = int(end.row["started_at"]), int(end.row["decided_at"]) + slack
    if not logs.covers(client.source, since, until):
        return True
    times = [logs.brokers_time(row) for row in logs.of_client(client.number, *ABORTS).tolist()]
    return any(at is not None and since - slack <= at <= until for at in times)


FOLLOWED = step(
    "The log of T1's client breaks off, and the process of T2 is started in it at {restart.at}",
    "no line of a client from before comes later",
    cites="restart.rows",
    needs="restart",
)
NOT_OWN = ruled_out(
    "aborted_by_client",
    "the client's log reaches over that time and has no abort; its process had ended",
    cites="restart.rows",
    needs="restart",
)
NO_SECOND = ruled_out(
    "a second instance beside a living one",
    "the process of T2 follows on that of T1 in the same log",
    cites="restart.rows",
    needs="restart",
)
