"""A log file of a dump: batches with a wrong CRC too, damage where it stands, what no batch accounts for at the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Protocol

import numpy as np

from kafkatx.formats.file_names import BOOTSTRAP_CHECKPOINT, parse_metadata_snapshot_file, parse_segment_file
from kafkatx.formats.record_batch import HEADER_SIZE
from kafkatx.kernels.batches import CHECK_ALL, write_header
from kafkatx.kernels.rows import BATCH, INVALID
from kafkatx.outputs.dump_blocks import expect_records
from kafkatx.outputs.dump_columns import BatchView, RecordView, batch_views, record_views
from kafkatx.outputs.dump_options import NO_LIMIT, DumpOptions
from kafkatx.segments.batches import Chunk, Rows
from kafkatx.segments.compression import LARGEST_PAYLOAD
from kafkatx.segments.damage import Damage
from kafkatx.segments.records import RecordChunk, RecordWalk
from kafkatx.sources import places
from kafkatx.sources.files import OpenFile
from kafkatx.terms.records import dataclass

JUMPS_KEPT = 20

Piece = str | bytes
"""Lines of a dump: one as text, or a block of them as UTF-8."""


class Writer(Protocol):
    """Lines or objects of a log file."""

    def batch(self, batch: BatchView, /) -> str:
        """Return a batch without its records."""

    def record(self, batch: BatchView, record: RecordView, /) -> str:
        """Return a record of a batch."""


class Blocks(Protocol):
    """Lines of many batches and records at once, where that pays."""

    def are_worth_it(self, batches: Rows, /) -> bool:
        """Whether these batches are to be printed so."""

    def batches(self, rows: Rows, /) -> Iterator[bytes]:
        """Yield batches without their records, as UTF-8."""

    def records(self, chunk: RecordChunk, /) -> Iterator[bytes]:
        """Yield batches and their records, as UTF-8."""


@dataclass(slots=True)
class Jumps:
    """Offsets of records that do not follow one another, as the tool reports them at the end; a few are kept."""

    pairs: list[tuple[int, int]] = field(default_factory=list)
    count: int = 0
    _last: int | None = None

    def see(self, offsets: Rows) -> None:
        """Look at the offsets of some records."""
        if not len(offsets):
            return
        offsets = offsets if self._last is None else np.concatenate(([self._last], offsets))
        found = np.flatnonzero(np.diff(offsets) != 1)
        self.count += len(found)
        places = found[: JUMPS_KEPT - len(self.pairs)]
        self.pairs += [(int(offsets[at]), int(offsets[at + 1])) for at in places]
        self._last = int(offsets[-1])


class LogDump:
    """One pass over a log file; `jumps` and `trailing_bytes` are whole when `pieces` has ended."""

    def __init__(self, file: OpenFile, options: DumpOptions, writer: Writer, blocks: Blocks | None = None) -> None:
        self._is_cut = options.max_bytes < file.size
        file.size = min(file.size, options.max_bytes)
        self.options, self.writer, self.blocks, self.jumps = options, writer, blocks, Jumps()
        self._walk = RecordWalk(file, check=CHECK_ALL, largest_payload=LARGEST_PAYLOAD)
        self._told = 0
        self._end = 0

    @property
    def trailing_bytes(self) -> int:
        """Bytes at the end that are no whole batch (0 with --max-bytes, as in the tool)."""
        if self.options.max_bytes != NO_LIMIT or not (self._walk.torn or self._walk.preallocated):
            return 0
        return self._walk.file.size - self._end

    def pieces(self) -> Iterator[Piece | Damage]:
        """Yield lines, and damage that is no batch as it is, in order of the file."""
        for chunk in self._walk.chunks():
            if self._end == 0 and self.options.deep:
                expect_records(chunk, self._walk.file)
            yield from self._new_damage()
            yield from self._shown(chunk)
        yield from self._new_damage()

    def _shown(self, chunk: Chunk) -> Iterator[Piece]:
        self._end = int(chunk.rows["position"][-1] + chunk.rows["size"][-1])
        if not self.options.deep:
            yield from self._batches(chunk.rows)
            return
        for records in self._walk.chunks_of(chunk):
            self.jumps.see(records.records["offset"])
            yield from self._records(records)

    def _batches(self, rows: Rows) -> Iterator[Piece]:
        if self.blocks is not None and self.blocks.are_worth_it(rows):
            return self.blocks.batches(rows)
        return map(self.writer.batch, batch_views(rows, self._walk.file))

    def _records(self, chunk: RecordChunk) -> Iterator[Piece]:
        """Yield batches and their records, in order of the file."""
        if self.blocks is not None and self.blocks.are_worth_it(chunk.batches[chunk.first : chunk.behind]):
            yield from self.blocks.records(chunk)
            return
        batches = list(batch_views(chunk.batches[chunk.first : chunk.behind], self._walk.file))
        printed = int(chunk.is_continued)
        for record in record_views(chunk):
            row = record.batch_row - chunk.first
            yield from map(self.writer.batch, batches[printed : row + 1])
            printed = max(printed, row + 1)
            yield self.writer.record(batches[row], record)
        yield from map(self.writer.batch, batches[printed:])

    def _new_damage(self) -> Iterator[Piece | Damage]:
        """Yield the damage met since the last call; a batch whose only fault is its CRC is shown, too."""
        while self._told < len(self._walk.damage):
            damage = self._walk.damage[self._told]
            self._told += 1
            if damage.kind == "torn" and self._is_cut:
                continue
            yield damage
            broken = self._with_wrong_crc(damage)
            if broken is not None:
                yield from self._shown(broken)

    def _with_wrong_crc(self, damage: Damage) -> Chunk | None:
        """Return the batch of a `crc` damage if its header is whole and its size can be meant."""
        file = self._walk.file
        header = file.read(damage.position, HEADER_SIZE)
        if damage.kind != "crc" or len(header) < HEADER_SIZE:
            return None
        rows = np.zeros(1, BATCH)
        write_header.plain(header, 0, damage.position, rows, 0)
        rows["crc_valid"] = INVALID
        size = int(rows["size"][0])
        if size > min(damage.bytes, LARGEST_PAYLOAD):
            return None
        return Chunk(rows, memoryview(file.read(damage.position, size)), damage.position)


def first_line(path: str) -> str | None:
    """Return what the tool prints of a log's name: where it starts, or which snapshot it is; None for another name."""
    name = places.name(path)
    snapshot = parse_metadata_snapshot_file(name)
    if name == BOOTSTRAP_CHECKPOINT:
        return "KRaft bootstrap snapshot"
    if snapshot:
        return f"Snapshot end offset: {snapshot.end_offset}, epoch: {snapshot.epoch}"
    segment = parse_segment_file(name)
    return f"Log starting offset: {segment.base_offset}" if segment else None
