"""How a transaction ended in a partition where it ended otherwise, or not at all."""

from __future__ import annotations

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.ended import known
from kafkatx.kernels.growing import Array
from kafkatx.words.evidence_refs import data_ref, marker_ref
from kafkatx.words.explanation import Phrase, measure
from kafkatx.words.facts import instant, offsets, topic_partition
from kafkatx.words.template import pick, render
from kafkatx.words.values import Instant, OffsetRange, Refs, TopicPartition, facts

KINDS = ("ABORT", "COMMIT", "a marker that does not show its kind")


@facts
class Fate:
    """How a transaction ended in one partition: by which marker, None without one; `data` is None without records."""

    partition: TopicPartition
    data: OffsetRange | None
    ended_by: str | None
    ended_at: int | None
    is_own_too_late: bool
    log_end: int
    last_written: Instant | None
    places: Refs

    @property
    def last_offset(self) -> int:
        """The last offset of the partition's log."""
        return self.log_end - 1

    def __format__(self, spec: str) -> str:
        return render(FATE.words.text, self) or ""


def fate(model: CaptureModel, part: Array) -> Fate:
    """How it ended in the partition of a part."""
    log_extent = model.log_extents[int(part["partition_code"])]
    span = model.spans[int(part["span"])] if part["span"] >= 0 else None
    own = model.spans[int(part["marker"])] if part["marker"] >= 0 else None
    ended_at = known(span["marker_offset"]) if span is not None else None
    written = (data_ref(model, span),) if span is not None else ()
    markers = [one for one in (span if ended_at is not None else None, own) if one is not None]
    return Fate(
        partition=topic_partition(model, int(part["partition_code"])),
        data=offsets(model, span) if span is not None else None,
        ended_by=KINDS[int(span["marker_kind"])] if span is not None and ended_at is not None else None,
        ended_at=ended_at,
        is_own_too_late=own is not None and bool(own["first_offset"] < 0),
        log_end=log_extent.log_end,
        last_written=instant(log_extent.newest),
        places=(*written, *(marker_ref(model, one) for one in markers)),
    )


FATE = Phrase(
    Fate,
    measure(
        pick(
            "data",
            {None: "{partition} has neither its records nor its marker"},
            pick(
                "ended_by",
                {None: "{data} has no marker and is still open"},
                "{data} was ended by {ended_by} @ {ended_at}",
            ),
        )
    ),
)
