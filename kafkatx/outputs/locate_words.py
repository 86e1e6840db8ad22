"""Sentences about an offset: text and JSON use the same."""

from __future__ import annotations

from kafkatx.histories.location import Location
from kafkatx.histories.visibility import Sight
from kafkatx.terms.topics import INTERNAL


def visible(found: Location) -> str:
    """Say whether a read_committed consumer sees the offset, and why (not)."""
    seen = found.visibility
    return {True: "yes", False: "no", None: "can't be told"}[seen.sees] + f": {_because(found)}"


def _because(found: Location) -> str:
    seen = found.visibility
    stable = f"the last stable offset is {seen.last_stable_offset}"
    match seen.sight:
        case Sight.visible:
            if found.batch is not None and not found.batch.is_transactional:
                return f"it was written outside transactions, and {stable}"
            return f"its transaction was committed by the marker @ {seen.marker_offset}, and {stable}"
        case Sight.below_log_start:
            return f"it lies below the log start, {found.log_start}: retention or an operator deleted it"
        case Sight.beyond_the_end:
            return f"the log at hand ends at {found.log_end}"
        case Sight.compacted_away:
            return f"the cleaner removed it (compaction); {_between(found)}"
        case Sight.missing:
            return f"no batch at hand holds it, and compaction does not explain that; {_between(found)}"
        case Sight.control_batch:
            return "a control record uses an offset, but no consumer is ever given one"
        case Sight.above_last_stable_offset:
            return f"{stable}, {_holder(found)}"
        case Sight.aborted:
            return f"its transaction was aborted by the marker @ {seen.marker_offset}"
        case Sight.undecided:
            return "the marker that decided is not at hand, or does not say which kind it is"


def _holder(found: Location) -> str:
    """Who holds the last stable offset."""
    holder = found.holder
    if holder is None:
        return "held by nobody at hand"
    who = found.holder_name or "no transactional.id at hand"
    epoch = "" if holder.producer_epoch is None else f" epoch {holder.producer_epoch}"
    itself = found.batch is not None and found.batch.producer_id == holder.producer_id
    whose = (
        "its own open transaction"
        if itself and found.offset >= (holder.part.first_offset or 0)
        else "an open transaction"
    )
    since = f"open since offset {holder.part.first_offset}"
    return f"held by {whose}: producer id {holder.producer_id}{epoch} ({who}), {since}"


def _between(found: Location) -> str:
    parts = []
    if found.before is not None:
        parts.append(f"the batch before it ends at {found.before.last_offset}")
    if found.batch is not None:
        parts.append(f"its batch {found.batch.base_offset}..{found.batch.last_offset} is there without it")
    elif found.behind is not None:
        parts.append(f"the next one begins at {found.behind.first_offset}")
    return " and ".join(parts) or "no batch lies around it"


def uncommitted(found: Location) -> str | None:
    """Say where a read_uncommitted consumer is given what a read_committed one is not."""
    is_given = found.visibility.sight in (Sight.above_last_stable_offset, Sight.aborted) and found.record is not None
    return "a read_uncommitted consumer is given it" if is_given else None


def unlisted(found: Location) -> str | None:
    """Say where the index of aborted transactions lacks the abort: a broker tells its readers what stands there."""
    if not found.unlisted_in:
        return None
    files = ", ".join(found.unlisted_in)
    return f"{files} does not list this abort: a broker with this file gives the record to its readers"


def watermark(found: Location) -> str | None:
    """Say what the checkpoint of the high watermark adds."""
    mark = found.high_watermark
    if mark is None or mark >= found.log_end or found.topic in INTERNAL or found.offset < mark:
        return None
    return f"the high watermark's checkpoint says {mark}; it may be five seconds old: the log end was taken for it"
