"""Builds the story of each capture on this machine: read, fold, join."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.coverage import Coverage, coverage_of
from kafkatx.evidence.directories import DataDirectory, Partition, data_directories
from kafkatx.evidence.inventory import inventory
from kafkatx.evidence.item import Item, Kind
from kafkatx.evidence.joining import Evidence, evidence
from kafkatx.evidence.marks import explained_below, highest_mark, known_end, named_partitions
from kafkatx.evidence.reach import Range
from kafkatx.evidence.reading import PartitionReading
from kafkatx.histories.coordinator import CoordinatorHistory, fold_state_partition
from kafkatx.histories.spans import OpenAtStart, PartitionSpans, fold_partition
from kafkatx.histories.story import CaptureFacts, Horizon, Labels, StateHorizon, Story, tell
from kafkatx.kernels.spans import OPEN
from kafkatx.segments.batches import Rows
from kafkatx.segments.damage import Damage
from kafkatx.segments.names import Names
from kafkatx.stages.logs import newest_time, read_logs
from kafkatx.terms.topics import COMPACTED, INTERNAL, TRANSACTION_STATE

Progress = Callable[[str, int], None]
"""Called with a path and its size in bytes before it is read."""

__all__ = ["CaptureStory", "build_stories", "open_captures", "open_evidence"]


@dataclass(slots=True)
class CaptureStory:
    """A capture, its story, and what was met while reading it.

    `segments` leads from a place in a log back to the files.
    """

    capture: Capture
    story: Story
    coverage: list[Coverage]
    damage: list[Damage]
    diverged: list[tuple[str, str, int, Rows]]
    segments: dict[Partition, list[Item]]


def open_evidence(paths: Iterable[str | Path], forced: dict[str, str] | None = None) -> Evidence:
    """Find what lies under the paths and join it to captures; raises UsageError for a path that does not exist."""
    return evidence(data_directories(inventory(paths)), forced)


def open_captures(paths: Iterable[str | Path], forced: dict[str, str] | None = None) -> list[Capture]:
    """Like `open_evidence`, without the files that belong to no capture."""
    return open_evidence(paths, forced).captures


FIRST_TO_RAISE_EPOCH, FIRST_TO_DESCRIBE_PRODUCERS = (0, 11, 0, 2), (2, 8)
"""Releases from which on a timeout raises the epoch (KAFKA-6119), and brokers can be asked for producers (KIP-664)."""


def build_stories(
    found: list[Capture],
    *,
    verify_all: bool = False,
    as_of: int | None = None,
    progress: Progress | None = None,
    release: tuple[int, ...] = (),
    log_zone_ms: int | None = None,
) -> Iterable[CaptureStory]:
    """Read the captures one after the other.

    `release` is that of the brokers, where somebody knows it; `log_zone_ms` what is to be taken from the times of logs
    that name no zone, None to estimate it.
    """
    for capture in found:
        yield _Builder(capture, verify_all, progress or (lambda path, size: None), release, log_zone_ms).build(as_of)


@dataclass(slots=True)
class _Builder:
    """One capture in work."""

    capture: Capture
    verify_all: bool
    progress: Progress
    release: tuple[int, ...]
    log_zone_ms: int | None
    names: Names = field(default_factory=Names)
    coverage: list[Coverage] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)
    diverged: list[tuple[str, str, int, Rows]] = field(default_factory=list)
    coordinators: list[CoordinatorHistory] = field(default_factory=list)
    partitions: list[PartitionSpans] = field(default_factory=list)
    horizons: dict[int, Horizon] = field(default_factory=dict)
    state_horizons: dict[int, StateHorizon] = field(default_factory=dict)
    newest: int = -1
    newest_of_clients: int = -1

    def build(self, as_of: int | None) -> CaptureStory:
        """Read everything once and tell the story."""
        segments = self.capture.segments()
        for key in sorted(segments):
            reading = PartitionReading(
                self.capture,
                *key,
                segments[key],
                self.verify_all,
                explained_below(self.capture, key),
                known_end(self.capture, key),
            )
            for _, item in segments[key]:
                self.progress(item.path, item.size)
            if key[0] == TRANSACTION_STATE:
                self._read_states(reading)
            else:
                self._read_partition(reading)
            self._close(reading)
        logs, covered = read_logs(self.capture, self.progress)
        self.coverage.extend(covered)
        self._cover_the_rest()
        self._miss_state_partitions()
        known = (time for time in (self.newest, self.newest_of_clients, newest_time(logs)) if time >= 0)
        end = as_of if as_of is not None else next(known, -1)
        story = tell(
            self._facts(end), self._labels(), self.coordinators, self.partitions, self.horizons, self.state_horizons,
            logs, self.log_zone_ms,
        )  # fmt: skip
        files = {key: [item for _, item in copies] for key, copies in segments.items()}
        return CaptureStory(self.capture, story, self.coverage, self.damage, self.diverged, files)

    def _read_states(self, reading: PartitionReading) -> None:
        empty = self.names.list_code(())
        history = fold_state_partition(
            reading.state_windows(self.names), reading.partition, empty, self.names.partition_lists
        )
        self.coordinators.append(history)
        self.newest = max(self.newest, history.last_timestamp)
        self.state_horizons[reading.partition] = StateHorizon(
            partition=reading.partition,
            first_offset=history.first_offset,
            log_end=history.next_offset,
            first_dirty=highest_mark(self.capture, reading.key, "first_dirty"),
            is_torn=_is_torn(reading.missing, history.next_offset),
            newest=history.last_timestamp,
            leader_epoch=history.leader_epoch,
            last_gap=history.last_gap,
            last_loss=max((end for _, end in reading.missing), default=-1),
        )

    def _miss_state_partitions(self) -> None:
        """Where some partitions of the coordinator's log are at hand, say of the others that they are not."""
        for partition in named_partitions(self.capture, TRANSACTION_STATE) if self.state_horizons else ():
            nothing = StateHorizon(partition, -1, -1, -1, is_torn=True, newest=-1, leader_epoch=-1)
            self.state_horizons.setdefault(partition, nothing)

    def _read_partition(self, reading: PartitionReading) -> None:
        code = self.names.partition_code(*reading.key)
        log_start = self._log_start(reading)
        snapshots = self.capture.entries(Kind.SNAPSHOT).get(reading.key, [])
        open_before = [OpenAtStart(*entry) for entry in reading.open_before(log_start, snapshots)]
        folded = fold_partition(reading.batch_windows(), code, open_before)
        self.partitions.append(folded)
        self._note_times(reading, folded)
        self.horizons[code] = self._horizon(code, reading, folded, self._log_start(reading))

    def _note_times(self, reading: PartitionReading, folded: PartitionSpans) -> None:
        broker, client = int(folded.horizon["broker_time"]), int(folded.horizon["create_time"])
        self.newest = max(self.newest, broker, client if reading.topic in INTERNAL else -1)
        self.newest_of_clients = max(self.newest_of_clients, client)

    def _horizon(self, code: int, reading: PartitionReading, folded: PartitionSpans, log_start: int) -> Horizon:
        horizon = folded.horizon
        first_dirty = highest_mark(self.capture, reading.key, "first_dirty")
        compacted = reading.topic in COMPACTED or first_dirty >= 0 or int(horizon["cleaned_batches"]) > 0
        missing, log_end = reading.missing, int(horizon["next_offset"])
        return Horizon(
            partition_code=code,
            topic=reading.topic,
            partition=reading.partition,
            log_start=log_start,
            log_end=log_end,
            high_watermark=highest_mark(self.capture, reading.key, "high_watermarks"),
            first_dirty=first_dirty,
            copies=len({directory.path for directory, _ in reading.segments}),
            is_compacted=compacted,
            has_gaps=any(end <= log_end for _, end in missing) or _lacks_markers(folded, first_dirty),
            is_torn=_is_torn(missing, log_end),
            first_timestamp=int(horizon["first_timestamp"]),
            newest=max(int(horizon["broker_time"]), int(horizon["create_time"])),
            broker_time=int(horizon["broker_time"]),
            plain_records=int(horizon["plain_records"]),
            highest_epoch=int(horizon["highest_epoch"]),
            highest_epoch_producer=int(horizon["highest_epoch_producer"]),
            highest_epoch_offset=int(horizon["highest_epoch_offset"]),
            is_printed=all(item.part is not None for _, item in reading.segments),
        )

    def _log_start(self, reading: PartitionReading) -> int:
        """Lowest log start of the copies.

        That of a copy is its checkpoint's or its first segment's base offset, whichever is higher.
        """
        starts: dict[str, int] = {}
        for directory, item in reading.segments:
            base = max(0, item.base_offset)
            if item.part is not None and item.base_offset < 0:
                base = _first_offset(reading, item)
            starts[directory.path] = min(starts.get(directory.path, base), base)
        marks = {directory.path: directory.log_starts.get(reading.key, 0) for directory, _ in reading.segments}
        return min(max(start, marks[path]) for path, start in starts.items())

    def _close(self, reading: PartitionReading) -> None:
        self.coverage.extend(reading.coverage)
        self.damage.extend(reading.damage)
        self.diverged.extend((reading.topic, path, reading.partition, row) for path, row in reading.diverged)

    def _cover_the_rest(self) -> None:
        """Every file that is no log segment is named too."""
        read = {item.key for copies in self.capture.segments().values() for _, item in copies}
        read |= {item.key for item in self.capture.texts(Kind.TEXT_LOG, Kind.SETTINGS)}
        for directory in self.capture.directories:
            for item in directory.items:
                if item.key not in read:
                    self.coverage.append(coverage_of(self.capture, item, directory.broker_id))
        others = (item for item in self.capture.others if item.key not in read)
        self.coverage.extend(coverage_of(self.capture, item, None) for item in others)
        for entry in self.coverage:
            if entry.kind == Kind.RECORDS.value and entry.status == "noted":
                entry.status, entry.note = "read", "records as a console consumer listed them"
        self.coverage.sort(key=lambda entry: entry.path)

    def _labels(self) -> Labels:
        ids = [value.decode("utf-8", "replace") for value in self.names.transactional_ids.values]
        return Labels(ids, self.names.topic_partitions, self.names.partition_lists)

    def _facts(self, end: int) -> CaptureFacts:
        directories = [directory for directory in self.capture.directories if directory.partitions]
        ids = {directory.broker_id for directory in directories if directory.broker_id is not None}
        modern = any(directory.cluster_id or directory.has_partition_metadata for directory in directories)
        return CaptureFacts(
            self.capture.name,
            self.capture.cluster_id,
            self.capture.fingerprint,
            len(ids) + _unnamed(directories),
            end,
            modern or self.release >= FIRST_TO_RAISE_EPOCH,
            self.release >= FIRST_TO_DESCRIBE_PRODUCERS or any(d.has_partition_metadata for d in directories),
            len(ids),
        )


def _unnamed(directories: list[DataDirectory]) -> int:
    """Directories that may each be of one more broker; what a tool printed of files that are there is of none."""
    held = {key for directory in directories if not directory.is_printed for key in directory.partitions}
    unnamed = [directory for directory in directories if directory.broker_id is None]
    return sum(1 for directory in unnamed if not (directory.is_printed and directory.partitions <= held))


def _first_offset(reading: PartitionReading, item: Item) -> int:
    """First offset that a page without a file's name shows: what lay before it is unknown."""
    return next((entry.first_offset for entry in reading.coverage if entry.path == item.path and entry.first_offset), 0)


def _lacks_markers(folded: PartitionSpans, first_dirty: int) -> bool:
    """Whether data without a marker lie below the first dirty offset.

    The cleaner stops before the first transaction that is open, and leaves markers as long as their data
    (LogCleanerManager.cleanableOffsets): there was a marker, and the files lack it.
    """
    spans = folded.spans
    return bool((((spans["flags"] & OPEN) != 0) & (spans["first_offset"] < first_dirty)).any())


def _is_torn(missing: list[Range], log_end: int) -> bool:
    """Whether the log went on behind what could be read of it."""
    return any(end > max(log_end, 0) for _, end in missing)
