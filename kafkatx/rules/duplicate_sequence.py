"""A batch came a second time: the leader already had it, and refused the repetition.

Mechanism    A client that got no answer sends a batch again. The leader knows the last five batches of each producer
             (0.11: the last one) and acknowledges a repeated one again; an older one it refuses with
             DUPLICATE_SEQUENCE_NUMBER. The data are in the log once.
Evidence     DUPLICATE_SEQUENCE_NUMBER (46) at the client, or the leader's line with the sequences of both batches.
Against      the same sequences twice in the log, at different offsets: then the data are there twice.
Look-alikes  sequence_gap (a batch is missing); records that the application itself sent again after an abort.
Remedy       nothing for the data: do not send them again. Java clients take the error for an acknowledgement; others
             report it as a failure.
Source       ProducerAppendInfo, Sender.canRetry and completeBatch (0.11 to 4.4); KIP-98.
"""

from __future__ import annotations

from kafkatx.findings.conditions import same_time
from kafkatx.findings.one_failure import (
    OF_WHOM,
    FailureFacts,
    alike,
    failure_case,
    failure_facts,
    known_as,
    says,
)
from kafkatx.findings.rule import Found, Rule
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.terms.events import Side
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import Words, included, left_open, remedy, ruled_out, step
from kafkatx.words.template import pick
from kafkatx.words.values import facts

REPEATED = "Duplicate sequence number for"


@facts
class Facts(FailureFacts):
    """Refusals of repeated batches."""


def find(model: CaptureModel) -> Found:
    """One case for each client, and each producer that brokers tell of."""
    logs = model.logs
    for found in alike(
        model,
        lambda told: known_as(told, "DUPLICATE_SEQUENCE_NUMBER") or says(logs, told, REPEATED),
    ):
        told = Facts(**failure_facts(model, found))
        yield failure_case(model, found, told, Verdict.likely, Severity.warning)


WORDS = Words(
    Facts,
    who=pick("name.transactional_id", {None: "[client {name.client_id}]"}),
    title="a repeated batch was refused",
    summary=(
        "The leader[ of {place}] refused a batch of the producer[ {producer_id}]",
        OF_WHOM,
        " as a repetition. Its records are[ {perhaps}] in the log once.",
    ),
    actors=(included("client"),),
    steps=(
        step(
            "The batch was sent again after it had been written",
            "DUPLICATE_SEQUENCE_NUMBER: the leader had taken these sequences before",
            cites="lines",
        ),
    ),
    considered=(
        ruled_out("sequence_gap", "the sequences are below the last ones that the leader has, not above"),
        left_open(
            "records stored twice",
            "only the partition itself shows it",
            decided_by="a dump of the partition[ {place}] at that time",
        ),
    ),
    remedies=(
        remedy(
            "Do not send the records again: the first attempt was written, only its answer was lost",
            "application",
        ),
        remedy(
            "Find out why the first attempt got no answer in time: a broker that was away, or slow followers",
            "operator",
        ),
    ),
)

RULE = Rule(
    find=find,
    words=(WORDS,),
    depth=3,
    caused_by=(("broker_unreachable", same_time),),
    decided_by=(Side.client, Side.broker),
)
