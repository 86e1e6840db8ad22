"""A cluster of one broker that never answers initTransactions: __transaction_state asks for three replicas by default.

The broker that can't create the topic answers the search for a coordinator with COORDINATOR_NOT_AVAILABLE, which a
client repeats until its call times out. Its own line says why (`too_few_brokers`); where that is not at
hand people's words tell how small the cluster is. What worked before is no matter of that.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.client_lines import times_of
from kafkatx.findings.one_failure import OF_WHOM, FailureFacts, alike, failure_case, failure_facts, known_as
from kafkatx.findings.rule import Case
from kafkatx.findings.starting import was_starting
from kafkatx.findings.told_failures import ToldFailure
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.logs.testimony import ENOUGH, first_of_each, statements_of
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.events import Statement
from kafkatx.words.explanation import Words, included, left_open, remedy, step
from kafkatx.words.log_refs import event_refs, testimony_refs
from kafkatx.words.values import Count, Refs, facts

SMALL = {"one_broker": 2, "own_machine": 1, "new_cluster": 1}
"""Statements that a cluster is small or new, and their weights."""
OTHERWISE = frozenset({"more_brokers", "worked_before"})
INIT = "initTransactions"


@facts
class OneBroker(FailureFacts):
    """A search for a coordinator that ended in vain, and what people say of the cluster."""

    told: Refs


@facts
class TooFewBrokers:
    """Brokers that can't make __transaction_state: how many are alive, and how many it needs."""

    alive: Count | None
    needed: Count | None
    count: Count
    lines: Refs


def too_few_brokers(model: CaptureModel) -> Iterator[Case]:
    """__transaction_state asks for more replicas than there are brokers, and no coordinator is seen at work later."""
    logs = model.logs
    rows = logs.of_kind(EventKind.too_few_brokers).tolist()
    if rows and not was_starting(logs, rows):
        since, until = times_of(logs, rows)
        alive, needed = logs.number(rows[-1], "number"), logs.number(rows[-1], "offset")
        yield Case(
            facts=TooFewBrokers(
                Count(alive) if alive is not None else None,
                Count(needed) if needed is not None else None,
                Count(len(rows)),
                event_refs(model, rows, 3),
            ),
            verdict=Verdict.proved,
            severity=Severity.error,
            since=since,
            until=until,
            count=len(rows),
        )


def one_broker(model: CaptureModel) -> Iterator[Case]:
    """One case for each client that got no coordinator from a cluster that is said to have one broker."""
    logs = model.logs
    if len(logs.of_kind(EventKind.too_few_brokers)):
        return
    for found in alike(model, lambda told: _is_search(logs, told)):
        said = small(logs, found.first)
        if said:
            told = OneBroker(**failure_facts(model, found), told=testimony_refs(logs.path(found.first.rows[0]), said))
            yield failure_case(model, found, told, Verdict.likely, Severity.error)


def _is_search(logs: LogModel, told: ToldFailure) -> bool:
    """Whether a client got no coordinator: its first call timed out, or it was told that there is none."""
    if told.is_brokers:
        return False
    is_waiting = told.call == INIT and ("imeout" in told.error or "TIMED_OUT" in told.error)
    return is_waiting or (told.call in (INIT, None) and known_as(told, "COORDINATOR_NOT_AVAILABLE"))


def small(logs: LogModel, told: ToldFailure) -> tuple[Statement, ...]:
    """What says that the cluster is small; nothing where it does not weigh enough, or something speaks against it."""
    said = statements_of(logs, logs.path(told.rows[0]))
    found = first_of_each(said, SMALL)
    is_enough = sum(SMALL[one.name] for one in found) >= ENOUGH
    return tuple(found) if is_enough and all(one.name not in OTHERWISE for one in said) else ()


ONE_BROKER_WORDS = Words(
    OneBroker,
    who="the brokers",
    title="__transaction_state needs more brokers than there are",
    summary=(
        "The producer",
        OF_WHOM,
        " got no coordinator. The cluster is said to have one broker, and __transaction_state needs three by default: "
        "it[ {perhaps}] can't be created.",
    ),
    actors=(included("client"),),
    steps=(
        step("The producer got no coordinator, {count:time}", cites="lines"),
        step("What is said beside these lines speaks for a cluster that is too small", cites="told"),
    ),
    considered=(
        left_open(
            "coordinator_unavailable",
            "a coordinator that is loading, or can't write, keeps producers waiting as well",
            decided_by="kafka-topics.sh --describe --topic __transaction_state, and the broker's log",
        ),
    ),
    remedies=(
        remedy(
            text="Look whether __transaction_state exists. If not: set transaction.state.log.replication.factor and "
            "transaction.state.log.min.isr to 1 on a cluster of one broker, and restart it",
            where="broker",
            command="kafka-topics.sh --bootstrap-server HOST:PORT --describe --topic __transaction_state",
            config="transaction.state.log.replication.factor",
            proposed="1",
            cost="one replica: if its broker is lost, so are the states of transactions",
            restart_needed=True,
        ),
    ),
)
TOO_FEW_WORDS = Words(
    TooFewBrokers,
    who="the brokers",
    title="__transaction_state needs more brokers than there are",
    summary="The brokers can't create __transaction_state: it needs more replicas[ ({needed})] than brokers are alive"
    "[ ({alive})]. Until then no producer gets a coordinator.",
    steps=(
        step(
            "A broker could not create __transaction_state, {count:time}",
            "its line names both numbers",
            cites="lines",
        ),
    ),
    remedies=(
        remedy(
            text="Start the missing brokers. On a cluster that is meant to be this small lower "
            "transaction.state.log.replication.factor and transaction.state.log.min.isr to 1",
            where="broker",
            config="transaction.state.log.replication.factor",
            cost="one replica: if its broker is lost, so are the states of transactions",
            restart_needed=True,
        ),
    ),
)
