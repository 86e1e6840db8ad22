"""Calls that were given up after CONCURRENT_TRANSACTIONS, as one text tells it: without an id, or too few for a minute.

A client tries again by itself; that it gave up says that the markers of the transaction before took longer than all of
its attempts. Two shapes: the error itself comes out of the call after some retries that met it, or initTransactions
timed out, and what it had been answered last was this error.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

from kafkatx.findings.one_failure import (
    OF_WHOM,
    Alike,
    FailureFacts,
    alike,
    failure_case,
    failure_facts,
    known_as,
    says,
)
from kafkatx.findings.rule import Case
from kafkatx.findings.told_failures import ToldFailure
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.once import once
from kafkatx.terms.error_codes import ErrorCode, error_code
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import Words, included, left_open, remedy, step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.template import pick
from kafkatx.words.values import Count, Refs, facts

NAMED = "CONCURRENT_TRANSACTIONS"
FEWEST = 3
"""Refusals, the last one among them, from which on a client had tried again and given up."""
REFUSED = (
    EventKind.concurrent_transactions, EventKind.produce_retry, EventKind.request_enqueued, EventKind.failure,
)  # fmt: skip
INIT = ("initialize Producer ID", "InitProducerId")


@facts
class GivenUp(FailureFacts):
    """A call that was given up after `refusals` of this kind; `by_timeout`: the error of the call was a timeout."""

    by_timeout: bool
    refusals: Count
    refused: Refs


def given_up(model: CaptureModel, storms: Container[str]) -> Iterator[Case]:
    """One case for each client that gave up; ids in `storms` are told by their lines."""
    for found in alike(model, lambda told: _is_given_up(model, told)):
        name = found.first.transactional_id
        if name is None or name not in storms:
            told = _facts(model, found)
            yield failure_case(model, found, told, Verdict.likely, Severity.warning)


def _facts(model: CaptureModel, found: Alike) -> GivenUp:
    rows = _refusals(model, found.first)
    return GivenUp(
        **failure_facts(model, found),
        by_timeout=not known_as(found.first, NAMED),
        refusals=Count(len(rows)),
        refused=event_refs(model, [row for row in rows if row not in found.rows], 3),
    )


def _is_given_up(model: CaptureModel, told: ToldFailure) -> bool:
    if told.is_brokers:
        return False
    if known_as(told, NAMED):
        return len(_refusals(model, told)) >= FEWEST
    is_init = told.call == "initTransactions" or says(model.logs, told, *INIT)
    if not is_init or "coordinator_unavailable" not in told.candidates:
        return False
    return any(row < told.rows[-1] for row in _refusals(model, told))


def _refusals(model: CaptureModel, told: ToldFailure) -> list[int]:
    """Lines of the same client, or of nobody in the same text, that name the error."""
    logs = model.logs
    source, mine = logs.events["source"][told.rows[0]], told.transactional_id
    return [
        row
        for row in _naming(model)
        if logs.events["source"][row] == source and logs.string(row, "transactional_id") in (None, mine)
    ]


@once
def _naming(model: CaptureModel) -> list[int]:
    """Lines of clients that name the error."""
    logs = model.logs
    rows = logs.of_kind(*REFUSED).tolist()
    return [row for row in rows if error_code(logs.string(row, "error") or "") is ErrorCode.CONCURRENT_TRANSACTIONS]


GIVEN_UP_WORDS = Words(
    GivenUp,
    who=pick("name.transactional_id", {None: "[client {name.client_id}]"}),
    title="given up after CONCURRENT_TRANSACTIONS",
    summary=(
        pick(
            "by_timeout",
            {True: "initTransactions" + OF_WHOM + " timed out. Before, it was answered CONCURRENT_TRANSACTIONS."},
            "A call" + OF_WHOM + " was answered CONCURRENT_TRANSACTIONS until the client gave up.",
        ),
        " The transaction before[ {perhaps}] still waited for its markers.",
    ),
    actors=(included("client"),),
    steps=(
        step(
            "The coordinator answered CONCURRENT_TRANSACTIONS, and the client tried again",
            cites="refused",
            needs="refused",
        ),
        step("Then the call failed", "the error names CONCURRENT_TRANSACTIONS", cites="lines", unless="by_timeout"),
        step("Then the call timed out", cites="lines", needs="by_timeout"),
    ),
    considered=(
        left_open(
            "stuck_prepare",
            "a marker that can't be written at all is answered the same",
            decided_by="the state of the id now (kafka-transactions.sh describe)",
        ),
    ),
    remedies=(
        remedy(
            text="Look up the state of the id. If it stays in PrepareCommit or PrepareAbort, bring back the partitions "
            "that it lists",
            where="operator",
            command="kafka-transactions.sh --bootstrap-server HOST:PORT describe --transactional-id "
            "{name.transactional_id}",
            needs="name.transactional_id",
        ),
        remedy(
            "Find the broker that writes markers slowly: a full disk, high load, a lost replica. Put fewer partitions "
            "into a transaction",
            "operator",
        ),
        remedy(
            pick(
                "nothing_open",
                {True: "Call again with more retries and a longer backoff"},
                "Abort the transaction, or call again with more retries and a longer backoff",
            ),
            "application",
        ),
    ),
)
