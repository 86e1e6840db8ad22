"""A client that raised its epoch by itself beyond the last one, 32767: the number is negative then.

Mechanism    librdkafka's idempotent producer adds one to its epoch after each batch that it gave up, and does not look
             for the end of the numbers. The leader refuses the negative epoch as old; no second instance is needed.
Source       rdkafka_idempotence.c (`rd_kafka_pid_bump`), librdkafka issue 3720.
"""

from __future__ import annotations

from kafkatx.findings.one_failure import FailureFacts, alike, failure_case, failure_facts
from kafkatx.findings.rule import Found
from kafkatx.findings.told_failures import ToldFailure
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.terms.error_codes import FENCED
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.error_messages.sayings import Saying
from kafkatx.words.explanation import Words, remedy, ruled_out, step
from kafkatx.words.values import facts


@facts
class OverrunByClient(FailureFacts):
    """An old epoch that is below zero."""


def overrun_told(model: CaptureModel) -> Found:
    """One case for each client that was refused with a negative epoch."""
    for found in alike(model, lambda told: is_overrun(model.logs, told)):
        facts_told = OverrunByClient(**failure_facts(model, found))
        yield failure_case(model, found, facts_told, Verdict.proved, Severity.error)


def is_overrun(logs: LogModel, told: ToldFailure) -> bool:
    """Whether a client was refused as old with an epoch that ran over."""
    is_old = any(logs.error(row) in FENCED for row in told.rows)
    return is_old and any(logs.says(row, Saying.NEGATIVE_EPOCH) for row in told.rows)


OVERRUN_WORDS = Words(
    OverrunByClient,
    title="the client raised its epoch beyond the last one",
    summary="{name:The} raised its epoch by itself beyond 32767, the last one. The leader refused the negative epoch "
    "as old. The producer can do nothing more.",
    steps=(step("A batch was refused, {count:time}", "the epoch in the error is negative", cites="lines"),),
    considered=(ruled_out("fenced_by_new_instance", "the refused epoch is negative: no instance was ever given it"),),
    remedies=(
        remedy(
            "Close this producer and create a new one. Then find out why so many batches are given up: each takes an "
            "epoch, and message.timeout.ms is often too short",
            "application",
        ),
    ),
)
