"""A client that raises its epoch and goes on counting in its other partitions: each of them is refused in turn.

The first batch of a new epoch has sequence 0, in every partition. A client that begins anew only in the partition that
was refused meets the next refusal in another one, raises its epoch again, and so on. Told by leaders' refusals of one
producer id in several partitions, each under a higher epoch than the one before and with a sequence above 0.

Look-alikes  one epoch, or one partition: the first batch of that epoch was lost or overtaken, and came later.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from kafkatx.findings.client_lines import partitions_named, times_of, topic_partition
from kafkatx.findings.refused_writes import owner_of
from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.logs.log_model import LogModel
from kafkatx.histories.logs.once import once
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.explanation import Words, left_open, remedy, step
from kafkatx.words.log_refs import event_refs
from kafkatx.words.values import Count, NameList, Refs, facts

FEWEST = 2
"""Partitions, and epochs."""


@facts
class CountedOnFacts:
    """Refusals of one producer id under rising epochs: the partitions, the first and the last epoch."""

    id: str | None
    producer_id: int
    partitions: NameList
    first_epoch: int
    last_epoch: int
    count: Count
    lines: Refs


def counted_on(model: CaptureModel) -> Iterator[Case]:
    """One case for each producer id whose sequences went on under new epochs."""
    logs = model.logs
    for producer_id, rows in rows_counted_on(model).items():
        since, until = times_of(logs, rows)
        epochs = [logs.number(row, "producer_epoch") or 0 for row in rows]
        name = owner_of(model, producer_id)
        yield Case(
            facts=CountedOnFacts(
                id=name,
                producer_id=producer_id,
                partitions=partitions_named(logs, rows),
                first_epoch=epochs[0],
                last_epoch=epochs[-1],
                count=Count(len(rows)),
                lines=event_refs(model, rows, 6),
            ),
            verdict=Verdict.likely,
            severity=Severity.error,
            transactional_id=name,
            producer_id=producer_id,
            since=since,
            until=until,
            count=len(rows),
        )


@once
def rows_counted_on(model: CaptureModel) -> dict[int, list[int]]:
    """Refusals of such clients by producer id."""
    logs = model.logs
    groups: dict[int, list[int]] = {}
    for row in logs.of_kind(EventKind.sequence_refused).tolist():
        producer_id = logs.number(row, "producer_id")
        if producer_id is not None and _is_of_new_epoch(logs, row):
            groups.setdefault(producer_id, []).append(row)
    return {producer_id: rows for producer_id, rows in groups.items() if _bounces(logs, rows)}


def _is_of_new_epoch(logs: LogModel, row: int) -> bool:
    """Whether a batch of an epoch that the leader did not know yet came with a sequence above 0."""
    asked, known, sequence = (logs.number(row, name) for name in ("producer_epoch", "other_epoch", "number"))
    return asked is not None and known is not None and known < asked and sequence is not None and sequence > 0


def _bounces(logs: LogModel, rows: list[int]) -> bool:
    """Whether each refusal has a higher epoch than the one before, or is a repetition of it, in several partitions."""
    told = [(logs.number(row, "producer_epoch") or 0, topic_partition(logs, row)) for row in rows]
    rises = all(one[0] < other[0] or one == other for one, other in pairwise(told))
    return rises and min(len({epoch for epoch, _ in told}), len({place for _, place in told})) >= FEWEST


COUNTED_ON_WORDS = Words(
    CountedOnFacts,
    title="sequences went on under new epochs",
    summary="The client of producer {producer_id}[ ({id})][ {perhaps}] raised its epoch and counted on: leaders of "
    "{partitions:3} refused batches of the epochs {first_epoch} to {last_epoch}, whose sequences do not begin at 0.",
    steps=(
        step(
            "Leaders refused a batch of a new epoch, {count:time}, each time of a higher one",
            "the first batch of an epoch has sequence 0 in every partition",
            cites="lines",
        ),
    ),
    considered=(
        left_open(
            "sequence_gap",
            "the first batch of each of these epochs may have been lost on its way",
            decided_by="what it sent under these epochs before, by the client's log,",
        ),
    ),
    remedies=(
        remedy(
            "Let the client begin at sequence 0 in all partitions when it raises its epoch, and send again there what "
            "was not acknowledged",
            "application",
        ),
        remedy("Until then close the producer at the first refusal and make a new one", "application"),
    ),
)
