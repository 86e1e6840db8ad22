"""What becomes of each failure that was told: explained by a finding, guessed at, excused, or left without a cause.

Explained  a finding about its cause, at likely or proved, cites it, or is about the same id (or broker) at that time
           and names a mechanism that shows itself by this error. Findings about effects explain nothing, but a call
           that got no answer is what commit_outcome_unknown is about.
Guessed    the same, but the finding is only possible: it carries the candidates.
Excused    retried by the client itself, dropped by the application's own abort, or foreign to transactions: exceptions
           of the application, failures of consumers. Never an exception that only wraps another one, whose lines
           are cut off: which error it was nobody knows.
Left       told by the rule unexplained_failure; so is a guess about what stands beside a fatal error that names no such
           mechanism: it accounts for nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import Enum, auto

import numpy as np

from kafkatx.findings.askers import Asker, asker_of
from kafkatx.findings.diagnosis import FailureCounts
from kafkatx.findings.finding import Finding
from kafkatx.findings.starting import was_starting
from kafkatx.findings.told_failures import EFFECTS, FATAL, OUTCOME, RETRIED, ToldFailure, is_dropped, told_failures
from kafkatx.findings.told_twice import is_placed
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.client_starts import was_connecting
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.catalogue.entries import simple_name
from kafkatx.terms.clocks import CLIENT_TOLERANCE_MS
from kafkatx.terms.events import EventKind, Level
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.logs.calls import CONSUMERS, FENCING, TRANSACTIONAL
from kafkatx.text.logs.matching import tells_of_call

GIVEN_UP = frozenset({"commitTransaction", "abortTransaction"})
TRANSACTIONAL_CALLS = frozenset(
    {*GIVEN_UP, "initTransactions", "beginTransaction", "sendOffsetsToTransaction", "send", "flush", FENCING}
)
CONSUMER_CALLS = frozenset({CONSUMERS, "commitAsync"})
"""Calls of a consumer that no transaction waits for: what was not committed is read again."""
OF_RECORDS = frozenset({
    "SerializationException", "RecordDeserializationException", "DataException", "RestClientException",
    "ValueSerializationError", "KeySerializationError", "ValueDeserializationError", "KeyDeserializationError",
    "_VALUE_SERIALIZATION", "_KEY_SERIALIZATION", "_VALUE_DESERIALIZATION", "_KEY_DESERIALIZATION",
})  # fmt: skip
"""Errors of serializers and converters: the application's own, thrown before a record is sent, or behind its read."""
OF_GROUPS = frozenset({
    "ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID", "REBALANCE_IN_PROGRESS", "FENCED_INSTANCE_ID",
    "COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR", "_WAIT_COORD",
})  # fmt: skip
"""Errors of a group's coordinator: its consumer joins again."""
OF_ANYONE = frozenset({
    "CLUSTER_AUTHORIZATION_FAILED", "TOPIC_AUTHORIZATION_FAILED", "GROUP_AUTHORIZATION_FAILED", "MESSAGE_TOO_LARGE",
    "_FATAL", "UNSUPPORTED_VERSION", "_STATE",
})  # fmt: skip
"""Errors that tools, health checks and readers meet as well: of those only what they ask about transactions counts."""
OUT_OF_ORDER = "OUT_OF_ORDER_SEQUENCE_NUMBER"
"""What Kafka 4 says of a producer that it refuses, at INFO."""
PRESSED = frozenset({"_QUEUE_FULL", "BufferExhaustedException"})
"""Errors of a client's own full queue: the record was not taken, and is handed in again once others are sent."""
PURGED = frozenset({"_PURGE_QUEUE", "_PURGE_INFLIGHT"})
"""What librdkafka reports of records that it threw away."""
_UNCAUGHT = regex(r"\bpanic: |\bUncaught |\bfrom \S{1,200}:\d{1,6}:in |\(Rdkafka::RdkafkaError\)\s*$")
"""How Go, PHP and Ruby print what nobody caught, with no class of a binding before its words."""
OF_TRANSACTIONS = frozenset({
    EventKind.begin_called, EventKind.commit_called, EventKind.abort_called, EventKind.abort_on_close,
    EventKind.to_abortable, EventKind.producer_id_set, EventKind.client_state,
})  # fmt: skip
"""Kinds of lines of a client that has transactions."""
_AGAIN = regex(r"\b(?:will (?:be )?retr(?:y|ied)|retrying|(?:trying|try) (?:\w+ ){0,3}again)\b", re.IGNORECASE)
"""How an application says that it repeats what had failed."""
REBALANCING = "REBALANCE_IN_PROGRESS"
"""Of which a group's coordinator tells its members: who only warns of it joins again."""
_CONSUMER = regex(r"\.consumer\b|#consumer-")
"""In the names of loggers of Java, kafka-python and aiokafka, and of librdkafka's clients."""
DEADLY = ("StackOverflow", "AccessViolation", "OutOfMemory")
"""Errors of the runtime that end the process: out of a transactional call they are its failure."""
OF_SCHEMAS = (
    "io.confluent.kafka.schemaregistry.", "io.confluent.kafka.serializers.", "io.apicurio.",
    "org.apache.kafka.connect.errors.Schema",
)  # fmt: skip
"""What begins the names of exceptions about a schema: thrown before anything is sent."""
WITHOUT_MEANING = frozenset({"Exception", "RuntimeException", "IllegalStateException", "IOException", "Throwable"})
"""Classes of Java's that say nothing without words."""
RETURNED = (EventKind.failure, EventKind.await_timeout)
"""Kinds of lines that show a call which came back with an error."""
BROKER_RULES = frozenset({"broker_unreachable", "coordinator_unavailable", "log_directory_failed"})
"""Rules that are about brokers: whoever called them at that time met it."""
DEFECTS = frozenset({"client_bug", "broker_bug"})
"""Rules about known defects: a request that one repeats without end is what a call waited for that timed out."""
WIDER = {"shared_producer": "fenced_by_new_instance"}
"""Rules whose findings are made of those of another one."""


class Account(Enum):
    """What becomes of a failure."""

    explained = auto()
    guessed = auto()
    excused = auto()
    unexplained = auto()


@dataclass(frozen=True, slots=True)
class Accounted:
    """A failure and what becomes of it; `by` is the finding that explains or guesses it."""

    told: ToldFailure
    account: Account
    by: Finding | None = None


def accounts(model: CaptureModel, findings: Sequence[Finding]) -> list[Accounted]:
    """Account for every failure, in the order of their lines."""
    cited, only_id = _cited(findings), _only_id(model)
    found = [_accounted(model.logs, told, findings, cited, only_id) for told in told_failures(model)]
    known = {_error_in_text(model.logs, one.told): one for one in reversed(found) if one.account is Account.explained}
    return [_told_again(model.logs, one, known) for one in found]


def _told_again(logs: LogModel, one: Accounted, known: Mapping[tuple[str, str], Accounted]) -> Accounted:
    """Lay an error that names nobody and no time to the explained failure of its text that met the same one.

    People quote above the lines of a log what stands in them. What timed out may have been another call.
    """
    told, again = one.told, known.get(_error_in_text(logs, one.told))
    if again is None or one.account is not Account.unexplained or is_placed(told) or told.is_timeout:
        return one
    is_another_call = None not in (told.call, again.told.call) and told.call != again.told.call
    return one if is_another_call else Accounted(told, Account.explained, again.by)


def _error_in_text(logs: LogModel, told: ToldFailure) -> tuple[str, str]:
    return logs.path(told.rows[0]), told.known.name if told.known is not None else told.error


def counted(found: Sequence[Accounted]) -> FailureCounts:
    """Count failures by what becomes of them."""
    count = Counter(one.account for one in found)
    left = count[Account.unexplained] + count[Account.guessed]
    return FailureCounts(len(found), count[Account.explained], left, count[Account.excused])


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
    only_id: str | None,
) -> Accounted:
    lines = [(logs.path(row), int(logs.events["line"][row])) for row in told.rows]
    citing = [finding for line in lines for finding in cited.get(line, ())]
    about = [finding for finding in citing if finding.rule == OUTCOME or _is_cause(finding, told)]
    about += [finding for finding in findings if _is_cause(finding, told) and _fits(logs, finding, told, only_id)]
    waits = [(logs.path(row), int(logs.events["line"][row])) for row in _waited_for(logs, told)]
    about += [finding for line in waits for finding in cited.get(line, ()) if finding.rule in DEFECTS]
    best = max(about, key=lambda finding: finding.verdict, default=None)
    if best is not None and not _sinks(told, best):
        return Accounted(told, Account.explained if best.verdict > Verdict.possible else Account.guessed, best)
    return Accounted(told, Account.excused if is_excused(logs, told) else Account.unexplained)


def _sinks(told: ToldFailure, best: Finding) -> bool:
    """Whether a guess would hide an error: one that names no such mechanism a fatal one, one for information any.

    What is told for information says that nothing is wrong.
    """
    if best.verdict is not Verdict.possible or told.is_harmless:
        return False
    if best.severity is Severity.info:
        return True
    return best.rule not in told.candidates and told.category == FATAL and best.severity < Severity.error


def _waited_for(logs: LogModel, told: ToldFailure) -> list[int]:
    """Requests that the client repeated, unanswered to the end, before a call of it came back without an answer."""
    if not told.is_timeout or told.is_brokers:
        return []
    owners = {int(logs.owners[row]) for row in told.rows}
    source = int(logs.events["source"][told.rows[0]])
    mine = [row for row in logs.of_kind(EventKind.producer_id_set).tolist() if int(logs.owners[row]) in owners]
    given = [row for row in mine if row < told.rows[0]]
    return [
        row
        for row in logs.of_kind(EventKind.request_enqueued).tolist()
        if max(given, default=-1) < row < told.rows[0]
        and int(logs.events["source"][row]) == source
        and logs.string(row, "error")
        and int(logs.owners[row]) in owners
    ]


def _is_cause(finding: Finding, told: ToldFailure) -> bool:
    """Whether a finding is about a cause; one about an outcome is one of a call that got no answer."""
    if finding.rule == OUTCOME:
        return told.call in GIVEN_UP or OUTCOME in told.candidates
    return finding.rule not in EFFECTS


def _only_id(model: CaptureModel) -> str | None:
    """The transactional.id of all evidence, where it names one only."""
    names = {*model.labels.transactional_ids, *(client.transactional_id for client in model.logs.clients)} - {None}
    return names.pop() if len(names) == 1 else None


def _fits(logs: LogModel, finding: Finding, told: ToldFailure, only_id: str | None) -> bool:
    """Whether a finding that does not cite a failure is about it all the same: its mechanism, its subject, its time.

    An error that names no mechanism (the server's unexpected error) belongs to what is wrong with its id then; one of
    nobody to what else its text tells; one without a time to what is wrong with the only id that there is.
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
    is_of_only_id = told.at is None and only_id is not None and finding.transactional_id == only_id
    return is_beside or (is_named and (is_of_only_id or _is_near(finding, told)))


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


def is_excused(logs: LogModel, told: ToldFailure) -> bool:
    """Whether a failure needs no cause: the client tries again, or transactions have nothing to do with it."""
    name = told.known.name if told.known is not None else told.error
    is_refused = told.is_brokers and name == OUT_OF_ORDER
    if told.category == RETRIED and (_went_on(logs, told) or (_is_only_warned(logs, told) and not is_refused)):
        return True
    if name in OF_ANYONE and _is_of_another(logs, told):
        return True
    if told.error in PRESSED or (_may_be_repeated(told) and _is_repeated(logs, told)):
        return told.call not in TRANSACTIONAL
    if is_dropped(logs, told) and (told.known is None or _is_own_abort(logs, told)):
        return not (_is_lost(logs, told) or _ended_a_program(logs, told))
    client = told.client
    if was_starting(logs, told.rows) or (client is not None and was_connecting(logs, client, told.rows)):
        return True
    if told.call in CONSUMER_CALLS and told.transactional_id is None:
        return True
    if name in OF_GROUPS and _is_consumers(logs, told):
        return True
    if name == REBALANCING and _is_only_warned(logs, told):
        return told.call not in TRANSACTIONAL
    if client is not None and client.is_consumer and client.transactional_id is None:
        return told.call not in TRANSACTIONAL_CALLS
    return not told.is_brokers and _is_of_application(logs, told)


def _is_of_another(logs: LogModel, told: ToldFailure) -> bool:
    """Whether tools, clients for administration or readers met it, with a call that is about no transaction."""
    if any("ransaction" in logs.words(row) for row in told.rows):
        return False
    return all(asker_of(logs, told.client, row) is Asker.another for row in told.rows)


def _may_be_repeated(told: ToldFailure) -> bool:
    return told.category == RETRIED or (told.known is not None and told.known.name in OF_GROUPS)


def _is_repeated(logs: LogModel, told: ToldFailure) -> bool:
    """Whether every line says that what failed is done again."""
    return all(_AGAIN.search(logs.words(row)) is not None for row in told.rows)


def _is_only_warned(logs: LogModel, told: ToldFailure) -> bool:
    """Whether lines of level WARN or below are all, and none says which call of the application came back with it."""
    level = max(int(logs.events["level"][row]) for row in told.rows)
    has_returned = told.call in TRANSACTIONAL_CALLS and any(logs.kind(row) in RETURNED for row in told.rows)
    is_given_up = any(_gives_up(logs, row) for row in told.rows)
    return Level.unknown < level <= Level.warn and not (has_returned or is_given_up)


def _gives_up(logs: LogModel, row: int) -> bool:
    """Whether a client says that it gave a batch up, and its producer id with it: franz-go does so at INFO."""
    return logs.kind(row) is EventKind.produce_failed and logs.number(row, "producer_id") is not None


def _is_consumers(logs: LogModel, told: ToldFailure) -> bool:
    """Whether a consumer's own logger told of it, and of no call of a transaction."""
    if told.call in TRANSACTIONAL or told.transactional_id is not None:
        return False
    writers = (f"{logs.string(row, 'logger') or ''} {logs.string(row, 'client_id') or ''}" for row in told.rows)
    return all(_CONSUMER.search(writer) for writer in writers)


def _is_own_abort(logs: LogModel, told: ToldFailure) -> bool:
    """Whether the application had called abortTransaction, or close(), before."""
    kinds = (EventKind.abort_called, EventKind.abort_on_close, EventKind.client_closing)
    rows = told.client.rows if told.client is not None else ()
    return any(row <= told.rows[-1] and logs.kind(row) in kinds for row in rows)


def _is_lost(logs: LogModel, told: ToldFailure) -> bool:
    """Whether an application logged as an error that records were purged, and nothing tells of transactions.

    Without an abort that is what purge(), close() or a fatal error does to what was not delivered.
    """
    sources = {int(logs.events["source"][row]) for row in told.rows}
    is_error = all(int(logs.events["level"][row]) >= Level.error for row in told.rows)
    if told.error not in PURGED or not is_error or told.transactional_id is not None:
        return False
    rows = np.flatnonzero(np.isin(logs.events["source"], list(sources))).tolist()
    return not any(logs.kind(row) in OF_TRANSACTIONS or "ransact" in logs.words(row) for row in rows)


def _ended_a_program(logs: LogModel, told: ToldFailure) -> bool:
    """Whether records that were purged are all that an exception tells of which nobody caught, or logged.

    An application throws it itself, from its delivery report; of an abort that it called before it dies of its own.
    """
    if told.error not in PURGED or _is_own_abort(logs, told):
        return False
    bare = [row for row in told.rows if logs.events["level"][row] < 0]
    traces = [logs.trace(row) for row in bare]
    is_thrown = any(trace is not None and simple_name(trace.chain[0].exception) not in PURGED for trace in traces)
    return is_thrown or any(_UNCAUGHT.search(logs.words(row)) is not None for row in bare)


def _is_of_application(logs: LogModel, told: ToldFailure) -> bool:
    """Whether what was thrown is a Java exception of no client of Kafka, with words that none says.

    After an application's own exception a client does not call itself dead.
    """
    is_clients = told.known is not None or told.meaning is not None or told.category == FATAL
    if is_clients or any(logs.said[row] for row in told.rows):
        return False
    if any(wraps_the_unsaid(logs, row) for row in told.rows):
        return False
    errors = [logs.string(row, "error") or "" for row in told.rows]
    if told.call in TRANSACTIONAL_CALLS and any(one in error for one in DEADLY for error in errors):
        return False
    return all(
        error.startswith(OF_SCHEMAS)
        or simple_name(error) in OF_RECORDS
        or ("." in error and "kafka" not in error.lower())
        for error in errors
    )


def wraps_the_unsaid(logs: LogModel, row: int) -> bool:
    """Whether a line has no more than what a framework says of a call that failed: its cause is not at hand."""
    trace = logs.trace(row)
    if trace is None or not tells_of_call(trace.chain[0].message):
        return False
    return len(trace.chain) == 1 or (trace.root.name in WITHOUT_MEANING and not trace.root.message)


def _went_on(logs: LogModel, told: ToldFailure) -> bool:
    """Whether the client is seen at work after its failure."""
    kinds = (EventKind.begin_called, EventKind.commit_called, EventKind.producer_id_set)
    rows = told.client.rows if told.client is not None else ()
    return any(row > told.rows[-1] and logs.kind(row) in kinds for row in rows)
