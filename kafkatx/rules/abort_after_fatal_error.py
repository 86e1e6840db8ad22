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

from kafkatx.findings.client_lines import TIMES, only, producer_at, runs_by_itself, subjects, times_of
from kafkatx.findings.conditions import same_id_and_time
from kafkatx.findings.finding import Subject
from kafkatx.findings.grouping import CaseColumns
from kafkatx.findings.outcome_remedies import CLOSE, IS_REPLACED, PROCESS_AGAIN
from kafkatx.findings.outcomes import FATE_ALONE, OUTCOME, Resolved, taken_from
from kafkatx.findings.rule import Case, Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.rules.fatal_states.dead_clients import DeadClient, dead_client
from kafkatx.terms.catalogue.frameworks import Framework
from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.records import dataclass
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import ActorWords, Bound, Words, included, left_open, remedy, ruled_out, step
from kafkatx.words.facts import client_name, instant, thrown
from kafkatx.words.log_refs import client_seen, event_refs, library
from kafkatx.words.template import pick
from kafkatx.words.values import ClientName, Count, Instant, NameList, Quoted, Refs, ShownError, bare, facts


@facts
class Facts:
    """Aborts of clients of one name in their fatal state; the first client is explained.

    `cause` is the class of the first error and `message` what it said, `fatal` what shows the state first (None: only
    the abort's own exception does), `is_local` whether the client threw without asking anybody; `resolved` is who
    aborted the transaction (None: not known); `later` calls failed after the first abort, `first_later` those of the
    first client; `framework` made the calls itself; `replaced_at` is when another producer was given the id.
    """

    name: ClientName
    client: Bound[ActorWords]
    implementation: str
    library: str | None
    framework: str | None
    count: Count
    cause: str | None
    message: Quoted | None
    is_local: bool
    fatal: FatalState | None
    resolved: Resolved | None
    replaced_at: Instant | None
    thrown: ShownError | None
    later: Count
    first_later: Count
    calls: NameList
    aborts: Refs
    later_lines: Refs

    @property
    def has_only_words(self) -> bool:
        """Whether the class of the first error says nothing, and its words do."""
        return self.cause == "KafkaException" and self.message is not None

    @property
    def is_fenced(self) -> bool:
        """Whether the first error is one that a second instance causes, as a timeout does."""
        return "fenced" in (self.cause or "").lower()

    @property
    def is_certain(self) -> bool:
        """Whether the client itself shows that the error was fatal."""
        return self.is_local or (self.fatal is not None and self.fatal.says_itself)


@dataclass(frozen=True, slots=True)
class FatalState:
    """The line that shows the state first: of the client itself, or an error that is fatal for its release."""

    at: Instant | None
    says_itself: bool
    line: Refs


def find(model: CaptureModel) -> Found:
    """One case for each client and first error."""
    groups: dict[tuple[ClientName, str], list[DeadClient]] = {}
    for client in model.logs.clients:
        dead = dead_client(model.logs, client)
        if dead is not None:
            groups.setdefault((client_name(client), dead.cause), []).append(dead)
    for group in groups.values():
        is_sure = all(dead.is_local or _says_itself(model, dead.fatal) for dead in group)
        yield Case(
            facts=_facts(model, group),
            verdict=Verdict.proved if is_sure else Verdict.likely,
            severity=_severity(model, group),
            **_columns(model.logs, group),
        )


def _severity(model: CaptureModel, group: list[DeadClient]) -> Severity:
    """A producer that is kept is dead for good; a framework that swallows the second error makes a new one."""
    if any(dead.later or len(dead.aborts) > 1 for dead in group):
        return Severity.error
    return Severity.info if _handler(model, group) is not None else Severity.warning


def _handler(model: CaptureModel, group: list[DeadClient]) -> Framework | None:
    """The framework that made these aborts itself and goes on after them."""
    return None if any(dead.failed or dead.later for dead in group) else runs_by_itself(model, group[0].client)


def _columns(logs: LogModel, group: list[DeadClient]) -> CaseColumns:
    name = group[0].client.transactional_id
    given = [producer_at(dead.client, dead.aborts[0]) for dead in group]
    since, until = times_of(logs, [row for dead in group for row in dead.rows()])
    return CaseColumns(
        transactional_id=name,
        producer_id=only(producer for producer, _ in given),
        producer_epoch=only(epoch for _, epoch in given),
        since=since,
        until=until,
        count=sum(len(dead.aborts) for dead in group),
        subjects=subjects([Subject(name, producer) for producer, _ in given]),
    )


def _facts(model: CaptureModel, group: list[DeadClient]) -> Facts:
    first, handler = group[0], _handler(model, group)
    return Facts(
        name=client_name(first.client),
        client=client_seen(model, first.client),
        implementation=first.client.implementation,
        library=library(first.client) or None,
        framework=str(handler.name) if handler is not None else None,
        count=Count(sum(len(dead.aborts) for dead in group)),
        cause=bare(first.cause) or None,
        message=Quoted(first.message) if first.message else None,
        is_local=first.is_local,
        fatal=_fatal_state(model, first.fatal),
        resolved=_resolved(model, group),
        replaced_at=instant(_replaced_at(model, group)),
        thrown=thrown(first.failed[0]) if first.failed else None,
        later=Count(sum(len(dead.later) for dead in group)),
        first_later=Count(len(first.later)),
        calls=NameList(sorted({failure.call or "" for failure in first.later})),
        aborts=event_refs(model, first.shown(), 4),
        later_lines=event_refs(model, [failure.row for failure in first.later], 3),
    )


def _resolved(model: CaptureModel, group: list[DeadClient]) -> Resolved | None:
    """Who aborted their transactions, where it is the same for all."""
    found = [taken_from(model, dead.client, producer_at(dead.client, dead.aborts[0])) for dead in group]
    is_same = only(one.fate if one is not None else None for one in found) is not None
    return found[0] if is_same else None


def _replaced_at(model: CaptureModel, group: list[DeadClient]) -> int | None:
    """When another producer was first given the id behind the last line of the dead ones."""
    name, dead = group[0].client.transactional_id, {one.client.number for one in group}
    last = max((at for one in group for row in one.rows() if (at := model.logs.at(row)) is not None), default=None)
    if name is None or last is None:
        return None
    others = (one for one in model.logs.clients_of(name) if one.number not in dead)
    given = [it.at for one in others for it in one.initialisations if it.at is not None and it.at > last]
    return min(given, default=None)


def _fatal_state(model: CaptureModel, row: int | None) -> FatalState | None:
    if row is None:
        return None
    return FatalState(instant(model.logs.at(row)), _says_itself(model, row), event_refs(model, [row]))


def _says_itself(model: CaptureModel, row: int | None) -> bool:
    """Whether the client's own line tells its fatal state: the abort that follows can only fail."""
    return row is not None and model.logs.kind(row) == EventKind.to_fatal


OF_JAVA = (
    "Prevent it: in the code, catch ProducerFencedException, OutOfOrderSequenceException, AuthorizationException and "
    "the like first, and close the producer there. Call abortTransaction only after other KafkaExceptions"
)

IS_BACK = "Nothing to restart: another producer has had the id since {replaced_at}. "
CLOSED = pick("replaced_at", {None: CLOSE}, IS_BACK)
CLOSED_IF_ALONE = pick(
    "replaced_at",
    {
        None: "Close this producer; create a new one only if no other instance uses its id. abortTransaction would "
        "only fail. "
    },
    IS_BACK,
)
SEND = "end the aborted records again, unless the application has done so"
AGAIN = pick(
    "resolved.has_offsets",
    {True: PROCESS_AGAIN, False: f"S{SEND}: its transaction held no offsets of a consumer to process again from"},
    f"{PROCESS_AGAIN}. Records that do not come from Kafka were aborted too: s{SEND}",
)
"""What becomes of the work: where offsets were committed with it, an abort has put them back."""
WORDS = Words(
    Facts,
    title=pick(
        "later",
        {0: ("abortTransaction called", TIMES, " after a fatal error")},
        "producer dead, but still in use",
    ),
    summary=(
        "{name:The} was[ {perhaps}] dead after a fatal error",
        pick("has_only_words", {True: " ({message:90})"}, "[ ({cause})]"),
        ": it could neither commit nor abort.",
        pick("later", {0: ""}, " The application kept using it: {later:later call} failed as well."),
        pick("resolved", {None: ""}, (" ", FATE_ALONE, ".")),
    ),
    actors=(included("client"),),
    steps=(
        step(
            (
                "P went into its fatal error state[ at {fatal.at}]: ",
                pick("cause", {None: "a fatal error"}, "{cause}"),
                "[, {message:90}]",
            ),
            pick(
                "fatal.says_itself",
                {True: "P logged the transition"},
                ("this error is fatal for ", pick("library", {None: "its client"}, "{library}")),
            ),
            cites="fatal.line",
            needs="fatal",
        ),
        step(
            (
                pick("framework", {None: "The application"}, "{framework}"),
                " called abortTransaction[, which threw {thrown:exception}]",
            ),
            pick(
                "is_local",
                {True: "the client refused it by itself, as it does only in its fatal state"},
                "the abort began after the fatal error",
            ),
            cites="aborts",
        ),
        step(
            "The application kept the producer: {first_later:later call} failed ({calls})",
            cites="later_lines",
            needs="first_later",
        ),
        *OUTCOME,
    ),
    considered=(
        ruled_out(
            "an abortable error, after which to abort is right",
            pick(
                "is_local",
                {True: "the client does not refuse an abort in its abortable state"},
                "the fatal error came before the abort began",
            ),
            cites="fatal.line",
            needs="is_certain",
        ),
        left_open(
            "an abortable error, after which to abort is right",
            "the release of the client decides whether this error is fatal",
            decided_by='the line "Transiting to fatal error state" in the client\'s log at INFO',
            cites="fatal.line",
            unless="is_certain",
        ),
        left_open(
            "an abort that had an effect",
            pick(
                "is_local",
                {True: "of some of these aborts no line shows how they ended"},
                "no line shows what abortTransaction threw",
            ),
            decided_by="the application's log of that call, or the records of the id in __transaction_state",
            needs="perhaps is_certain",
        ),
        ruled_out("commit_outcome_unknown", "the client got a definite error, no timeout"),
    ),
    remedies=(
        remedy(
            "Check that {framework} goes on with a new producer. It called abortTransaction by itself",
            "application",
            needs="framework",
        ),
        remedy(
            pick(
                "resolved.is_taken_over",
                {
                    True: IS_REPLACED,
                    False: (CLOSED, AGAIN),
                    None: pick("is_fenced", {True: (CLOSED_IF_ALONE, PROCESS_AGAIN)}, (CLOSED, PROCESS_AGAIN)),
                },
            ),
            "application",
            unless="framework",
        ),
        remedy(
            text=(
                pick(
                    "implementation",
                    {
                        "java": OF_JAVA,
                        "unknown": OF_JAVA,
                        "librdkafka": "Prevent it: in the code, ask the error: after fatal() close the producer and "
                        "make a new one; after txn_requires_abort() call abort_transaction(); after retriable() repeat "
                        "the same call",
                    },
                    "Prevent it: in the code, tell fatal errors from others: close the producer after a fatal one, "
                    "abort only after the others",
                ),
                ". Log the first exception, not only the last",
            ),
            where="application",
            restart_needed=True,
            unless="framework",
        ),
    ),
)

RULE = Rule(
    find=find,
    words=(WORDS,),
    depth=5,
    caused_by=(
        ("transaction_timed_out", same_id_and_time),
        ("fenced_by_new_instance", same_id_and_time),
        ("transactional_id_expired", same_id_and_time),
        ("unresolved_sequence", same_id_and_time),
    ),
    decided_by=(Side.client,),
)
