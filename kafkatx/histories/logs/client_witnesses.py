"""What a client's own log says of ends: its aborts, its requests for a new epoch, and what it was answered.

Source  KafkaProducer.abortTransaction ("Aborting incomplete transaction", 2.6+), TransactionManager (KIP-360).
"""

from __future__ import annotations

import numpy as np

from kafkatx.histories.logs.hearing import Hearing
from kafkatx.histories.logs.neighbours import nearest, neighbours
from kafkatx.histories.logs.story import ClientInstance, Failure
from kafkatx.kernels.growing import Array
from kafkatx.terms.error_codes import FENCED, ErrorCode
from kafkatx.terms.events import EventKind


def refusals(hearing: Hearing) -> None:
    """What the instance of a transaction was answered afterwards belongs to its last one that began before."""
    for client in hearing.logs.clients:
        ends = np.flatnonzero(hearing.found.instance == client.number)
        if not len(ends):
            continue
        ends = ends[np.argsort(hearing.ends.started_at[ends], kind="stable")]
        _go_on(hearing, client, ends)
        started = hearing.ends.started_at[ends]
        for failure in client.failures:
            _refusal(hearing, client, failure, ends, started)


def _go_on(hearing: Hearing, client: ClientInstance, ends: Array) -> None:
    if client.until is not None:
        until = client.until - int(hearing.skew[client.source])
        hearing.found.goes_on[ends] = until > hearing.reached[ends] + hearing.client_tolerance[client.source]


def _refusal(hearing: Hearing, client: ClientInstance, failure: Failure, ends: Array, started: Array) -> None:
    column = hearing.found.refusal if failure.error in FENCED else None
    column = hearing.found.state_refused if failure.error is ErrorCode.INVALID_TXN_STATE else column
    if column is None or failure.at is None:
        return
    at, slack = failure.at - int(hearing.skew[client.source]), int(hearing.client_tolerance[client.source])
    last = int(np.searchsorted(started, at + slack, "right")) - 1
    if last >= 0 and at >= hearing.ends.decided_at[ends[last]] - slack:
        hearing.note(column, ends[last : last + 1], np.array([failure.row]))


def aborts(hearing: Hearing) -> None:
    """A client's own abort is the next end of its transactions, unless it was refused."""
    ends, found = hearing.ends, hearing.found
    rows, times = hearing.rows(EventKind.abort_called, EventKind.abort_on_close)
    owners = hearing.logs.owners[rows]
    slack = hearing.client_tolerance[hearing.logs.events["source"][rows]]
    near = nearest(hearing.timed(found.instance), owners, ends.decided_at, times)
    fits = (near >= 0) & ends.is_abort[near] & (np.abs(times - ends.decided_at[near]) <= slack)
    refused = hearing.logs.times[found.refusal[near]]
    fits &= (found.refusal[near] < 0) | (refused + slack < times)
    fits &= (found.state_refused[near] < 0) & (found.rollback[near] < 0)
    hearing.note(found.client_abort, near[fits], rows[fits])


def own_bumps(hearing: Hearing) -> None:
    """A client that asks for a new epoch names the old one."""
    rows, times = hearing.rows(EventKind.init_bump)
    e = hearing.logs.events
    slack = hearing.client_tolerance[e["source"][rows]]
    wanted = e["producer_id"][rows] * 65_536 + e["producer_epoch"][rows]
    last, _ = neighbours(hearing.keys, wanted, hearing.ends.decided_at, times + slack)
    hearing.note(hearing.found.own_bump, last[last >= 0], rows[last >= 0])
