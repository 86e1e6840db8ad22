"""Failures that logs and texts tell of.

A failure  a line that says that a call failed for good, that a client can do nothing more, or that a part of a broker
           stopped. One failure is one client instance (else its id, else its source), one call and one error: the
           wrapper, its cause and the broker's echo of it are one, and so is what a producer throws by itself since it
           failed before. What becomes of it is findings/accounts.py's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from kafkatx.findings.endless_retries import FEWEST, call_repeated, endless_retries, goes_on, left_unanswered
from kafkatx.findings.failure_kinds import (
    BY_ERROR,
    OF_BROKERS,
    OF_CALLS,
    OF_EPOCHS,
    OF_FATAL,
    OF_REFUSALS,
    OF_SEARCHES,
    OF_SENT,
    OF_UNEXPECTED,
    OF_WAITS,
    REFUSED,
    UNEXPECTED,
    WAIT,
    WRITES,
    BrokerFailure,
    names_call,
    of_state,
    of_words,
    thrown_by,
)
from kafkatx.findings.finding import UNEXPLAINED
from kafkatx.findings.protocol_errors import protocol_error, reaction_of
from kafkatx.findings.told_twice import with_nameless, without_excerpts
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.client_instance import ClientInstance, Failure
from kafkatx.histories.logs.failures import FAILURES, REPEATED, UNNAMED, failures, is_meant_by, is_text_of, meanings_of
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.logs.once import once
from kafkatx.terms.catalogue.entries import ClientException, ProtocolError
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS
from kafkatx.terms.error_codes import GENERIC
from kafkatx.terms.events import EventKind, Level, Side
from kafkatx.terms.records import dataclass
from kafkatx.text.error_messages.refusals import refusal_in
from kafkatx.text.error_messages.sayings import Saying
from kafkatx.text.events import Thrown
from kafkatx.text.logs.calls import TRANSACTIONAL
from kafkatx.words.values import bare

EFFECTS = frozenset(
    {"abort_after_fatal_error", "silent_failure", "read_committed_blocked", "committed_but_unreadable", UNEXPLAINED}
)
"""Rules that tell what followed, never why."""
CONFIG = "misconfiguration"
EXPIRED = "org.apache.kafka.common.errors.TimeoutException"
"""What the client calls a batch that was not delivered in time, whatever wraps its words."""
OUTCOME, ENDS = "commit_outcome_unknown", ("commitTransaction", "abortTransaction")
"""What a call that ends a transaction may leave open."""
ENDED_BADLY = "error in EndTxnResponse"
"""How Java's client says that it does not know the answer to its end of a transaction: a commit or an abort."""
RETRIED, FATAL = "retriable", "fatal"
WRAPS = "look at cause"
"""The category of exceptions that only wrap another."""
BUSY = "CONCURRENT_TRANSACTIONS"
"""What is answered while the transaction before is being completed."""
MEANT = frozenset({FATAL, "abortable", RETRIED, "refresh", "config"})
BY_OTHERS = frozenset({*OF_FATAL.values(), *OF_UNEXPECTED.values()})
"""Mechanisms of errors that name none themselves."""


@dataclass(frozen=True, slots=True)
class ToldFailure:
    """A failure that was told: of a client (None: nobody's, or a broker's), in a call (None: not named).

    `error` is the class, constant or words that name it, `known` the protocol's error behind it; `category` what it
    means to the client (fatal, abortable, retriable, refresh, config, unknown); `candidates` the mechanisms that show
    themselves by it, the commonest first; `rows` its lines; `is_spoken`: no word of it is known; `is_retry`: a request
    was made again to the end of a cut text, so that no call is seen to have failed.
    """

    client: ClientInstance | None
    transactional_id: str | None
    producer_id: int | None
    error: str
    known: ProtocolError | None
    meaning: ClientException | None
    call: str | None
    category: str
    message: str
    candidates: tuple[str, ...]
    rows: tuple[int, ...]
    at: int | None
    is_brokers: bool = False
    is_grave: bool = False
    is_harmless: bool = False
    is_spoken: bool = False
    is_retry: bool = False
    count: int = 1

    @property
    def is_timeout(self) -> bool:
        """Whether a call got no answer in its time."""
        return "TIMED_OUT" in self.error or "imeout" in self.error

    @property
    def names_causes(self) -> bool:
        """Whether the error itself points to mechanisms, not only the call that failed."""
        by_call = self.candidates == OF_CALLS.get(self.call or "")
        return bool(self.candidates) and not by_call and self.candidates not in BY_OTHERS


@once
def told_failures(model: CaptureModel) -> tuple[ToldFailure, ...]:
    """Every failure that logs and texts tell of, in the order of their lines."""
    logs = model.logs
    of_clients = with_nameless(logs, without_excerpts(logs, [*_of_clients(logs), *_of_retries(logs)]))
    of_brokers = [told for told in _of_brokers(logs) if not any(_is_echo(told, other) for other in of_clients)]
    waiting = [] if of_clients else [*_unanswered(logs)]
    found = tuple(sorted([*of_clients, *of_brokers, *waiting], key=lambda told: told.rows[0]))
    return found or tuple(_spoken(logs))


def _spoken(logs: LogModel) -> Iterator[ToldFailure]:
    """What nobody knows, where nothing else is told: lines of a short text that speak of a failure."""
    rows = tuple(logs.of_kind(EventKind.spoken).tolist())
    if rows:
        message = logs.string(rows[0], "detail") or ""
        yield ToldFailure(
            client=None,
            transactional_id=None,
            producer_id=None,
            error="",
            known=None,
            meaning=None,
            call=None,
            category="unknown",
            message=message,
            candidates=(),
            rows=rows,
            at=logs.at(rows[0]),
            is_harmless=True,
            is_brokers=all(int(logs.events["side"][row]) == Side.broker for row in rows),
            is_spoken=True,
            count=len(rows),
        )


def _of_clients(logs: LogModel) -> Iterator[ToldFailure]:
    """Failures of client instances, then those in lines of nobody."""
    for client in logs.clients:
        found = [_told(logs, failure, client, client.transactional_id) for failure in client.failures]
        yield from _without_echoes(logs, found)
    nobody: dict[tuple[int, str | None], list[int]] = {}
    for row in logs.of_kind(*FAILURES).tolist():
        if logs.owners[row] < 0:
            nobody.setdefault((int(logs.events["source"][row]), logs.string(row, "transactional_id")), []).append(row)
    for (_, name), rows in nobody.items():
        found = [_told(logs, failure, None, name) for failure in failures(logs, rows, "unknown", ())]
        yield from _without_echoes(logs, found)


def _of_retries(logs: LogModel) -> Iterator[ToldFailure]:
    """Requests that were repeated for longer than a call waits."""
    for rows in endless_retries(logs):
        yield _retried(logs, rows, OF_SEARCHES)


def _unanswered(logs: LogModel) -> Iterator[ToldFailure]:
    """Where no client is told to have failed, requests of a cut text that were repeated to its end.

    Once is what every client meets while a coordinator moves, and so is a transaction that is still being completed.
    Where other lines follow, the client may have got through without a word; and each batch may, at its next try.
    """
    for rows in left_unanswered(logs):
        is_plain = BUSY in (logs.string(rows[0], "error") or "") or call_repeated(logs, rows[0]) == "send"
        told = _retried(logs, rows, () if is_plain else OF_WAITS)
        is_mild = is_plain or len(rows) < FEWEST or goes_on(logs, rows)
        yield replace(told, is_harmless=is_mild, is_retry=True)


def _retried(logs: LogModel, rows: list[int], searched: tuple[str, ...]) -> ToldFailure:
    first, client = rows[0], logs.client(int(logs.owners[rows[0]]))
    error, call = logs.string(first, "error") or "", call_repeated(logs, first)
    known, message = protocol_error(error), logs.string(first, "detail") or ""
    named = [rule for rule in _candidates((), known) if call == "send" or rule not in OF_SENT]
    return ToldFailure(
        client=client,
        transactional_id=client.transactional_id if client is not None else logs.string(first, "transactional_id"),
        producer_id=None,
        error=bare(error),
        known=known,
        meaning=None,
        call=call,
        category="unknown",
        message=message,
        candidates=tuple(dict.fromkeys((*searched, *named))),
        rows=tuple(rows),
        at=logs.at(first),
        count=len(rows),
    )


def _without_echoes(logs: LogModel, found: list[ToldFailure]) -> Iterator[ToldFailure]:
    """Leave out what a producer throws by itself since it failed before: that failure has these lines too."""
    owner: ToldFailure | None = None
    for told in found:
        is_echo = owner is not None and (owner.category == FATAL or _is_local(logs, told))
        if owner is not None and is_echo and not _is_init(logs, owner, told) and not _is_another(owner, told):
            owner = replace(owner, rows=(*owner.rows, *told.rows))
            continue
        if owner is not None:
            yield owner
        owner = told
    if owner is not None:
        yield owner


def _is_another(owner: ToldFailure, told: ToldFailure) -> bool:
    """Whether brokers refused something else, for a reason of its own that the words name."""
    return told.error != owner.error and refusal_in(told.message) is not None


def _is_local(logs: LogModel, told: ToldFailure) -> bool:
    """Whether the client threw without asking anybody, since an earlier call had failed."""
    said = Saying.FATAL_ALREADY | Saying.WRONG_STATE
    return told.known is None and (any(logs.says(row, said) for row in told.rows) or is_dropped(logs, told))


def is_dropped(logs: LogModel, told: ToldFailure) -> bool:
    """Whether all that is told is that batches were dropped since their transaction was aborted."""
    return told.error != UNNAMED and all(logs.kind(row) is EventKind.batches_failed for row in told.rows)


def _is_init(logs: LogModel, owner: ToldFailure, told: ToldFailure) -> bool:
    """Whether the client was given a producer id between two failures: the later one is of a new life."""
    given = told.client.initialisations if told.client is not None else ()
    return any(owner.rows[-1] < one.row < told.rows[0] for one in given)


def _told(logs: LogModel, failure: Failure, client: ClientInstance | None, name: str | None) -> ToldFailure:
    implementation = client.implementation if client is not None else "unknown"
    release = client.release if client is not None else ()
    rows = failure.rows or (failure.row,)
    call = failure.call or (WAIT if all(logs.kind(row) is EventKind.await_timeout for row in rows) else None)
    meanings = _meanings(implementation, release, failure.exception, failure.message, call)
    known = protocol_error(failure.exception, failure.message)
    is_unsaid = all(entry.category == WRAPS for entry in meanings)
    if known is None and is_unsaid and (inner := _known_within(logs, rows)) is not None:
        failure = replace(failure, exception=inner.exception, message=inner.message)
        meanings = _meanings(implementation, release, inner.exception, inner.message, failure.call)
        known = protocol_error(inner.exception, inner.message)
    if known is None and any(logs.kind(row) is EventKind.batch_expired for row in rows):
        failure = replace(failure, exception=EXPIRED)
        meanings = _meanings(implementation, release, failure.exception, failure.message, failure.call)
        known = protocol_error(failure.exception, failure.message)
    return ToldFailure(
        client=client,
        transactional_id=name,
        producer_id=next((number for row in rows if (number := logs.number(row, "producer_id")) is not None), None),
        error=bare(failure.exception),
        known=known,
        meaning=_meant(meanings, failure.message, call),
        call=failure.call,
        category=failure.category if failure.category in MEANT else reaction_of(known),
        message=failure.message,
        candidates=of_words(failure.message)
        or of_state(failure.message, failure.call, known)
        or _fitting(_candidates(meanings, known), failure)
        or _of_call(failure, name, known, is_end=any(ENDED_BADLY in logs.words(row) for row in rows)),
        rows=rows,
        at=failure.at,
        is_brokers=all(int(logs.events["side"][row]) == Side.broker for row in rows),
    )


def _known_within(logs: LogModel, rows: Sequence[int]) -> Thrown | None:
    """The innermost exception of a trace that is an error of the protocol: what is pasted may be turned round."""
    traces = [trace for row in rows if (trace := logs.trace(row)) is not None]
    links = [link for trace in traces for link in reversed(trace.chain)]
    return next((link for link in links if protocol_error(link.exception) is not None), None)


@lru_cache(maxsize=4096)
def _meanings(
    implementation: str, release: tuple[int, ...], exception: str, message: str, call: str | None
) -> tuple[ClientException, ...]:
    """Rows of the catalogue; of a class that says nothing only those whose text is the message's."""
    found = meanings_of(implementation, release, exception, message)
    is_worded = any(is_text_of(entry, message) for entry in found)
    if bare(exception) in GENERIC and not is_worded:
        return ()
    return found if is_worded else thrown_by(found, call)


def _meant(meanings: Sequence[ClientException], message: str, call: str | None) -> ClientException | None:
    """The row that says what an error means: of several that say different things none, if nothing shows which."""
    is_one = len({entry.meaning for entry in meanings}) == 1 or (bool(meanings) and not message)
    is_shown = bool(meanings) and (names_call(meanings[0], call) or is_meant_by(meanings[0], message))
    return meanings[0] if is_one or is_shown else None


def _candidates(meanings: Sequence[ClientException], known: ProtocolError | None) -> tuple[str, ...]:
    """Mechanisms that the catalogue names for an error, those of the client's own row first."""
    named = [rule for entry in meanings for rule in entry.rules]
    named += known.rules if known is not None and not named else ()
    return tuple(dict.fromkeys(rule for rule in named if rule not in EFFECTS))


def _fitting(candidates: tuple[str, ...], failure: Failure) -> tuple[str, ...]:
    """Those that fit the call: a timeout of another call than one that ends a transaction leaves no outcome open."""
    is_timeout = "TIMED_OUT" in failure.exception or "imeout" in failure.exception
    if is_timeout and failure.call in OF_CALLS and failure.call not in ENDS:
        return tuple(dict.fromkeys(rule for rule in (*candidates, *OF_CALLS[failure.call]) if rule != OUTCOME))
    return candidates


def _of_call(failure: Failure, name: str | None, known: ProtocolError | None, *, is_end: bool) -> tuple[str, ...]:
    """Mechanisms by the call that failed, where the error names none; `is_end`: the words name EndTxn.

    Where a broker answered that it met something unexpected, those of clients and groups, which have codes, are none.
    """
    if known is not None and known.name == UNEXPECTED and failure.call is not None:
        return OF_UNEXPECTED[failure.call in WRITES]
    is_state = failure.exception == UNNAMED and failure.call is None and failure.category == FATAL
    if failure.exception == REPEATED or is_state:
        return OF_FATAL[name is not None or failure.call in TRANSACTIONAL]
    if failure.call is None and is_end:
        is_unexpected = known is not None and known.name == UNEXPECTED
        return OF_UNEXPECTED[False] if is_unexpected else OF_CALLS["commitTransaction"]
    return OF_CALLS.get(failure.call or "", ())


def _of_brokers(logs: LogModel) -> Iterator[ToldFailure]:
    """Failures that lines of brokers tell of: one a kind, error and subject."""
    groups: dict[tuple[EventKind, str, str | int | None], list[int]] = {}
    for row in logs.of_kind(*OF_BROKERS, *BY_ERROR).tolist():
        kind, error = logs.kind(row), bare(logs.string(row, "error") or "")
        if kind in BY_ERROR and not _is_refusal(kind, protocol_error(error), int(logs.events["level"][row])):
            continue
        subject = logs.string(row, "transactional_id") or logs.number(row, "producer_id") or logs.string(row, "topic")
        groups.setdefault((kind, error, subject), []).append(row)
    for (kind, error, _), rows in groups.items():
        yield _brokers(logs, kind, error, rows)


def _is_refusal(kind: EventKind, known: ProtocolError | None, level: int) -> bool:
    """Whether an error is a failure: one of the protocol's, or a broker's own of which it warns."""
    if kind is EventKind.request_seen:
        return known is not None and reaction_of(known) != RETRIED
    return known is not None or level >= Level.warn


def _brokers(logs: LogModel, kind: EventKind, error: str, rows: list[int]) -> ToldFailure:
    first, known = rows[0], protocol_error(error)
    rules = known.rules if known is not None else OF_REFUSALS.get(kind, ())
    entry = OF_BROKERS.get(kind) or BrokerFailure(error or REFUSED.get(kind, ""), rules)
    is_retried = known is not None and known.reaction.startswith("retr")
    by_error = known.rules if known is not None and not is_retried and kind not in OF_EPOCHS else ()
    message = logs.string(first, "detail") or entry.name
    return ToldFailure(
        client=None,
        transactional_id=logs.string(first, "transactional_id"),
        producer_id=logs.number(first, "producer_id"),
        error=error or entry.name,
        known=known,
        meaning=None,
        call=None,
        category="retriable" if is_retried else "unknown",
        message=message,
        candidates=of_words(message) or _ordered(entry.candidates, by_error),
        rows=tuple(rows),
        at=logs.at(first),
        is_brokers=True,
        is_grave=entry.is_grave,
        is_harmless=entry.is_harmless,
        count=len(rows),
    )


def _ordered(by_kind: tuple[str, ...], by_error: tuple[str, ...]) -> tuple[str, ...]:
    """Mechanisms of a kind of line and of the error in it; what settings refuse is refused whatever the line."""
    named = (*by_error, *by_kind) if CONFIG in by_error else (*by_kind, *by_error)
    return tuple(dict.fromkeys(rule for rule in named if rule not in EFFECTS))


def _is_echo(told: ToldFailure, other: ToldFailure) -> bool:
    """Whether a broker's line tells of what a client's line tells: one id where both name one, and one mechanism."""
    for mine, its in ((told.transactional_id, other.transactional_id), (told.producer_id, other.producer_id)):
        if mine is not None and its is not None and mine != its:
            return False
    is_soon = told.at is None or other.at is None or abs(told.at - other.at) <= CLIENT_TOLERANCE_MS
    return is_soon and not told.is_grave and bool(set(told.candidates) & set(other.candidates))
