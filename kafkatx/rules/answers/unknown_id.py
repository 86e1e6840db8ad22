"""A transactional.id that its coordinator does not know, where a client of it was refused for its producer id.

`kafka-transactions.sh describe` says of an id without a record that it could not be found. Alone that may be an id that
was never used; beside INVALID_PRODUCER_ID_MAPPING, which coordinators answer only for an id that had a producer id, the
record is gone: expired after transactional.id.expiration.ms without a transaction, or lost.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.refused_writes import told_by_clients
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.text.error_messages.sayings import Saying
from kafkatx.words.explanation import Words, left_open, remedy, step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.values import Refs, facts


@facts
class UnknownIdFacts:
    """The id, the tool's answer and the refusals."""

    id: str
    answer: Refs
    refused: Refs


def unknown_told(model: CaptureModel) -> Iterator[Case]:
    """One case for each id that the tool did not find, where a client was refused so."""
    logs = model.logs
    refused = told_by_clients(logs, Saying.NO_MAPPING)
    for row in logs.of_kind(EventKind.id_unknown).tolist() if refused else ():
        name = logs.string(row, "transactional_id") or ""
        yield Case(
            facts=UnknownIdFacts(name, event_refs(model, [row]), event_refs(model, refused)),
            verdict=Verdict.likely,
            severity=Severity.warning,
            transactional_id=name,
        )


UNKNOWN_ID_WORDS = Words(
    UnknownIdFacts,
    title="the transactional.id had expired",
    summary="The coordinator of {id} had no record of it any more: the id[ {perhaps}] expired while it was idle. Its "
    "producer was refused and must be initialised anew.",
    steps=(
        step("The producer was refused for its producer id (INVALID_PRODUCER_ID_MAPPING)", cites="refused"),
        step("The coordinator does not know {id}", cites="answer"),
    ),
    considered=(
        left_open(
            "records of __transaction_state that were lost",
            "the answers are the same",
            decided_by="the idle time of {id} against transactional.id.expiration.ms (7 days), and its tombstone",
        ),
    ),
    remedies=(
        remedy("Close the producer and make it anew: initTransactions registers the id again", "application"),
        remedy(
            "Raise the expiration above the longest idle time, on all brokers",
            "broker",
            "transactional.id.expiration.ms",
        ),
    ),
)
