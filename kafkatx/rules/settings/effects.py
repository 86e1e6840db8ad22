"""What an outage did: transactions that timed out and clients that failed in the same time."""

from __future__ import annotations

import numpy as np

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.endings import EndedBy
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS, share_most
from kafkatx.terms.error_codes import ErrorCode
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Severity
from kafkatx.words.facts import client_name
from kafkatx.words.values import ClientName, bare

_WORST = {"fatal": 0, "abortable": 1}
_ANSWERED = frozenset({
    ErrorCode.INVALID_PRODUCER_ID_MAPPING, ErrorCode.INVALID_TRANSACTION_TIMEOUT, ErrorCode.MESSAGE_TOO_LARGE,
    ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
})  # fmt: skip
"""What a broker that is there answers for reasons of its own, however long another one or itself had been away."""
_CALLS = {
    "endtxn(true)": "commitTransaction",
    "endtxn(false)": "abortTransaction",
    "initproducerid": "initTransactions",
    "addoffsetstotxn": "sendOffsetsToTransaction",
}
"""What an application called, by the request that it waits for as exceptions name it."""


@dataclass(frozen=True, slots=True)
class TimedOut:
    """A transaction that its coordinator ended."""

    transactional_id: str

    def __format__(self, spec: str) -> str:
        return f"a transaction of {self.transactional_id} timed out"


@dataclass(frozen=True, slots=True)
class Failed:
    """A client whose transaction failed."""

    client: ClientName
    exception: str

    def __format__(self, spec: str) -> str:
        return f"{self.client} failed with {self.exception}"


@dataclass(frozen=True, slots=True)
class WaitedInVain:
    """A call that waited until it gave up; of a request that a call of the producer makes, that call."""

    call: str
    transactional_id: str | None

    def __format__(self, spec: str) -> str:
        whose = f" of {self.transactional_id}" if self.transactional_id is not None else ""
        return f"{self.call}{whose} got no answer within max.block.ms"


@dataclass(frozen=True, slots=True)
class Effect:
    """Something that failed while a broker was away; `row` is the line that tells it, None where rows do."""

    what: TimedOut | Failed | WaitedInVain
    severity: Severity
    row: int | None = None


def effects(model: CaptureModel, since: int, until: int) -> list[Effect]:
    """Whatever failed between two times: timed-out transactions first, then clients."""
    return [*_timed_out(model, since, until), *_failed_clients(model, since, until)]


def _timed_out(model: CaptureModel, since: int, until: int) -> list[Effect]:
    t = model.transactions
    late = until + CLIENT_TOLERANCE_MS
    open_then = (t["started_at"] >= 0) & (t["started_at"] <= late) & (t["decided_at"] >= since - CLIENT_TOLERANCE_MS)
    rows = np.flatnonzero((model.ends.rows().ended_by == EndedBy.timeout) & open_then).tolist()
    names = dict.fromkeys(model.transactional_id(int(t["id_code"][row])) for row in rows)
    found = [Effect(TimedOut(name), Severity.error) for name in names]
    for row in model.logs.of_kind(EventKind.timeout_rollback).tolist():
        name, at = model.logs.string(row, "transactional_id"), model.logs.at(row)
        if at is not None and since <= at <= late and name is not None and name not in names:
            names[name] = None
            found.append(Effect(TimedOut(name), Severity.error, row))
    return found


def _failed_clients(model: CaptureModel, since: int, until: int) -> list[Effect]:
    """Clients whose transaction failed then; what they tried again by themselves is no effect."""
    found = []
    for client in model.logs.clients:
        failed = [
            failure
            for failure in client.failures
            if failure.at is not None
            and since <= failure.at <= until + CLIENT_TOLERANCE_MS
            and failure.error not in _ANSWERED
        ]
        worst = min(failed, key=lambda failure: _WORST.get(failure.category, 2), default=None)
        if worst is not None and worst.category in _WORST:
            severity = Severity.error if worst.category == "fatal" else Severity.warning
            found.append(Effect(Failed(client_name(client), bare(worst.exception)), severity, worst.row))
    for row in model.logs.of_kind(EventKind.await_timeout).tolist():
        at, call = model.logs.at(row), model.logs.string(row, "api")
        if at is not None and _waited_then(model.logs, row, since, until) and call is not None:
            waited = WaitedInVain(_CALLS.get(call.casefold(), call), model.logs.transactional_id(row))
            found.append(Effect(waited, Severity.warning, row))
    return found


def _waited_then(logs: LogModel, row: int, since: int, until: int) -> bool:
    """Whether a call gave up in a stretch and had waited in it for the most part, if its line says how long."""
    at, waited = int(logs.times[row]), max(0, int(logs.events["number"][row]))
    is_then = since <= at <= until + CLIENT_TOLERANCE_MS
    return is_then and (waited == 0 or share_most((at - waited, at), (since, until)))
