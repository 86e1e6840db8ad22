"""A page of one partition's dump in which an unstable transactional.id would look like this, and so would others.

Two producer ids at epoch 0 write the same partition, the first one's transaction is open while the second one commits:
a restart under a stable id would have kept the producer id and raised the epoch. Two independent applications look the
same, so this is never more than possible; it is said where a page is all there is.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kafkatx.findings.rule import Case
from kafkatx.histories.capture_model import CaptureModel, LogExtent
from kafkatx.histories.ended import known
from kafkatx.kernels.spans import OPEN
from kafkatx.terms.topics import INTERNAL
from kafkatx.terms.verdicts import Severity, Verdict
from kafkatx.words.evidence_refs import data_ref, marker_ref
from kafkatx.words.explanation import Words, actor, considered, remedy, step
from kafkatx.words.values import Producer, Refs, TopicPartition, facts


@facts
class PageFacts:
    """Two producers at epoch 0 that wrote one partition, the second one behind the first one's open transaction."""

    partition: TopicPartition
    old: Producer
    new: Producer
    left_open: Refs
    committed: Refs


def found_in_pages(model: CaptureModel) -> Iterator[Case]:
    """One case a partition of which a printed dump is all there is."""
    for log_extent in model.log_extents.values() if not model.state_log_extents else ():
        if log_extent.is_printed and log_extent.topic not in INTERNAL:
            yield from _of_partition(model, log_extent)


def _of_partition(model: CaptureModel, log_extent: LogExtent) -> Iterator[Case]:
    spans = model.spans[model.spans_of(log_extent.partition_code)]
    fresh = spans[(spans["producer_epoch"] == 0) & (spans["records"] > 0)]
    left = fresh[(fresh["flags"] & OPEN) != 0]
    if not len(left):
        return
    old = left[np.argmin(left["first_offset"])]
    after = fresh[(fresh["first_offset"] > old["first_offset"]) & (fresh["producer_id"] != old["producer_id"])]
    after = after[after["marker_kind"] == 1]
    if not len(after):
        return
    new = after[0]
    yield Case(
        facts=PageFacts(
            partition=TopicPartition(log_extent.topic, log_extent.partition),
            old=Producer(int(old["producer_id"]), 0),
            new=Producer(int(new["producer_id"]), 0),
            left_open=(data_ref(model, old),),
            committed=(data_ref(model, new), marker_ref(model, new)),
        ),
        verdict=Verdict.possible,
        severity=Severity.info,
        topic=log_extent.topic,
        partition=log_extent.partition,
        first_offset=int(old["first_offset"]),
        last_offset=int(new["marker_offset"]),
        since=known(old["first_timestamp"]),
        until=known(new["marker_timestamp"]),
    )


PAGE_WORDS = Words(
    PageFacts,
    summary="producer id {new.id} at epoch 0 wrote {partition} while a transaction of producer id {old.id} was open "
    "there: if both are one application, its transactional.id changes at every start",
    actors=(actor("T1", "{old}"), actor("T2", "{new}")),
    steps=(
        step("T1 wrote in a transaction that has no end here", "no marker follows", cites="left_open"),
        step(
            "T2 wrote behind it, under a producer id of its own at epoch 0, and committed",
            "a restart under the same transactional.id keeps the producer id and raises the epoch",
            cites="committed",
        ),
    ),
    considered=(considered("independent applications on the same partition", "not refuted: they look the same"),),
    remedies=(
        remedy(
            "if it is one application, give each instance an id that is the same at its next start",
            "application",
            config="transactional.id",
            restart_needed=True,
        ),
    ),
)
