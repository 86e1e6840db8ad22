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
from kafkatx.words.explanation import Words, actor, left_open, remedy, step
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
    title="a new transactional.id at each start",
    summary="Producer id {new.id} committed to {partition} while a transaction of producer id {old.id} was open "
    "there. Both have epoch 0:[ {perhaps}] one application with a new transactional.id at each start.",
    actors=(actor("T1", "{old}"), actor("T2", "{new}")),
    steps=(
        step("T1 wrote in a transaction that was not ended", "no marker of T1 follows in the dump", cites="left_open"),
        step(
            "T2 wrote behind it and committed",
            "T2 is another producer id at epoch 0; under the same transactional.id a restart keeps the producer id and "
            "raises the epoch",
            cites="committed",
        ),
    ),
    considered=(
        left_open(
            "independent applications on the same partition",
            "they look the same",
            decided_by="the transactional.id of each program",
        ),
    ),
    remedies=(
        remedy(
            "Check whether both producers are one application. If so, give each instance a transactional.id that stays "
            "the same when it restarts",
            "application",
            config="transactional.id",
            restart_needed=True,
        ),
    ),
)
