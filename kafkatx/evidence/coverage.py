"""Coverage: every file that was met, what it was taken for, what was read and verified of it, what was left out."""

from __future__ import annotations

from collections.abc import Sequence

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.item import Item
from kafkatx.terms.records import dataclass


@dataclass(slots=True)
class Coverage:
    """One file. Offsets, times (milliseconds) and counts are None where the file has none.

    `status` is one of read, torn, damaged, empty, left out, unreadable, noted (small files read for what they say).

    `records` counts what was read of them, None where none were; `checked` says what `verified` can't know from counts.
    `capture` is None where nothing says to which of several captures the file belongs.
    """

    capture: str | None
    cluster_id: str | None
    broker_id: int | None
    path: str
    kind: str
    bytes: int
    topic: str | None = None
    partition: int | None = None
    first_offset: int | None = None
    last_offset: int | None = None
    first_timestamp: int | None = None
    last_timestamp: int | None = None
    batches: int = 0
    records: int | None = None
    checked_batches: int = 0
    preallocated: int = 0
    status: str = "noted"
    note: str | None = None
    checked: str | None = None

    @property
    def is_evidence(self) -> bool:
        """Whether something was read of it that can be judged (also that it is an empty log)."""
        return bool(self.batches) or self.status in ("read", "empty")

    @property
    def verified(self) -> str | None:
        """What was checked, in words."""
        if self.checked is not None:
            return self.checked
        if not self.batches:
            return None
        if self.checked_batches == self.batches:
            return "CRC of every batch"
        checked = f"CRC of {self.checked_batches} of {self.batches} batches"
        return f"{checked} (control batches, new producers, breaks of sequence)"


def coverage_of(capture: Capture | None, item: Item, broker_id: int | None) -> Coverage:
    """Begin the coverage of a file."""
    name, cluster_id = (capture.name, capture.cluster_id) if capture else (None, None)
    partition = item.folder.partition if item.folder and item.folder.partition >= 0 else None
    entry = Coverage(name, cluster_id, broker_id, item.path, item.kind.value, item.size, item.topic, partition)
    if item.left_out:
        entry.status, entry.note = ("unreadable" if item.kind.value == "unreadable" else "left out"), item.left_out
    return entry


BRING = (
    "Bring data directories of brokers, output of kafka-dump-log, logs of clients or brokers, or answers of "
    "kafka-transactions.sh and kafka-consumer-groups.sh --describe"
)


def nothing_read(coverage: Sequence[Coverage]) -> str:
    """Say that nothing was evidence, of the first file why, and what to bring instead."""
    if not coverage:
        return "there is no file under the paths given"
    first = coverage[0]
    why = f"{first.path}: {first.note or first.kind}"
    some = (
        f"could not be read as evidence: {why}"
        if len(coverage) == 1
        else f"none of {len(coverage):,} files could be read as evidence (first: {why})"
    )
    return f"{some}. {BRING}"
