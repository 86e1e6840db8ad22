"""Failures that the evidence tells of, and what becomes of each: explained, excused, or left without a cause.

A failure  a line that says that a call failed for good, that a client can do nothing more, or that a part of a broker
           stopped. One failure is one client instance (else its id, else its source), one call and one error: the
           wrapper, its cause and the broker's echo of it are one, and so is what a producer throws by itself since it
           failed before.
Explained  a finding about its cause, at likely or proved, cites it, or is about the same id (or broker) at that time
           and names a mechanism that shows itself by this error. Findings about effects explain nothing, but a call
           that got no answer is what commit_outcome_unknown is about.
Guessed    the same, but the finding is only possible: it carries the candidates.
Excused    retried by the client itself, dropped by the application's own abort, or foreign to transactions: exceptions
           of the application, failures of consumers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cache

from kafkatx.findings.diagnosis import FailureCounts
from kafkatx.findings.finding import UNEXPLAINED, Finding
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.failures import FAILURES, failures, is_text_of, meanings_of
from kafkatx.histories.logs.log_model import ClientInstance, Failure, LogModel
from kafkatx.terms.catalogue.entries import ClientException, ProtocolError, simple_name
from kafkatx.terms.catalogue.loading import error_codes
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS
from kafkatx.terms.error_codes import error_code
from kafkatx.terms.events import EventKind, Level, Side
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.events import Thrown
from kafkatx.text.sayings import Saying
from kafkatx.words.values import bare

EFFECTS = frozenset({"abort_after_fatal_error", "silent_failure", "read_committed_blocked", UNEXPLAINED})
"""Rules that tell what followed, never why."""
OUTCOME, CONFIG = "commit_outcome_unknown", "misconfiguration"
GIVEN_UP = frozenset({"commitTransaction", "abortTransaction"})
TRANSACTIONAL_CALLS = frozenset(
    {*GIVEN_UP, "initTransactions", "beginTransaction", "sendOffsetsToTransaction", "send", "flush"}
)
BROKER_RULES = frozenset({"broker_unreachable", "coordinator_unavailable", "log_directory_failed"})
"""Rules that are about brokers: whoever called them at that time met it."""
WIDER = {"shared_producer": "fenced_by_new_instance"}
"""Rules whose findings are made of those of another one."""
RETRIED, FATAL = "retriable", "fatal"
MEANT = frozenset({FATAL, "abortable", RETRIED, "refresh", "config"})
REACTIONS = {"fatal": FATAL, "abortable": "abortable", "retried": RETRIED}
"""What a transactional producer makes of an error (errors.tsv), as the category of a failure."""
GENERIC = frozenset({
    "Exception", "RuntimeException", "IllegalStateException", "IllegalArgumentException", "KafkaException",
    "AssertionError", "KafkaError", "Error", "ExecutionException", "CompletionException",
})  # fmt: skip
"""Classes that say nothing: only their words do."""


class Account(Enum):
    """What becomes of a failure."""

    explained = auto()
    guessed = auto()
    excused = auto()
    unexplained = auto()


@dataclass(frozen=True, slots=True)
class BrokerFailure:
    """What a kind of line of a broker says has failed: a name for it, and the mechanisms that show themselves so.

    `is_grave`: a part of the broker stopped; `is_harmless`: the broker refused what should be refused.
    """

    name: str
    candidates: tuple[str, ...]
    is_grave: bool = False
    is_harmless: bool = False


OLD_EPOCH = ("fenced_by_new_instance", "transaction_timed_out")
OF_BROKERS = {
    EventKind.marker_given_up: BrokerFailure("a marker was given up", ("stuck_prepare", "hanging_transaction")),
    EventKind.timeout_rollback_failed: BrokerFailure(
        "a transaction past its timeout could not be aborted", ("coordinator_unavailable", "stuck_prepare")
    ),
    EventKind.bad_transition: BrokerFailure(
        "the coordinator's state did not fit", (*OLD_EPOCH, "inconsistent_transaction_state", "broker_bug")
    ),
    EventKind.init_fenced: BrokerFailure("InitProducerId of an old epoch was refused", OLD_EPOCH),
    EventKind.stale_epoch: BrokerFailure("a write with an old epoch was refused", OLD_EPOCH),
    EventKind.sequence_refused: BrokerFailure(
        "a write out of order was refused", ("sequence_gap", "unresolved_sequence", "producer_state_expired")
    ),
    EventKind.zombie_coordinator: BrokerFailure(
        "a marker of an old coordinator was refused", ("zombie_coordinator",), is_harmless=True
    ),
    EventKind.unknown_producer: BrokerFailure("the leader no longer knew the producer", ("producer_state_expired",)),
    EventKind.verification_failed: BrokerFailure(
        "a partition could not be verified", ("partition_verification_failed", "coordinator_unavailable")
    ),
    EventKind.unsupported_format: BrokerFailure("records met an old message format", ("misconfiguration",)),
    EventKind.coordinator_load_failed: BrokerFailure(
        "a coordinator could not load", ("coordinator_unavailable", "log_directory_failed"), is_grave=True
    ),
    EventKind.state_append_failed: BrokerFailure(
        "the coordinator could not write its log", ("coordinator_unavailable", "broker_unreachable")
    ),
    EventKind.storage_failed: BrokerFailure("storage failed", ("log_directory_failed",), is_grave=True),
    EventKind.cleaner_stopped: BrokerFailure(
        "the log cleaner stopped", ("damaged_index", "log_directory_failed"), is_grave=True
    ),
    EventKind.coordinator_inconsistent: BrokerFailure(
        "the coordinator found an inconsistent state", ("inconsistent_transaction_state", "broker_bug"), is_grave=True
    ),
    EventKind.expiry_failed: BrokerFailure("an expired id could not be removed", ("coordinator_unavailable",)),
    EventKind.id_allocation_failed: BrokerFailure(
        "a broker could not get producer ids", ("coordinator_unavailable", "broker_unreachable")
    ),
    EventKind.too_few_brokers: BrokerFailure("__transaction_state could not be created", ("misconfiguration",)),
    EventKind.transaction_mixed: BrokerFailure("a plain batch came within a transaction", ("api_misuse",)),
}
"""Kinds of lines of brokers that tell of a failure."""
OF_CALLS = {
    "initTransactions": ("coordinator_unavailable", "misconfiguration", "broker_unreachable"),
    "beginTransaction": ("api_misuse", "shared_producer"),
    "commitTransaction": ("coordinator_unavailable", "transaction_timed_out", "broker_unreachable"),
    "abortTransaction": ("coordinator_unavailable", "api_misuse", "broker_unreachable"),
    "sendOffsetsToTransaction": ("fenced_by_group_generation", "coordinator_unavailable", "transaction_timed_out"),
    "send": ("broker_unreachable", "misconfiguration", "api_misuse"),
    "flush": ("broker_unreachable", "unresolved_sequence"),
}
"""What makes a call fail, the commonest first, where the error names nothing."""
OF_EPOCHS = (EventKind.init_fenced, EventKind.stale_epoch)
BY_ERROR = (EventKind.init_refused, EventKind.end_refused, EventKind.add_refused, EventKind.append_refused)
"""Kinds of lines of brokers whose error says what it is."""


@dataclass(frozen=True, slots=True)
class ToldFailure:
    """A failure that was told: of a client (None: nobody's, or a broker's), in a call (None: not named).

    `error` is the class, constant or words that name it, `known` the protocol's error behind it; `category` what it
    means to the client (fatal, abortable, retriable, refresh, config, unknown); `candidates` the mechanisms that show
    themselves by it, the commonest first; `rows` its lines.
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
    count: int = 1

    @property
    def names_causes(self) -> bool:
        """Whether the error itself points to mechanisms, not only the call that failed."""
        return bool(self.candidates) and self.candidates != OF_CALLS.get(self.call or "")


@dataclass(frozen=True, slots=True)
class Accounted:
    """A failure and what becomes of it; `by` is the finding that explains or guesses it."""

    told: ToldFailure
    account: Account
    by: Finding | None = None


def told_failures(model: CaptureModel, findings: Sequence[Finding]) -> list[Accounted]:
    """Account for every failure that logs and texts tell of, in the order of their lines."""
    logs = model.logs
    of_clients = list(_of_clients(logs))
    of_brokers = [told for told in _of_brokers(logs) if not any(_is_echo(told, other) for other in of_clients)]
    cited = _cited(findings)
    return [
        _accounted(logs, told, findings, cited)
        for told in sorted([*of_clients, *of_brokers], key=lambda told: told.rows[0])
    ]


def counted(found: Sequence[Accounted]) -> FailureCounts:
    """Count failures by what becomes of them."""
    count = Counter(one.account for one in found)
    left = count[Account.unexplained] + count[Account.guessed]
    return FailureCounts(len(found), count[Account.explained], left, count[Account.excused])


def protocol_error(name: str, message: str = "") -> ProtocolError | None:
    """The protocol's error that a class or a constant of any client names.

    A class that two errors share over the releases is told by its message, else it is that of new releases.
    """
    plain = simple_name(name).removeprefix("RD_KAFKA_RESP_ERR_").casefold()
    found = _protocol_errors().get(plain, ())
    if not found and (code := error_code(name)) > 0:
        found = tuple(error for error in error_codes() if error.code == code)
    said = [error for error in found if message and any(message.startswith(one.text) for one in error.messages)]
    return next(iter(said or found), None)


@cache
def _protocol_errors() -> dict[str, tuple[ProtocolError, ...]]:
    """Errors by their name and by the simple names of their classes, that of the newest release first."""
    found: dict[str, list[ProtocolError]] = {}
    for error in reversed(error_codes()):
        names = [error.name, *(simple_name(stated.text) for stated in error.exceptions)]
        for name in dict.fromkeys(name.casefold() for name in names):
            found.setdefault(name, []).append(error)
    return {name: tuple(errors) for name, errors in found.items()}


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


def _without_echoes(logs: LogModel, found: list[ToldFailure]) -> Iterator[ToldFailure]:
    """Leave out what a producer throws by itself since it failed before: that failure has these lines too."""
    owner: ToldFailure | None = None
    for told in found:
        if owner is not None and (owner.category == FATAL or _is_local(logs, told)) and not _is_init(logs, owner, told):
            owner = replace(owner, rows=(*owner.rows, *told.rows))
            continue
        if owner is not None:
            yield owner
        owner = told
    if owner is not None:
        yield owner


def _is_local(logs: LogModel, told: ToldFailure) -> bool:
    """Whether the client threw without asking anybody, since an earlier call had failed."""
    said = Saying.FATAL_ALREADY | Saying.WRONG_STATE
    return told.known is None and (any(logs.says(row, said) for row in told.rows) or _is_dropped(logs, told))


def _is_dropped(logs: LogModel, told: ToldFailure) -> bool:
    """Whether all that is told is that batches were dropped since their transaction was aborted."""
    return all(logs.kind(row) is EventKind.batches_failed for row in told.rows)


def _is_init(logs: LogModel, owner: ToldFailure, told: ToldFailure) -> bool:
    """Whether the client was given a producer id between two failures: the later one is of a new life."""
    client = told.client
    given = client.initialisations if client is not None else ()
    return any(owner.rows[-1] < one.row < told.rows[0] for one in given)


def _told(logs: LogModel, failure: Failure, client: ClientInstance | None, name: str | None) -> ToldFailure:
    implementation = client.implementation if client is not None else "unknown"
    release = client.release if client is not None else ()
    rows = failure.rows or (failure.row,)
    meanings = _meanings(implementation, release, failure)
    known = protocol_error(failure.exception, failure.message)
    if known is None and not meanings and (inner := _known_within(logs, rows)) is not None:
        failure = replace(failure, exception=inner.exception, message=inner.message)
        meanings = _meanings(implementation, release, failure)
        known = protocol_error(inner.exception, inner.message)
    return ToldFailure(
        client=client,
        transactional_id=name,
        producer_id=next((number for row in rows if (number := logs.number(row, "producer_id")) is not None), None),
        error=bare(failure.exception),
        known=known,
        meaning=meanings[0] if meanings else None,
        call=failure.call,
        category=failure.category if failure.category in MEANT else _reaction(known),
        message=failure.message,
        candidates=_candidates(meanings, known) or OF_CALLS.get(failure.call or "", ()),
        rows=rows,
        at=failure.at,
        is_brokers=all(int(logs.events["side"][row]) == Side.broker for row in rows),
    )


def _known_within(logs: LogModel, rows: Sequence[int]) -> Thrown | None:
    """The innermost exception of a trace that is an error of the protocol: what is pasted may be turned round."""
    traces = [trace for row in rows if (trace := logs.trace(row)) is not None]
    links = [link for trace in traces for link in reversed(trace.chain)]
    return next((link for link in links if protocol_error(link.exception) is not None), None)


def _reaction(known: ProtocolError | None) -> str:
    """What an error means to a producer of any release, where that is one thing."""
    return REACTIONS.get(known.reaction, "unknown") if known is not None else "unknown"


def _meanings(implementation: str, release: tuple[int, ...], failure: Failure) -> tuple[ClientException, ...]:
    """Rows of the catalogue; of a class that says nothing only those whose text is the message's."""
    found = meanings_of(implementation, release, failure.exception, failure.message)
    if bare(failure.exception) in GENERIC:
        return tuple(entry for entry in found if is_text_of(entry, failure.message))
    return found


def _candidates(meanings: Sequence[ClientException], known: ProtocolError | None) -> tuple[str, ...]:
    """Mechanisms that the catalogue names for an error, those of the client's own row first."""
    named = [rule for entry in meanings for rule in entry.rules]
    named += known.rules if known is not None and not named else ()
    return tuple(dict.fromkeys(rule for rule in named if rule not in EFFECTS))


def _of_brokers(logs: LogModel) -> Iterator[ToldFailure]:
    """Failures that lines of brokers tell of: one a kind, error and subject."""
    groups: dict[tuple[EventKind, str, str | int | None], list[int]] = {}
    for row in logs.of_kind(*OF_BROKERS, *BY_ERROR).tolist():
        kind, error = logs.kind(row), bare(logs.string(row, "error") or "")
        if kind in BY_ERROR and protocol_error(error) is None:
            continue
        subject = logs.string(row, "transactional_id") or logs.number(row, "producer_id") or logs.string(row, "topic")
        groups.setdefault((kind, error, subject), []).append(row)
    for (kind, error, _), rows in groups.items():
        yield _brokers(logs, kind, error, rows)


def _brokers(logs: LogModel, kind: EventKind, error: str, rows: list[int]) -> ToldFailure:
    first, known = rows[0], protocol_error(error)
    entry = OF_BROKERS.get(kind) or BrokerFailure(error, known.rules if known is not None else ())
    is_retried = known is not None and known.reaction.startswith("retr")
    by_error = known.rules if known is not None and not is_retried and kind not in OF_EPOCHS else ()
    return ToldFailure(
        client=None,
        transactional_id=logs.string(first, "transactional_id"),
        producer_id=logs.number(first, "producer_id"),
        error=error or entry.name,
        known=known,
        meaning=None,
        call=None,
        category="retriable" if is_retried else "unknown",
        message=logs.string(first, "detail") or entry.name,
        candidates=_ordered(entry.candidates, by_error),
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


def _cited(findings: Sequence[Finding]) -> dict[tuple[str | None, int | None], list[Finding]]:
    """Findings by the lines that they cite."""
    found: dict[tuple[str | None, int | None], list[Finding]] = {}
    for finding in findings:
        for place in finding.places():
            if place.line is not None:
                found.setdefault((place.source, place.line), []).append(finding)
    return found


def _accounted(
    logs: LogModel,
    told: ToldFailure,
    findings: Sequence[Finding],
    cited: dict[tuple[str | None, int | None], list[Finding]],
) -> Accounted:
    lines = [(logs.path(row), int(logs.events["line"][row])) for row in told.rows]
    about = [finding for line in lines for finding in cited.get(line, ()) if _is_cause(finding, told)]
    about += [finding for finding in findings if _is_cause(finding, told) and _fits(logs, finding, told)]
    best = max(about, key=lambda finding: finding.verdict, default=None)
    if best is not None:
        return Accounted(told, Account.explained if best.verdict > Verdict.possible else Account.guessed, best)
    return Accounted(told, Account.excused if _is_excused(logs, told) else Account.unexplained)


def _is_cause(finding: Finding, told: ToldFailure) -> bool:
    """Whether a finding is about a cause; one about an outcome is one of a call that got no answer."""
    if finding.rule == OUTCOME:
        return told.call in GIVEN_UP or OUTCOME in told.candidates
    return finding.rule not in EFFECTS


def _fits(logs: LogModel, finding: Finding, told: ToldFailure) -> bool:
    """Whether a finding that does not cite a failure is about it all the same: its mechanism, its subject, its time.

    An error that names no mechanism (the server's unexpected error) belongs to what is wrong with its id then; one of
    nobody to what else its text tells.
    """
    is_named = told.names_causes or finding.severity < Severity.warning
    mechanisms = {finding.rule, WIDER.get(finding.rule)}
    if (is_named and mechanisms.isdisjoint(told.candidates)) or not _touches(finding, told):
        return False
    names = {finding.transactional_id, *(subject.transactional_id for subject in finding.subjects)} - {None}
    producers = {finding.producer_id, *(subject.producer_id for subject in finding.subjects)} - {None}
    if told.transactional_id is not None and (names or finding.rule not in BROKER_RULES):
        return told.transactional_id in names
    if finding.rule in BROKER_RULES:
        return True
    if told.producer_id is not None:
        return told.producer_id in producers
    is_beside = any(place.source == logs.path(told.rows[0]) for place in finding.places())
    return is_beside or (is_named and _is_near(finding, told))


def _touches(finding: Finding, told: ToldFailure) -> bool:
    """Whether a failure lies in the time of a finding, or after it began: a client may learn of it late."""
    if told.at is None or finding.since is None:
        return True
    if finding.rule in BROKER_RULES and finding.until is not None and told.at > finding.until + CLIENT_TOLERANCE_MS:
        return False
    return finding.since - CLIENT_TOLERANCE_MS <= told.at


def _is_near(finding: Finding, told: ToldFailure) -> bool:
    """Whether a failure of nobody lies within the time of a finding, as clocks go."""
    if told.at is None or finding.since is None or finding.until is None:
        return False
    return told.at <= finding.until + CLIENT_TOLERANCE_MS


def _is_excused(logs: LogModel, told: ToldFailure) -> bool:
    """Whether a failure needs no cause: the client tries again, or transactions have nothing to do with it."""
    level = max(int(logs.events["level"][row]) for row in told.rows)
    if told.category == RETRIED and (Level.unknown < level <= Level.warn or _went_on(logs, told)):
        return True
    if _is_dropped(logs, told) and (told.known is None or _is_own_abort(logs, told)):
        return True
    client = told.client
    if client is not None and client.is_consumer and client.transactional_id is None:
        return told.call not in TRANSACTIONAL_CALLS
    return not told.is_brokers and _is_of_application(logs, told)


def _is_own_abort(logs: LogModel, told: ToldFailure) -> bool:
    """Whether the application had called abortTransaction, or close(), before."""
    kinds = (EventKind.abort_called, EventKind.abort_on_close, EventKind.client_closing)
    rows = told.client.rows if told.client is not None else ()
    return any(row <= told.rows[-1] and logs.kind(row) in kinds for row in rows)


def _is_of_application(logs: LogModel, told: ToldFailure) -> bool:
    """Whether what was thrown is a Java exception that no library of Kafka's throws, with words that none says."""
    if told.known is not None or told.meaning is not None or any(logs.said[row] for row in told.rows):
        return False
    errors = [logs.string(row, "error") or "" for row in told.rows]
    return all("." in error and "kafka" not in error.lower() for error in errors)


def _went_on(logs: LogModel, told: ToldFailure) -> bool:
    """Whether the client is seen at work after its failure."""
    kinds = (EventKind.begin_called, EventKind.commit_called, EventKind.producer_id_set)
    rows = told.client.rows if told.client is not None else ()
    return any(row > told.rows[-1] and logs.kind(row) in kinds for row in rows)
