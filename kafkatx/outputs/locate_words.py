"""Sentences about an offset: text and JSON use the same."""

from __future__ import annotations

from kafkatx.histories.endings import EndedBy
from kafkatx.histories.location import Location
from kafkatx.histories.visibility import Sight
from kafkatx.outputs.history_words import ENDERS, PERHAPS
from kafkatx.terms.topics import INTERNAL, TRANSACTION_STATE


def answer(found: Location) -> str:
    """Say in one line whether a read_committed consumer sees the offset, and why (not).

    `orders-0:118 is hidden from read_committed: its transaction was aborted by the ABORT marker @ 121`.
    """
    place, seen, row = f"{found.topic}-{found.partition}:{found.offset}", found.visibility, found.state_row
    if row is not None and row.transactional_id is not None and row.problem is None:
        state = "a tombstone: the coordinator expired the id" if row.is_tombstone else f"{row.fields['state']}"
        return f"{place} is a record of {row.transactional_id}: {state}"
    if found.topic == TRANSACTION_STATE and seen.sight is Sight.visible:
        return f"{place} is a record of the transaction coordinator"
    says = {True: "is visible to read_committed", False: "is hidden from read_committed", None: UNDECIDED}[seen.sees]
    says = NOT_THERE.get(seen.sight, says)
    return f"{place} {says}: {_because(found)}"


UNDECIDED = "may be visible to read_committed or not"
NOT_THERE = {
    Sight.below_log_start: "is not in the log any more",
    Sight.beyond_the_end: "is not in the log that was read",
    Sight.compacted_away: "is not in the log any more",
    Sight.missing: "is not in the log that was read",
    Sight.control_batch: "is a marker, which no consumer is given",
}
"""What is said instead of an offset that no consumer could be given."""


def visible(found: Location) -> str:
    """Say whether a read_committed consumer sees the offset, and why (not), without naming it."""
    seen = found.visibility
    return {True: "yes", False: "no", None: "not known"}[seen.sees] + f": {_because(found)}"


def _because(found: Location) -> str:
    seen = found.visibility
    match seen.sight:
        case Sight.visible:
            if found.batch is not None and not found.batch.is_transactional:
                return f"it was written outside transactions, below the last stable offset {seen.last_stable_offset}"
            return f"its transaction was committed{_by_marker('COMMIT', seen.marker_offset)}"
        case Sight.below_log_start:
            return f"the log starts at {found.log_start}; retention or an operator deleted what was below"
        case Sight.beyond_the_end:
            return f"it ends at {found.log_end}"
        case Sight.compacted_away:
            return f"the cleaner removed it (compaction); {_between(found)}"
        case Sight.missing:
            return f"no batch in what was read holds it, and the partition is not compacted; {_between(found)}"
        case Sight.control_batch:
            return _control(found)
        case Sight.above_last_stable_offset:
            return f"the last stable offset is stuck at {seen.last_stable_offset}{_holder(found)}"
        case Sight.aborted:
            return f"its transaction was aborted{_aborter(found)}{_by_marker('ABORT', seen.marker_offset)}"
        case Sight.undecided:
            return "the marker that ended its transaction was not read, or does not say which kind it is"


def _by_marker(kind: str, offset: int | None) -> str:
    return "" if offset is None else f" (evidence: {kind} marker @ {offset})"


def _aborter(found: Location) -> str:
    """Who aborted its transaction, where that is known."""
    entry = found.transaction
    if entry is None or entry.ended_by in (EndedBy.open, EndedBy.unknown):
        return ""
    return f"{',' if PERHAPS[entry.verdict] else ''} {PERHAPS[entry.verdict]}{ENDERS[entry.ended_by]}"


def _control(found: Location) -> str:
    """What a control batch is."""
    kind = found.batch.control_type if found.batch is not None else None
    who = f" of producer id {found.batch.producer_id}" if found.batch and found.batch.producer_id is not None else ""
    return f"{kind or 'control record'}{who}"


def _holder(found: Location) -> str:
    """Who holds the last stable offset."""
    holder = found.holder
    if holder is None:
        return ""
    epoch = "" if holder.producer_epoch is None else f", epoch {holder.producer_epoch}"
    name = f"{found.holder_name} (producer id {holder.producer_id}{epoch})" if found.holder_name else None
    who = name or f"producer id {holder.producer_id}{epoch}"
    itself = found.batch is not None and found.batch.producer_id == holder.producer_id
    first = holder.part.first_offset
    if itself and found.offset >= (first or 0):
        return f", the start of its own open transaction, of {who}"
    return f" by an open transaction of {who}"


def _between(found: Location) -> str:
    parts = []
    if found.before is not None:
        parts.append(f"the batch before it ends at {found.before.last_offset}")
    if found.batch is not None:
        parts.append(f"its batch {found.batch.base_offset}..{found.batch.last_offset} is there without it")
    elif found.behind is not None:
        parts.append(f"the next one begins at {found.behind.first_offset}")
    return " and ".join(parts) or f"the log reaches from {found.log_start} to {found.log_end}"


def uncommitted(found: Location) -> str | None:
    """Say where a read_uncommitted consumer is given what a read_committed one is not."""
    is_given = found.visibility.sight in (Sight.above_last_stable_offset, Sight.aborted) and found.record is not None
    return "it is visible to read_uncommitted" if is_given else None


def unlisted(found: Location) -> str | None:
    """Say where the index of aborted transactions lacks the abort: a broker tells its readers what stands there."""
    if not found.unlisted_in:
        return None
    files = ", ".join(found.unlisted_in)
    return f"{files} does not list this abort: a broker with this file gives the record to its consumers"


def watermark(found: Location) -> str | None:
    """Say what the checkpoint of the high watermark adds."""
    mark = found.high_watermark
    if mark is None or mark >= found.log_end or found.topic in INTERNAL or found.offset < mark:
        return None
    return f"the last checkpoint of the high watermark says {mark} and may be 5 s old: the log end was taken instead"
