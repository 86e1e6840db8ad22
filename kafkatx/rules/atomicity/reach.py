"""Whether a partition's log reaches far enough to say that a marker is missing there, and what is missing if not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kafkatx.findings.leaders_clocks import ahead_at_begin, goes_on
from kafkatx.histories.capture_model import CaptureModel, LogExtent
from kafkatx.histories.transaction_partitions import DISPUTED, Status
from kafkatx.kernels.growing import Array
from kafkatx.kernels.spans import COMMIT, OVER_GAP, UNKNOWN_KIND
from kafkatx.kernels.transactions import PREPARE_COMMIT
from kafkatx.terms.topics import INTERNAL
from kafkatx.words.explanation import Bound, GapWords, Phrase, gap
from kafkatx.words.facts import topic_partition
from kafkatx.words.values import TopicPartition, facts


@facts
class OnePartition:
    """A partition of a transaction that could not be judged."""

    id: str
    partition: TopicPartition


def is_over_gap(model: CaptureModel, part: Array) -> bool:
    """Whether another marker may have stood among the data, where offsets are missing."""
    is_over = part["span"] >= 0 and model.spans["flags"][part["span"]] & OVER_GAP
    return bool(is_over and model.log_extents[int(part["partition_code"])].has_gaps)


def is_compacted(model: CaptureModel, part: Array) -> bool:
    """Whether the cleaner may have taken the marker, so that nothing can be missing."""
    log_extent = model.log_extents[int(part["partition_code"])]
    return log_extent.is_compacted or log_extent.topic in INTERNAL


def missing_for(model: CaptureModel, transaction: int, part: Array) -> Phrase[OnePartition, GapWords] | None:
    """None where the partition's log covers the time in which the marker must have come.

    Of a page it counts what it shows behind the data, since a page always begins and breaks off somewhere.
    """
    log_extent, row = model.log_extents[int(part["partition_code"])], model.transactions[transaction]
    span = model.spans[int(part["span"])] if part["span"] >= 0 else None
    has_gap = not log_extent.is_whole
    if log_extent.is_printed and span is not None:
        has_gap = bool(span["flags"] & OVER_GAP)
    if has_gap or (span is not None and span["marker_kind"] == UNKNOWN_KIND):
        return NOT_WHOLE
    if span is None and _has_unexplained(model, int(part["partition_code"]), row):
        return ROWS_LACK
    if not goes_on(model, log_extent, row):
        return ENDS_EARLY
    if part["span"] < 0 and not _reaches_back(model, log_extent, row):
        return BEGINS_LATE
    return None


def disputed(model: CaptureModel) -> Iterator[Bound[GapWords]]:
    """What is missing where a producer has fewer markers in a partition than transactions they could be of, or more.

    One transaction lacks its own, or one COMMIT that ended data lacks its decision; clocks that differ a little leave
    open which.
    """
    t, rows, spans = model.transactions, model.parts.rows, model.spans
    rows = rows[rows["status"] == Status.UNDECIDED]
    told = t[rows["transaction"]]
    is_committed = (told["decision"] == PREPARE_COMMIT) & (told["completion_offset"] >= 0)
    rows, told = rows[is_committed], told[is_committed]
    markers = spans[(model.parts.owner == DISPUTED) & (spans["marker_offset"] >= 0)]
    ending = markers[(markers["first_offset"] >= 0) & (markers["marker_kind"] == COMMIT)]
    ids = dict(zip(told["producer_id"].tolist(), told["id_code"].tolist(), strict=True))
    wanted = Counter(zip(told["producer_id"].tolist(), rows["partition_code"].tolist(), strict=True))
    at_hand, ended = _by_place(markers), _by_place(ending)
    for (producer_id, code), number in wanted.items():
        place = OnePartition(model.transactional_id(ids[producer_id]), topic_partition(model, code))
        if number > at_hand[producer_id, code]:
            yield WHOSE.of(place)
        elif number < ended[producer_id, code]:
            yield WHICH.of(place)


def _by_place(markers: Array) -> Counter[tuple[int, int]]:
    """How many markers each producer has in each partition."""
    return Counter(zip(markers["producer_id"].tolist(), markers["partition_code"].tolist(), strict=True))


def _has_unexplained(model: CaptureModel, partition_code: int, row: Array) -> bool:
    """Whether the partition has a marker of the producer that no row explains: it may be that one, or rows lack."""
    here = model.spans_of(partition_code)
    spans = model.spans[here][model.parts.owner[here] < 0]
    return bool(((spans["producer_id"] == row["producer_id"]) & (spans["marker_offset"] >= 0)).any())


def _reaches_back(model: CaptureModel, log_extent: LogExtent, row: Array) -> bool:
    """Whether the log holds something from before a decision: then what came later has not been deleted with it.

    A topic deleted and made again has the same name and a log that begins at 0.
    """
    spans = model.spans[model.spans_of(log_extent.partition_code)]
    times = spans["marker_timestamp"][spans["marker_offset"] >= 0]
    time, ahead = int(row["decided_at"]), ahead_at_begin(model, log_extent.partition_code, row)
    begins_before = log_extent.log_start == 0 and 0 <= log_extent.first_timestamp < time
    return begins_before or bool(len(times) and ahead is not None and times.min() < time + ahead)


NOT_WHOLE, ROWS_LACK, ENDS_EARLY, BEGINS_LATE, WHOSE, WHICH = (
    Phrase(OnePartition, gap("the transaction of {id} in {partition}", missing))
    for missing in (
        "the offsets of this partition that are missing",
        "records of __transaction_state: they say nothing of a marker that this producer has in the partition",
        "a later copy of this partition: it ends before the transaction was complete",
        "a log that begins before the transaction: its beginning, or the topic, was deleted",
        "which of its transactions lacks a marker there: the brokers' clocks differ by more than these are apart",
        "which of its COMMIT markers there has no decision: the brokers' clocks may differ by more than they are apart",
    )
)
