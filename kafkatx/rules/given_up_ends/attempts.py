"""Commits and aborts that were given up: the lines that show one, and which of them tell of the same call."""

from __future__ import annotations

from dataclasses import field

from kafkatx.findings.client_lines import advised_of, producer_at, rows_of
from kafkatx.findings.unfinished_ends import ENDS, refused_behind
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.client_instance import ClientInstance, Failure
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.events import EventKind, Level
from kafkatx.terms.records import dataclass
from kafkatx.text.error_messages.sayings import EndGivenUp, Saying, wait_in

RETRIED_WITHIN_MS = 5_000
"""A call that begins so soon after the one before it was given up is the same commit, tried again."""

NOTHING_NAMED = "TXNERR"
"""librdkafka's line about a failed transaction, whose error is not printed or was cut off."""


@dataclass(slots=True)
class Attempt:
    """One commit (or abort) that was given up: lines of the timeout, of refused calls after it, and its times."""

    client: ClientInstance | None
    is_commit: bool
    is_certain: bool = True
    timeouts: list[int] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)
    called_at: int | None = None
    gave_up_at: int | None = None
    waited_ms: int | None = None

    @property
    def rows(self) -> list[int]:
        """All lines that tell of it."""
        return sorted([*self.timeouts, *self.refused])

    @property
    def producer(self) -> tuple[int | None, int | None]:
        """Producer id and epoch that it was made under."""
        return producer_at(self.client, self.rows[0])


def telling_rows(model: CaptureModel) -> list[int]:
    """Lines that show that a commit or abort was given up, or that a call after it was refused."""
    logs = model.logs
    rows = set(logs.saying(Saying.END_GIVEN_UP).tolist())
    rows |= {row for row in logs.of_kind(EventKind.await_timeout).tolist() if _awaited_end(logs, row) is not None}
    for client in logs.clients:
        given_up = Saying.INTERRUPTED if client.implementation == "java" else Saying.INTERRUPTED | Saying.TIMED_OUT
        for failure in client.failures:
            is_end = failure.call in ("commitTransaction", "abortTransaction")
            if is_end and failure.said & given_up and not _comes_again(failure):
                rows |= {failure.row, *failure.rows}
        rows |= _unanswered(logs, client)
    return sorted(rows | set(refused_behind(model).values()) | _thrown_at_the_end(logs))


def _thrown_at_the_end(logs: LogModel) -> set[int]:
    """Ends of other clients that timed out, were thrown up to somebody's own frames, and that nothing comes behind.

    Logged as what may be tried again they tell no failure; what is thrown and was not tried again was given up.
    """
    ended = (row for row in logs.saying(Saying.TIMED_OUT).tolist() if logs.kind(row) is EventKind.request_enqueued)
    thrown = {row for row in ended if (trace := logs.trace(row)) is not None and ENDS & set(trace.calls)}
    source, line = logs.events["source"], logs.events["line"]
    return {row for row in thrown if not bool(((source == source[row]) & (line > line[row])).any())}


def _unanswered(logs: LogModel, client: ClientInstance) -> set[int]:
    """Failures behind an EndTxn that was sent and got no answer, unless the coordinator answered something later."""
    sent = [row for row in rows_of(logs, client, EventKind.request_timed_out).tolist() if _is_end(logs, row)]
    behind = [failure for failure in client.failures if sent and failure.row > sent[0]]
    first = behind[0] if behind else None
    if first is None or not (first.said & Saying.TIMED_OUT or first.exception == NOTHING_NAMED):
        return set()
    return {first.row, *first.rows}


def _is_end(logs: LogModel, row: int) -> bool:
    return (logs.string(row, "api") or "").startswith("EndTxn")


UNSENT = ("Failed to flush all outstanding", "_transaction (begin)) timed out")
"""Words of librdkafka about what comes before EndTxn: the first phase of an end, in which no more records are taken,
and the flush behind it (rd_kafka_commit_transaction in rdkafka_txnmgr.c, 1.4 to 1.9)."""


def _comes_again(failure: Failure) -> bool:
    """Whether nothing is unknown yet: the application warns of it and calls again, or the end was never asked for.

    librdkafka flushes before it commits; what fails there was not sent to the coordinator.
    """
    is_warning = Level.unknown < failure.level <= Level.warn
    is_unsent = any(words in failure.message for words in UNSENT)
    return (failure.category == "retriable" and is_warning) or is_unsent


def _awaited_end(logs: LogModel, row: int) -> EndGivenUp | None:
    """The commit or abort that a call awaited which gave up waiting; None: something else."""
    if logs.kind(row) != EventKind.await_timeout:
        return None
    is_commit = {"endtxn(true)": True, "endtxn(false)": False}.get((logs.string(row, "api") or "").lower())
    return None if is_commit is None else EndGivenUp(is_commit, False, logs.number(row, "number"))


def attempts_of(model: CaptureModel, client: ClientInstance | None, rows: list[int]) -> list[Attempt]:
    """Put lines of one client together: a timeout opens an attempt, refused calls and prompt retries belong to it."""
    logs, found, refused = model.logs, list[Attempt](), refused_behind(model)
    failures = client.failures if client is not None else ()
    calls = {row: failure.call for failure in failures for row in (failure.row, *failure.rows)}
    for row in rows:
        said = logs.end_given_up(row)
        if said is not None and said.is_refusal:
            _add_refused(model, found, row, said.is_commit, client)
            continue
        said = _awaited_end(logs, row) or said
        last = _timed_out(logs, found, row, said or _unnamed(logs, calls.get(row), row), client)
        if said is None or not said.is_named:
            last.is_certain = logs.says(row, Saying.INTERRUPTED)
        last.refused += [other for other, end in refused.items() if end == row]
    return found


def _unnamed(logs: LogModel, call: str | None, row: int) -> EndGivenUp:
    """An end that the text of a line does not name: by the call that failed, else a commit."""
    return EndGivenUp(call != "abortTransaction", is_refusal=False, waited_ms=wait_in(logs.words(row)))


def _timed_out(
    logs: LogModel, found: list[Attempt], row: int, said: EndGivenUp, client: ClientInstance | None
) -> Attempt:
    """Add a timeout to the attempt before it, where it is the same call again, else to one of its own."""
    at, waited = logs.at(row), said.waited_ms
    called = at - waited if at is not None and waited is not None else at
    last = found[-1] if found else None
    if last is None or last.is_commit != said.is_commit or not _follows(last, called):
        last = Attempt(client, said.is_commit, called_at=called, waited_ms=waited)
        found.append(last)
    last.timeouts.append(row)
    last.gave_up_at = at if at is not None else last.gave_up_at
    return last


def _follows(attempt: Attempt, called: int | None) -> bool:
    """Whether a call is the same one again; without times it is taken for it."""
    return called is None or attempt.gave_up_at is None or called <= attempt.gave_up_at + RETRIED_WITHIN_MS


def _add_refused(
    model: CaptureModel, found: list[Attempt], row: int, is_commit: bool, client: ClientInstance | None
) -> None:
    """A refused call belongs to the attempt before it; alone it shows that there was one, max.block.ms earlier."""
    if not found or found[-1].is_commit != is_commit:
        at, waited = model.logs.at(row), _max_block(model, client)
        called = at - waited if at is not None and waited is not None else None
        found.append(Attempt(client, is_commit, called_at=called, gave_up_at=at, waited_ms=waited))
    found[-1].refused.append(row)


def _max_block(model: CaptureModel, client: ClientInstance | None) -> int | None:
    return advised_of(model, client).client("max.block.ms").number
