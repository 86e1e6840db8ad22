"""The records of a segment as columns for Arrow, keys and values as views: what is read stays where it was read.

A chunk owns its memory: the columns and the bytes that its views point to are overwritten when nobody holds them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kafkatx.kernels.batches import CHECK_ALL
from kafkatx.kernels.record_columns import WORDS, columns_of_rows, walk_columns, walk_header_columns
from kafkatx.kernels.records import PROBLEM
from kafkatx.segments.batches import NO_LIMIT, Chunk, Rows
from kafkatx.segments.free_arrays import FreeArrays
from kafkatx.segments.laid import Group
from kafkatx.segments.records import LEGACY, PROBLEMS_PER_CALL, RecordWalk
from kafkatx.sources.files import OpenFile
from kafkatx.terms.records import dataclass

ROWS_PER_COLUMN = 1 << 17
HELD_AT_ONCE = 6 << 20
"""Bytes of a file in memory that are walked in one go."""
VIEW_WORDS = 2


@dataclass(frozen=True, slots=True)
class ColumnChunk:
    """Records of the batches `first` to `behind` (exclusive) of `batches`, as `walk_columns` writes them.

    `words` holds a column behind the other, `room` rows each; views in it point into `data`. `rows_behind[n]` is the
    row behind the last one of batches[first + n]. `has_null`: a key or value is; `has_absent`: a time; `headers`: of
    all records.
    """

    batches: Rows
    first: int
    behind: int
    rows: int
    room: int
    words: Rows
    rows_behind: Rows
    data: memoryview
    has_null: bool
    has_absent: bool
    headers: int

    def column(self, first: int, words: int = 1) -> Rows:
        """The column that begins `first` columns of a word behind the first one, of so many words a row."""
        return self.words[first * self.room : first * self.room + words * self.rows]

    def header_views(self) -> tuple[Rows, bool]:
        """Views of the keys of all headers, then of the values; whether a value is null."""
        out = np.empty(2 * VIEW_WORDS * self.headers, np.int64)
        nulls = walk_header_columns(walk_header_columns.view(self.data), self.column(WORDS - 1), out)
        walk_header_columns.count(self.headers)
        return out, nulls > 0


class ColumnWalk(RecordWalk):
    """One pass over the records of a file. CRCs, damage and ends as in RecordWalk."""

    def __init__(self, file: OpenFile, *, check: int = CHECK_ALL, offset_limit: int = NO_LIMIT, **walk: Any) -> None:
        """Prepare a walk as RecordWalk does, that checks the CRC of every batch."""
        super().__init__(file, check=check, offset_limit=offset_limit, **walk)
        self._columns = FreeArrays(8 * WORDS * ROWS_PER_COLUMN, is_lasting=True)
        self._buffers = FreeArrays(len(self._buffer))
        if file.held(0, 1) is not None:
            self._wanted = HELD_AT_ONCE

    def column_chunks(self) -> Iterator[ColumnChunk]:
        """Yield the records in order of the file, then return; never raises for what the file holds."""
        for chunk in self.chunks():
            for source, first, behind in self.stretches(chunk):
                if source == LEGACY:
                    yield from self._of_messages(chunk, first, behind)
                else:
                    for group in self.groups(chunk, source, first, behind):
                        yield from self._columns_of(chunk.rows, group)
                        del group  # its memory is free for the next one

    def _free(self, buffer: memoryview) -> memoryview:
        if len(buffer) != self._buffers.size:
            self._buffers = FreeArrays(len(buffer))
        return self._buffers.take().data

    def _columns_of(self, batches: Rows, group: Group) -> Iterator[ColumnChunk]:
        """Run the kernel over a group until all of its records are read."""
        rows, data = batches[group.first : group.behind], walk_columns.view(group.data)
        number, record, at = 0, 0, -1
        while number < len(rows):
            words, begun = self._columns.take().view(np.int64), number
            behind, problems = np.empty(len(rows), np.int32), np.empty(PROBLEMS_PER_CALL, PROBLEM)
            count, bad, number, record, at, has_null, has_absent, headers = walk_columns(
                data, rows, group.starts, group.ends, number, record, at, words, behind, problems
            )
            walk_columns.count(count)
            self.note_problems(rows, problems[:bad])
            last = number + (record > 0)
            yield ColumnChunk(
                batches, group.first + begun, group.first + last, count, ROWS_PER_COLUMN, words, behind[begun:last],
                group.data, has_null, has_absent, headers,
            )  # fmt: skip

    def _of_messages(self, chunk: Chunk, first: int, behind: int) -> Iterator[ColumnChunk]:
        """Messages of magic 0 and 1; they have no headers."""
        for part in self.messages(chunk, first, behind):
            for begin in range(0, len(part.records), ROWS_PER_COLUMN):
                yield _from_rows(part.batches, part.records[begin : begin + ROWS_PER_COLUMN], part.data)


def _from_rows(batches: Rows, records: Rows, data: memoryview) -> ColumnChunk:
    """Rows of one batch (kernels.rows.RECORD) as columns."""
    words, first = np.empty(WORDS * len(records), np.int64), int(records["batch_row"][0])
    has_null, has_absent = columns_of_rows(columns_of_rows.view(data), records, words)
    columns_of_rows.count(len(records))
    ends = np.array([len(records)], np.int32)
    return ColumnChunk(
        batches, first, first + 1, len(records), len(records), words, ends, data, has_null, has_absent, 0
    )
