"""The records of a segment as columns for Arrow, keys and values as views: what is read stays where it was read.

A chunk owns its memory: the columns and the bytes that its views point to are overwritten when nobody holds them.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from kafkatx.kernels.batches import CHECK_ALL, CHECK_NONE, HEADER_SIZE
from kafkatx.kernels.record_columns import (
    WORDS,
    WRONG_CRC,
    columns_of_rows,
    count_right,
    walk_columns,
    walk_header_columns,
)
from kafkatx.kernels.records import PROBLEM
from kafkatx.segments.batches import NO_LIMIT, Chunk, Rows
from kafkatx.segments.free_arrays import FreeArrays, lent
from kafkatx.segments.laid import Group
from kafkatx.segments.records import LEGACY, PROBLEMS_PER_CALL, RecordWalk, is_plain
from kafkatx.segments.resync import ExpectedNext
from kafkatx.sources.files import OpenFile
from kafkatx.terms.records import dataclass

ROWS_PER_COLUMN = 1 << 17
HELD_AT_ONCE = 8 << 20
"""Bytes of a file in memory that are walked in one go: what a chunk costs beside its records is 0.2 ms."""
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
        walk_header_columns.count(self.headers)
        nulls = walk_header_columns(walk_header_columns.view(self.data), self.column(WORDS - 1), out)
        return out, nulls > 0


class ColumnWalk(RecordWalk):
    """One pass over the records of a file. CRCs, damage and ends as in RecordWalk."""

    def __init__(self, file: OpenFile, *, offset_limit: int = NO_LIMIT, is_careful: bool = False, **walk: Any) -> None:
        """Prepare a walk as RecordWalk does, that checks the CRC of every batch.

        Unless it `is_careful`, headers are walked first, and a batch's CRC is looked at when its records are read: they
        are in the processor's cache then. The first wrong one leaves the rest of the file to a careful walk.
        """
        super().__init__(file, check=CHECK_ALL if is_careful else CHECK_NONE, offset_limit=offset_limit, **walk)
        self._is_careful = is_careful
        self._buffers = FreeArrays(len(self._buffer))
        if file.held(0, 1) is not None:
            self._wanted = HELD_AT_ONCE

    def column_chunks(self) -> Iterator[ColumnChunk]:
        """Yield the records in order of the file, then return; never raises for what the file holds."""
        reached = self._fit
        for chunk in self.chunks():
            rows = chunk.rows
            if self._is_careful or is_plain(chunk):
                right = yield from self._of_batches(chunk)
            else:
                right = self._count_right(chunk)
                yield from self._of_batches(Chunk(rows[:right], chunk.data, chunk.data_position))
            if right < len(rows):
                fit = self._fit_after(rows[:right], reached)
                fit = replace(fit, offset_limit=self._fit.offset_limit)
                yield from self._with_care(int(rows["position"][right]), fit)
                return
            reached = self._fit_after(rows, reached)

    def _of_batches(self, chunk: Chunk) -> Generator[ColumnChunk, None, int]:
        """Records of batches; returns how many of these were right, where that is looked at here."""
        check = not self._is_careful and is_plain(chunk)
        right = len(chunk.rows)
        for source, first, behind in self.stretches(chunk):
            if source == LEGACY:
                yield from self._of_messages(chunk, first, behind)
            else:
                for group in self.groups(chunk, source, first, behind):
                    right = yield from self._columns_of(chunk.rows, group, check)
                    del group  # its memory is free for the next one
        return right if check else len(chunk.rows)

    def _count_right(self, chunk: Chunk) -> int:
        """How many batches stand before the first with a wrong CRC."""
        at = chunk.rows["position"] - chunk.data_position
        data = count_right.view(chunk.data)
        return count_right(data, chunk.rows, at + HEADER_SIZE, at + chunk.rows["size"])

    def _with_care(self, position: int, fit: ExpectedNext) -> Iterator[ColumnChunk]:
        """Read on from the batch at `position`, which must satisfy `fit`, by a walk that checks CRCs first."""
        rest = ColumnWalk(
            self.file, start=position, stop=self._stop, fit=fit, largest_payload=self.largest_payload, is_careful=True
        )
        yield from rest.column_chunks()
        self.torn, self.preallocated, self.end = rest.torn, rest.preallocated, rest.end
        for damage in rest.damage:
            self._note(damage)

    def _free(self, buffer: memoryview) -> memoryview:
        if len(buffer) != self._buffers.size:
            self._buffers = FreeArrays(len(buffer))
        return self._buffers.take().data

    def _columns_of(self, batches: Rows, group: Group, check: bool) -> Generator[ColumnChunk, None, int]:
        """Run the kernel over a group until all of its records are read; with `check` up to the first wrong CRC.

        Returns the batch that this was at.
        """
        walk_columns.count(0, group.most_records(batches))
        rows, data = batches[group.first : group.behind], walk_columns.view(group.data)
        number, record, at = 0, 0, -1
        while number < len(rows):
            words, begun = lent(8 * WORDS * ROWS_PER_COLUMN).view(np.int64), number
            behind, problems = np.empty(len(rows), np.int32), np.empty(PROBLEMS_PER_CALL, PROBLEM)
            count, bad, number, record, at, has_null, has_absent, headers = walk_columns(
                data, rows, group.starts, group.ends, number, record, at, words, behind, problems, check
            )
            walk_columns.count(count)
            self.note_problems(rows, problems[:bad])
            last = number + (record > 0)
            yield ColumnChunk(
                batches, group.first + begun, group.first + last, count, ROWS_PER_COLUMN, words, behind[begun:last],
                group.data, has_null, has_absent, headers,
            )  # fmt: skip
            if record == WRONG_CRC:
                return group.first + number
        return group.behind

    def _of_messages(self, chunk: Chunk, first: int, behind: int) -> Iterator[ColumnChunk]:
        """Messages of magic 0 and 1; they have no headers."""
        for part in self.messages(chunk, first, behind):
            for begin in range(0, len(part.records), ROWS_PER_COLUMN):
                yield _from_rows(part.batches, part.records[begin : begin + ROWS_PER_COLUMN], part.data)


def _from_rows(batches: Rows, records: Rows, data: memoryview) -> ColumnChunk:
    """Rows of one batch (kernels.rows.RECORD) as columns."""
    words, first = np.empty(WORDS * len(records), np.int64), int(records["batch_row"][0])
    columns_of_rows.count(len(records))
    has_null, has_absent = columns_of_rows(columns_of_rows.view(data), records, words)
    ends = np.array([len(records)], np.int32)
    return ColumnChunk(
        batches, first, first + 1, len(records), len(records), words, ends, data, has_null, has_absent, 0
    )
