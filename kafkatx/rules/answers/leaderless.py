"""Partitions of `__transaction_state` without a leader, as kafka-topics --describe prints them."""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.terms.events import EventKind
from kafkatx.terms.topics import TRANSACTION_STATE
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import Words, left_open, remedy, step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.values import NameList, Refs, facts


@facts
class LeaderlessFacts:
    """The partitions, by number."""

    partitions: NameList
    told: Refs


def leaderless_told(model: CaptureModel) -> Iterator[Case]:
    """One case for all of them."""
    logs = model.logs
    rows = [
        row for row in logs.of_kind(EventKind.leader_missing).tolist() if logs.string(row, "topic") == TRANSACTION_STATE
    ]
    if rows:
        numbers = sorted({logs.number(row, "partition") or 0 for row in rows})
        yield Case(
            facts=LeaderlessFacts(
                NameList(f"{TRANSACTION_STATE}-{number}" for number in numbers), event_refs(model, rows)
            ),
            verdict=Verdict.proved,
            severity=Severity.error,
            topic=TRANSACTION_STATE,
            partition=numbers[0] if len(numbers) == 1 else None,
        )


LEADERLESS_WORDS = Words(
    LeaderlessFacts,
    who="{partitions:3}",
    title="no leader, so no coordinator",
    summary="{partitions:3} had no leader when the tool asked: transactional.ids of these partitions had no "
    "coordinator, and their initTransactions, commits and aborts wait or time out.",
    steps=(step("No broker leads {partitions:3}", cites="told"),),
    considered=(
        left_open(
            "broker_unreachable",
            "a broker that is down leaves partitions with one replica without a leader",
            decided_by="the server.log of the brokers that hold the replicas",
        ),
    ),
    remedies=(
        remedy("Bring back a broker that holds a replica of {partitions:3}", "operator"),
        remedy(
            "Keep three replicas of __transaction_state on different brokers",
            "broker",
            "transaction.state.log.replication.factor",
            proposed="3",
        ),
    ),
)
