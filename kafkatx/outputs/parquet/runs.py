"""Sorted runs on disk: what is written in order once, and read back block by block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from kafkatx.outputs.parquet.ordering import Key, RowOrder, pieces
from kafkatx.stages.disk import writing
from kafkatx.terms.records import dataclass

ALONE = pa.ipc.IpcReadOptions(use_threads=False)
"""Columns of a block are small: to deal them out over threads costs more than to unpack them."""


@dataclass(frozen=True, slots=True)
class SortRoom:
    """Bytes that sorting may hold: rows sorted at once, one block of a run, the blocks of all runs being merged."""

    held: int = 64 << 20
    block: int = 2 << 20
    merged: int = 64 << 20
    block_rows: int = 32_768


@dataclass(frozen=True, slots=True)
class SortedRun:
    """A sorted run: its file, how many blocks are in it, the bytes of the largest."""

    path: Path
    blocks: int
    largest: int

    def read(self) -> Iterator[Any]:
        """Yield the blocks as tables."""
        with pa.OSFile(str(self.path)) as file, pa.ipc.open_stream(file, options=ALONE) as reader:
            for batch in reader:
                yield pa.Table.from_batches([batch])

    def remove(self) -> None:
        """Delete the file."""
        self.path.unlink()


class RunWriter:
    """Writes a run, piece by piece; each piece is sorted and comes behind the ones before."""

    def __init__(self, path: Path, schema: Any, order: RowOrder, room: SortRoom) -> None:
        self.path, self._order, self._room = path, order, room
        self._blocks = self._largest = 0
        self._last: Key | None = None
        options = pa.ipc.IpcWriteOptions(compression="lz4", use_threads=False)
        with writing(path):
            self._file = pa.OSFile(str(path), "wb")
            self._writer = pa.ipc.new_stream(self._file, schema, options=options)

    def goes_on_with(self, table: Any) -> bool:
        """Whether a sorted table comes behind all that was written."""
        return self._last is None or self._order.keys(table)[0] >= self._last

    def write(self, table: Any) -> None:
        """Write a sorted table; raises OutputError."""
        for piece in pieces(table, self._room.block_rows, self._room.block):
            block = piece.combine_chunks()
            with writing(self.path):
                self._writer.write_table(block)
            self._blocks, self._largest = self._blocks + 1, max(self._largest, block.nbytes)
        self._last = self._order.keys(table)[table.num_rows - 1]

    def close(self) -> SortedRun:
        """Finish the run."""
        with writing(self.path):
            self._writer.close()
            self._file.close()
        return SortedRun(self.path, self._blocks, self._largest)


class SortedRuns:
    """The runs of one sort, in a folder of its own: files are numbered in the order in which they are made."""

    def __init__(self, folder: Path, schema: Any, order: RowOrder, room: SortRoom) -> None:
        self._folder, self._schema, self._order, self._room = folder, schema, order, room
        self._made = 0
        self._open: RunWriter | None = None
        self._closed: list[SortedRun] = []

    @property
    def is_empty(self) -> bool:
        """Whether nothing was written yet."""
        return self._made == 0

    def add(self, table: Any) -> None:
        """Write a sorted table: at the end of the last run where it comes behind it, else as the next run."""
        if self._open is None or not self._open.goes_on_with(table):
            self._finish()
            self._open = self._new()
        self._open.write(table)

    def closed(self) -> list[SortedRun]:
        """Return all runs, in the order in which they were written."""
        self._finish()
        return self._closed

    def written(self, tables: Iterable[Any]) -> SortedRun:
        """Write sorted tables, each behind the one before, as one run."""
        writer = self._new()
        for table in tables:
            writer.write(table)
        return writer.close()

    def _new(self) -> RunWriter:
        path = self._folder / f"run-{self._made:06}.arrow"
        self._made += 1
        return RunWriter(path, self._schema, self._order, self._room)

    def _finish(self) -> None:
        if self._open is not None:
            self._closed.append(self._open.close())
            self._open = None
