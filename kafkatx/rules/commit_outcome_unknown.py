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

from dataclasses import dataclass, field

from kafkatx.findings.client_lines import (
    TIMES,
    advised_of,
    by_client,
    columns,
    producer_at,
    rows_of,
    runs_by_itself,
    seen,
)
from kafkatx.findings.conditions import coordinator_of, same_time
from kafkatx.findings.outcomes import DESCRIBE, FATE, LOOK_UP, OUTCOME, Call, Resolved, TransactionFate, fate_of
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import ClientInstance, Failure, LogModel
from kafkatx.terms.events import EventKind, Level, Side
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.sayings import EndGivenUp, Saying
from kafkatx.words.explanation import (
    ActorWords,
    Bound,
    Phrase,
    Words,
    included,
    measure,
    remedy,
    ruled_out,
    step,
)
from kafkatx.words.facts import client_name, instant, lasting
from kafkatx.words.log_refs import event_refs
from kafkatx.words.proposals import Lasted, Remedies
from kafkatx.words.remedies import max_block
from kafkatx.words.template import pick
from kafkatx.words.values import ClientName, Count, Duration, Instant, Refs, facts

RETRIED_WITHIN_MS = 5_000
"""A call that begins so soon after the one before it was given up is the same commit, tried again."""

TROUBLE = (
    EventKind.request_cancelled,
    EventKind.request_timed_out,
    EventKind.node_disconnected,
    EventKind.connection_failed,
    EventKind.bootstrap_disconnected,
)

STILL_COMMITTING = "Conflicting commit_transaction API call is already in progress"
"""How librdkafka refuses another call as long as a commit that timed out was not called again."""
NOTHING_NAMED = "TXNERR"
"""librdkafka's line about a failed transaction, whose error is not printed or was cut off."""


@facts
class Facts:
    """Commits (or aborts) of one client that were given up, with the same fate; the first is explained.

    `called_at` and `waited` are those of its call, `at` is when it was given up, `lines` counts the timeouts that tell
    of it, `failures` what its connections did meanwhile; `refused` are calls that it made after that.
    """

    client: ClientName
    is_commit: bool
    count: Count
    resolved: Resolved
    at: Instant | None
    called_at: Instant | None
    waited: Duration | None
    lines: Count
    failures: Count
    producer: Bound[ActorWords] | None
    timeouts: Refs
    refused: Refs
    last_refused: Refs
    trouble: Refs
    longer: Remedies

    @property
    def call(self) -> str:
        """The method that was called."""
        return "commitTransaction" if self.is_commit else "abortTransaction"

    @property
    def what(self) -> str:
        """What was called for, and how often: `commit`, `3 commits`."""
        what = "commit" if self.is_commit else "abort"
        return what if self.count == 1 else format(self.count, what)


@dataclass(slots=True)
class _Attempt:
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
        return sorted([*self.timeouts, *self.refused])

    @property
    def producer(self) -> tuple[int | None, int | None]:
        """Producer id and epoch that it was made under."""
        return producer_at(self.client, self.rows[0])


def find(model: CaptureModel) -> Found:
    """One case for each client, kind of call and fate."""
    groups: dict[tuple[ClientName, bool, TransactionFate], list[tuple[_Attempt, Resolved]]] = {}
    for client, rows in by_client(model, _rows(model)):
        for attempt in _attempts(model, client, rows):
            call = Call(client, attempt.producer[0], attempt.called_at, attempt.gave_up_at)
            resolved = fate_of(model, call)
            groups.setdefault((client_name(client), attempt.is_commit, resolved.fate), []).append((attempt, resolved))
    for (name, *_), found in groups.items():
        yield _case(model, name, [attempt for attempt, _ in found], found[0][1])


def _rows(model: CaptureModel) -> list[int]:
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
    return sorted(rows | _not_resumed(logs))


def _not_resumed(logs: LogModel) -> set[int]:
    """Commits of librdkafka's that had to be called again, where the next call was another one: it was refused."""
    refused = [row for row in logs.of_kind(EventKind.failure).tolist() if STILL_COMMITTING in logs.words(row)]
    timed_out = logs.saying(Saying.TIMED_OUT).tolist() if refused else []
    waits = [row for row in timed_out if logs.kind(row) is EventKind.request_enqueued]
    return {row for row in waits if any(logs.is_before(row, other) for other in refused)}


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


def _comes_again(failure: Failure) -> bool:
    """Whether nothing is unknown yet: the application warns of it and calls again, or the end was never asked for.

    librdkafka flushes before it commits; what fails there was not sent to the coordinator.
    """
    is_warning = Level.unknown < failure.level <= Level.warn
    return (failure.category == "retriable" and is_warning) or "Failed to flush all outstanding" in failure.message


def _awaited_end(logs: LogModel, row: int) -> EndGivenUp | None:
    """The commit or abort that a call awaited which gave up waiting; None: something else."""
    if logs.kind(row) != EventKind.await_timeout:
        return None
    is_commit = {"endtxn(true)": True, "endtxn(false)": False}.get((logs.string(row, "api") or "").lower())
    return None if is_commit is None else EndGivenUp(is_commit, False, logs.number(row, "number"))


def _attempts(model: CaptureModel, client: ClientInstance | None, rows: list[int]) -> list[_Attempt]:
    """Put lines of one client together: a timeout opens an attempt, refused calls and prompt retries belong to it."""
    logs, found = model.logs, list[_Attempt]()
    failures = client.failures if client is not None else ()
    calls = {row: failure.call for failure in failures for row in (failure.row, *failure.rows)}
    for row in rows:
        said = logs.end_given_up(row)
        if said is not None and said.is_refusal:
            _add_refused(model, found, row, said.is_commit, client)
            continue
        said = _awaited_end(logs, row) or said
        last = _timed_out(logs, found, row, said or EndGivenUp(calls.get(row) != "abortTransaction", False), client)
        if said is None or not said.is_named:
            last.is_certain = logs.says(row, Saying.INTERRUPTED)
    return found


def _timed_out(
    logs: LogModel, found: list[_Attempt], row: int, said: EndGivenUp, client: ClientInstance | None
) -> _Attempt:
    """Add a timeout to the attempt before it, where it is the same call again, else to one of its own."""
    at, waited = logs.at(row), said.waited_ms
    called = at - waited if at is not None and waited is not None else at
    last = found[-1] if found else None
    if last is None or last.is_commit != said.is_commit or not _follows(last, called):
        last = _Attempt(client, said.is_commit, called_at=called, waited_ms=waited)
        found.append(last)
    last.timeouts.append(row)
    last.gave_up_at = at if at is not None else last.gave_up_at
    return last


def _follows(attempt: _Attempt, called: int | None) -> bool:
    """Whether a call is the same one again; without times it is taken for it."""
    return called is None or attempt.gave_up_at is None or called <= attempt.gave_up_at + RETRIED_WITHIN_MS


def _add_refused(
    model: CaptureModel, found: list[_Attempt], row: int, is_commit: bool, client: ClientInstance | None
) -> None:
    """A refused call belongs to the attempt before it; alone it shows that there was one, max.block.ms earlier."""
    if not found or found[-1].is_commit != is_commit:
        at, waited = model.logs.at(row), _max_block(model, client)
        called = at - waited if at is not None and waited is not None else None
        found.append(_Attempt(client, is_commit, called_at=called, gave_up_at=at, waited_ms=waited))
    found[-1].refused.append(row)


def _max_block(model: CaptureModel, client: ClientInstance | None) -> int | None:
    return advised_of(model, client).client("max.block.ms").number


def _case(model: CaptureModel, name: ClientName, attempts: list[_Attempt], resolved: Resolved) -> Case:
    """Attempts with the same fate; `resolved` is what is known of the first."""
    first = attempts[0]
    times = [at for attempt in attempts for at in (attempt.called_at, attempt.gave_up_at) if at is not None]
    rows = [row for attempt in attempts for row in attempt.rows]
    return Case(
        facts=_facts(model, name, attempts, resolved),
        verdict=Verdict.proved if all(attempt.is_certain for attempt in attempts) else Verdict.likely,
        severity=_severity(model, first, resolved.fate),
        since=min(times, default=None),
        until=max(times, default=None),
        **columns(model.logs, name, [attempt.producer for attempt in attempts], rows),
    )


def _severity(model: CaptureModel, attempt: _Attempt, fate: TransactionFate) -> Severity:
    """A fate that is known is no loss; that of an abort that is not known is milder, since it may be tried again.

    A framework processes again from the offsets of the last commit, whatever became of this one.
    """
    if attempt.is_commit:
        is_safe = fate.is_resolved or runs_by_itself(model, attempt.client) is not None
        return Severity.warning if is_safe else Severity.error
    return Severity.info if fate.is_resolved and not fate.is_commit else Severity.warning


def _facts(model: CaptureModel, name: ClientName, attempts: list[_Attempt], resolved: Resolved) -> Facts:
    attempt = attempts[0]
    trouble = _trouble(model.logs, attempt)
    return Facts(
        client=name,
        is_commit=attempt.is_commit,
        count=Count(len(attempts)),
        resolved=resolved,
        at=instant(attempt.gave_up_at),
        called_at=instant(attempt.called_at),
        waited=lasting(attempt.waited_ms),
        lines=Count(len(attempt.timeouts)),
        failures=Count(len(trouble)),
        producer=seen(model, attempt.client),
        timeouts=event_refs(model, attempt.timeouts, 3),
        refused=event_refs(model, attempt.refused, 3),
        last_refused=event_refs(model, attempt.refused, 1),
        trouble=event_refs(model, trouble, 3),
        longer=_longer(model, attempt, resolved),
    )


def _trouble(logs: LogModel, attempt: _Attempt) -> list[int]:
    """Lines of what the client's connections did while it waited."""
    if attempt.client is None or attempt.called_at is None or attempt.gave_up_at is None:
        return []
    rows = rows_of(logs, attempt.client, *TROUBLE).tolist()
    return [row for row in rows if (at := logs.at(row)) is not None and attempt.called_at <= at <= attempt.gave_up_at]


def _longer(model: CaptureModel, attempt: _Attempt, resolved: Resolved) -> Remedies:
    """A call that waits longer: until the commit was decided, where rows tell, else than it has waited."""
    waited, client, called_at = attempt.waited_ms or 0, attempt.client, attempt.called_at
    whom = advised_of(model, client)
    if resolved.fate.is_commit and resolved.decided_at is not None and called_at is not None:
        away = resolved.decided_at - called_at
        if away > waited:
            return max_block(whom, away, DECIDED_AFTER.of(Lasted(Duration(away))))
    return max_block(whom, waited, WAITED.of(Lasted(Duration(waited))))


DECIDED_AFTER = Phrase(Lasted, measure("the commit was decided {time} after the call"))
WAITED = Phrase(Lasted, measure("the call waited {time} and got no answer"))
WORDS = Words(
    Facts,
    title=(
        "{what} unanswered",
        pick(
            "resolved.fate",
            {
                TransactionFate.committed: ", transaction committed",
                TransactionFate.committing: ", transaction being committed",
                TransactionFate.open: ", transaction still open",
                TransactionFate.unknown: ", outcome unknown",
                TransactionFate.never_begun: ", transaction never begun",
            },
            ", transaction aborted",
        ),
    ),
    summary=(
        "{call} of {client}[ {perhaps}] got no answer from the coordinator",
        TIMES,
        ": ",
        FATE,
        ".",
    ),
    actors=(included("producer"),),
    steps=(
        step(
            "P refused another call, because {call} before it had got no answer[ in {waited} (max.block.ms)]",
            cites="refused",
            unless="timeouts",
        ),
        step(
            (
                "P called {call}[ at about {called_at}] and got no answer[ in {waited}]",
                pick("lines", {1: ""}, " ({lines:line})"),
            ),
            cites="timeouts",
            needs="timeouts",
        ),
        step("P's connections failed {failures:time} meanwhile", cites="trouble", needs="trouble"),
        step(
            "The application then made another call, which P refused, because only {call} may be called again",
            cites="refused",
            needs="refused timeouts",
        ),
        *OUTCOME,
    ),
    considered=(
        ruled_out("a definite error", "the coordinator sent no answer"),
        ruled_out(
            "abort_after_fatal_error",
            "no fatal error came before the refused call",
            cites="last_refused",
            needs="refused",
        ),
    ),
    remedies=(
        remedy(
            (
                "Do not send the records of the transaction[ whose commit was called at {called_at}] again: ",
                pick("resolved.fate", {TransactionFate.committed: "they are"}, "they will be"),
                " committed. If they were sent again already, readers get them twice",
            ),
            "application",
            needs="is_commit resolved.fate.is_commit",
        ),
        remedy(
            (
                "Send the records of the transaction[ whose commit was called at {called_at}] again",
                pick("resolved.fate", {TransactionFate.aborted_by_new_instance: ", unless the new instance did"}, ""),
                ": they were not committed",
            ),
            "application",
            needs="is_commit resolved.is_aborted",
        ),
        remedy(
            text=LOOK_UP,
            where="operator",
            command=f"{DESCRIBE}{{client.transactional_id}}",
            needs="is_commit",
            unless="resolved.fate.is_resolved",
        ),
        remedy(
            text="Call abortTransaction again, or close the producer: then the transaction ends at its timeout at the "
            "latest. Send its records again after that if they were meant to be written",
            where="application",
            unless="is_commit resolved.fate.is_resolved",
        ),
        remedy(
            text="Prevent it: in the code, call {call} again after a TimeoutException until it returns or fails for "
            "good. Close the producer only if the coordinator stays away",
            where="application",
            cost="the calling thread waits as long as the coordinator is away",
            restart_needed=True,
        ),
        included("longer"),
    ),
)

RULE = Rule(
    find=find,
    words=(WORDS,),
    depth=4,
    caused_by=(("coordinator_unavailable", coordinator_of), ("broker_unreachable", same_time)),
    decided_by=(Side.client,),
)
