"""One partition of a capture, all copies merged.

Windows of batches or coordinator rows, and what was met on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from functools import partial
from typing import Any

import numpy as np

from kafkatx.evidence.directories import Partition
from kafkatx.evidence.extents import first_possible_offset
from kafkatx.evidence.file_entries import small_file
from kafkatx.evidence.file_reading import FileReading
from kafkatx.evidence.item import Item, Kind
from kafkatx.evidence.offset_coverage import Holes, Range, left_over
from kafkatx.evidence.plans import PartitionPlan
from kafkatx.evidence.run_copies import original
from kafkatx.segments.batches import NO_LIMIT, Rows
from kafkatx.segments.damage import Damage
from kafkatx.segments.merging import BATCH_SHAPE, STATE_SHAPE, Merge, RowShape, Stream, in_order
from kafkatx.segments.names import Names
from kafkatx.terms.records import dataclass

MAGIC = 2


@dataclass(slots=True)
class PartitionReading:
    """One pass over all copies of a partition; complete when the windows are exhausted.

    `files` are the readings of the plan's files, in their order; `names` those of the coordinator's rows;
    `entries_of` reads a .snapshot or another small file, or knows what was read of it.
    """

    plan: PartitionPlan
    entries_of: Callable[[Item], tuple[Rows, list[Damage]]] = small_file
    names: Names = field(default_factory=Names)
    files: list[FileReading] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)
    diverged: list[tuple[str, Rows]] = field(default_factory=list)
    holes: Holes = field(default_factory=lambda: Holes(0, -1))
    set_aside: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.files = self.plan.readings()

    @property
    def key(self) -> Partition:
        """(topic, partition)."""
        return self.plan.key

    def streams(self) -> list[Stream]:
        """The files as streams of batches, or of coordinator rows, each opened when the merge reaches it."""

        def rows_of(file: FileReading) -> Iterator[Rows]:
            return file.state_rows(self.names) if self.plan.is_state_log else file.batch_rows()

        return in_order(
            Stream(first_possible_offset(file.item), number, partial(rows_of, file))
            for number, file in enumerate(self.files)
        )

    def windows(self, streams: Iterable[Stream]) -> Iterator[Rows]:
        """Rows of dtype BATCH, or STATE of the coordinator's log, in offset order, each once.

        `streams` come in order of the offset they begin at; the source of each numbers a file.
        """
        shape = STATE_SHAPE if self.plan.is_state_log else BATCH_SHAPE
        self.holes = Holes(self.plan.explained_below, min((one.reach.begin for one in self.files), default=-1))
        merge = Merge(shape, streams)
        for rows in merge.windows():
            self.holes.feed(rows[shape.offset], rows[shape.last_offset], partial(_means_its_offset, rows))
            yield rows
        self._close(merge, shape)

    def _close(self, merge: Merge, shape: RowShape) -> None:
        self.set_aside.update(source for source, _ in merge.diverged)
        self.diverged.extend((self.files[source].item.path, row) for source, row in merge.diverged)
        for file in self.files:
            self.damage.extend(file.damage)
        self.damage.extend(_divergence(path, rows, shape) for path, rows in _by_path(self.diverged).items())

    @property
    def missing(self) -> list[Range]:
        """Offsets that must have been in the log and that no file at hand gives, in order; known when all is read.

        They are holes that compaction can't explain, what damage took that no other copy has, segments that nobody
        read, and what lay behind the end of the files.
        """
        reaches = [file.reach for file in self.files]
        trusted = [reach for reach in reaches if reach.source not in self.set_aside]
        lost = left_over(
            [*self.plan.left_unread(), *(stretch for reach in reaches for stretch in reach.lost)],
            [part for reach in trusted for part in reach.read],
        )
        known_end = self.plan.known_end
        tail = [(self.holes.end, known_end)] if known_end > max(self.holes.end, 0) else []
        return sorted([*self.holes.ranges, *lost, *tail])

    def open_before(self, offset: int) -> list[tuple[int, int, int, int]]:
        """Transactions that snapshots show open since before `offset`.

        (producer id, epoch, first offset, last time).
        """
        found: list[tuple[int, int, int, int]] = []
        for item in self.plan.snapshots:
            data, damage = self.entries_of(item)
            self.damage.extend(damage)
            if item.base_offset >= offset:
                chosen = data[(data["open_since_offset"] >= 0) & (data["open_since_offset"] < offset)]
                names = ("producer_id", "producer_epoch", "open_since_offset", "timestamp")
                found.extend(zip(*(chosen[name].tolist() for name in names), strict=True))
        return found

    def aborted_entries(self) -> Iterator[tuple[int, int, Rows]]:
        """Yield where the segment of each .txnindex begins and ends, and its entries; none where copies contradict."""
        indexes = [item for item in self.plan.beside if item.kind is Kind.TXNINDEX and item.size]
        for item in () if self.set_aside else indexes:
            mine = original(item.data_directory)
            beside = [file.item.base_offset for file in self.plan.files if original(file.directory) == mine]
            if item.base_offset in beside:
                end = min((base for base in beside if base > item.base_offset), default=NO_LIMIT)
                yield item.base_offset, end, self.entries_of(item)[0]

    @property
    def deleted_below(self) -> int:
        """Offset below which a broker said that it has deleted the log, 0 where nothing says so.

        When a log's start moves the earliest leader epoch is made to begin there: nothing below is left.
        """
        epochs = [self.entries_of(item)[0] for item in self.plan.beside if item.kind is Kind.LEADER_EPOCHS]
        starts = [int(rows["start_offset"][0]) for rows in epochs if len(rows)]
        return max([0, *self.plan.log_starts.values(), *starts])


def _by_path(diverged: list[tuple[str, Rows]]) -> dict[str, list[Rows]]:
    found: dict[str, list[Rows]] = {}
    for path, row in diverged:
        found.setdefault(path, []).append(row)
    return found


def _divergence(path: str, rows: list[Rows], shape: RowShape) -> Damage:
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
