"""One file of a partition's log while it is read: its rows, its coverage, which offsets it gives and which it lost."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kafkatx.evidence.coverage import Coverage
from kafkatx.evidence.item import Item
from kafkatx.evidence.reach import FileReach, Range
from kafkatx.evidence.text_walk import TextWalk
from kafkatx.kernels.batches import CHECK_ALL, CHECK_CONTROL, LOG_OVERHEAD
from kafkatx.kernels.rows import VALID
from kafkatx.segments.batches import NO_LIMIT, Rows, SegmentWalk
from kafkatx.segments.damage import Damage
from kafkatx.segments.entries import producer_states
from kafkatx.segments.names import Names
from kafkatx.segments.transaction_log import StateWalk
from kafkatx.sources.files import OpenFile
from kafkatx.terms.topics import INTERNAL


@dataclass(frozen=True, slots=True)
class Glance:
    """What some consecutive batches of a file say together. Offsets, milliseconds, counts.

    `first`, `last`: the lowest and the highest offset; `newest`: highest time of a record; `unreadable`: offsets of
    batches whose records can't be read.
    """

    first: int
    last: int
    first_timestamp: int
    newest: int
    batches: int
    checked: int
    unreadable: tuple[Range, ...] = ()

    def followed_by(self, other: Glance) -> Glance:
        """Return what both say; `other` lies behind."""
        return Glance(
            self.first, other.last, self.first_timestamp, max(self.newest, other.newest),
            self.batches + other.batches, self.checked + other.checked, (*self.unreadable, *other.unreadable),
        )  # fmt: skip


def glance(rows: Rows, unreadable: Sequence[Range] = ()) -> Glance:
    """Look at batches (kernels.rows.BATCH; at least one)."""
    return Glance(
        int(rows["base_offset"][0]), int(rows["last_offset"][-1]), int(rows["max_timestamp"][0]),
        int(rows["max_timestamp"].max()), len(rows), int(np.count_nonzero(rows["crc_valid"] == VALID)),
        tuple(unreadable),
    )  # fmt: skip


@dataclass(slots=True)
class Ending:
    """How the walk over a file ended."""

    damage: list[Damage] = field(default_factory=list)
    torn: bool = False
    preallocated: int = 0


@dataclass(slots=True)
class FileReading:
    """One file while it is read.

    What it was given as, what is told of it, and above which offset it can't go (NO_LIMIT: anywhere).
    """

    item: Item
    entry: Coverage
    reach: FileReach
    limit: int
    verify_all: bool = False
    damage: list[Damage] = field(default_factory=list)

    @contextlib.contextmanager
    def opened(self) -> Iterator[OpenFile | None]:
        """The file open, or None with the reason in its coverage."""
        try:
            file = OpenFile(self.item.path)
        except OSError as error:
            self.refuse(error.strerror)
            yield None
            return
        with file:
            yield file

    def refuse(self, problem: str | None) -> None:
        """Note that the file can't be opened."""
        self.entry.status, self.entry.note = "unreadable", problem
        self.reach.break_off(self.known_limit)

    def batch_rows(self) -> Iterator[Rows]:
        """Batches (kernels.rows.BATCH) in offset order."""
        with self.opened() as file:
            if file is not None and self.item.part is not None:
                yield from self._of_text(TextWalk(file, self.item.part), self._printed_batches)
            elif file is not None:
                walk = self.batch_walk(file)
                for chunk in walk.chunks():
                    self.note(glance(chunk.rows), len(walk.damage))
                    yield chunk.rows
                self.end(Ending(walk.damage, walk.torn, walk.preallocated))

    def state_rows(self, names: Names) -> Iterator[Rows]:
        """Coordinator rows (kernels.rows.STATE) in offset order, named by `names`."""
        with self.opened() as file:
            if file is not None and self.item.part is not None:
                yield from self._of_text(TextWalk(file, self.item.part), lambda walk: self._printed_states(walk, names))
            elif file is not None:
                walk = self.state_walk(file, names)
                seen = 0
                for batches, rows in walk.state_chunks():
                    self.note(glance(batches, walk.unreadable[seen:]), _stretches(walk.damage))
                    seen = len(walk.unreadable)
                    if len(rows):
                        yield rows
                self.end(Ending(walk.damage, walk.torn, walk.preallocated))

    def batch_walk(self, file: OpenFile, **part: Any) -> SegmentWalk:
        """Return the walk over the batches; `part` (start, stop, fit, stretch_bytes) limits it to a stretch."""
        check = CHECK_ALL if self.verify_all or self.item.topic in INTERNAL else CHECK_CONTROL
        return SegmentWalk(file, check=check, first_offset=self._begin, offset_limit=self.limit, **part)

    def state_walk(self, file: OpenFile, names: Names, **part: Any) -> StateWalk:
        """Return the walk over the coordinator's rows; `part` as in `batch_walk`."""
        return StateWalk(file, names, first_offset=self._begin, offset_limit=self.limit, **part)

    def _of_text(self, walk: TextWalk, rows_of: Any) -> Iterator[Rows]:
        """Rows of a part of a text. Where it is not whole, something may have stood behind its last row."""
        yield from (rows for rows in rows_of(walk) if len(rows))
        self.end(Ending(walk.damage, walk.torn, walk.preallocated))
        self.entry.note = walk.note or self.entry.note
        if walk.ends_open:
            self.reach.break_off(None)

    def _printed_batches(self, walk: TextWalk) -> Iterator[Rows]:
        bad = 0
        for rows, telling in walk.told():
            bad = self._note_printed(rows, walk, bad)
            yield telling

    def _printed_states(self, walk: TextWalk, names: Names) -> Iterator[Rows]:
        """Coordinator rows of a text; their batches are only noted."""
        bad = 0
        for batches, states in walk.states(names):
            bad = self._note_printed(batches, walk, bad)
            yield states

    def _note_printed(self, rows: Rows, walk: TextWalk, bad: int) -> int:
        """Note some rows of a text. Where lines among them can't be read they all count as lost."""
        entries = len(walk.damage) - _stretches(walk.damage)
        seen = glance(rows)
        lost = [(seen.first, seen.last + 1)] if entries > bad else []
        self.note(glance(rows, lost), _stretches(walk.damage))
        return entries

    def note(self, seen: Glance, stretches: int) -> None:
        """Carry coverage and reach over batches; `stretches` of damage were met in the file so far."""
        entry = self.entry
        self.reach.note(seen.first, seen.last + 1, stretches, seen.unreadable)
        if entry.first_offset is None:
            entry.first_offset, entry.first_timestamp = seen.first, seen.first_timestamp
        entry.last_offset = seen.last
        entry.last_timestamp = max(entry.last_timestamp or seen.newest, seen.newest)
        entry.batches += seen.batches
        entry.checked_batches += seen.checked
        entry.status = "read"

    def end(self, ended: Ending) -> None:
        """Say in the coverage how the file ended."""
        entry, entry.preallocated = self.entry, ended.preallocated
        self.damage.extend(ended.damage)
        whole_damage = [damage for damage in ended.damage if damage.kind != "torn"]
        if whole_damage:
            where = f"first at position {whole_damage[0].position:,}"
            entry.status, entry.note = "damaged", f"{len(whole_damage)} unreadable stretches, {where}"
        elif ended.torn:
            entry.status, entry.note = "torn", f"the last {ended.damage[-1].bytes:,} bytes are no whole batch"
        elif not entry.batches:
            entry.status = "empty"
        elif ended.preallocated:
            entry.note = f"{ended.preallocated:,} preallocated bytes at the end"
        if ended.torn or 0 < ended.preallocated < LOG_OVERHEAD:  # few zeros may be the offset that a batch begins with
            self.reach.break_off(self.known_limit)

    @property
    def known_limit(self) -> int | None:
        """The offset that the file can't reach, None where nothing says so."""
        return None if self.limit == NO_LIMIT else self.limit

    @property
    def _begin(self) -> int:
        return max(0, self.item.base_offset)


def _stretches(damage: list[Damage]) -> int:
    """Stretches of bytes that could not be read; records that are none are no such stretch."""
    return sum(one.kind != "entry" for one in damage)


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


def first_possible_offset(item: Item) -> int:
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
