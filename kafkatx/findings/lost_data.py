"""Data that were aborted at a client's own end or by its timeout, and the client whose log covers their time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafkatx.findings.ends import hands_ids_on
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.ended import TransactionEnd
from kafkatx.histories.endings import EndedBy
from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.transaction_ends import ToldBy
from kafkatx.kernels.growing import Array
from kafkatx.kernels.transactions import PREPARE_ABORT
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS
from kafkatx.terms.records import dataclass


@dataclass(frozen=True, slots=True)
class Lost:
    """Aborted data of an id: their spans, and milliseconds from the start to the decision (-1 where unknown)."""

    id: str
    end: TransactionEnd
    data: tuple[Array, ...]
    since: int
    until: int


def losses(model: CaptureModel) -> Iterator[Lost]:
    """Aborted transactions with records, but those that the next instance took over or an operator ended.

    Frameworks process theirs again.
    """
    for lost in (*_by_rows(model), *_by_data(model)):
        if lost.data and not hands_ids_on(model, lost.id):
            yield lost


def _by_rows(model: CaptureModel) -> Iterator[Lost]:
    by_nobody_else = np.isin(model.ends.rows().ended_by, [EndedBy.client, EndedBy.timeout, EndedBy.unknown])
    for number in np.flatnonzero(by_nobody_else & (model.transactions["decision"] == PREPARE_ABORT)).tolist():
        end = TransactionEnd(model, number)
        row, name = end.row, end.transactional_id or ""
        until = int(max(row["decided_at"], row["decision_timestamp"]))
        yield Lost(name, end, tuple(end.aborted_data), int(row["started_at"]), until)


def _by_data(model: CaptureModel) -> Iterator[Lost]:
    """The same of data whose coordinator's rows are not at hand, where a client's log tells the id."""
    ends, among = model.ends, model.ends.numbers(ToldBy.data)
    owners = {one: client for client in model.logs.clients if client.owns_producer_ids for one in client.producer_ids}
    if not owners:
        return
    for end in (TransactionEnd(model, number) for number in among if not ends.by_operator[number]):
        (span,) = end.data
        client = owners.get(int(span["producer_id"]))
        if client is not None and client.transactional_id is not None and end.ended_by is not EndedBy.new_instance:
            times = int(span["first_timestamp"]), int(span["marker_timestamp"])
            yield Lost(client.transactional_id, end, (span,), *times)


def covering_client(model: CaptureModel, lost: Lost) -> ClientInstance | None:
    """The client instance whose transaction it was, if its log covers it: by witnesses, else by the last grant."""
    if lost.end.told_by is ToldBy.rows:
        owner = model.logs.client(int(model.ends.witnesses.instance[lost.end.number]))
    else:
        owner = _last_given(model, lost)
    return owner if owner is not None and _covers(model.logs, owner, lost) else None


def _shows_its_abort(lost: Lost) -> bool:
    """Whether a client's own abort stands in its log: the coordinator decides after that line, and no line need follow.

    So what happened before the end is covered, though the log stops a moment before the decision.
    """
    return "client_abort" in lost.end.witnesses


def _last_given(model: CaptureModel, lost: Lost) -> ClientInstance | None:
    """The last instance of an id that had been given the producer id when the data began, with no later epoch."""
    producer_id, limit = lost.end.producer_id, lost.since + CLIENT_TOLERANCE_MS
    epoch = max(int(span["producer_epoch"]) for span in lost.data)
    owners = [
        client
        for client in model.logs.clients_of(lost.id)
        if client.owns_producer_ids
        for given in client.initialisations
        if given.producer_id == producer_id and given.producer_epoch <= epoch
        if given.at is not None and given.at <= limit
    ]
    return owners[-1] if owners else None


def _covers(logs: LogModel, client: ClientInstance, lost: Lost) -> bool:
    """Whether the client lived then and its log reaches to the end of the transaction, its abort, or close()."""
    skew, tolerance = clock_of(logs, client)
    since, until = lost.since + skew, lost.until + skew
    if client.since is None or lost.since < 0 or client.since > since + tolerance:
        return False
    if lost.since > lost.until + tolerance:
        return False  # records may carry any time: these were not written when they say
    if client.closed_at is not None and client.closed_at >= since - tolerance:
        return lost.end.ended_by is not EndedBy.timeout
    if _shows_its_abort(lost):
        return True
    return logs.covers(client.source, client.since, until) and seen_until(logs, client) >= until


def seen_until(logs: LogModel, client: ClientInstance) -> int:
    """Until when a log shows that the process of a client lived.

    To the log's end; where the id was started again in it the former process may have died before: to the last line of
    the client, or of others that had begun before that start.
    """
    since = client.since if client.since is not None else 0
    of_log = [one for one in logs.clients if one.source == client.source and one.since is not None]
    again = [one for one in of_log if one.transactional_id == client.transactional_id and (one.since or 0) > since]
    if not again:
        return int(logs.facts.sources[client.source].last_at - logs.clocks[client.source].zone_ms)
    first = min(one.since or 0 for one in again)
    lived = [one for one in of_log if (one.since or 0) < first and one.transactional_id != client.transactional_id]
    return max((one.until for one in (client, *lived) if one.until is not None), default=-1)


def clock_of(logs: LogModel, client: ClientInstance) -> tuple[int, int]:
    """How far a client's clock is ahead of the brokers', and what it may be off beside that."""
    clock = logs.clocks[client.source]
    return clock.skew_ms or 0, clock.tolerance_ms
