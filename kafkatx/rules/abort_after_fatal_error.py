"""abortTransaction was called on a producer in its fatal error state: it could only fail, and hid the first error.

Mechanism    After a fatal error (fenced, unknown transactional.id mapping, invalid transaction state, and by release
             others) a producer can do nothing any more; every transactional call throws. A catch-all that answers any
             exception with abortTransaction then fails a second time, and what it logs last is the consequence, not the
             cause. If the application keeps the producer, all its later calls fail the same way.
Evidence     abortTransaction throws what a client throws by itself in that state (Cannot execute transactional method
             because we are in an error state, with the first error as cause; the fenced error again, without a stack of
             its own), or the log says that the fatal state came before the abort began.
Against      the error before the abort was abortable: then abortTransaction is the right answer, even if its own answer
             is ProducerFencedException (clients 2.7 and later after InvalidProducerEpochException).
Look-alikes  commit_outcome_unknown (the producer was committing, not in an error state); shared_producer (invalid
             transitions from READY or IN_TRANSACTION); commitTransaction that throws the same outer text after an
             abortable error.
Remedy       tell fatal from abortable errors: close the producer after a fatal one and make a new one, abort after the
             others; log the first exception.
Source       KIP-98, KIP-360, KIP-588, KIP-1050; TransactionManager.beginAbort, maybeFailWithError (0.11 to 4.3).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kafkatx.histories.logs.attributions import SAME_EXCEPTION_MS
from kafkatx.histories.logs.story import ClientInstance, Failure, LogStory
from kafkatx.histories.story import Story
from kafkatx.rules.finding import Finding, Subject
from kafkatx.rules.in_logs.clients import only, producer_at, rows_of, runs_by_itself, subjects, times_of
from kafkatx.terms.events import EventKind
from kafkatx.terms.times import clock
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.sayings import Saying
from kafkatx.words.explained import Considered, Remedy, Step
from kafkatx.words.facts import client_name
from kafkatx.words.log_places import bare, client_actor, event_places, failure_phrase, quoted
from kafkatx.words.places import plural
from kafkatx.words.values import ClientName

RULE = "abort_after_fatal_error"
ABORT = "abortTransaction"
FATAL = "fatal"
SHORT = 90
"""Characters of an error's words in a summary."""
STATE_CALLS = frozenset({"beginTransaction", "commitTransaction", "sendOffsetsToTransaction", "send", ABORT, "flush"})
"""Methods that fail on a producer in its fatal state."""


@dataclass(frozen=True, slots=True)
class _Case:
    """A client that aborted in its fatal state.

    `fatal` is the row that shows the state first (-1: only the abort's own exception does), `cause` the class of the
    first error, `aborts` the rows of the aborts, `failed` those that show their exceptions, `later` failures of calls
    after the first one; `is_local`: the client threw without asking anybody; `message` says what the first error was.
    """

    client: ClientInstance
    fatal: int
    cause: str
    aborts: tuple[int, ...]
    failed: tuple[Failure, ...]
    later: tuple[Failure, ...]
    is_local: bool
    message: str


def check(story: Story) -> Iterator[Finding]:
    """One finding for each client and first error."""
    groups: dict[tuple[ClientName, str], list[_Case]] = {}
    for client in story.logs.clients:
        case = _case(story.logs, client)
        if case is not None:
            groups.setdefault((client_name(client), case.cause), []).append(case)
    for (name, cause), cases in groups.items():
        yield _finding(story, name, cause, cases)


def _case(logs: LogStory, client: ClientInstance) -> _Case | None:
    fatal, cause = _first_fatal(logs, client)
    begun = rows_of(logs, client, EventKind.abort_called).tolist()
    failed = _once([failure for failure in client.failures if _is_abort(logs, failure, begun)])
    local = [failure for failure in failed if _is_local(logs, failure)]
    after = [failure for failure in failed if failure not in local and 0 <= fatal < _begin_of(failure, failed, begun)]
    wrong = sorted([*local, *after], key=lambda failure: failure.row)
    silent = [row for row in begun if 0 <= fatal < row and not any(_begin_of(f, failed, begun) == row for f in failed)]
    aborts = sorted([*(_begin_of(failure, failed, begun) for failure in wrong), *silent])
    if not aborts:
        return None
    shown = {row for failure in wrong for row in (failure.row, *failure.rows)}
    after_it = [f for f in _once(client.failures) if f.row > aborts[0] and not _is_abort(logs, f, begun)]
    later = [f for f in after_it if f.row not in shown and f.call in STATE_CALLS]
    known = cause or (wrong[0].exception if wrong else "")
    return _Case(
        client,
        fatal,
        known,
        tuple(aborts),
        tuple(wrong),
        tuple(later),
        bool(local),
        _message(logs, client, fatal, wrong),
    )


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


def _message(logs: LogStory, client: ClientInstance, fatal: int, wrong: list[Failure]) -> str:
    """The first error's own words: some errors share a class that says nothing (KafkaException)."""
    named = [failure.message for failure in client.failures if fatal in (failure.row, *failure.rows)]
    detail = logs.string(fatal, "detail") if fatal >= 0 else None
    return next((text for text in (*named, detail, *(failure.message for failure in wrong)) if text), "")


def _first_fatal(logs: LogStory, client: ClientInstance) -> tuple[int, str]:
    """The first row that shows the fatal state before any abort could have caused it, and the class of the error."""
    found = [
        (row, logs.string(row, "error") or "")
        for row in rows_of(logs, client, EventKind.to_fatal, EventKind.fenced, EventKind.batches_failed).tolist()
        if logs.kind(row) != EventKind.batches_failed or "fatal" in (logs.string(row, "detail") or "")
    ]
    found += [(f.row, f.exception) for f in client.failures if f.category == FATAL and f.call != ABORT and f.call]
    return min(found, default=(-1, ""))


def _is_abort(logs: LogStory, failure: Failure, begun: list[int]) -> bool:
    """Whether a failure came out of abortTransaction: by its call, by its stack, or by the line before it."""
    trace = logs.trace(failure.row)
    if failure.call == ABORT or (trace is not None and any("beginAbort" in call for call in trace.calls)):
        return True
    return failure.call is None and _is_local(logs, failure) and any(0 < failure.row - row <= 2 for row in begun)


def _is_local(logs: LogStory, failure: Failure) -> bool:
    """Whether the client threw by itself: the exception's own words, or those of the outermost one."""
    trace = logs.trace(failure.row)
    said = failure.said | logs.says_itself(failure.row) | (trace.chain[0].said if trace is not None else Saying(0))
    return bool(said & Saying.FATAL_ALREADY)


def _begin_of(failure: Failure, failed: list[Failure], begun: list[int]) -> int:
    """Row at which the abort of a failure began: its own line (clients 2.6 and later), else the failure's."""
    before = max((other.row for other in failed if other.row < failure.row), default=-1)
    return max((row for row in begun if before < row < failure.row), default=failure.row)


def _finding(story: Story, name: ClientName, cause: str, cases: list[_Case]) -> Finding:
    logs, first = story.logs, cases[0]
    given = [producer_at(case.client, case.aborts[0]) for case in cases]
    rows = [row for case in cases for row in (*case.aborts, *(f.row for f in case.later))]
    rows += [case.fatal for case in cases if case.fatal >= 0]
    since, until = times_of(logs, rows)
    return Finding(
        rule=RULE,
        verdict=Verdict.proved if all(case.is_local for case in cases) else Verdict.likely,
        severity=_severity(story, cases),
        summary=_summary(name, cause, cases),
        transactional_id=name.transactional_id,
        producer_id=only(producer for producer, _ in given),
        producer_epoch=only(epoch for _, epoch in given),
        since=since,
        until=until,
        count=sum(len(case.aborts) for case in cases),
        subjects=subjects([Subject(name.transactional_id, producer) for producer, _ in given]),
        actors=(client_actor(story, first.client),),
        steps=_steps(story, first),
        considered=_considered(story, first),
        remedies=(_remedy(first.client),),
    )


def _severity(story: Story, cases: list[_Case]) -> Severity:
    """A producer that is kept is dead for good; a framework that swallows the second error makes a new one."""
    if any(case.later or len(case.aborts) > 1 for case in cases):
        return Severity.error
    handled = not any(case.failed for case in cases) and runs_by_itself(story, cases[0].client) is not None
    return Severity.info if handled else Severity.warning


def _summary(name: ClientName, cause: str, cases: list[_Case]) -> str:
    aborts, later = sum(len(case.aborts) for case in cases), sum(len(case.later) for case in cases)
    said = quoted(cases[0].message, SHORT) if bare(cause) == "KafkaException" and cases[0].message else bare(cause)
    error = f"a fatal error ({said})" if said else "a fatal error"
    times = "" if aborts == 1 else f" {aborts:,} times"
    what = f"{name} called abortTransaction{times} after {error}, which can only fail"
    return f"{what}; {plural(later, 'later call')} failed too, it was never replaced" if later else what


def _steps(story: Story, case: _Case) -> tuple[Step, ...]:
    logs, steps = story.logs, []
    if case.fatal >= 0:
        at = logs.at(case.fatal)
        when = f" at {clock(at)}" if at is not None else ""
        said = f", {quoted(case.message, SHORT)}" if case.message else ""
        text = f"P went into its fatal error state{when}: {bare(case.cause) or 'a fatal error'}{said}"
        steps.append(Step(text, _why_fatal(logs, case), event_places(story, [case.fatal])))
    thrown = f": {failure_phrase(case.failed[0])}" if case.failed else ""
    why = (
        "the client threw that without asking anybody: it refuses an abort only in its fatal state"
        if case.is_local
        else "the abort began after the fatal error"
    )
    rows = [*case.aborts, *(row for failure in case.failed for row in failure.rows or (failure.row,))]
    steps.append(
        Step(f"the application called abortTransaction all the same{thrown}", why, event_places(story, rows, 4))
    )
    if case.later:
        calls = ", ".join(sorted({failure.call or "" for failure in case.later}))
        text = f"it kept the producer: {plural(len(case.later), 'later call')} failed ({calls})"
        why = "a producer never leaves its fatal state; only a new one can go on"
        steps.append(Step(text, why, event_places(story, [failure.row for failure in case.later], 3)))
    return tuple(steps)


def _why_fatal(logs: LogStory, case: _Case) -> str:
    if logs.kind(case.fatal) == EventKind.to_fatal:
        return "the client says so itself"
    return f"for {_release(case.client)} that error is fatal"


def _release(client: ClientInstance) -> str:
    release = ".".join(str(number) for number in client.release)
    return f"a client of release {release}" if release else "its client"


def _considered(story: Story, case: _Case) -> tuple[Considered, ...]:
    places = event_places(story, [case.fatal]) if case.fatal >= 0 else ()
    abortable = "an abort of a client in its abortable state is carried out; this one was refused by the client itself"
    if not case.is_local:
        abortable = "the fatal error stands before the line with which the abort began"
    return (
        Considered("an abortable error, to which an abort is the right answer", abortable, places),
        Considered("commit_outcome_unknown", "no commit was unanswered: the error that came was a definite one"),
    )


def _remedy(client: ClientInstance) -> Remedy:
    close = "close the producer, make a new one and process again from the last committed offsets"
    if client.implementation == "java" or client.implementation == "unknown":
        sort = "catch ProducerFencedException, OutOfOrderSequenceException, AuthorizationException and the like first: "
        rest = "; abortTransaction only for other KafkaExceptions"
        text = f"{sort}{close}{rest}"
    elif client.implementation == "librdkafka":
        text = (
            f"ask the error: fatal(): {close}; txn_requires_abort(): abort_transaction(); retriable(): same call again"
        )
    else:
        text = f"tell fatal errors from others: after a fatal one {close}, abort only after the others"
    return Remedy(f"{text}. Log the first exception, not only the last", where="application", restart_needed=True)
