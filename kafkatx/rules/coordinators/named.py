"""Failures that name the coordinator themselves, or beside which lines do; and brokers without producer ids."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from kafkatx.findings.one_failure import (
    THE_CALL,
    FailureFacts,
    alike,
    alike_by,
    failure_case,
    failure_facts,
    is_of,
    known_as,
)
from kafkatx.findings.rule import Case
from kafkatx.findings.told_failures import ToldFailure
from kafkatx.findings.told_twice import is_placed
from kafkatx.findings.unfinished_decisions import is_kept_waiting
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.frameworks_named import owner_in_lines
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.rules.settings.one_broker import small
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.error_messages.sayings import Saying
from kafkatx.text.logs.calls import OF_GROUP
from kafkatx.words.explanation import Words, included, left_open, remedy, step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Refs, facts


class Reason(Enum):
    """How a failure names the coordinator."""

    named = "the error says that the coordinator was not available, moved, or was loading"
    searched = "its lines before show no coordinator that served"
    no_ids = "the controller gave it no producer ids"
    not_loaded = "the broker could not load its partition of __transaction_state"
    of_group = "the error is the answer to TxnOffsetCommit, which the coordinator of the consumer group gives"


BY_NAME = ("COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR")
NO_TRANSACTION = frozenset({"poll", "commitSync"})
"""Calls of consumers, which have a coordinator of their own."""
LOST = (EventKind.connection_failed, EventKind.node_disconnected, EventKind.request_timed_out)
SEARCH = (EventKind.request_enqueued, EventKind.coordinator_found, EventKind.producer_id_set, *LOST)
NAMING = (EventKind.request_enqueued, *LOST)
OFFSETS = "sendOffsetsToTransaction"
ASKED = frozenset({"initTransactions", OFFSETS})
"""Calls that wait for the coordinator, and leave nothing open where they end without its answer."""
LOOKUP = "FindCoordinator"
"""The request that a client asks its way to the coordinator with: a second one says that the first led nowhere."""


@facts
class NamedByError(FailureFacts):
    """Calls that failed with an error that names the coordinator; `search` are lines of the client's search for it."""

    why: Reason
    search: Refs

    @property
    def is_of_group(self) -> bool:
        """Whether the coordinator of the consumer group answered, which is another one than the transaction's."""
        return self.why is Reason.of_group

    @property
    def is_not_loaded(self) -> bool:
        """Whether a broker failed while it loaded."""
        return self.why is Reason.not_loaded


@facts
class WaitedInVain(FailureFacts):
    """A call that got no answer from the coordinator in its time, and no more; `framework` owns the producer."""

    framework: str | None

    @property
    def is_of_offsets(self) -> bool:
        """Whether offsets were sent: the coordinator of the group answers them, too."""
        return self.call == OFFSETS


def by_the_error(model: CaptureModel, told: set[int]) -> Iterator[tuple[Case, list[int]]]:
    """Failures that name the coordinator themselves, or beside which lines do; and brokers without producer ids."""
    for why, found in alike_by(model, lambda one: _reason(model, one)):
        if told.isdisjoint(found.rows):
            search = _search(model.logs, found.first) if why is Reason.searched else []
            facts = NamedByError(**failure_facts(model, found), why=why, search=event_refs(model, search, 3))
            yield failure_case(model, found, facts, Verdict.likely, Severity.error), found.rows


def _reason(model: CaptureModel, told: ToldFailure) -> Reason | None:
    logs = model.logs
    if is_of(logs, told, EventKind.id_allocation_failed):
        return Reason.no_ids
    if is_of(logs, told, EventKind.coordinator_load_failed):
        return Reason.not_loaded
    if told.is_brokers or told.call in NO_TRANSACTION:
        return None
    if known_as(told, *BY_NAME):
        is_groups = any(logs.string(row, "api") == OF_GROUP for row in told.rows)
        return Reason.of_group if is_groups else Reason.named
    has_waited = any(logs.says(row, Saying.TIMED_OUT) or "Timeout" in logs.words(row) for row in told.rows)
    return Reason.searched if has_waited and _search(logs, told) else None


def waited_in_vain(model: CaptureModel, known: set[int]) -> Iterator[Case]:
    """Calls that got no answer from the coordinator, of which nothing but that is told, not even when: possible.

    One whose id waits for markers is told with the transaction that it waited for.
    """
    logs = model.logs
    if len(logs.of_kind(EventKind.too_few_brokers, *LOST)):
        return
    for found in alike(model, lambda one: _has_waited(logs, one)):
        if known.isdisjoint(found.rows) and not all(is_kept_waiting(model, row) for row in found.rows):
            owner = owner_in_lines(logs, found.rows)
            waited = WaitedInVain(**failure_facts(model, found), framework=owner)
            yield failure_case(model, found, waited, Verdict.possible, Severity.warning)


def _has_waited(logs: LogModel, told: ToldFailure) -> bool:
    """Whether a call that only the coordinator answers ran out of its time, which no line of a time tells.

    A coordinator that answered CONCURRENT_TRANSACTIONS meanwhile was there.
    """
    source, first = logs.events["source"], told.rows[0]
    busy = logs.of_kind(EventKind.concurrent_transactions)
    if any(source[row] == source[first] and row < first for row in busy.tolist()):
        return False
    is_timed = any(logs.at(row) is not None for row in told.rows)
    waits = all(logs.kind(row) is EventKind.await_timeout for row in told.rows)
    return told.call in ASKED and waits and not is_timed and not told.is_brokers and not small(logs, told)


def _search(logs: LogModel, told: ToldFailure) -> list[int]:
    """Lines before a call gave up that show its client without a coordinator: named as such, or found and not reached.

    Those of another client, and of another source, do not count. People quote an error without its time above their
    log: then the lines of the page count, wherever they stand.
    """
    first, source = told.rows[0], int(logs.events["source"][told.rows[0]])
    owners = None if logs.owners[first] < 0 or not is_placed(told) else {-1, int(logs.owners[first])}
    rows = [
        row
        for row in logs.of_kind(*SEARCH).tolist()
        if (row < first and logs.events["source"][row] == source)
        or (told.at is None and logs.path(row) == logs.path(first))
    ]
    rows = [row for row in rows if owners is None or int(logs.owners[row]) in owners]
    answered = [row for row in rows if logs.kind(row) in NAMING and _names_it(logs, row)]
    found = [row for row in rows if logs.kind(row) is EventKind.coordinator_found]
    nodes = {logs.number(row, "node") for row in found} - {None}
    lost = [row for row in rows if logs.kind(row) in LOST and logs.number(row, "node") in nodes]
    given = [row for row in rows if logs.kind(row) is EventKind.producer_id_set]
    since = max(given[-1] if given else -1, -1)
    asked = [row for row in rows if row > since and logs.string(row, "api") == LOOKUP]
    named = [row for row in answered if row > since] or (asked if len(asked) > 1 else [])
    return named or (sorted([*found, *lost]) if len(lost) > 1 else [])


def _names_it(logs: LogModel, row: int) -> bool:
    """Whether a line names the coordinator: librdkafka calls its connection to it so, brokers their answer."""
    if logs.string(row, "error") in BY_NAME:
        return True
    return "oordinator" in f"{logs.string(row, 'detail') or ''}{logs.string(row, 'api') or ''}".replace(LOOKUP, "")


ERROR_WORDS = Words(
    NamedByError,
    who=pick("name.transactional_id", {None: pick("is_brokers", {True: "a broker"}, "[client {name.client_id}]")}),
    title=pick(
        "why",
        {
            Reason.no_ids: "brokers got no producer ids from the controller",
            Reason.not_loaded: "the coordinator could not load[ {place}]",
            Reason.of_group: "no group coordinator for the offsets[ of {name.transactional_id}]",
        },
        "no transaction coordinator[ for {name.transactional_id}]",
    ),
    summary=pick(
        "why",
        {
            Reason.no_ids: "The controller gave no producer ids. No new producer gets one until it answers; its "
            "initTransactions[ {perhaps}] waits or fails.",
            Reason.not_loaded: "The broker could not load[ {place}], so[ {perhaps}] the ids of that partition have no "
            "coordinator that serves: clients are answered COORDINATOR_LOAD_IN_PROGRESS for as long.",
            Reason.named: (
                *THE_CALL,
                " failed: its transaction coordinator was[ {perhaps}] not available, moving or loading.",
            ),
            Reason.of_group: (
                *THE_CALL,
                " failed: the coordinator of the consumer group, which takes the offsets of the transaction, was"
                "[ {perhaps}] not available, moving or loading.",
            ),
        },
        (
            *THE_CALL,
            " timed out: its transaction coordinator[ {perhaps}] could not be reached or did not serve.",
        ),
    ),
    actors=(included("client"),),
    steps=(
        step("The client found no coordinator that served", cites="search", needs="search"),
        step(
            pick(
                "why",
                {
                    Reason.no_ids: "The controller did not answer the broker, {count:time}",
                    Reason.not_loaded: "The broker failed while it loaded the partition",
                },
                "The call failed",
            ),
            "{why.value}",
            cites="lines",
        ),
    ),
    considered=(
        left_open(
            "what kept it from serving",
            "clients can't see whether it was loading, without a leader, or could not write",
            decided_by=pick(
                "is_of_group",
                {True: "the logs of the brokers at that time, and kafka-topics.sh --describe of __consumer_offsets"},
                "the logs of the brokers at that time, and kafka-topics.sh --describe of __transaction_state",
            ),
            unless="is_not_loaded",
        ),
        left_open(
            "whether another broker loaded it since",
            "the line tells of this broker only",
            decided_by="the logs of the other brokers, and kafka-topics.sh --describe of __transaction_state",
            needs="is_not_loaded",
        ),
    ),
    remedies=(
        remedy(
            "Look at the controller and the broker's connection to it",
            "operator",
            needs="is_brokers",
            unless="is_not_loaded",
        ),
        remedy(
            "Move the leadership of that partition of __transaction_state to another broker, or restart this one: the "
            "partition is loaded anew. Keep the log for an issue if it fails again",
            "operator",
            needs="is_not_loaded",
        ),
        remedy(
            "Check that every partition of __transaction_state has a leader and enough in-sync replicas. On a cluster "
            "of one broker transaction.state.log.replication.factor must be 1",
            "operator",
            unless="is_brokers is_of_group",
        ),
        remedy(
            "Check that every partition of __consumer_offsets has a leader and enough in-sync replicas",
            "operator",
            needs="is_of_group",
        ),
        remedy(
            (
                "Then call it again: after ",
                pick("called", {None: "initTransactions"}, "{called}"),
                " timed out the same producer may repeat it",
            ),
            "application",
            unless="is_of_group",
        ),
        remedy(
            "Abort the transaction, or close the producer where abortTransaction fails as well, and process the same "
            "input again",
            "application",
            needs="is_of_group",
        ),
    ),
)

WAITED_WORDS = Words(
    WaitedInVain,
    who=pick("name.transactional_id", {None: "transaction coordinator"}),
    title="no answer to {called}",
    summary=(
        *THE_CALL,
        " got no answer in its time: its transaction coordinator was[ {perhaps}] unavailable",
        pick("is_of_offsets", {True: "."}, ", or there is none."),
    ),
    actors=(included("client"),),
    steps=(step("The call waited in vain, {count:time}", "no answer within max.block.ms", cites="lines"),),
    considered=(
        left_open(
            "misconfiguration",
            "__transaction_state needs three brokers by default: a smaller cluster can't create it, and has no "
            "coordinator",
            decided_by="kafka-topics.sh --describe --topic __transaction_state",
            unless="is_of_offsets",
        ),
        left_open(
            "the coordinator of the consumer group",
            "the call waits for its answer as well",
            decided_by="the logs of the brokers at that time",
            needs="is_of_offsets",
        ),
        left_open(
            "broker_unreachable",
            "a client that can't reach the brokers waits in the same way",
            decided_by="the client's log before this line",
        ),
        left_open(
            "stuck_prepare",
            "a client whose transaction stands in Prepare* waits with the same error",
            decided_by="the latest record[ of {name.transactional_id}] in __transaction_state",
        ),
    ),
    remedies=(
        remedy(
            text=(
                "Check that __transaction_state exists, and that every partition of it has a leader and "
                "enough in-sync replicas",
                pick(
                    "is_of_offsets",
                    {True: ""},
                    ". On a cluster of one broker transaction.state.log.replication.factor must be 1",
                ),
            ),
            where="operator",
            command="kafka-topics.sh --bootstrap-server HOST:PORT --describe --topic __transaction_state",
        ),
        remedy(
            pick(
                "is_of_offsets",
                {True: "Abort the transaction, and repeat the work when they serve again"},
                "Then call {called} again: the same call can be made again by the same producer",
            ),
            "application",
            unless="framework",
        ),
        remedy(
            "Then restart what ended with it (thread, task or job): {framework} repeats the work by itself",
            "operator",
            needs="framework",
        ),
    ),
)
