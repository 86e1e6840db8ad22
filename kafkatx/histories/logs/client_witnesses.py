"""What a client's own log says of ends: its aborts, its requests for a new epoch, and what it was answered.

Source  KafkaProducer.abortTransaction ("Aborting incomplete transaction", 2.6+), TransactionManager (KIP-360).
"""

from __future__ import annotations

import numpy as np

from kafkatx.histories.logs.asof_join import asof_join, nearest
from kafkatx.histories.logs.client_instance import ClientInstance, Failure
from kafkatx.histories.logs.corroboration import EvidenceMatcher
from kafkatx.kernels.growing import Array
from kafkatx.terms.error_codes import FENCED, ErrorCode
from kafkatx.terms.events import EventKind


def refusals(matcher: EvidenceMatcher) -> None:
    """What the instance of a transaction was answered afterwards belongs to its last one that began before."""
    for client in matcher.logs.clients:
        ends = np.flatnonzero(matcher.found.instance == client.number)
        if not len(ends):
            continue
        ends = ends[np.argsort(matcher.ends.started_at[ends], kind="stable")]
        _go_on(matcher, client, ends)
        started = matcher.ends.started_at[ends]
        for failure in client.failures:
            _refusal(matcher, client, failure, ends, started)


def _go_on(matcher: EvidenceMatcher, client: ClientInstance, ends: Array) -> None:
    if client.until is not None:
        until = client.until - int(matcher.skew[client.source])
        matcher.found.goes_on[ends] = until > matcher.reached[ends] + matcher.client_tolerance[client.source]


def _refusal(matcher: EvidenceMatcher, client: ClientInstance, failure: Failure, ends: Array, started: Array) -> None:
    column = matcher.found.refusal if failure.error in FENCED else None
    column = matcher.found.state_refused if failure.error is ErrorCode.INVALID_TXN_STATE else column
    if column is None or failure.at is None:
        return
    at, slack = failure.at - int(matcher.skew[client.source]), int(matcher.client_tolerance[client.source])
    last = int(np.searchsorted(started, at + slack, "right")) - 1
    if last >= 0 and at >= matcher.ends.decided_at[ends[last]] - slack:
        matcher.note(column, ends[last : last + 1], np.array([failure.row]))


def aborts(matcher: EvidenceMatcher) -> None:
    """A client's own abort is the next end of its transactions, unless it was refused."""
    ends, found = matcher.ends, matcher.found
    rows, times = matcher.rows(EventKind.abort_called, EventKind.abort_on_close)
    owners = matcher.logs.owners[rows]
    slack = matcher.client_tolerance[matcher.logs.events["source"][rows]]
    near = nearest(matcher.timed(found.instance), owners, ends.decided_at, times)
    fits = (near >= 0) & ends.is_abort[near] & (np.abs(times - ends.decided_at[near]) <= slack)
    refused = matcher.logs.times[found.refusal[near]]
    fits &= (found.refusal[near] < 0) | (refused + slack < times)
    fits &= (found.state_refused[near] < 0) & (found.rollback[near] < 0)
    matcher.note(found.client_abort, near[fits], rows[fits])


def own_bumps(matcher: EvidenceMatcher) -> None:
    """A client that asks for a new epoch names the old one."""
    rows, times = matcher.rows(EventKind.init_bump)
    e = matcher.logs.events
    slack = matcher.client_tolerance[e["source"][rows]]
    wanted = e["producer_id"][rows] * 65_536 + e["producer_epoch"][rows]
    last, _ = asof_join(matcher.keys, wanted, matcher.ends.decided_at, times + slack)
    matcher.note(matcher.found.own_bump, last[last >= 0], rows[last >= 0])
