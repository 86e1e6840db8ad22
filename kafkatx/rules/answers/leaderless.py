"""Partitions of `__transaction_state` that take no writes, as kafka-topics --describe prints them.

They have no leader, or fewer replicas in sync than min.insync.replicas: either way their coordinator can't write.
"""

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


@facts
class TooFewFacts(LeaderlessFacts):
    """Those that have a leader, and too few replicas in sync."""


def leaderless_told(model: CaptureModel) -> Iterator[Case]:
    """One case for all without a leader, and one for all with too few replicas."""
    kinds = ((EventKind.leader_missing, LeaderlessFacts), (EventKind.replicas_missing, TooFewFacts))
    for kind, told in kinds:
        rows = [row for row in model.logs.of_kind(kind).tolist() if _is_of_states(model, row)]
        if rows:
            numbers = sorted({model.logs.number(row, "partition") or 0 for row in rows})
            names = NameList(f"{TRANSACTION_STATE}-{number}" for number in numbers)
            yield Case(
                facts=told(names, event_refs(model, rows)),
                verdict=Verdict.proved,
                severity=Severity.error,
                topic=TRANSACTION_STATE,
                partition=numbers[0] if len(numbers) == 1 else None,
            )


def _is_of_states(model: CaptureModel, row: int) -> bool:
    return model.logs.string(row, "topic") == TRANSACTION_STATE


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
TOO_FEW_WORDS = Words(
    TooFewFacts,
    who="{partitions:3}",
    title="too few replicas in sync, so nothing is written",
    summary="{partitions:3} had fewer replicas in sync than min.insync.replicas when the tool asked: the coordinator "
    "of their transactional.ids could write nothing, and initTransactions, commits and aborts wait or time out.",
    steps=(step("{partitions:3} had too few replicas in sync", cites="told"),),
    considered=(
        left_open(
            "broker_unreachable",
            "a broker that is down takes its replicas out of sync",
            decided_by="the server.log of the brokers that hold the replicas",
        ),
    ),
    remedies=(
        remedy(
            "Bring back the brokers whose replicas of {partitions:3} are out of sync; do not lower min.insync.replicas",
            "operator",
        ),
    ),
)
