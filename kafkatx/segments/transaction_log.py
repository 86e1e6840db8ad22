"""A segment of `__transaction_state` as chunks of coordinator rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kafkatx.kernels.batches import CHECK_ALL, HEADER_SIZE
from kafkatx.kernels.rows import STATE
from kafkatx.kernels.transaction_log import (
    BAD_KEY,
    BAD_VALUE,
    KINDS_OF_PLACES,
    NO_RECORD,
    NOT_HELD,
    PROBLEM,
    UNKNOWN_KEY,
    UNKNOWN_VALUE,
    walk_states,
)
from kafkatx.segments.batches import Chunk, Rows, SegmentWalk
from kafkatx.segments.damage import Damage
from kafkatx.segments.free_arrays import lent
from kafkatx.segments.names import Names
from kafkatx.sources.files import OpenFile

ROWS_PER_CALL = 32_768
ROOMS = 64, 1_024, 16_384 + 1, ROWS_PER_CALL
"""Rows that there is room for at once: few sizes, since memory is used again by its size."""
CODEC_BITS = 7
MAGIC = 2
EXPECTED = {
    NO_RECORD: "a record inside its batch",
    BAD_KEY: "a transaction log key",
    UNKNOWN_KEY: "a key of version 0",
    BAD_VALUE: "a transaction log value that ends where its record ends",
    UNKNOWN_VALUE: "a value of version 0 or 1",
    NOT_HELD: "a batch that fits the memory set aside for one",
}


class StateWalk(SegmentWalk):
    """One pass over the coordinator rows of a file; every batch is CRC-checked. Damage and ends as in SegmentWalk."""

    def __init__(self, file: OpenFile, names: Names, **walk: Any) -> None:
        """Prepare a walk of `file`; `names` gets the ids and partition lists it meets, `walk` is as of SegmentWalk."""
        super().__init__(file, check=CHECK_ALL, bodies=True, **walk)
        self.names = names
        self._of_places = np.empty((KINDS_OF_PLACES, 0), np.int64)
        self.unreadable: list[tuple[int, int]] = []
        """Offsets (half-open) of the batches with records that can't be read, as far as the walk has come."""

    def state_chunks(self) -> Iterator[tuple[Rows, Rows]]:
        """Yield (batch rows, state rows in offset order) a chunk."""
        for chunk in self.chunks():
            yield chunk.rows, self.states_of(chunk)

    def states_of(self, chunk: Chunk) -> Rows:
        """Read all records of the chunk's batches; compressed ones too, though no broker writes them here."""
        rows, start = chunk.rows, -chunk.data_position
        self._expect(rows)
        parts, begin = [], 0
        for number in _compressed(rows):
            parts.append(self._read(rows[begin:number], chunk.data, start))
            parts.append(self._read_compressed(rows[number : number + 1].copy(), chunk.data, start))
            begin = number + 1
        last = self._read(rows[begin:], chunk.data, start)
        return np.concatenate([*parts, last]) if parts else last

    def _expect(self, rows: Rows) -> None:
        """Tell the kernel how many records there are, by those of these batches."""
        if walk_states.is_compiled:
            return
        begin = int(rows["position"][0])
        size = int(rows["position"][-1]) + int(rows["size"][-1]) - begin
        walk_states.count(0, _records(rows) * (self.file.size - begin) // max(size, 1))

    def _read_compressed(self, row: Rows, data: memoryview, start: int) -> Rows:
        """Read one compressed batch: its payload takes the place of its body."""
        from kafkatx.formats.record_batch import Codec  # loaded here, with the codecs, since next to nobody needs them
        from kafkatx.segments.compression import decompress

        position, size = int(row["position"][0]), int(row["size"][0])
        body = bytes(data[start + position + HEADER_SIZE : start + position + size])
        payload = decompress(Codec(int(row["attributes"][0]) & CODEC_BITS), body)
        if payload.problem:
            self._lose(row[0])
            self._note(
                Damage("entry", self.file.path, position, size, "records that can be decompressed", payload.problem)
            )
        row["attributes"] &= ~CODEC_BITS
        row["size"] = HEADER_SIZE + len(payload.data)
        return self._read(row, memoryview(bytes(HEADER_SIZE) + payload.data), -position)

    def _read(self, batches: Rows, data: memoryview, start: int) -> Rows:
        """Read the records of uncompressed batches; `start` is the place in `data` of the file's first byte."""
        parts: list[Rows] = []
        number, record = 0, 0
        wanted = _records(batches) + 1
        room = next(size for size in ROOMS if size >= min(wanted, ROWS_PER_CALL))
        problems = np.zeros(1024, PROBLEM)
        while number < len(batches):
            out, places = lent(STATE.itemsize * room).view(STATE), self._places(room)
            count, bad, number, record = walk_states(
                walk_states.view(data), start, batches, number, record, out, places, problems
            )
            walk_states.count(count)
            self._note_problems(batches, problems[:bad])
            parts.append(self._named(data, out[:count], places[:, :count]))
        return parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, STATE), *parts])

    def _named(self, data: memoryview, rows: Rows, places: Rows) -> Rows:
        """Put the codes of ids, partition lists and unknown tags into the rows."""
        names = self.names
        id_starts, id_lengths, list_starts, list_lengths, tag_starts, tag_lengths = places
        rows["id_code"] = names.transactional_ids.codes(data, id_starts, id_lengths)
        rows["partitions_code"] = names.list_codes(data, list_starts, list_lengths, rows["value_version"])
        rows["unknown_tags_code"] = names.unknown_tags.codes(data, tag_starts, tag_lengths)
        return rows

    def _places(self, room: int) -> Any:
        """A table of places for so many rows; the same memory each time."""
        if self._of_places.shape[1] < room:
            self._of_places = np.empty((KINDS_OF_PLACES, room), np.int64)
        return self._of_places

    def _lose(self, batch: Any) -> None:
        lost = int(batch["base_offset"]), int(batch["last_offset"]) + 1
        if self.unreadable[-1:] != [lost]:
            self.unreadable.append(lost)

    def _note_problems(self, batches: Rows, problems: Rows) -> None:
        for problem in problems:
            batch = batches[int(problem["batch_row"])]
            self._lose(batch)
            expected = EXPECTED[int(problem["outcome"])]
            found = f"a record at offset {int(problem['offset'])} that is none"
            self._note(Damage("entry", self.file.path, int(batch["position"]), int(batch["size"]), expected, found))


def _compressed(batches: Rows) -> list[int]:
    """Numbers of the batches that are compressed."""
    codecs = batches["attributes"] & CODEC_BITS
    return np.flatnonzero((codecs != 0) & (batches["magic"] == MAGIC)).tolist() if codecs.any() else []


def _records(batches: Rows) -> int:
    """How many records batches say that they have."""
    return int(np.maximum(batches["record_count"], 0).sum())
