"""Commits that come after the coordinator has aborted the transaction, as brokers of transactions v2 log them.

Under the classic protocol such a commit is refused by its epoch. Under transactions v2 it fits as a retry would, fails
by the state, and brokers from 4.0 on log it at WARN or ERROR (KAFKA-20785; captured with 4.1). A client repeating its
own end sends the same result, so a COMMIT into an abort says that the client knew nothing of it: the coordinator
aborted by itself. A new instance takes the next epoch moments after such an abort; what stays aborted was a timeout.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.elapsed import OTHER, seen_alike
from kafkatx.findings.one_failure import Alike, FailureFacts, alike, failure_case, failure_facts
from kafkatx.findings.rule import Case
from kafkatx.findings.told_failures import ToldFailure
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.transaction_ends import ToldBy
from kafkatx.rules.timeouts.shared_words import OTHER_INSTANCE
from kafkatx.terms.events import EventKind, Level
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import Words, included, remedy, step
from kafkatx.words.values import facts

ABORTED, COMMIT = ("COMPLETE_ABORT", "CompleteAbort"), "COMMIT"
"""Of brokers from 4.1 on, and of 4.0."""


@facts
class LateCommit(FailureFacts):
    """Commits of an id that the coordinator refused, since it had aborted the transaction."""


def timed_out_by_late_commits(model: CaptureModel) -> Iterator[Case]:
    """One case for each id of which no row or line tells the end itself."""
    ends = model.ends
    known = {ends.log(number).name for number in ends.numbers(ToldBy.logs)}
    for found in alike(model, lambda told: _is_late(model, told)):
        name = found.first.transactional_id
        if name is not None and name not in known and model.latest_of(model.id_code(name)) is None:
            yield _case(model, found)


def _case(model: CaptureModel, found: Alike) -> Case:
    return failure_case(model, found, LateCommit(**failure_facts(model, found)), Verdict.likely, Severity.warning)


def _is_late(model: CaptureModel, told: ToldFailure) -> bool:
    logs = model.logs
    return any(
        logs.kind(row) == EventKind.bad_transition
        and int(logs.events["level"][row]) >= Level.warn
        and logs.string(row, "detail") in ABORTED
        and logs.string(row, "api") == COMMIT
        for row in told.rows
    )


LATE_WORDS = Words(
    LateCommit,
    who="{name.transactional_id}",
    title="timed out before its commit",
    summary="The commit of {name.transactional_id} came when its transaction had been aborted. The coordinator[ "
    "{perhaps}] aborted it by itself: transaction.timeout.ms had passed.",
    actors=(included("client"),),
    steps=(
        step(
            "The coordinator refused the commit, {count:time}",
            "the transaction was COMPLETE_ABORT already; a client that aborts sends no COMMIT behind that",
            cites="lines",
        ),
    ),
    considered=(seen_alike(OTHER_INSTANCE), OTHER),
    remedies=(
        remedy(
            text="Raise transaction.timeout.ms above the longest transaction, or commit more often",
            where="client",
            config="transaction.timeout.ms",
        ),
        remedy(
            "Treat InvalidTxnStateException of a commit like a fencing: close this producer, create a new one and "
            "repeat the work; nothing of this transaction was committed",
            "application",
        ),
    ),
)
