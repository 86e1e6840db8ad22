"""Whether a transaction is left to abort: nobody is told to abort what is over, or what never was.

Over    rows decided an abort of the id's since then; the coordinator's line about a timeout; the client's own abort
        behind the failure, and no line about it that failed.
Never   the client printed its settings and has no transactional.id, or says that it is idempotent only.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kafkatx.findings.finding import About
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.kernels.transactions import PREPARE_ABORT
from kafkatx.terms.events import EventKind
from kafkatx.words.explained import EvidenceRef

ABORT = "abortTransaction"
IDEMPOTENT = "idempotent producer"


def is_nothing_open(model: CaptureModel, about: About, places: Iterable[EvidenceRef]) -> bool:
    """Whether no transaction is left that the application could abort; where nothing tells there may be one."""
    rows = _rows(model, {(place.source, place.line) for place in places if place.line is not None})
    clients = [client for row in rows[-1:] if (client := model.logs.client(int(model.logs.owners[row]))) is not None]
    if about.transactional_id is None:
        return bool(clients) and all(_has_none(model, client) for client in clients)
    return _is_decided(model, about) or any(_is_aborted(model, about.transactional_id, row) for row in rows[-1:])


def _rows(model: CaptureModel, lines: set[tuple[str | None, int | None]]) -> list[int]:
    """The events at these lines, in order."""
    logs = model.logs
    if not lines:
        return []
    found = np.flatnonzero(np.isin(logs.events["line"], [line for _, line in lines if line is not None])).tolist()
    return [row for row in found if (logs.path(row), int(logs.events["line"][row])) in lines]


def _has_none(model: CaptureModel, client: ClientInstance) -> bool:
    """Whether a client is known to have no transactional.id."""
    logs = model.logs
    if client.transactional_id is not None:
        return False
    setting = logs.settings.value("producer", "transactional.id", client)
    started = logs.of_client(client.number, EventKind.client_started).tolist()
    is_plain = any(logs.string(row, "detail") == IDEMPOTENT for row in started)
    return is_plain or (setting.is_known and setting.value is None)


def _is_decided(model: CaptureModel, about: About) -> bool:
    """Whether the latest transaction of the id was decided to be aborted since then."""
    code = model.id_code(about.transactional_id)
    rows = model.transactions_of(code).tolist() if code >= 0 and about.since is not None else []
    if not rows:
        return False
    last = model.transactions[rows[-1]]
    return bool(last["decision"] == PREPARE_ABORT and last["decided_at"] >= (about.since or 0))


def _is_aborted(model: CaptureModel, name: str, row: int) -> bool:
    """Whether lines behind the failure tell of an abort of the id, which nothing says to have failed."""
    logs = model.logs
    client = logs.client(int(logs.owners[row]))
    own = logs.of_client(client.number, EventKind.abort_called).tolist() if client is not None else []
    told = {*own, *logs.about(name, EventKind.abort_called).tolist()}
    rolled_back = logs.about(name, EventKind.timeout_rollback).tolist()
    failed = client is not None and any(one.call == ABORT and one.row > row for one in client.failures)
    is_own = any(logs.is_before(row, one) for one in told) and not failed
    return is_own or any(0 <= logs.times[row] <= logs.times[one] for one in rolled_back)
