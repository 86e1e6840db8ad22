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

from kafkatx.findings.client_lines import TIMES, advised_of, by_client, columns, rows_of, runs_by_itself, seen
from kafkatx.findings.conditions import coordinator_kept_waiting, kept_waiting, same_failure
from kafkatx.findings.finding import Finding
from kafkatx.findings.outcome_remedies import DESCRIBE, LOOK_UP
from kafkatx.findings.outcomes import FATE, UNKNOWN, Call, Grounds, Resolved, TransactionFate, fate_of, outcome
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.logs.testimony import statements_of
from kafkatx.rules.given_up_ends.attempts import Attempt, attempts_of, telling_rows
from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.events import SYMPTOM
from kafkatx.words.explanation import (
    ActorWords,
    Bound,
    Phrase,
    Words,
    included,
    left_open,
    measure,
    remedy,
    ruled_out,
    step,
)
from kafkatx.words.facts import client_name, instant, lasting
from kafkatx.words.log_refs import event_refs, testimony_refs
from kafkatx.words.methods import method
from kafkatx.words.proposals import Lasted, Remedies
from kafkatx.words.remedies import max_block
from kafkatx.words.template import pick
from kafkatx.words.values import ClientName, Count, Duration, Instant, Refs, facts

TWICE = "records_twice"
"""The symptom of records that were sent once more."""
TROUBLE = (
    EventKind.request_cancelled,
    EventKind.request_timed_out,
    EventKind.node_disconnected,
    EventKind.connection_failed,
    EventKind.bootstrap_disconnected,
)


@facts
class Facts:
    """Commits (or aborts) of one client that were given up, with the same fate; the first is explained.

    `called_at` and `waited` are those of its call, `at` is when it was given up, `lines` counts the timeouts that tell
    of it, `failures` what its connections did meanwhile; `refused` are calls that it made after that. `library` is
    whose names its methods have, `is_certain`: the text names the call and that its answer was missing; `twice` are
    somebody's words that records came twice. `must_abort`: the client went into its abortable state, where it refuses
    the same call (librdkafka after a commit that timed out).
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
    library: str | None
    is_certain: bool
    twice: Refs
    must_abort: bool

    @property
    def call(self) -> str:
        """The method that was called, as its library has it."""
        return method("commitTransaction" if self.is_commit else "abortTransaction", self.library)

    @property
    def abort(self) -> str:
        """The one that aborts."""
        return method("abortTransaction", self.library)

    @property
    def is_open_abort(self) -> bool:
        """Whether an abort was asked for, of which nobody knows whether it was done: a commit it is in no case."""
        return not self.is_commit and self.resolved.fate is TransactionFate.unknown

    @property
    def is_java(self) -> bool:
        """Whether its timeout is Java's TimeoutException, as long as max.block.ms."""
        return self.library in (None, "java", "unknown")

    @property
    def what(self) -> str:
        """What was called for, and how often: `commit`, `3 commits`."""
        what = "commit" if self.is_commit else "abort"
        return what if self.count == 1 else format(self.count, what)


def find(model: CaptureModel) -> Found:
    """One case for each client, kind of call and fate."""
    groups: dict[tuple[ClientName, bool, TransactionFate], list[tuple[Attempt, Resolved]]] = {}
    for client, rows in by_client(model, telling_rows(model)):
        for attempt in attempts_of(model, client, rows):
            call = Call(client, attempt.producer[0], attempt.called_at, attempt.gave_up_at)
            resolved = fate_of(model, call)
            groups.setdefault((client_name(client), attempt.is_commit, resolved.fate), []).append((attempt, resolved))
    for (name, *_), found in groups.items():
        yield _case(model, name, [attempt for attempt, _ in found], found[0][1])


def _case(model: CaptureModel, name: ClientName, attempts: list[Attempt], resolved: Resolved) -> Case:
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


def _severity(model: CaptureModel, attempt: Attempt, fate: TransactionFate) -> Severity:
    """A fate that is known is no loss; that of an abort that is not known is milder, since it may be tried again.

    A framework processes again from the offsets of the last commit, whatever became of this one.
    """
    if attempt.is_commit:
        is_safe = fate.is_resolved or runs_by_itself(model, attempt.client) is not None
        return Severity.warning if is_safe else Severity.error
    return Severity.info if fate.is_resolved and not fate.is_commit else Severity.warning


def _facts(model: CaptureModel, name: ClientName, attempts: list[Attempt], resolved: Resolved) -> Facts:
    attempt = attempts[0]
    trouble = _trouble(model.logs, attempt)
    return Facts(
        client=name,
        is_commit=attempt.is_commit,
        count=Count(len(attempts)),
        resolved=resolved,
        at=instant(attempt.gave_up_at),
        called_at=instant(attempt.called_at) if attempt.waited_ms is not None else None,
        waited=lasting(attempt.waited_ms),
        lines=Count(len(attempt.timeouts)),
        failures=Count(len(trouble)),
        producer=seen(model, attempt.client),
        timeouts=event_refs(model, attempt.timeouts, 3),
        refused=event_refs(model, attempt.refused, 3),
        last_refused=event_refs(model, attempt.refused, 1),
        trouble=event_refs(model, trouble, 3),
        longer=_longer(model, attempt, resolved),
        library=attempt.client.implementation if attempt.client is not None else None,
        is_certain=all(one.is_certain for one in attempts),
        twice=_twice(model.logs, attempt.rows[0]) if attempt.is_commit and not resolved.fate.is_resolved else (),
        must_abort=any(model.logs.kind(row) is EventKind.to_abortable for row in attempt.timeouts),
    )


def _twice(logs: LogModel, row: int) -> Refs:
    """Words on the page of a commit that say that records came twice."""
    said = [one for one in statements_of(logs, logs.path(row)) if (one.name, one.error) == (SYMPTOM, TWICE)]
    return testimony_refs(logs.path(row), said[:2])


def _trouble(logs: LogModel, attempt: Attempt) -> list[int]:
    """Lines of what the client's connections did while it waited."""
    if attempt.client is None or attempt.called_at is None or attempt.gave_up_at is None:
        return []
    rows = rows_of(logs, attempt.client, *TROUBLE).tolist()
    return [row for row in rows if (at := logs.at(row)) is not None and attempt.called_at <= at <= attempt.gave_up_at]


def _longer(model: CaptureModel, attempt: Attempt, resolved: Resolved) -> Remedies:
    """A call that waits longer: until the commit was through, where rows tell, else than it has waited.

    A coordinator answers when the decision is on all replicas in sync, and a call that asks again when all markers are
    there: so the row of a decision may be far older than the answer (`TransactionCoordinator.endTransaction`).
    """
    waited, client, called_at = attempt.waited_ms or 0, attempt.client, attempt.called_at
    whom = advised_of(model, client)
    through = resolved.completed_at or resolved.decided_at
    if resolved.fate.is_commit and through is not None and called_at is not None:
        away = through - called_at
        if away > waited:
            return max_block(whom, away, THROUGH_AFTER.of(Lasted(Duration(away))))
    return max_block(whom, waited, WAITED.of(Lasted(Duration(waited))))


THROUGH_AFTER = Phrase(Lasted, measure("the commit was through {time} after the call"))
WAITED = Phrase(Lasted, measure("the call waited {time} and got no answer"))
WORDS = Words(
    Facts,
    title=(
        "{what} got no answer",
        pick(
            "resolved.fate",
            {
                TransactionFate.unknown: ", outcome open",
                TransactionFate.committed: ", transaction committed",
                TransactionFate.committing: ", transaction being committed",
                TransactionFate.open: ", transaction still open",
                TransactionFate.never_begun: ", transaction never begun",
                TransactionFate.divided: ", transaction committed in part",
            },
            ", transaction aborted",
        ),
    ),
    summary=(
        "{call} of {client}[ {perhaps}] got no answer from the coordinator",
        TIMES,
        ": ",
        pick(
            "is_open_abort",
            {
                True: "nothing of the transaction is committed by that, and this evidence does not show whether it has "
                "ended"
            },
            FATE,
        ),
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
                pick(
                    "called_at",
                    {None: "P gave {call} up[ at {at}] without an answer[ after {waited}]"},
                    "P called {call} at about {called_at} and got no answer[ in {waited}]",
                ),
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
        step("Records are said to have come twice since", cites="twice", needs="twice"),
        *outcome(pick("is_commit", {False: "This evidence does not show whether the abort was done"}, UNKNOWN)),
    ),
    considered=(
        left_open(
            "a call that asked for nothing",
            "a client may still have been sending records when the time was over, and not have asked the coordinator",
            decided_by="the records of the id in __transaction_state, or the client's own log of that time",
            unless="is_certain",
        ),
        ruled_out("a definite error", "the coordinator sent no answer", unless="perhaps"),
        left_open(
            "a definite error",
            "these lines do not show how the call ended",
            decided_by="the client's whole log of that call",
            needs="perhaps",
        ),
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
                "Do not send these records again: ",
                pick("resolved.fate", {TransactionFate.committed: "they are"}, "they will be"),
                " committed. If they were sent again already, readers get them twice",
            ),
            "application",
            needs="is_commit resolved.fate.is_commit",
        ),
        remedy(
            (
                "Send these records again",
                pick("resolved.fate", {TransactionFate.aborted_by_new_instance: ", unless the new instance did"}, ""),
                ": they were not committed",
            ),
            "application",
            needs="is_commit resolved.is_aborted",
        ),
        remedy(
            "Look for records that came twice, and take one of each out: the text says that there are some, so the "
            "commit probably went through and the batch was sent again",
            "application",
            needs="twice",
        ),
        remedy(
            text=LOOK_UP,
            where="operator",
            command=(DESCRIBE, pick("client.transactional_id", {None: "ID"}, "{client.transactional_id}")),
            needs="is_commit",
            unless="resolved.fate.is_resolved",
        ),
        remedy(
            text="Call {abort} again, or close the producer: then the transaction ends at its timeout at the "
            "latest. Send its records again after that if they were meant to be written",
            where="application",
            unless="is_commit resolved.fate.is_resolved",
        ),
        remedy(
            text="Then abort ({abort}): the client refuses another commit of this transaction, its error requires the "
            "abort. Only then begin anew",
            where="application",
            needs="must_abort",
        ),
        remedy(
            text=(
                "Prevent it: in the code, call {call} again after a ",
                pick("is_java", {True: "TimeoutException"}, "timeout"),
                " until it returns or fails for good. Close the producer only if the coordinator stays away",
            ),
            where="application",
            cost="the calling thread waits as long as the coordinator is away",
            restart_needed=True,
            unless="must_abort",
        ),
        included("longer"),
    ),
)


def _was_rolled_back(model: CaptureModel, cause: Finding, effect: Finding) -> bool:
    """Whether the rollback that ended the transaction while the call waited is what the timeout is told by."""
    resolved = {(place.source, place.line) for step in effect.steps for place in step.places if place.line is not None}
    told = {(place.source, place.line) for place in cause.places() if place.line is not None}
    return effect.facts["resolved"]["grounds"] == Grounds.rollback.name and bool(resolved & told)


RULE = Rule(
    find=find,
    words=(WORDS,),
    depth=4,
    caused_by=(
        ("coordinator_unavailable", coordinator_kept_waiting),
        ("broker_unreachable", kept_waiting),
        ("broker_unreachable", same_failure),
        ("transaction_timed_out", _was_rolled_back),
    ),
    decided_by=(Side.client,),
)
