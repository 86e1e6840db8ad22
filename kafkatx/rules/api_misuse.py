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
from kafkatx.findings.known_defects import met_defects
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.findings.said_by_failures import by_words, failed_before
from kafkatx.findings.unfinished_ends import refused_behind
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.client_instance import ClientInstance
from kafkatx.histories.logs.failures import call_of
from kafkatx.histories.logs.frameworks_named import is_of_network_thread, owner_in_lines
from kafkatx.histories.logs.line_owners import is_network_thread
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.logs.testimony import statements_of
from kafkatx.rules.misuses.words import REMEDY, SUMMARY, TITLE
from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.error_messages.misuses import Misuse, MisuseKind, misuse_in
from kafkatx.text.events import Statement
from kafkatx.words.explanation import ActorWords, Bound, Words, included, left_open, remedy, ruled_out, step
from kafkatx.words.facts import client_name
from kafkatx.words.log_refs import event_refs, testimony_refs
from kafkatx.words.methods import method
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
LESS_SURE = NEEDS_CALM | {MisuseKind.unfinished}
"""Kinds that brokers who don't answer make as well: reports are missing, a commit is still under way."""
AWAITS_ID = frozenset({"WaitPID", "INITIALIZING"})
"""States of a producer whose initTransactions was called and has not come back (librdkafka; Java, kafka-python)."""
STANDS_STILL = 3
"""Refused calls of one client behind a failure, from which on it does not get out of it by itself."""
BEGIN_CALLED = "begin_called"


@facts
class Facts:
    """Calls of one client that met one wrong state; `earlier` are lines of a failure of the same client before.

    `call` is the one that all lines name, by Java's name; `library` is whose names its methods have. `begun` are words
    on the page that a transaction had been begun.
    """

    client: ClientName
    producer: Bound[ActorWords] | None
    kind: MisuseKind
    state: str | None
    count: Count
    lines: Refs
    earlier: Refs
    begun: Refs
    call: str | None
    library: str | None

    @property
    def called(self) -> str | None:
        """The call as its client library has it."""
        return method(self.call, self.library) if self.call else None

    @property
    def begin(self) -> str:
        """What begins a transaction, as its library has it."""
        return method("beginTransaction", self.library)

    @property
    def abort(self) -> str:
        """What aborts one."""
        return method("abortTransaction", self.library)

    @property
    def commit(self) -> str:
        """What commits one."""
        return method("commitTransaction", self.library)

    @property
    def init(self) -> str:
        """What comes first in the life of a producer."""
        return method("initTransactions", self.library)

    @property
    def has_threads(self) -> bool:
        """Whether programs of its library run threads; Node's run requests in turns."""
        return self.library != "kafkajs"

    @property
    def awaits_id(self) -> bool:
        """Whether initTransactions had been called, and had no producer id yet."""
        return self.kind is MisuseKind.not_initialised and self.state in AWAITS_ID

    @property
    def is_unfinished(self) -> bool:
        """Whether a call before it may still run, or have timed out."""
        return self.kind is MisuseKind.unfinished

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
    consequences, defects = refused_behind(model), _of_frameworks(model)
    for client, misuse, said in by_words(model, misuse_in):
        rows = [row for row in said if row not in consequences]
        of_application = [row for row in rows if row not in defects and not _is_of_thread(model.logs, row, misuse)]
        if not of_application or (misuse.kind in NEEDS_CALM and _has_trouble(model.logs, rows[0])):
            continue
        if misuse.kind is MisuseKind.while_ending and failed_before(model.logs, client, rows[0]):
            continue
        yield _case(model, client, misuse, of_application)


def _of_frameworks(model: CaptureModel) -> set[int]:
    """Lines of a known defect whose frames are of a framework: it made the call, and no application did."""
    rows = {row for met in met_defects(model) for row in met.rows}
    return {row for row in rows if owner_in_lines(model.logs, [row]) is not None}


def _is_of_thread(logs: LogModel, row: int, misuse: Misuse) -> bool:
    """Whether the producer's own thread made the call: only an application's callback calls what was closed there."""
    if misuse.kind is MisuseKind.closed:
        return is_network_thread(logs.string(row, "thread") or "")
    return is_of_network_thread(logs, row)


def _has_trouble(logs: LogModel, row: int) -> bool:
    """Whether connections failed in the same text: then reports may be missing since no broker answered."""
    return any(logs.events["source"][one] == logs.events["source"][row] for one in logs.of_kind(*TROUBLE).tolist())


def _case(model: CaptureModel, client: ClientInstance | None, misuse: Misuse, rows: list[int]) -> Case:
    logs = model.logs
    since, until = times_of(logs, rows)
    name, earlier = client_name(client), failed_before(logs, client, rows[0])
    begun = _begun(logs, rows[0]) if misuse.kind is MisuseKind.not_begun and misuse.state is not None else []
    stands = len(rows) >= STANDS_STILL and bool(earlier)
    return Case(
        facts=Facts(
            client=name,
            producer=seen(model, client),
            kind=misuse.kind,
            state=misuse.state,
            count=Count(len(rows)),
            lines=event_refs(model, rows, 4),
            earlier=event_refs(model, earlier),
            begun=testimony_refs(logs.path(rows[0]), begun),
            call=only(call_of(logs, row) for row in rows),
            library=client.implementation if client is not None else None,
        ),
        verdict=Verdict.likely if begun else _verdict(logs, misuse.kind, rows),
        severity=Severity.error if misuse.kind in CANT_GO_ON or stands else Severity.warning,
        since=since,
        until=until,
        **columns(logs, name, [producer_at(client, row) for row in rows], rows),
    )


def _begun(logs: LogModel, row: int) -> list[Statement]:
    """What people say on a page of the call that begins a transaction: that it was made, whatever the state says."""
    said = (one for one in statements_of(logs, logs.path(row)) if one.name == BEGIN_CALLED)
    return list(said)[:2]


def _verdict(logs: LogModel, kind: MisuseKind, rows: list[int]) -> Verdict:
    """A state that is not named may be one that an error left: only possible where the same text tells of another."""
    if kind is not MisuseKind.unnamed:
        return Verdict.likely if kind in LESS_SURE else Verdict.proved
    source = logs.events["source"][rows[0]]
    others = set(np.flatnonzero(logs.events["source"] == source).tolist()) - set(rows)
    brokers = (row for row in logs.of_kind(*OF_BROKERS).tolist() if logs.path(row) == logs.path(rows[0]))
    is_alone = not any(_is_another(logs, row) for row in others) and next(brokers, None) is None
    return Verdict.likely if is_alone else Verdict.possible


def _is_another(logs: LogModel, row: int) -> bool:
    """Whether an event is a failure in its own words, not the begin of those of a call in a wrong state."""
    said = logs.string(row, "detail") or ""
    return logs.kind(row) in ERRORS and bool(said.rstrip(": ")) and misuse_in(logs.words(row)) is None


FAILED = "The producer had already failed"
WORDS = Words(
    Facts,
    who=pick("client.transactional_id", {None: "[client {client.client_id}]"}),
    title=TITLE,
    summary=SUMMARY,
    actors=(included("producer"),),
    steps=(
        step(FAILED, cites="earlier", needs="earlier"),
        step("The text says that {begin} had been called", cites="begun", needs="begun"),
        step(
            pick(
                "waits",
                {True: "The call timed out, {count:time}: {kind.value}"},
                pick(
                    "state",
                    {
                        "COMMITTING_TRANSACTION": "The client refused {count:call}: its commit was under way",
                        "ABORTING_TRANSACTION": "The client refused {count:call}: its abort was under way",
                    },
                    "The client refused {count:call}: {kind.value}[ (state {state})]",
                ),
            ),
            "the words of the client library about its own state",
            cites="lines",
        ),
    ),
    considered=(
        left_open(
            "client_bug",
            "the text says that a transaction was begun: a client that counts it from its first record on refuses the "
            "end of an empty one as well",
            decided_by="the same calls with one record sent in between",
            needs="begun",
        ),
        left_open(
            "whether the coordinator answered",
            "the state is that of {init} without an answer yet: it stays so after a timeout",
            decided_by="the logs of the brokers at that time",
            needs="awaits_id",
        ),
        left_open(
            "a call that timed out before",
            "the client goes on with it, and refuses any other call until it was called again",
            decided_by="the client's log before this line, up to its last begin",
            needs="is_unfinished",
        ),
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
            "Start with the failure before: after it the transaction has to be aborted ({abort}), or the producer "
            "closed",
            "application",
            needs="earlier",
        ),
        remedy(
            "Skip the commit where nothing was sent since {begin}: an empty transaction has nothing to commit",
            "application",
            needs="begun",
        ),
        remedy(
            REMEDY,
            "application",
            unless="begun",
        ),
    ),
)


def _failed_first(model: CaptureModel, cause: Finding, effect: Finding) -> bool:
    """Whether the failure after which the calls were refused is one that the cause tells of."""
    steps = [step for step in effect.steps if step.text.startswith(FAILED)]
    before = {(place.source, place.line) for step in steps for place in step.places}
    return bool(before & {(place.source, place.line) for place in cause.places() if place.line is not None})


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
    ), ("broker_unreachable", _failed_first)),
    absorbed_by="shared_producer",
    decided_by=(Side.client,),
)  # fmt: skip
