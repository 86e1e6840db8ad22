"""Whether a batch that its producer gave up is in the partition's log all the same, as far as logs were given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum, auto

import numpy as np

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.kernels.growing import Array
from kafkatx.terms.records import dataclass
from kafkatx.words.evidence_refs import data_ref
from kafkatx.words.explanation import step
from kafkatx.words.template import pick
from kafkatx.words.values import Instant, Refs, TopicPartition

SAME_BATCH_MS = 250
"""How exactly a batch's creation is known: a log line is written that much later than the clock was read."""
EARLIER_BATCH_MS = 2_000
"""Records that much older than the batch are surely others."""


class InLog(Enum):
    """What a partition's log tells of the batch."""

    nothing = auto()
    written = auto()
    not_written = auto()
    undecided = auto()


@dataclass(frozen=True, slots=True)
class PartitionLog:
    """A log that was given: what it tells of the batch, and the newest record of the client's epoch there."""

    where: TopicPartition
    tells: InLog
    newest: Instant | None
    batch: Refs


def partition_logs(
    model: CaptureModel,
    partitions: Iterable[tuple[str, int]],
    producer: tuple[int | None, int | None],
    made_at: int | None,
) -> Iterator[PartitionLog]:
    """What the logs that were given tell of a batch that a producer id made for one of these partitions at an epoch.

    Records of that epoch from after the batch's making (None: unknown when) are the batch or stand behind it.
    """
    codes = {(one.topic, one.partition): code for code, one in reversed(model.log_extents.items())}
    for place in partitions:
        if place not in codes:
            continue
        spans = _spans_of(model, codes[place], producer)
        if not len(spans):
            yield PartitionLog(TopicPartition(*place), InLog.nothing, None, ())
            continue
        newest = spans[np.argmax(spans["last_timestamp"])]
        at = Instant(newest["last_timestamp"])
        yield PartitionLog(TopicPartition(*place), _tells(at, made_at), at, (data_ref(model, newest),))


def _spans_of(model: CaptureModel, code: int, producer: tuple[int | None, int | None]) -> Array:
    """Data that a producer id wrote to a partition at an epoch."""
    spans, (producer_id, epoch) = model.spans[model.spans_of(code)], producer
    if producer_id is None or epoch is None:
        return spans[:0]
    mine = (spans["producer_id"] == producer_id) & (spans["producer_epoch"] == epoch) & (spans["first_offset"] >= 0)
    return spans[mine]


def _tells(newest: int, made_at: int | None) -> InLog:
    """Whether the batch is in a log with a newest record of that time."""
    if made_at is not None and newest >= made_at - SAME_BATCH_MS:
        return InLog.written
    if made_at is not None and newest < made_at - EARLIER_BATCH_MS:
        return InLog.not_written
    return InLog.undecided


IN_LOGS = step(
    pick(
        "each.tells",
        {
            InLog.nothing: "{each.where} has no transactional record of that producer id and epoch",
            InLog.written: "The batch was written to {each.where} all the same",
            InLog.not_written: "The batch was not written to {each.where}",
            InLog.undecided: "The batch may have been written to {each.where} or not",
        },
    ),
    pick(
        "each.tells",
        {
            InLog.nothing: "the log of {each.where}",
            InLog.undecided: "the newest record of that producer id and epoch is of {each.newest}",
        },
        "the newest record of that producer id and epoch is of {each.newest}, the batch of about {made_at}",
    ),
    cites="each.batch",
    each="logs",
)
"""One step for each log that was given; the facts have them as `logs`, and when the batch was made as `made_at`."""
