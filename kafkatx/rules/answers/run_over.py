"""An epoch that a client raised by itself until it ran over: librdkafka adds one after each batch that expired.

A producer without a transactional.id raises its epoch alone; behind 32767 comes -32768, which the broker takes for old.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.one_failure import FailureFacts, alike, failure_case, failure_facts, says
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import Words, remedy, ruled_out, step
from kafkatx.words.values import facts

RUN_OVER = "Epoch:-32768}"
"""The lowest epoch of 16 bits, as librdkafka prints a producer (`PID{Id:4012,Epoch:-32768}`)."""


@facts
class RunOver(FailureFacts):
    """Refusals of an epoch that ran over in the client."""


def run_over(model: CaptureModel) -> Iterator[Case]:
    """One case for each client whose refusal names that epoch."""
    for found in alike(model, lambda told: says(model.logs, told, RUN_OVER)):
        yield failure_case(model, found, RunOver(**failure_facts(model, found)), Verdict.proved, Severity.error)


RUN_OVER_WORDS = Words(
    RunOver,
    title="the epoch ran over in the client",
    summary="The client raised the epoch of producer id[ {producer_id}] by itself until it ran over: behind 32767 came "
    "-32768, and the broker refused it as old. The producer is dead.",
    steps=(step("The producer's epoch was refused, {count:time}", "its error names epoch -32768", cites="lines"),),
    considered=(ruled_out("fenced_by_new_instance", "no coordinator grants a negative epoch"),),
    remedies=(
        remedy(
            "Replace the producer: a new one gets a new producer id. Find out what raised the epoch so often: batches "
            "that expire, since message.timeout.ms is too short for these brokers",
            "application",
        ),
    ),
)
