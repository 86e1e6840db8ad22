"""A commit (or abort) was given up before the coordinator had answered: nobody on the client's side knows its outcome.

Mechanism    commitTransaction waits for the coordinator's answer to EndTxn no longer than max.block.ms (clients 2.3 and
             later; older ones wait for ever), then it throws a TimeoutException. The request may have been lost, may be
             on its way, or may have been carried out. The only call that is right then is the same one again; clients
             refuse an abort (COMMITTING_TRANSACTION to ABORTING_TRANSACTION), and one that sends its records again
             under another producer duplicates them if the commit had come through.
Evidence     the timeout's own text (Timeout expired after ... while awaiting EndTxn), the refused call after it
             (Invalid transition attempted from state COMMITTING_TRANSACTION to state ABORTING_TRANSACTION; the
             previous call timed out and must be retried), or an InterruptException out of commitTransaction. Rows of
             the coordinator, or markers, say what became of the transaction.
Against      a definite error out of the commit (fenced, invalid state, error state): then it is known that this client
             did not commit.
Look-alikes  a timeout while awaiting InitProducerId or out of send() or flush() (nothing was to be ended);
             abort_after_fatal_error (the producer was in its fatal state, not committing); shared_producer (invalid
             transitions from other states).
Remedy       call commitTransaction again until it returns or fails for good; a max.block.ms above the longest failover
             measured. What the coordinator's log says decides whether anything is sent again.
Source       KIP-98, KAFKA-7763; KafkaProducer.commitTransaction, TransactionalRequestResult.await,
             TransactionManager.handleCachedTransactionRequestResult (2.3 to 4.3).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from kafkatx.histories.logs.story import ClientInstance, LogStory
from kafkatx.histories.story import Story
from kafkatx.rules.finding import Finding, Subject
from kafkatx.rules.in_logs.clients import (
    Who,
    by_client,
    only,
    producer_at,
    rows_of,
    runs_by_itself,
    subjects,
    uncounted,
    who,
)
from kafkatx.rules.outcomes import Call, Outcome, Resolved, outcome_of
from kafkatx.terms.events import EventKind
from kafkatx.terms.times import clock, duration
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.sayings import Saying
from kafkatx.words.advised import advised
from kafkatx.words.explained import Considered, Remedy, Step
from kafkatx.words.explanation import said
from kafkatx.words.log_places import client_actor, event_places
from kafkatx.words.places import plural
from kafkatx.words.remedies import max_block

RULE = "commit_outcome_unknown"
RETRIED_WITHIN_MS = 5_000
"""A call that begins so soon after the one before it was given up is the same commit, tried again."""

TROUBLE = (
    EventKind.request_cancelled,
    EventKind.request_timed_out,
    EventKind.node_disconnected,
    EventKind.connection_failed,
    EventKind.bootstrap_disconnected,
)


@dataclass(slots=True)
class _Attempt:
    """One commit (or abort) that was given up: lines of the timeout, of refused calls after it, and its times."""

    is_commit: bool
    is_certain: bool = True
    timeouts: list[int] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)
    called_at: int | None = None
    gave_up_at: int | None = None
    waited_ms: int | None = None

    @property
    def rows(self) -> list[int]:
        return sorted([*self.timeouts, *self.refused])


@dataclass(frozen=True, slots=True)
class _Case:
    """An attempt with its client and what became of the transaction."""

    client: ClientInstance | None
    attempt: _Attempt
    resolved: Resolved


def check(story: Story) -> Iterator[Finding]:
    """One finding for each client, kind of call and outcome."""
    groups: dict[tuple[Who, bool, Outcome], list[_Case]] = {}
    for client, rows in by_client(story, _rows(story)):
        for attempt in _attempts(story, client, rows):
            resolved = outcome_of(story, _call(client, attempt))
            key = (who(client), attempt.is_commit, resolved.outcome)
            groups.setdefault(key, []).append(_Case(client, attempt, resolved))
    for (name, is_commit, outcome), cases in groups.items():
        yield _finding(story, name, is_commit, outcome, cases)


def _rows(story: Story) -> list[int]:
    """Lines that show that a commit or abort was given up, or that a call after it was refused."""
    logs = story.logs
    rows = set(logs.saying(Saying.END_GIVEN_UP).tolist())
    rows |= {row for row in logs.of_kind(EventKind.await_timeout).tolist() if _awaited_end(logs, row) is not None}
    for client in logs.clients:
        given_up = Saying.INTERRUPTED if client.implementation == "java" else Saying.INTERRUPTED | Saying.TIMED_OUT
        for failure in client.failures:
            if failure.call in ("commitTransaction", "abortTransaction") and failure.said & given_up:
                rows |= {failure.row, *failure.rows}
    return sorted(rows)


def _awaited_end(logs: LogStory, row: int) -> bool | None:
    """Whether a call that gave up waiting awaited a commit (True) or an abort (False); None: something else."""
    api = (logs.string(row, "api") or "").lower()
    return {"endtxn(true)": True, "endtxn(false)": False}.get(api) if api else None


def _attempts(story: Story, client: ClientInstance | None, rows: list[int]) -> list[_Attempt]:
    """Put lines of one client together: a timeout opens an attempt, refused calls and prompt retries belong to it."""
    calls = {
        row: failure.call for failure in (client.failures if client else ()) for row in (failure.row, *failure.rows)
    }
    logs = story.logs
    found: list[_Attempt] = []
    for row in rows:
        said = logs.end_given_up(row)
        awaited = _awaited_end(logs, row) if logs.kind(row) == EventKind.await_timeout else None
        if said is not None and said.is_refusal:
            _add_refused(story, found, row, said.is_commit, client)
        elif awaited is not None:
            _add_timeout(logs, found, row, awaited, logs.number(row, "number"))
        elif said is not None:
            _add_timeout(logs, found, row, said.is_commit, said.waited_ms)
        else:
            _add_timeout(logs, found, row, calls.get(row) != "abortTransaction", None)
            found[-1].is_certain = logs.says(row, Saying.INTERRUPTED)
    return found


def _add_timeout(logs: LogStory, found: list[_Attempt], row: int, is_commit: bool, waited: int | None) -> None:
    at = logs.at(row)
    called = at - waited if at is not None and waited is not None else at
    last = found[-1] if found else None
    if last is None or last.is_commit != is_commit or not _follows(last, called):
        last = _Attempt(is_commit, called_at=called, waited_ms=waited)
        found.append(last)
    last.timeouts.append(row)
    last.gave_up_at = at if at is not None else last.gave_up_at


def _follows(attempt: _Attempt, called: int | None) -> bool:
    """Whether a call is the same one again; without times it is taken for it."""
    return called is None or attempt.gave_up_at is None or called <= attempt.gave_up_at + RETRIED_WITHIN_MS


def _add_refused(story: Story, found: list[_Attempt], row: int, is_commit: bool, client: ClientInstance | None) -> None:
    """A refused call belongs to the attempt before it; alone it shows that there was one, max.block.ms earlier."""
    if not found or found[-1].is_commit != is_commit:
        at, waited = story.logs.at(row), _max_block(story, client)
        called = at - waited if at is not None and waited is not None else None
        found.append(_Attempt(is_commit, called_at=called, gave_up_at=at))
        found[-1].waited_ms = waited
    found[-1].refused.append(row)


def _max_block(story: Story, client: ClientInstance | None) -> int | None:
    return advised(story, client.transactional_id if client else None, client).client("max.block.ms").number


def _call(client: ClientInstance | None, attempt: _Attempt) -> Call:
    producer_id, _ = producer_at(client, attempt.rows[0])
    return Call(
        client.transactional_id if client else None,
        (producer_id,) if producer_id is not None else (),
        client.source if client else -1,
        attempt.called_at,
        attempt.gave_up_at,
    )


def _finding(story: Story, name: Who, is_commit: bool, outcome: Outcome, cases: list[_Case]) -> Finding:
    first = cases[0]
    given = [producer_at(case.client, case.attempt.rows[0]) for case in cases]
    times = [at for case in cases for at in (case.attempt.called_at, case.attempt.gave_up_at) if at is not None]
    return Finding(
        rule=RULE,
        verdict=Verdict.proved if all(case.attempt.is_certain for case in cases) else Verdict.likely,
        severity=_severity(story, first, outcome),
        summary=_summary(name, is_commit, outcome, len(cases)),
        transactional_id=name.transactional_id,
        producer_id=only(producer for producer, _ in given),
        producer_epoch=only(epoch for _, epoch in given),
        since=min(times, default=None),
        until=max(times, default=None),
        count=len(cases) + uncounted(story.logs, [row for case in cases for row in case.attempt.rows]),
        subjects=subjects([Subject(name.transactional_id, producer) for producer, _ in given]),
        actors=(client_actor(story, first.client),) if first.client else (),
        steps=_steps(story, first),
        considered=_considered(story, first),
        remedies=_remedies(story, first, is_commit, outcome),
    )


def _severity(story: Story, case: _Case, outcome: Outcome) -> Severity:
    """An outcome that is known is no loss; an abort that is not known is milder, since it may be tried again.

    A framework processes again from the offsets of the last commit, whatever became of this one.
    """
    if case.attempt.is_commit:
        is_safe = outcome.is_resolved or runs_by_itself(story, case.client) is not None
        return Severity.warning if is_safe else Severity.error
    return Severity.info if outcome.is_resolved and not outcome.is_commit else Severity.warning


def _summary(name: Who, is_commit: bool, outcome: Outcome, count: int) -> str:
    call = "commitTransaction" if is_commit else "abortTransaction"
    times = "" if count == 1 else f" {count:,} times"
    gave_up = f"{call} of {name.phrase} gave up{times} without an answer from the coordinator"
    return f"{gave_up}: {outcome}" if outcome is not Outcome.unknown else f"{gave_up}, {outcome}"


def _steps(story: Story, case: _Case) -> tuple[Step, ...]:
    attempt, logs = case.attempt, story.logs
    call = "commitTransaction" if attempt.is_commit else "abortTransaction"
    steps = [_gave_up(story, attempt, call), *_trouble(story, case)]
    if attempt.refused:
        steps.append(
            Step(
                "the application then made another call, and the client refused it",
                f"after {call} has timed out only {call} itself may be called again",
                event_places(story, attempt.refused, 3),
            )
        )
    before = "" if logs.at(attempt.rows[0]) is not None else " (the log has no times)"
    resolved = case.resolved
    steps.append(Step(f"what became of the transaction{before}: {resolved.outcome}", resolved.because, resolved.places))
    return tuple(steps)


def _gave_up(story: Story, attempt: _Attempt, call: str) -> Step:
    if not attempt.timeouts:
        waited = f" ({duration(attempt.waited_ms)})" if attempt.waited_ms is not None else ""
        return Step(
            f"P had called {call}, which had timed out",
            f"a client is in that state only while its commit is not answered; by max.block.ms{waited} the call "
            "was made that long before",
            event_places(story, attempt.refused, 1),
        )
    when = f" at about {clock(attempt.called_at)}" if attempt.called_at is not None else ""
    after = f" after {duration(attempt.waited_ms)}" if attempt.waited_ms is not None else ""
    tried = f", {plural(len(attempt.timeouts), 'line')} in all" if len(attempt.timeouts) > 1 else ""
    return Step(
        f"P called {call}{when} and gave up{after}{tried}",
        "the exception names what was awaited; the time of the call is that of the exception less the wait",
        event_places(story, attempt.timeouts, 3),
    )


def _trouble(story: Story, case: _Case) -> Iterator[Step]:
    """What the client's connections did while it waited."""
    attempt, logs = case.attempt, story.logs
    if case.client is None or attempt.called_at is None or attempt.gave_up_at is None:
        return
    rows = [
        row
        for row in rows_of(logs, case.client, *TROUBLE).tolist()
        if (at := logs.at(row)) is not None and attempt.called_at <= at <= attempt.gave_up_at
    ]
    if rows:
        text = f"while it waited its connections failed {plural(len(rows), 'time')}"
        yield Step(text, "lines of the client's network layer", event_places(story, rows, 3))


def _considered(story: Story, case: _Case) -> tuple[Considered, ...]:
    definite = "a definite error"
    found = [Considered(definite, "the client gave up waiting: no answer of the coordinator came that would decide")]
    if case.attempt.refused:
        why = "the producer was still ending its transaction: no fatal error had come before the refused call"
        found.append(Considered("abort_after_fatal_error", why, event_places(story, case.attempt.refused, 1)))
    return tuple(found)


def _remedies(story: Story, case: _Case, is_commit: bool, outcome: Outcome) -> tuple[Remedy, ...]:
    call = "commitTransaction" if is_commit else "abortTransaction"
    again = Remedy(
        text=f"after a TimeoutException out of {call} call {call} again until it returns or fails for good; close the "
        "producer only if it can't be reached",
        where="application",
        cost="the calling thread waits as long as the coordinator is away",
        restart_needed=True,
    )
    away, measured = _away(story, case)
    whom = advised(story, case.client.transactional_id if case.client else None, case.client)
    longer = said(max_block(whom, away, measured))
    return (*_about_the_data(is_commit, outcome), again, *longer)


def _away(story: Story, case: _Case) -> tuple[int, str]:
    """How long no answer came: until the commit was decided, where rows tell, else as long as the call waited."""
    attempt, row = case.attempt, case.resolved.transaction
    waited = attempt.waited_ms or 0
    if row >= 0 and case.resolved.outcome.is_commit and attempt.called_at is not None:
        decided = int(story.transactions["decided_at"][row]) - attempt.called_at
        if decided > waited:
            return decided, f"the commit was decided {duration(decided)} after the call"
    return waited, f"the call waited {duration(waited)} and got no answer"


def _about_the_data(is_commit: bool, outcome: Outcome) -> Iterator[Remedy]:
    if not is_commit:
        return
    if outcome.is_commit:
        yield Remedy("send nothing again: the records are committed; if they were sent again, they are there twice",
                     "application")  # fmt: skip
    elif outcome.is_resolved:
        yield Remedy("send the records of this transaction again: they were not committed", "application")
    else:
        yield Remedy(
            "before anything is sent again look up the outcome: the rows of this transactional.id in "
            "__transaction_state, or kafka-transactions.sh describe --transactional-id",
            "operator",
        )
