"""One file of a partition's log while it is read: its rows, its coverage, which offsets it gives and which it lost."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kafkatx.evidence.coverage import Coverage
from kafkatx.evidence.extents import WHOLE, Extent
from kafkatx.evidence.item import Item, Kind
from kafkatx.evidence.offset_coverage import FileReach, Range
from kafkatx.evidence.text_walk import TextWalk
from kafkatx.kernels.batches import CHECK_ALL, CHECK_CONTROL, LOG_OVERHEAD
from kafkatx.kernels.rows import VALID
from kafkatx.segments.batches import NO_LIMIT, Chunk, Rows, SegmentWalk
from kafkatx.segments.damage import Damage
from kafkatx.segments.names import Names
from kafkatx.segments.transaction_log import StateWalk
from kafkatx.sources.files import OpenFile
from kafkatx.terms.records import dataclass
from kafkatx.terms.topics import CLUSTER_METADATA, CONSUMER_OFFSETS, INTERNAL, TRANSACTION_STATE

if TYPE_CHECKING:
    from kafkatx.segments.metadata_log import MetadataChunk
    from kafkatx.segments.offset_commits import CommitChunk
    from kafkatx.segments.records import RecordChunk, RecordWalk


@dataclass(frozen=True, slots=True)
class BatchSummary:
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

    def followed_by(self, other: BatchSummary) -> BatchSummary:
        """Return what both say; `other` lies behind."""
        return BatchSummary(
            self.first, other.last, self.first_timestamp, max(self.newest, other.newest),
            self.batches + other.batches, self.checked + other.checked, (*self.unreadable, *other.unreadable),
        )  # fmt: skip


def glance(rows: Rows, unreadable: Sequence[Range] = ()) -> BatchSummary:
    """Look at batches (kernels.rows.BATCH; at least one)."""
    return BatchSummary(
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
    def opened(self, extent: Extent = WHOLE) -> Iterator[OpenFile | None]:
        """The file open, or None with the reason in its coverage; what was appended behind the extent is not there."""
        try:
            file = OpenFile(self.item.path)
        except OSError as error:
            self.refuse(error.strerror)
            yield None
            return
        with file:
            extent.cut_off(file)
            yield file

    def refuse(self, problem: str | None) -> None:
        """Note that the file can't be opened."""
        self.entry.status, self.entry.note = "unreadable", problem
        self.reach.break_off(self.known_limit)

    def batch_rows(self) -> Iterator[Rows]:
        """Batches (kernels.rows.BATCH) in offset order; those of a text that say enough."""
        return (telling for _, telling in self.batches() if len(telling))

    def state_rows(self, names: Names) -> Iterator[Rows]:
        """Coordinator rows (kernels.rows.STATE) in offset order, named by `names`."""
        return (rows for _, rows in self.states(names) if len(rows))

    def batches(self, extent: Extent = WHOLE) -> Iterator[tuple[Rows, Rows]]:
        """Batches in offset order, and those of them that say whose they are and what: all that no tool printed."""
        return self._read(extent, TextWalk.told, lambda file: self.batch_walk(file, extent), batches_of)

    def states(self, names: Names, extent: Extent = WHOLE) -> Iterator[tuple[Rows, Rows]]:
        """Batches in offset order, and the coordinator rows in them, named by `names`."""
        return self._read(
            extent,
            lambda walk: walk.states(names),
            lambda file: self.state_walk(file, names, extent),
            StateWalk.state_chunks,
        )

    def records(self, extent: Extent = WHOLE) -> Iterator[tuple[Rows, Iterator[RecordChunk]]]:
        """Batches of a segment in offset order, and the records in them, to be taken before the next batches."""
        from kafkatx.segments.records import RecordWalk  # walks over records load what declares them, and codecs

        return self._decoded(extent, RecordWalk, RecordWalk.chunks_of, self._check)

    def commits(self, extent: Extent = WHOLE) -> Iterator[tuple[Rows, Iterator[CommitChunk]]]:
        """Batches of a segment of `__consumer_offsets`, and the commits in them, as of `records`."""
        from kafkatx.segments.offset_commits import CommitWalk

        return self._decoded(extent, CommitWalk, CommitWalk.commits_of, CHECK_ALL)

    def metadata(self, extent: Extent = WHOLE) -> Iterator[tuple[Rows, Iterator[MetadataChunk]]]:
        """Batches of a segment or snapshot of `__cluster_metadata`, and the records in them, as of `records`."""
        from kafkatx.segments.metadata_log import MetadataWalk

        return self._decoded(extent, MetadataWalk, MetadataWalk.records_of, CHECK_ALL)

    def whole(self, extent: Extent = WHOLE) -> Iterator[Rows]:
        """Batches in offset order, with all in them read that may be damaged: records of internal topics, too."""
        return (rows for rows, _ in self._whole(replace(extent, since=None)))

    def _whole(self, extent: Extent) -> Iterator[tuple[Rows, Any]]:
        topic, is_printed = self.item.topic, self.item.part is not None
        if topic == TRANSACTION_STATE:
            return self.states(Names(), extent)
        if topic == CONSUMER_OFFSETS and not is_printed:
            return self.commits(extent)
        if (topic == CLUSTER_METADATA or self.item.kind is Kind.METADATA_SNAPSHOT) and not is_printed:
            return self.metadata(extent)
        return self.batches(extent)

    def batch_walk(self, file: OpenFile, extent: Extent = WHOLE) -> SegmentWalk:
        """Return the walk over the batches."""
        return SegmentWalk(file, check=self._check, **self._options(extent))

    def state_walk(self, file: OpenFile, names: Names, extent: Extent = WHOLE) -> StateWalk:
        """Return the walk over the coordinator's rows."""
        return StateWalk(file, names, **self._options(extent))

    def _options(self, extent: Extent) -> dict[str, Any]:
        return {"first_offset": max(0, self.item.base_offset), "offset_limit": self.limit, **extent.options()}

    @property
    def _check(self) -> int:
        return CHECK_ALL if self.verify_all or self.item.topic in INTERNAL else CHECK_CONTROL

    def _decoded(
        self, extent: Extent, kind: type[RecordWalk], parts_of: Callable[[Any, Chunk], Iterator[Any]], check: int
    ) -> Iterator[tuple[Rows, Iterator[Any]]]:
        """Batches with what a kind of walk makes of their records; what nobody takes is read all the same."""

        def read(walk: SegmentWalk) -> Iterator[tuple[Rows, Iterator[Any]]]:
            for chunk in walk.chunks():
                parts = parts_of(walk, extent.chosen(chunk))
                yield chunk.rows, parts
                deque(parts, maxlen=0)

        def walk_of(file: OpenFile) -> RecordWalk:
            return kind(file, check=check, **self._options(extent))

        return self._read(extent, TextWalk.told, walk_of, read)

    def _read(
        self,
        extent: Extent,
        printed: Callable[[TextWalk], Iterator[tuple[Rows, Any]]],
        walk_of: Callable[[OpenFile], SegmentWalk],
        read: Callable[[Any], Iterator[tuple[Rows, Any]]],
    ) -> Iterator[tuple[Rows, Any]]:
        """Batches, each with what is read of them, of a text or of a segment; carries coverage and damage over them."""
        with self.opened(extent) as file:
            if file is not None and self.item.part is not None:
                yield from self._of_text(TextWalk(file, self.item.part), printed)
            elif file is not None:
                walk = walk_of(file)
                yield from watched(walk, read, self.note)
                self.end(Ending(walk.damage, walk.torn, walk.preallocated))

    def _of_text(
        self, walk: TextWalk, printed: Callable[[TextWalk], Iterator[tuple[Rows, Any]]]
    ) -> Iterator[tuple[Rows, Any]]:
        """Batches of a part of a text. Where lines among some of them can't be read they all count as lost.

        Where the text is not whole, something may have stood behind its last row.
        """
        bad = 0
        for batches, held in printed(walk):
            bad, known = len(walk.damage) - _stretches(walk.damage), bad
            seen = glance(batches)
            lost = [(seen.first, seen.last + 1)] if bad > known else []
            self.note(glance(batches, lost), _stretches(walk.damage))
            yield batches, held
        self.end(Ending(walk.damage, walk.torn, walk.preallocated))
        self.entry.note = walk.note or self.entry.note
        self.reach.leave_out(walk.lost)
        if walk.ends_open:
            self.reach.break_off(None)

    def note(self, seen: BatchSummary, stretches: int) -> None:
        """Carry coverage and reach over batches; `stretches` of damage were met in the file so far."""
        entry = self.entry
        self.reach.note(seen.first, seen.last + 1, stretches, seen.unreadable)
        if entry.first_offset is None:
            entry.first_offset, entry.first_timestamp = seen.first, seen.first_timestamp
        entry.last_offset = seen.last
        entry.last_timestamp = seen.newest if entry.last_timestamp is None else max(entry.last_timestamp, seen.newest)
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


def batches_of(walk: SegmentWalk) -> Iterator[tuple[Rows, Rows]]:
    """Batches of a walk, twice: they are all there is to read of them."""
    return ((chunk.rows, chunk.rows) for chunk in walk.chunks())


def watched(
    walk: SegmentWalk, read: Callable[[Any], Iterator[tuple[Rows, Any]]], note: Callable[[BatchSummary, int], None]
) -> Iterator[tuple[Rows, Any]]:
    """Batches of a walk, each with what is read of them.

    `note` is told before what they say together, and how many stretches of damage were met so far.
    """
    known = met = stretches = 0
    for batches, held in read(walk):
        lost = walk.unreadable[known:] if isinstance(walk, StateWalk) else []
        known += len(lost)
        met, stretches = len(walk.damage), stretches + _stretches(walk.damage[met:])
        note(glance(batches, lost), stretches)
        yield batches, held


def _stretches(damage: list[Damage]) -> int:
    """Stretches of bytes that could not be read; records that are none are no such stretch."""
    return sum(one.kind != "entry" for one in damage)
