"""One partition of a capture, all copies merged: windows of batches or coordinator rows, and what was met on the
way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.coverage import Coverage, coverage_of
from kafkatx.evidence.directories import DataDirectory, Partition
from kafkatx.evidence.inventory import Item, Kind
from kafkatx.kernels.batches import CHECK_ALL, CHECK_CONTROL
from kafkatx.kernels.rows import VALID
from kafkatx.segments.batches import NO_LIMIT, Rows, SegmentWalk
from kafkatx.segments.damage import Damage
from kafkatx.segments.entries import producer_states
from kafkatx.segments.merging import BATCH_SHAPE, STATE_SHAPE, Merge, Shape, Stream
from kafkatx.segments.names import Names
from kafkatx.segments.transaction_log import StateWalk
from kafkatx.sources.files import OpenFile
from kafkatx.terms.topics import INTERNAL


@dataclass(slots=True)
class PartitionReading:
    """One pass over all copies of a partition; complete when the windows are exhausted."""

    capture: Capture
    topic: str
    partition: int
    segments: list[tuple[DataDirectory, Item]]
    verify_all: bool = False
    coverage: list[Coverage] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)
    diverged: list[tuple[str, Rows]] = field(default_factory=list)
    torn_ends: list[int] = field(default_factory=list)
    damaged_offsets: list[int] = field(default_factory=list)
    holes: int = 0

    @property
    def key(self) -> Partition:
        """(topic, partition)."""
        return self.topic, self.partition

    def batch_windows(self) -> Iterator[Rows]:
        """Batches (kernels.rows.BATCH) in offset order, each once."""
        return self._merged(BATCH_SHAPE, self._batch_rows)

    def state_windows(self, names: Names) -> Iterator[Rows]:
        """Coordinator rows (kernels.rows.STATE) in offset order, each once."""
        return self._merged(STATE_SHAPE, lambda item, limit, entry: self._state_rows(item, limit, entry, names))

    def _merged(self, shape: Shape, rows_of: Callable[[Item, int, Coverage], Iterator[Rows]]) -> Iterator[Rows]:
        limits = offset_limits([item for _, item in self.segments])
        streams, paths = [], []
        for number, (directory, item) in enumerate(self.segments):
            entry = coverage_of(self.capture, item, directory.broker_id)
            self.coverage.append(entry)
            paths.append(item.path)
            begin = _beginner(rows_of, item, limits[item.path], entry)
            streams.append(Stream(_first_offset(item), number, begin))
        merge = Merge(shape, streams)
        yield from merge.windows()
        self.diverged.extend((paths[source], row) for source, row in merge.diverged)

    def _batch_rows(self, item: Item, limit: int, entry: Coverage) -> Iterator[Rows]:
        check = CHECK_ALL if self.verify_all or self.topic in INTERNAL else CHECK_CONTROL
        with _opened(item, entry) as file:
            if file is not None:
                walk = SegmentWalk(file, check=check, first_offset=max(0, item.base_offset), offset_limit=limit)
                for chunk in walk.chunks():
                    self._note(entry, chunk.rows)
                    yield chunk.rows
                self._end(entry, walk)

    def _state_rows(self, item: Item, limit: int, entry: Coverage, names: Names) -> Iterator[Rows]:
        with _opened(item, entry) as file:
            if file is not None:
                walk = StateWalk(file, names, first_offset=max(0, item.base_offset), offset_limit=limit)
                for batches, rows in walk.state_chunks():
                    self._note(entry, batches)
                    if len(rows):
                        yield rows
                self._end(entry, walk)

    def _note(self, entry: Coverage, rows: Rows) -> None:
        """Carry a file's coverage over a chunk; counts holes that damage doesn't explain (traces of compaction)."""
        expected = np.empty(len(rows), np.int64)
        expected[1:] = rows["last_offset"][:-1] + 1
        expected[0] = rows["base_offset"][0] if entry.last_offset is None else entry.last_offset + 1
        modern = rows["magic"] == 2
        self.holes += int(np.count_nonzero((rows["base_offset"] > expected) & modern))
        if entry.first_offset is None:
            entry.first_offset, entry.first_timestamp = int(rows["base_offset"][0]), int(rows["max_timestamp"][0])
        entry.last_offset = int(rows["last_offset"][-1])
        newest = int(rows["max_timestamp"].max())
        entry.last_timestamp = max(entry.last_timestamp or newest, newest)
        entry.batches += len(rows)
        entry.checked_batches += int(np.count_nonzero(rows["crc_valid"] == VALID))
        entry.status = "read"

    def _end(self, entry: Coverage, walk: SegmentWalk) -> None:
        self.damage.extend(walk.damage)
        entry.preallocated = walk.preallocated
        whole_damage = [damage for damage in walk.damage if damage.kind != "torn"]
        self.holes -= len(whole_damage)
        if whole_damage:
            entry.status, entry.note = (
                "damaged",
                f"{len(whole_damage)} unreadable stretches, first at position {whole_damage[0].position:,}",
            )
        elif walk.torn:
            entry.status, entry.note = "torn", f"the last {walk.damage[-1].bytes:,} bytes are no whole batch"
        elif not entry.batches:
            entry.status = "empty"
        elif walk.preallocated:
            entry.note = f"{walk.preallocated:,} preallocated bytes at the end"
        if walk.torn or whole_damage:
            self.torn_ends.append(
                (entry.last_offset if entry.last_offset is not None else _first_offset_of(entry) - 1) + 1
            )

    def open_before(self, offset: int, snapshots: list[Item]) -> list[tuple[int, int, int, int]]:
        """Transactions that snapshots show open since before `offset`: (producer id, epoch, first offset, last
        time).
        """
        found: list[tuple[int, int, int, int]] = []
        for item in snapshots:
            data, damage = snapshot_entries(item)
            self.damage.extend(damage)
            if item.base_offset >= offset:
                chosen = data[(data["open_since_offset"] >= 0) & (data["open_since_offset"] < offset)]
                found.extend(
                    (
                        int(row["producer_id"]),
                        int(row["producer_epoch"]),
                        int(row["open_since_offset"]),
                        int(row["timestamp"]),
                    )
                    for row in chosen
                )
        return found


def snapshot_entries(item: Item) -> tuple[Rows, list[Damage]]:
    """Entries (segments.entries.PRODUCER) of a .snapshot file, none where it is damaged or can't be read."""
    try:
        with OpenFile(item.path) as file:
            return producer_states(item.path, file.read(0, file.size))
    except OSError as error:
        unreadable = Damage("unreadable", item.path, 0, item.size, "a readable file", str(error.strerror))
        return producer_states(item.path, b"")[0], [unreadable]


def _beginner(
    rows_of: Callable[[Item, int, Coverage], Iterator[Rows]], item: Item, limit: int, entry: Coverage
) -> Callable[[], Iterator[Rows]]:
    return lambda: rows_of(item, limit, entry)


class _opened:
    """An open file, or None with the reason in its coverage."""

    def __init__(self, item: Item, entry: Coverage) -> None:
        self.item, self.entry = item, entry
        self.file: OpenFile | None = None

    def __enter__(self) -> OpenFile | None:
        try:
            self.file = OpenFile(self.item.path)
        except OSError as error:
            self.entry.status, self.entry.note = "unreadable", error.strerror
        return self.file

    def __exit__(self, *_: object) -> None:
        if self.file is not None:
            self.file.close()


def _first_offset(item: Item) -> int:
    """Lowest offset a file can begin at: its name's, or any where the name has none."""
    return item.base_offset if item.base_offset >= 0 else -(1 << 62)


def _first_offset_of(entry: Coverage) -> int:
    return entry.first_offset if entry.first_offset is not None else 0


def offset_limits(items: list[Item]) -> dict[str, int]:
    """By path: the base offset of the next segment in the same folder, above which the file can't go."""
    folders: dict[str, list[Item]] = {}
    for item in items:
        folders.setdefault(item.path.rpartition("/")[0], []).append(item)
    limits: dict[str, int] = {}
    for folder in folders.values():
        folder.sort(key=lambda item: item.base_offset)
        for item, behind in zip(folder, [*folder[1:], None], strict=True):
            known = behind is not None and item.base_offset >= 0 and behind.base_offset > item.base_offset
            limits[item.path] = behind.base_offset if known and behind is not None else NO_LIMIT
    return limits
