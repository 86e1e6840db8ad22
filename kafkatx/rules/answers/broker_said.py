"""What a broker says of itself in one line that decides: its coordinator's state, its epochs.

These lines stand for a state that should not be; nobody but the broker can know it, so its word is the evidence.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.findings.client_lines import only, times_of
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import Words, left_open, remedy, step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.values import Count, Refs, facts


@facts
class OwnWords:
    """Lines of a broker about one id (None: they name none)."""

    id: str | None
    producer_id: int | None
    count: Count
    lines: Refs


@facts
class InconsistentWords(OwnWords):
    """The coordinator's state machine found what should not be."""


@facts
class ExhaustedWords(OwnWords):
    """The coordinator could not raise an epoch any more."""


def inconsistent_told(model: CaptureModel) -> Iterator[Case]:
    """One case for all such lines of a source: the exception and the line above it are one."""
    yield from _cases(model, EventKind.coordinator_inconsistent, InconsistentWords, Severity.error)


def exhausted_told(model: CaptureModel) -> Iterator[Case]:
    """One case for all such lines of a source."""
    yield from _cases(model, EventKind.epochs_exhausted, ExhaustedWords, Severity.error)


def _cases(model: CaptureModel, kind: EventKind, facts_of: type[OwnWords], severity: Severity) -> Iterator[Case]:
    logs, sources = model.logs, dict[int, list[int]]()
    for row in logs.of_kind(kind).tolist():
        sources.setdefault(int(logs.events["source"][row]), []).append(row)
    for rows in sources.values():
        name = only(name for row in rows if (name := logs.string(row, "transactional_id")) is not None)
        producer_id = only(number for row in rows if (number := logs.number(row, "producer_id")) is not None)
        since, until = times_of(logs, rows)
        yield Case(
            facts=facts_of(name, producer_id, Count(len(rows)), event_refs(model, rows)),
            verdict=Verdict.likely,
            severity=severity,
            transactional_id=name,
            producer_id=producer_id,
            since=since,
            until=until,
            count=len(rows),
        )


DEFECT = left_open(
    "a defect of that release",
    "two requests that met in the wrong order look the same",
    decided_by="the issues of the broker's release, and the records of the id in __transaction_state",
)
INCONSISTENT_WORDS = Words(
    InconsistentWords,
    title="the coordinator met an impossible state",
    summary="The coordinator[ of {id}] found its own state[ {perhaps}] inconsistent and refused the step: requests of "
    "the id fail until its state is loaded anew.",
    steps=(step("It says itself that this should not happen", cites="lines"),),
    considered=(DEFECT,),
    remedies=(
        remedy(
            "Keep the log. Give each producer an id of its own if two of them start at once; if the id stays refused, "
            "move the leadership of its partition of __transaction_state: the new coordinator loads the state anew",
            "operator",
        ),
    ),
)
EXHAUSTED_WORDS = Words(
    ExhaustedWords,
    title="no epoch left",
    summary="The coordinator[ of {id}] could not raise the epoch of its producer id[, {producer_id},] any more: the "
    "epochs are[ {perhaps}] used up, and it did not get a new producer id.",
    steps=(step("The broker refused InitProducerId, {count:time}", cites="lines"),),
    considered=(DEFECT,),
    remedies=(
        remedy(
            "Start the application with another transactional.id for the time being, and upgrade the brokers: the "
            "coordinator should have changed to a new producer id by itself",
            "operator",
        ),
    ),
)
