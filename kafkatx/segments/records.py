"""The records of a segment as chunks of columns, in bounded memory, whatever their codec and magic.

A chunk's columns index one buffer: the file's bytes where batches are uncompressed, the decompressed records of some
batches where they are not. What can't be read becomes damage of the walk; the records before it are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from kafkatx.formats.record_batch import CODEC_MASK, codec_of
from kafkatx.kernels.batches import CHECK_CONTROL, HEADER_SIZE
from kafkatx.kernels.records import HEADER, LEFT_OVER, PROBLEM, walk_headers, walk_records
from kafkatx.kernels.rows import RECORD
from kafkatx.segments.batches import NO_LIMIT, Chunk, Rows, SegmentWalk
from kafkatx.segments.compression import LARGEST_PAYLOAD, decompress
from kafkatx.segments.damage import Damage
from kafkatx.segments.laid import Group, LaidPayloads
from kafkatx.segments.messages import message_rows
from kafkatx.sources.files import OpenFile
from kafkatx.terms.records import dataclass

ROWS_PER_CALL = 32_768
PROBLEMS_PER_CALL = 1024
PLAIN, COMPRESSED, APART, LEGACY = 0, 1, 2, 3
"""Where a batch's records come from: the walk's buffer, decompression, the file (the buffer is too small for them); or
the row is a message of magic 0 or 1."""


@dataclass(frozen=True, slots=True)
class RecordChunk:
    """Records of the batches `first` to `behind` (exclusive) of `batches`; those without readable records count too.

    `records` has dtype kernels.rows.RECORD and its `batch_row` indexes `batches`. `data` is only valid until the next
    chunk. With `is_continued` the chunk before held the first records of batches[first].
    """

    batches: Rows
    records: Rows
    data: memoryview
    first: int
    behind: int
    is_continued: bool = False

    def headers(self) -> Rows:
        """Return the headers of all records, in order (dtype HEADER); `record_row` indexes `records`."""
        counts = self.records["header_count"]
        out = np.zeros(int(counts.clip(0).sum()), HEADER)
        if len(out):
            walk_headers.count(len(out))
            walk_headers(walk_headers.view(self.data), self.records, out)
        return out


class RecordWalk(SegmentWalk):
    """One pass over the records of a file. Damage and ends as in SegmentWalk; unreadable records are damage, too."""

    def __init__(
        self,
        file: OpenFile,
        *,
        check: int = CHECK_CONTROL,
        first_offset: int = 0,
        offset_limit: int = NO_LIMIT,
        largest_payload: int = LARGEST_PAYLOAD,
        **walk: Any,
    ) -> None:
        """Prepare a walk as SegmentWalk does; `largest_payload` bounds the bytes that one batch's records may have."""
        super().__init__(file, check=check, first_offset=first_offset, offset_limit=offset_limit, bodies=True, **walk)
        self.largest_payload = largest_payload
        self._laid = LaidPayloads(largest_payload)

    def record_chunks(self) -> Iterator[RecordChunk]:
        """Yield the records in order of the file, then return; never raises for what the file holds."""
        for chunk in self.chunks():
            yield from self.chunks_of(chunk)

    def chunks_of(self, chunk: Chunk) -> Iterator[RecordChunk]:
        """Yield the records of some batches that a walk has found."""
        for source, first, behind in self.stretches(chunk):
            if source == LEGACY:
                yield from self.messages(chunk, first, behind)
            else:
                for group in self.groups(chunk, source, first, behind):
                    yield from self._read(chunk.rows, group)
                    del group  # its memory is free for the next one

    def stretches(self, chunk: Chunk) -> Iterator[tuple[int, int, int]]:
        """Where the records of consecutive batches come from, and which these are: from one up to another."""
        if is_plain(chunk):
            yield PLAIN, 0, len(chunk.rows)
            return
        sources = _sources(chunk)
        borders = [*np.flatnonzero(np.diff(sources, prepend=-1)).tolist(), len(sources)]
        for first, behind in pairwise(borders):
            yield int(sources[first]), first, behind

    def groups(self, chunk: Chunk, source: int, first: int, behind: int) -> Iterator[Group]:
        """Lay the records of batches[first:behind], which have one source, into buffers."""
        if source == PLAIN:
            at = chunk.rows["position"][first:behind] - chunk.data_position
            yield Group(first, behind, chunk.data, at + HEADER_SIZE, at + chunk.rows["size"][first:behind])
        else:
            yield from self._laid.groups(chunk, first, behind, self._payload)

    def _payload(self, chunk: Chunk, batch: Any) -> bytes | None:
        """Records of one batch without compression; None, and a damage row, where they can't be had."""
        codec, size = codec_of(int(batch["attributes"])), int(batch["size"]) - HEADER_SIZE
        if codec is None or size > self.largest_payload:
            self._note_batch(batch, "records of a known codec that fit into memory", f"{size:,} bytes, codec {codec}")
            return None
        start = int(batch["position"]) + HEADER_SIZE - chunk.data_position
        body = bytes(chunk.data[start : start + size])
        if len(body) < size:
            body = self.file.read(int(batch["position"]) + HEADER_SIZE, size)
        payload = decompress(codec, body, limit=self.largest_payload)
        if payload.problem:
            self._note_batch(batch, f"records compressed with {codec.name}", payload.problem)
        return payload.data

    def _read(self, batches: Rows, group: Group) -> Iterator[RecordChunk]:
        """Run the kernel over a group until all of its records are read."""
        rows = batches[group.first : group.behind]
        most = group.most_records(batches)
        walk_records.count(0, most)  # what a kernel is loaded for is told before it is called, not after
        room = min(ROWS_PER_CALL, most + 1)
        number, record, at = 0, 0, -1
        while number < len(rows):
            out, problems = np.empty(room, RECORD), np.empty(PROBLEMS_PER_CALL, PROBLEM)
            first, is_continued, data = group.first + number, record > 0, walk_records.view(group.data)
            count, bad, number, record, at = walk_records(
                data, rows, group.starts, group.ends, number, record, at, out, problems
            )
            walk_records.count(count)
            self.note_problems(rows, problems[:bad])
            out["batch_row"] += group.first
            behind = group.first + number + (record > 0)
            yield RecordChunk(batches, out[:count], group.data, first, behind, is_continued)

    def messages(self, chunk: Chunk, first: int, behind: int) -> Iterator[RecordChunk]:
        """Read messages of magic 0 and 1, one batch row at a time (old formats are rare)."""
        for number in range(first, behind):
            batch, continued = chunk.rows[number], False
            body = self.file.read(int(batch["position"]), min(int(batch["size"]), self.largest_payload))
            for records, data in message_rows(body, batch, number, self.largest_payload, self._note_batch):
                yield RecordChunk(chunk.rows, records, data, number, number + 1, continued)
                continued = True

    def note_problems(self, batches: Rows, problems: Rows) -> None:
        """Turn problems into damage, one a batch: a batch whose compression was damaged has it already."""
        if not len(problems):
            return
        noted = {damage.position for damage in self.damage}
        for problem in problems:
            batch = batches[int(problem["batch_row"])]
            if int(batch["position"]) in noted:
                continue
            if problem["outcome"] == LEFT_OVER:
                expected, found = f"{int(batch['record_count'])} records", "bytes behind the last of them"
            else:
                expected, found = f"record {int(problem['record'])}", "bytes that are none"
            self._note_batch(batch, f"{expected} in the batch at offset {int(batch['base_offset'])}", found)

    def _note_batch(self, batch: Any, expected: str, found: str) -> None:
        position, size = int(batch["position"]), int(batch["size"])
        self._note(Damage("entry", self.file.path, position, size, expected, found))


def is_plain(chunk: Chunk) -> bool:
    """Whether all records lie in the walk's buffer as they are, which nearly all of one segment's do, or none."""
    rows, behind = chunk.rows, chunk.data_position + len(chunk.data)
    if not len(rows) or int(rows["position"][-1]) + int(rows["size"][-1]) > behind:
        return False
    return not np.bitwise_or.reduce(rows["attributes"]) & CODEC_MASK and int(rows["magic"].min()) >= 2


def _sources(chunk: Chunk) -> Rows:
    """Where the records of each batch come from."""
    rows = chunk.rows
    sources = np.where(rows["attributes"] & CODEC_MASK, COMPRESSED, PLAIN)
    sources[(sources == PLAIN) & (rows["position"] + rows["size"] > chunk.data_position + len(chunk.data))] = APART
    sources[rows["record_count"] == 0] = PLAIN
    sources[rows["magic"] < 2] = LEGACY
    return sources
