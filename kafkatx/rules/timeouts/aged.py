"""A transaction that a framework took up again when it was older than its timeout, and nothing tells what became of it.

Flink warns of it when it restores a job (TwoPhaseCommitSinkFunction): the coordinator aborts what is older than
transaction.timeout.ms, so a commit that comes later commits nothing. It may as well have been committed before the job
failed: Flink commits once more whatever its checkpoint holds. Where a refusal of the client stands below, the rule's
other cases tell it with the same line.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.client_lines import times_of
from kafkatx.findings.rule import Case
from kafkatx.findings.told_failures import told_failures
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.told_ages import told_ages
from kafkatx.terms.error_codes import FENCED, ErrorCode, error_code
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import Words, left_open, remedy, step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.values import Count, Duration, Refs, facts

REFUSALS = {*FENCED, ErrorCode.INVALID_TXN_STATE, ErrorCode.INVALID_PRODUCER_ID_MAPPING}
"""What the commit of such a transaction is answered."""


@facts
class Aged:
    """Transactions of one id (None: not named) that were taken up again past their timeout; the oldest is told."""

    id: str | None
    age: Duration
    timeout: Duration
    count: Count
    lines: Refs


def timed_out_by_age(model: CaptureModel) -> Iterator[Case]:
    """One case for each id, in texts in which no commit was refused."""
    logs = model.logs
    failed = {int(logs.events["source"][told.rows[0]]) for told in told_failures(model) if _is_refusal(told.error)}
    groups: dict[tuple[int, str | None], list[int]] = {}
    ages = {told.row: told for told in told_ages(logs) if told.is_over}
    for row in ages:
        source, name = int(logs.events["source"][row]), logs.string(row, "transactional_id")
        if source not in failed and (name is None or model.latest_of(model.id_code(name)) is None):
            groups.setdefault((source, name), []).append(row)
    for (_, name), rows in groups.items():
        oldest = max((ages[row] for row in rows), key=lambda told: told.age_ms)
        since, until = times_of(logs, rows)
        yield Case(
            facts=Aged(
                name, Duration(oldest.age_ms), Duration(oldest.timeout_ms), Count(len(rows)), event_refs(model, rows)
            ),
            verdict=Verdict.possible,
            severity=Severity.warning,
            transactional_id=name,
            producer_id=logs.number(oldest.row, "producer_id"),
            since=since,
            until=until,
            count=len(rows),
        )


def _is_refusal(error: str) -> bool:
    return error_code(error) in REFUSALS


AGED_WORDS = Words(
    Aged,
    who="{id}",
    title="taken up again after {age}, its timeout is {timeout}",
    summary=(
        "A transaction[ of {id}] was {age} old when Flink took it up again, and its transaction.timeout.ms is "
        "{timeout}. If it had not been committed before, the coordinator has[ {perhaps}] aborted it: then its records "
        "are lost for read_committed readers, though Flink's checkpoint holds them as written."
    ),
    steps=(step("Flink says how old it was, {count:time}", cites="lines"),),
    considered=(
        left_open(
            "a commit before the job failed",
            "Flink commits once more what its checkpoint holds, and passes over the refusal",
            decided_by="the records of the id in __transaction_state, or the job's log below these lines",
        ),
    ),
    remedies=(
        remedy(
            "Look whether its records are there for a read_committed reader. If not, replay them from the source",
            "application",
        ),
        remedy(
            text="Set transaction.timeout.ms above the longest time that the job may be down, checkpoints included "
            "(up to transaction.max.timeout.ms of the brokers, 15 min by default)",
            where="client",
            config="transaction.timeout.ms",
            current="{timeout}",
        ),
    ),
)
