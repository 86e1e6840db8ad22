"""Clients that aborted in their fatal error state: what shows it first, which aborts threw, and what failed later."""

from __future__ import annotations

from collections.abc import Iterable

from kafkatx.findings.client_lines import rows_of
from kafkatx.histories.logs.client_instance import ClientInstance, Failure
from kafkatx.histories.logs.line_owners import SAME_EXCEPTION_MS
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.events import EventKind
from kafkatx.terms.records import dataclass
from kafkatx.text.error_messages.sayings import Saying

ABORT = "abortTransaction"
FATAL = "fatal"
STATE_CALLS = frozenset({"beginTransaction", "commitTransaction", "sendOffsetsToTransaction", "send", ABORT, "flush"})
"""Methods that fail on a producer in its fatal state."""


@dataclass(frozen=True, slots=True)
class _Abort:
    """A call of abortTransaction that threw, and the row at which it began."""

    row: int
    failure: Failure
    is_local: bool


@dataclass(frozen=True, slots=True)
class DeadClient:
    """A client that aborted in its fatal state.

    `fatal` is the row that shows the state first (None: only the abort's own exception does), `cause` the class of the
    first error, `aborts` the rows of the aborts, `failed` those that show their exceptions, `later` failures of calls
    after the first one; `is_local`: the client threw without asking anybody; `message` says what the first error was.
    """

    client: ClientInstance
    fatal: int | None
    cause: str
    aborts: tuple[int, ...]
    failed: tuple[Failure, ...]
    later: tuple[Failure, ...]
    is_local: bool
    message: str

    def shown(self) -> list[int]:
        """Return the lines that show its aborts."""
        return [*self.aborts, *(row for failure in self.failed for row in failure.rows or (failure.row,))]

    def rows(self) -> list[int]:
        """Return all lines that tell of it."""
        fatal = [self.fatal] if self.fatal is not None else []
        return [*self.aborts, *(failure.row for failure in self.later), *fatal]


def dead_client(logs: LogModel, client: ClientInstance) -> DeadClient | None:
    """Return what a client did in its fatal state; None where it did not abort in it."""
    fatal, cause = _first_fatal(logs, client)
    begun = rows_of(logs, client, EventKind.abort_called).tolist()
    failed = _failed(logs, client, begun)
    wrong = [abort for abort in failed if abort.is_local or _is_after(fatal, abort.row)]
    silent = [row for row in begun if _is_after(fatal, row) and row not in {abort.row for abort in failed}]
    aborts = sorted([*(abort.row for abort in wrong), *silent])
    if not aborts:
        return None
    failures = tuple(sorted((abort.failure for abort in wrong), key=lambda failure: failure.row))
    return DeadClient(
        client=client,
        fatal=fatal,
        cause=cause or (failures[0].exception if failures else ""),
        aborts=tuple(aborts),
        failed=failures,
        later=_later(logs, client, aborts[0], begun, failures),
        is_local=any(abort.is_local for abort in wrong),
        message=_message(logs, client, fatal, failures),
    )


def _is_after(fatal: int | None, row: int) -> bool:
    return fatal is not None and fatal < row


def _failed(logs: LogModel, client: ClientInstance, begun: list[int]) -> list[_Abort]:
    """Aborts of a client that threw."""
    failed = _once(failure for failure in client.failures if _is_abort(logs, failure, begun))
    return [_Abort(_begin_of(failure, failed, begun), failure, _is_local(logs, failure)) for failure in failed]


def _later(
    logs: LogModel, client: ClientInstance, first: int, begun: list[int], wrong: tuple[Failure, ...]
) -> tuple[Failure, ...]:
    """Other calls that failed after the first abort."""
    shown = {row for failure in wrong for row in (failure.row, *failure.rows)}
    after = [one for one in _once(client.failures) if one.row > first and not _is_abort(logs, one, begun)]
    return tuple(one for one in after if one.row not in shown and one.call in STATE_CALLS)


def _once(failures: Iterable[Failure]) -> list[Failure]:
    """Leave out what repeats the failure before it under another class: one exception, logged by two layers."""
    found: list[Failure] = []
    for failure in failures:
        last = found[-1] if found else None
        if last is None or last.call != failure.call or last.exception == failure.exception or not _soon(last, failure):
            found.append(failure)
    return found


def _soon(one: Failure, other: Failure) -> bool:
    return one.at is None or other.at is None or other.at - one.at <= SAME_EXCEPTION_MS


def _message(logs: LogModel, client: ClientInstance, fatal: int | None, wrong: Iterable[Failure]) -> str:
    """The first error's own words: some errors share a class that says nothing (KafkaException)."""
    named = [failure.message for failure in client.failures if fatal in (failure.row, *failure.rows)]
    detail = logs.string(fatal, "detail") if fatal is not None else None
    return next((text for text in (*named, detail, *(failure.message for failure in wrong)) if text), "")


def _first_fatal(logs: LogModel, client: ClientInstance) -> tuple[int | None, str]:
    """The first row that shows the fatal state before any abort could have caused it, and the class of the error."""
    found = [
        (row, logs.string(row, "error") or "")
        for row in rows_of(logs, client, EventKind.to_fatal, EventKind.fenced, EventKind.batches_failed).tolist()
        if logs.kind(row) != EventKind.batches_failed or "fatal" in (logs.string(row, "detail") or "")
    ]
    found += [(f.row, f.exception) for f in client.failures if f.category == FATAL and f.call != ABORT and f.call]
    return min(found, default=(None, ""))


def _is_abort(logs: LogModel, failure: Failure, begun: list[int]) -> bool:
    """Whether a failure came out of abortTransaction: by its call, by its stack, or by the line before it."""
    trace = logs.trace(failure.row)
    if failure.call == ABORT or (trace is not None and any("beginAbort" in call for call in trace.calls)):
        return True
    return failure.call is None and _is_local(logs, failure) and any(0 < failure.row - row <= 2 for row in begun)


def _is_local(logs: LogModel, failure: Failure) -> bool:
    """Whether the client threw by itself: the exception's own words, or those of the outermost one."""
    trace = logs.trace(failure.row)
    said = failure.said | logs.says_itself(failure.row) | (trace.chain[0].said if trace is not None else Saying(0))
    return bool(said & Saying.FATAL_ALREADY)


def _begin_of(failure: Failure, failed: list[Failure], begun: list[int]) -> int:
    """Row at which the abort of a failure began: its own line (clients 2.6 and later), else the failure's."""
    before = max((other.row for other in failed if other.row < failure.row), default=-1)
    return max((row for row in begun if before < row < failure.row), default=failure.row)
