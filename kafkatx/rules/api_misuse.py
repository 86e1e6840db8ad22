"""A producer was called in a state that does not allow the call: the library refused it by itself.

Mechanism    A transactional producer has a life: initTransactions once, then beginTransaction, sends, and exactly one
             commit or abort, then the next. A call out of that order is refused by the library before any request is
             sent. Mostly an error path is behind it: an exception was swallowed, and the transaction before was neither
             committed nor aborted; or a transactional.id was set for a program that knows no transactions; or one
             producer serves two threads.
Evidence     the library's own words: "Invalid transition attempted from state IN_TRANSACTION to state IN_TRANSACTION",
             "before completing a call to initTransactions", "Operation not valid in state ...", "There is already an
             ongoing transaction for this producer", "after producer has been closed" and the like of each library.
Against      the state is one that an error left (FATAL_ERROR, ABORTABLE_ERROR), or the library went there by itself.
Look-alikes  abort_after_fatal_error (the state is fatal); commit_outcome_unknown (COMMITTING_TRANSACTION: the commit
             before had no answer); shared_producer (several threads meet such states in turns); a defect of the client
             that changes its state by itself (READY to ABORTABLE_ERROR in its own thread).
Remedy       end each transaction exactly once, also in the error path; one thread for each producer; a transactional.id
             only where transactions are used.
Source       TransactionManager.transitionTo, KafkaProducer (0.11 to 4.3); rdkafka_txnmgr.c; KafkaJS, aiokafka,
             kafka-python, sarama, franz-go and spring-kafka in their own words; KIP-98.
"""

from __future__ import annotations

import numpy as np

from kafkatx.findings.client_lines import columns, only, producer_at, seen, times_of
from kafkatx.findings.conditions import same_id_and_time, without_an_id
from kafkatx.findings.failure_kinds import OF_BROKERS
from kafkatx.findings.finding import Finding
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.findings.said_by_failures import by_words, failed_before
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.histories.logs.failures import call_of
from kafkatx.histories.logs.line_owners import is_network_thread
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.misuses import Misuse, MisuseKind, misuse_in
from kafkatx.words.explanation import ActorWords, Bound, Words, included, left_open, remedy, ruled_out, step
from kafkatx.words.facts import client_name
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import ClientName, Count, Refs, facts

TROUBLE = (
    EventKind.connection_failed, EventKind.request_timed_out, EventKind.node_disconnected, EventKind.batch_expired,
    EventKind.await_timeout,
)  # fmt: skip
ERRORS = (*TROUBLE, EventKind.failure, EventKind.to_abortable, EventKind.to_fatal)
CANT_GO_ON = frozenset({MisuseKind.not_initialised, MisuseKind.closed})
"""Kinds after which every further call fails the same way."""
NEEDS_CALM = frozenset({MisuseKind.not_polled, MisuseKind.while_ending})
"""Kinds that brokers who don't answer make as well: reports are missing, a commit is still under way."""


SNAKES = frozenset({"librdkafka", "kafka-python", "aiokafka"})
"""Clients whose methods are written init_transactions."""


def spelled(call: str) -> str:
    """A method of Java as these clients write it."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in call)


@facts
class Facts:
    """Calls of one client that met one wrong state; `earlier` are lines of a failure of the same client before.

    `call` is the one that all lines name, `is_java`: the client is Kafka's own, or nothing tells.
    """

    client: ClientName
    producer: Bound[ActorWords] | None
    kind: MisuseKind
    state: str | None
    count: Count
    lines: Refs
    earlier: Refs
    call: str | None
    is_java: bool

    @property
    def called(self) -> str | None:
        """The call as its client library has it."""
        return {"send": "produce"}.get(self.call, spelled(self.call)) if self.call and not self.is_java else self.call

    @property
    def waits(self) -> bool:
        """Whether the call waited for the application itself, instead of being refused."""
        return self.kind is MisuseKind.not_polled

    @property
    def is_ending(self) -> bool:
        """Whether the call met a commit or abort that was under way, which may only lack its answer."""
        return self.kind is MisuseKind.while_ending

    @property
    def is_unnamed(self) -> bool:
        """Whether the library does not say which state the call met."""
        return self.kind is MisuseKind.unnamed

    @property
    def settled_state(self) -> str | None:
        """The state, where it is not that of a commit or abort under way."""
        return None if self.is_ending else self.state


def find(model: CaptureModel) -> Found:
    """One case for each client and each wrong state that its calls met."""
    for client, misuse, rows in by_words(model, misuse_in):
        of_application = [row for row in rows if not is_network_thread(model.logs.string(row, "thread") or "")]
        if misuse.kind in NEEDS_CALM and _has_trouble(model.logs, rows[0]):
            continue
        if misuse.kind is MisuseKind.while_ending and failed_before(model.logs, client, rows[0]):
            continue
        if of_application:
            yield _case(model, client, misuse, of_application)


def _has_trouble(logs: LogModel, row: int) -> bool:
    """Whether connections failed in the same text: then reports may be missing since no broker answered."""
    return any(logs.events["source"][one] == logs.events["source"][row] for one in logs.of_kind(*TROUBLE).tolist())


def _case(model: CaptureModel, client: ClientInstance | None, misuse: Misuse, rows: list[int]) -> Case:
    logs = model.logs
    since, until = times_of(logs, rows)
    name = client_name(client)
    return Case(
        facts=Facts(
            client=name,
            producer=seen(model, client),
            kind=misuse.kind,
            state=misuse.state,
            count=Count(len(rows)),
            lines=event_refs(model, rows, 4),
            earlier=event_refs(model, failed_before(logs, client, rows[0])),
            call=only(call_of(logs, row) for row in rows),
            is_java=client is None or client.implementation not in SNAKES,
        ),
        verdict=_verdict(logs, misuse.kind, rows),
        severity=Severity.error if misuse.kind in CANT_GO_ON else Severity.warning,
        since=since,
        until=until,
        **columns(logs, name, [producer_at(client, row) for row in rows], rows),
    )


def _verdict(logs: LogModel, kind: MisuseKind, rows: list[int]) -> Verdict:
    """A state that is not named may be one that an error left: only possible where the same text tells of another."""
    if kind is not MisuseKind.unnamed:
        return Verdict.likely if kind in NEEDS_CALM else Verdict.proved
    source = logs.events["source"][rows[0]]
    others = set(np.flatnonzero(logs.events["source"] == source).tolist()) - set(rows)
    brokers = (row for row in logs.of_kind(*OF_BROKERS).tolist() if logs.path(row) == logs.path(rows[0]))
    is_alone = not any(_is_another(logs, row) for row in others) and next(brokers, None) is None
    return Verdict.likely if is_alone else Verdict.possible


def _is_another(logs: LogModel, row: int) -> bool:
    """Whether an event is a failure in its own words, not the begin of those of a call in a wrong state."""
    said = logs.string(row, "detail") or ""
    return logs.kind(row) in ERRORS and bool(said.rstrip(": ")) and misuse_in(logs.words(row)) is None


WHO = "[ of {client.transactional_id}]"
WORDS = Words(
    Facts,
    who=pick("client.transactional_id", {None: "[client {client.client_id}]"}),
    title=pick(
        "kind",
        {
            MisuseKind.begun_inside: "a transaction begun inside another one",
            MisuseKind.not_begun: "{count:call} without an open transaction",
            MisuseKind.ended_before: "{count:call} after the end of the transaction",
            MisuseKind.not_initialised: "{count:call} before initTransactions was done",
            MisuseKind.initialised_twice: "initTransactions called twice",
            MisuseKind.closed: "{count:call} on a closed producer",
            MisuseKind.at_once: "two transactional calls at once",
            MisuseKind.while_ending: "{count:call} while the transaction was being ended",
            MisuseKind.prepared: "{count:call} after the transaction was prepared",
            MisuseKind.not_polled: "delivery reports not polled before the commit",
        },
        (
            pick("called", {None: "{count:call}"}, "{called}"),
            pick("call", {"send": " refused: no open transaction", None: " in a wrong state"}, " refused: wrong state"),
        ),
    ),
    summary=pick(
        "kind",
        {
            MisuseKind.begun_inside: f"The application{WHO} began a transaction while another one was open. The client "
            "refused the call; no broker was asked.",
            MisuseKind.not_begun: f"The application{WHO} made {{count:transactional call}} while no transaction was "
            "open. The client refused; no broker was asked.",
            MisuseKind.ended_before: f"The application{WHO} went on with a transaction that it had already ended. The "
            "client refused the call.",
            MisuseKind.not_initialised: f"The application{WHO} used a transactional producer before initTransactions "
            "had been completed. The client refused the call.",
            MisuseKind.initialised_twice: f"The application{WHO} called initTransactions a second time. The client "
            "refused the call.",
            MisuseKind.closed: f"The application{WHO} used a producer after it had been closed. The client refused the "
            "call.",
            MisuseKind.at_once: f"The application{WHO} made a transactional call while another one was still running. "
            "The client refused the second call.",
            MisuseKind.while_ending: f"The application{WHO}[ {{perhaps}}] went on sending while its commit or abort "
            "was under way. The client refused the call; no broker was asked.",
            MisuseKind.prepared: f"The application{WHO} made {{count:call}} in a transaction that it had prepared for "
            "two-phase commit. Only its end is allowed then; the client refused, no broker was asked.",
            MisuseKind.not_polled: f"commitTransaction{WHO} waited for delivery reports. The application[ {{perhaps}}] "
            "did not take them from the event queue. Nothing was sent to the coordinator; nothing is committed.",
            MisuseKind.unnamed: f"The application{WHO} made {{count:call}} that the producer's state does not allow[: "
            "{perhaps} outside of a transaction]. The client refused; no broker was asked.",
        },
        f"The application{WHO} made {{count:call}} that the producer's state does not allow. The client refused; no "
        "broker was asked.",
    ),
    actors=(included("producer"),),
    steps=(
        step("The producer had already failed", cites="earlier", needs="earlier"),
        step(
            pick(
                "waits",
                {True: "The call timed out, {count:time}: {kind.value}"},
                "The client refused {count:call}: {kind.value}[ (state {state})]",
            ),
            "the words of the client library about its own state",
            cites="lines",
        ),
    ),
    considered=(
        left_open(
            "broker_unreachable",
            "records that no broker acknowledges have no report either; no connection failed in this text",
            decided_by="the whole log of the client at that time",
            needs="waits",
        ),
        left_open(
            "an error before",
            "an error within the transaction leaves a state that refuses the call as well",
            decided_by="the client's log before this line, up to its last begin",
            needs="is_unnamed",
        ),
        ruled_out("abort_after_fatal_error", "the state that the call met is not the fatal one", needs="state"),
        ruled_out(
            "commit_outcome_unknown", "the state is not that of a commit without an answer", needs="settled_state"
        ),
        left_open(
            "commit_outcome_unknown",
            "a commit that timed out before leaves the same state; no such timeout is in this text",
            decided_by="the whole log of the client at that time",
            needs="is_ending",
        ),
    ),
    remedies=(
        remedy(
            "Start with the failure before: after it the transaction has to be aborted, or the producer closed",
            "application",
            needs="earlier",
        ),
        remedy(
            pick(
                "kind",
                {
                    MisuseKind.begun_inside: "End every transaction before the next one: commit it, and call "
                    "abortTransaction in the error path. Use each producer in one thread only",
                    MisuseKind.not_begun: "Begin the transaction before the first send, and commit or abort it exactly "
                    "once: not again in a finally block or a second handler",
                    MisuseKind.ended_before: "Send inside the transaction, await all sends, then commit or abort once",
                    MisuseKind.not_initialised: "Call initTransactions once after the producer is made, and wait for "
                    "it. If the program uses no transactions, remove transactional.id from its configuration",
                    MisuseKind.initialised_twice: "Call initTransactions once in the life of a producer. After a fatal "
                    "error make a new producer instead",
                    MisuseKind.closed: "Make a new producer after closing one, and stop its users before close()",
                    MisuseKind.prepared: "After prepareTransaction call only commitTransaction, abortTransaction or "
                    "completeTransaction; what belongs to the transaction comes before",
                    MisuseKind.not_polled: "Read the delivery reports in a thread of its own (Go: range over Events()) "
                    "or turn them off. Then make the same call again, or abort",
                    MisuseKind.while_ending: "Wait for the commit or abort before the next send: begin anew when it "
                    "has returned (reactive code: concat the steps, never merge them). Use each producer in one thread",
                    MisuseKind.at_once: "Let one thread make all transactional calls, and wait for each of them",
                },
                (
                    "Keep the order: ",
                    pick("is_java", {True: "initTransactions"}, "init_transactions"),
                    " once, then begin, send, one commit or abort. After an error abort before you begin again. If the "
                    "program uses no transactions, remove transactional.id",
                ),
            ),
            "application",
        ),
    ),
)


def _has_no_transactions(model: CaptureModel, cause: Finding, effect: Finding) -> bool:
    """Whether no transaction was open since the program had none: frameworks begin them only for a transactional id."""
    return effect.facts["kind"] == MisuseKind.not_begun.name and without_an_id(model, cause, effect)


RULE = Rule(
    find=find,
    words=(WORDS,),
    depth=5,
    caused_by=(("misconfiguration", _has_no_transactions), *(
        (rule, same_id_and_time)
        for rule in ("misconfiguration", "broker_unreachable", "coordinator_unavailable", "unresolved_sequence",
                     "transactional_id_expired", "fenced_by_group_generation")
    )),
    absorbed_by="shared_producer",
    decided_by=(Side.client,),
)  # fmt: skip
