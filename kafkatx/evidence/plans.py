"""What is known of each partition before its log is read: its files, and what other files say of it.

Grain: one partition of a capture. A plan is plain data, so that it can be read anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, fields, replace

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.checkpoint_claims import explained_below, highest_mark, known_end
from kafkatx.evidence.coverage import Coverage, coverage_of
from kafkatx.evidence.directories import Partition
from kafkatx.evidence.extents import offset_limits
from kafkatx.evidence.file_reading import FileReading
from kafkatx.evidence.item import Item, Kind
from kafkatx.evidence.offset_coverage import FileReach, Range
from kafkatx.evidence.unread import unread_ranges, unread_segments
from kafkatx.terms.records import dataclass
from kafkatx.terms.topics import INTERNAL, TRANSACTION_STATE

BESIDE = (Kind.TXNINDEX, Kind.LEADER_EPOCHS)


@dataclass(frozen=True, slots=True)
class LogFile:
    """A file of the log: the data directory it lies in and the broker's id, None where that does not say."""

    item: Item
    directory: str
    broker_id: int | None


@dataclass(frozen=True, slots=True)
class PartitionPlan:
    """One partition's log in a capture. Offsets are -1 where nothing says them.

    `capture` has no directories here; `beside` are the other small files that say what became of its records: indexes
    of aborted transactions, leader epochs; `log_starts` are those of the checkpoints, by data directory; below
    `explained_below` the cleaner may have removed offsets; `known_end` is how far the log reached at least; `brokers`
    is how many may have written the capture. The coordinator's log is given the places of the partitions of data among
    all plans, as `numbers`.
    """

    capture: Capture
    topic: str
    partition: int
    files: tuple[LogFile, ...]
    snapshots: tuple[Item, ...]
    beside: tuple[Item, ...]
    log_starts: dict[str, int]
    explained_below: int
    known_end: int
    high_watermark: int
    first_dirty: int
    brokers: int = 1
    numbers: dict[Partition, int] = field(default_factory=dict)
    verify_all: bool = False

    @property
    def key(self) -> Partition:
        """(topic, partition)."""
        return self.topic, self.partition

    @property
    def small_files(self) -> tuple[Item, ...]:
        """All small files beside the log, in the order in which they are numbered."""
        return *self.snapshots, *self.beside

    @property
    def is_state_log(self) -> bool:
        """Whether it is a partition of `__transaction_state`."""
        return self.topic == TRANSACTION_STATE

    def left_unread(self) -> tuple[Range, ...]:
        """Offsets of segments that are at hand and were not read; those that a copy gives are among them."""
        return ()

    def readings(self) -> list[FileReading]:
        """Return a fresh reading of each file, in the order of `files`."""
        limits = offset_limits([file.item for file in self.files])
        return [
            FileReading(
                file.item,
                self.coverage_of(file),
                FileReach(number, file.item.base_offset),
                limits[file.item.key],
                self.verify_all,
            )
            for number, file in enumerate(self.files)
        ]

    def coverage_of(self, file: LogFile) -> Coverage:
        """Begin the coverage of a file."""
        return coverage_of(self.capture, file.item, file.broker_id)


@dataclass(frozen=True, slots=True)
class PartialPlan(PartitionPlan):
    """A plan for some of a partition's segments: `unread` are the offsets of the others (evidence/unread.py)."""

    unread: tuple[Range, ...] = ()

    def left_unread(self) -> tuple[Range, ...]:
        """See PartitionPlan."""
        return self.unread


def partition_plans(capture: Capture, verify_all: bool = False) -> Iterator[PartitionPlan]:
    """Yield the plan of every partition of which the capture holds a log, in order of topic and partition."""
    segments, logs, snapshots = capture.segments(), capture.entries(Kind.LOG), capture.entries(Kind.SNAPSHOT)
    beside = [capture.entries(kind) for kind in BESIDE]
    alone, brokers = replace(capture, directories=[], others=[]), capture.brokers
    numbers = {key: number for number, key in enumerate(sorted(segments)) if key[0] != TRANSACTION_STATE}
    unread = unread_segments(capture)
    for key in sorted(segments):
        left = unread.get(key, [])
        named = [*logs.get(key, []), *left, *snapshots.get(key, [])]
        plan = PartitionPlan(
            alone,
            *key,
            tuple(LogFile(item, directory.path, directory.broker_id) for directory, item in segments[key]),
            tuple(snapshots.get(key, [])),
            () if key[0] in INTERNAL else tuple(item for kind in beside for item in kind.get(key, ())),
            {directory.path: directory.log_starts.get(key, 0) for directory, _ in segments[key]},
            explained_below(capture, key),
            known_end(capture, key, named),
            highest_mark(capture, key, "high_watermarks"),
            highest_mark(capture, key, "first_dirty"),
            brokers,
            numbers if key[0] == TRANSACTION_STATE else {},
            verify_all,
        )
        yield _partial(plan, left) if left else plan


def _partial(plan: PartitionPlan, left: list[Item]) -> PartialPlan:
    known = {one.name: getattr(plan, one.name) for one in fields(PartitionPlan)}
    return PartialPlan(**known, unread=unread_ranges(left, [file.item for file in plan.files]))
