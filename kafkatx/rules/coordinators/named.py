"""Failures that name the coordinator themselves, or beside which lines do; and brokers without producer ids."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from kafkatx.findings.one_failure import THE_CALL, FailureFacts, alike_by, failure_case, failure_facts, is_of, known_as
from kafkatx.findings.rule import Case
from kafkatx.findings.told_failures import ToldFailure
from kafkatx.findings.told_twice import is_placed
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.sayings import Saying
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


BY_NAME = ("COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR")
NO_TRANSACTION = frozenset({"poll", "commitSync"})
"""Calls of consumers, which have a coordinator of their own."""
LOST = (EventKind.connection_failed, EventKind.node_disconnected, EventKind.request_timed_out)
SEARCH = (EventKind.request_enqueued, EventKind.coordinator_found, EventKind.producer_id_set, *LOST)
NAMING = (EventKind.request_enqueued, *LOST)
LOOKUP = "FindCoordinator"
"""The request that a client asks its way to the coordinator with: a second one says that the first led nowhere."""


@facts
class NamedByError(FailureFacts):
    """Calls that failed with an error that names the coordinator; `search` are lines of the client's search for it."""

    why: Reason
    search: Refs

    @property
    def is_not_loaded(self) -> bool:
        """Whether a broker failed while it loaded."""
        return self.why is Reason.not_loaded


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
        return Reason.named
    has_waited = any(logs.says(row, Saying.TIMED_OUT) or "Timeout" in logs.words(row) for row in told.rows)
    return Reason.searched if has_waited and _search(logs, told) else None


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
            decided_by="the logs of the brokers at that time, and kafka-topics.sh --describe of __transaction_state",
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
            unless="is_brokers",
        ),
        remedy(
            (
                "Then call it again: after ",
                pick("called", {None: "initTransactions"}, "{called}"),
                " timed out the same producer may repeat it",
            ),
            "application",
        ),
    ),
)
