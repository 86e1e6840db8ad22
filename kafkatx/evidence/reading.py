"""One partition of a capture, all copies merged.

Windows of batches or coordinator rows, and what was met on the way.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.coverage import Coverage, coverage_of
from kafkatx.evidence.directories import DataDirectory, Partition
from kafkatx.evidence.item import Item
from kafkatx.evidence.reach import FileReach, Holes, Range, left_over
from kafkatx.evidence.text_walk import TextWalk
from kafkatx.kernels.batches import CHECK_ALL, CHECK_CONTROL, LOG_OVERHEAD
from kafkatx.kernels.rows import VALID
from kafkatx.segments.batches import NO_LIMIT, Rows, SegmentWalk
from kafkatx.segments.damage import Damage
from kafkatx.segments.entries import producer_states
from kafkatx.segments.merging import BATCH_SHAPE, STATE_SHAPE, Merge, Shape, Stream
from kafkatx.segments.names import Names
from kafkatx.segments.transaction_log import StateWalk
from kafkatx.sources.files import OpenFile
from kafkatx.terms.topics import INTERNAL

MAGIC = 2


@dataclass(slots=True)
class PartitionReading:
    """One pass over all copies of a partition; complete when the windows are exhausted.

    Below `explained_below` the cleaner may have removed offsets; `known_end` is how far the log reached at least, by
    what other files say (checkpoints, names of segments and snapshots).
    """

    capture: Capture
    topic: str
    partition: int
    segments: list[tuple[DataDirectory, Item]]
    verify_all: bool = False
    explained_below: int = 0
    known_end: int = -1
    coverage: list[Coverage] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)
    diverged: list[tuple[str, Rows]] = field(default_factory=list)
    holes: Holes = field(default_factory=lambda: Holes(0, -1))
    reaches: list[FileReach] = field(default_factory=list)
    set_aside: set[int] = field(default_factory=set)

    @property
    def key(self) -> Partition:
        """(topic, partition)."""
        return self.topic, self.partition

    def batch_windows(self) -> Iterator[Rows]:
        """Batches (kernels.rows.BATCH) in offset order, each once."""
        return self._merged(BATCH_SHAPE, self._batch_rows)

    def state_windows(self, names: Names) -> Iterator[Rows]:
        """Coordinator rows (kernels.rows.STATE) in offset order, each once."""
        return self._merged(STATE_SHAPE, lambda given: self._state_rows(given, names))

    @property
    def missing(self) -> list[Range]:
        """Offsets that must have been in the log and that no file at hand gives, in order; known when all is read.

        They are holes that compaction can't explain, what damage took that no other copy has, and what lay behind the
        end of the files.
        """
        trusted = [reach for reach in self.reaches if reach.source not in self.set_aside]
        lost = left_over(
            [stretch for reach in self.reaches for stretch in reach.lost],
            [part for reach in trusted for part in reach.read],
        )
        tail = [(self.holes.end, self.known_end)] if self.known_end > max(self.holes.end, 0) else []
        return sorted([*self.holes.ranges, *lost, *tail])

    def _merged(self, shape: Shape, rows_of: Callable[[_File], Iterator[Rows]]) -> Iterator[Rows]:
        streams, paths = [], []
        for number, file in enumerate(self._files()):
            paths.append(file.item.path)
            streams.append(Stream(_first_offset(file.item), number, partial(rows_of, file)))
        self.holes = Holes(self.explained_below, min((reach.begin for reach in self.reaches), default=-1))
        merge = Merge(shape, streams)
        for rows in merge.windows():
            self.holes.feed(rows[shape.offset], rows[shape.last_offset], _means_its_offset(rows))
            yield rows
        self.set_aside.update(source for source, _ in merge.diverged)
        self.diverged.extend((paths[source], row) for source, row in merge.diverged)
        self.damage.extend(_divergence(path, rows, shape) for path, rows in _by_path(self.diverged).items())

    def _files(self) -> Iterator[_File]:
        limits = offset_limits([item for _, item in self.segments])
        for number, (directory, item) in enumerate(self.segments):
            entry = coverage_of(self.capture, item, directory.broker_id)
            reach = FileReach(number, item.base_offset)
            self.coverage.append(entry)
            self.reaches.append(reach)
            yield _File(item, entry, reach, limits[item.key])

    def _batch_rows(self, given: _File) -> Iterator[Rows]:
        if given.item.part is not None:
            yield from self._text_rows(given, partial(_noted_batches, given))
            return
        check = CHECK_ALL if self.verify_all or self.topic in INTERNAL else CHECK_CONTROL
        with given.opened() as file:
            if file is not None:
                walk = SegmentWalk(
                    file, check=check, first_offset=max(0, given.item.base_offset), offset_limit=given.limit
                )
                for chunk in walk.chunks():
                    given.note(chunk.rows, walk)
                    yield chunk.rows
                self.damage.extend(given.end(walk))

    def _state_rows(self, given: _File, names: Names) -> Iterator[Rows]:
        if given.item.part is not None:
            yield from self._text_rows(given, partial(_noted_states, given, names))
            return
        with given.opened() as file:
            if file is not None:
                first_offset = max(0, given.item.base_offset)
                walk = StateWalk(file, names, first_offset=first_offset, offset_limit=given.limit)
                for batches, rows in walk.state_chunks():
                    given.note(batches, walk)
                    if len(rows):
                        yield rows
                self.damage.extend(given.end(walk))

    def _text_rows(self, given: _File, rows_of: Callable[[TextWalk], Iterator[Rows]]) -> Iterator[Rows]:
        """Rows of a part of a text. Where it is not whole, something may have stood behind its last row."""
        with given.opened() as file:
            if file is not None and given.item.part is not None:
                walk = TextWalk(file, given.item.part)
                yield from (rows for rows in rows_of(walk) if len(rows))
                self.damage.extend(given.end(walk))
                given.entry.note = walk.note or given.entry.note
                if walk.ends_open:
                    given.reach.break_off(None)

    def open_before(self, offset: int, snapshots: list[Item]) -> list[tuple[int, int, int, int]]:
        """Transactions that snapshots show open since before `offset`.

        (producer id, epoch, first offset, last time).
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
            if item.part is not None:
                from kafkatx.text.dump.reading import producer_entries

                printed = producer_entries(file, item.part)
                return printed.rows, printed.damage
            return producer_states(item.path, file.read(0, file.size))
    except OSError as error:
        unreadable = Damage("unreadable", item.path, 0, item.size, "a readable file", str(error.strerror))
        return producer_states(item.path, b"")[0], [unreadable]


@dataclass(slots=True)
class _File:
    """One file while it is read: what it was given as, what is told of it, and above which offset it can't go."""

    item: Item
    entry: Coverage
    reach: FileReach
    limit: int
    _bad_entries: int = 0

    @contextlib.contextmanager
    def opened(self) -> Iterator[OpenFile | None]:
        """The file open, or None with the reason in its coverage."""
        try:
            file = OpenFile(self.item.path)
        except OSError as error:
            self.entry.status, self.entry.note = "unreadable", error.strerror
            self.reach.break_off(self._known_limit)
            yield None
            return
        with file:
            yield file

    def note(self, rows: Rows, walk: SegmentWalk | TextWalk) -> None:
        """Carry coverage and reach over a chunk."""
        entry, bad_entries = self.entry, sum(damage.kind == "entry" for damage in walk.damage)
        first, last = int(rows["base_offset"][0]), int(rows["last_offset"][-1])
        stretches, is_bad = len(walk.damage) - bad_entries, bad_entries > self._bad_entries
        self.reach.note(first, last + 1, stretches, has_bad_records=is_bad)
        self._bad_entries = bad_entries
        if entry.first_offset is None:
            entry.first_offset, entry.first_timestamp = first, int(rows["max_timestamp"][0])
        entry.last_offset = last
        newest = int(rows["max_timestamp"].max())
        entry.last_timestamp = max(entry.last_timestamp or newest, newest)
        entry.batches += len(rows)
        entry.checked_batches += int(np.count_nonzero(rows["crc_valid"] == VALID))
        entry.status = "read"

    def end(self, walk: SegmentWalk | TextWalk) -> list[Damage]:
        """Say in the coverage how the file ended; returns its damage."""
        entry, entry.preallocated = self.entry, walk.preallocated
        whole_damage = [damage for damage in walk.damage if damage.kind != "torn"]
        if whole_damage:
            where = f"first at position {whole_damage[0].position:,}"
            entry.status, entry.note = "damaged", f"{len(whole_damage)} unreadable stretches, {where}"
        elif walk.torn:
            entry.status, entry.note = "torn", f"the last {walk.damage[-1].bytes:,} bytes are no whole batch"
        elif not entry.batches:
            entry.status = "empty"
        elif walk.preallocated:
            entry.note = f"{walk.preallocated:,} preallocated bytes at the end"
        if walk.torn or 0 < walk.preallocated < LOG_OVERHEAD:  # few zeros may be the offset that a batch begins with
            self.reach.break_off(self._known_limit)
        return walk.damage

    @property
    def _known_limit(self) -> int | None:
        return None if self.limit == NO_LIMIT else self.limit


def _noted_batches(given: _File, walk: TextWalk) -> Iterator[Rows]:
    for rows, telling in walk.told():
        given.note(rows, walk)
        yield telling


def _noted_states(given: _File, names: Names, walk: TextWalk) -> Iterator[Rows]:
    """Coordinator rows of a text; their batches are only noted."""
    for batches, states in walk.states(names):
        given.note(batches, walk)
        yield states


def _by_path(diverged: list[tuple[str, Rows]]) -> dict[str, list[Rows]]:
    found: dict[str, list[Rows]] = {}
    for path, row in diverged:
        found.setdefault(path, []).append(row)
    return found


def _divergence(path: str, rows: list[Rows], shape: Shape) -> Damage:
    """One entry for what one file holds against the log that stands."""
    begin, last = min(int(row["position"]) for row in rows), max(rows, key=lambda row: int(row["position"]))
    end = int(last["position"]) + (int(last["size"]) if "size" in (last.dtype.names or ()) else 0)
    epochs = sorted({int(row["leader_epoch"]) for row in rows})
    first, behind = min(int(row[shape.offset]) for row in rows), max(int(row[shape.last_offset]) for row in rows)
    found = f"others at offsets {first} to {behind}, of leader epoch {' and '.join(map(str, epochs[:3]))}"
    return Damage("diverged", path, begin, max(end - begin, 0), "the batches of the log that stands", found)


def _means_its_offset(rows: Rows) -> Any:
    """Which rows begin at their offset: a message of magic 0 or 1 may be a wrapper that shows its last one."""
    return rows["magic"] == MAGIC if "magic" in (rows.dtype.names or ()) else np.ones(len(rows), bool)


def _first_offset(item: Item) -> int:
    """Lowest offset a file can begin at: its name's, or any where the name has none."""
    return item.base_offset if item.base_offset >= 0 else -(1 << 62)


def offset_limits(items: list[Item]) -> dict[str, int]:
    """By key: the base offset of the next segment in the same folder, above which the file can't go."""
    folders: dict[str, list[Item]] = {}
    for item in items:
        folders.setdefault(item.data_directory if item.part else item.path.rpartition("/")[0], []).append(item)
    limits: dict[str, int] = {}
    for folder in folders.values():
        folder.sort(key=lambda item: item.base_offset)
        for item, behind in zip(folder, [*folder[1:], None], strict=True):
            known = behind is not None and item.base_offset >= 0 and behind.base_offset > item.base_offset
            limits[item.key] = behind.base_offset if known and behind is not None else NO_LIMIT
    return limits
