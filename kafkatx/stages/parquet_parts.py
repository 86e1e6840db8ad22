"""The files of one table: row groups that a scan takes whole, statistics of pages to skip by, several files if large.

Sizes   a row group is closed at `group_rows` rows or `group_bytes` bytes (as Arrow holds them), whichever comes first;
        a file at `file_bytes` bytes on disk.
Types   those of the schema, as they are; nothing is coerced, and of times only that of the run stands in a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kafkatx.sources import places
from kafkatx.stages.disk import HashedFile, sync_folder, writing
from kafkatx.stages.export_manifest import TableFile
from kafkatx.stages.stamp import UNSTAMPED, Stamp
from kafkatx.tables.columns import Table
from kafkatx.terms.records import dataclass


@dataclass(frozen=True, slots=True)
class Sizes:
    """When a row group and a file are closed."""

    group_rows: int = 131_072
    group_bytes: int = 64 << 20
    file_bytes: int = 256 << 20


DEFAULT_SIZES = Sizes()
BUFFER = 1 << 20
"""Bytes that Arrow writes at once: pages are some kilobytes, and each write goes through Python."""


def write_parts(
    blocks: Iterable[Any],
    table: Table,
    folder: Path,
    sizes: Sizes = DEFAULT_SIZES,
    written: Callable[[int], None] = lambda rows: None,
    stamp: Stamp = UNSTAMPED,
) -> list[TableFile]:
    """Write small tables, which follow each other in the table's order, to files in `folder`; at least one file.

    `written` is told the number of rows after each row group. Of `stamp` are the names of the files, and the schema.
    Raises OutputError; the files are on disk at the end.
    """
    parts: list[TableFile] = []
    schema = stamp.schema(table)
    current: OpenPart | None = None
    for group in row_groups(blocks, sizes):
        current = current or OpenPart(folder / stamp.file_name(len(parts)), table, schema)
        current.write(group)
        written(group.num_rows)
        del group  # before the next one is put together
        if current.size >= sizes.file_bytes:
            parts.append(current.close())
            current = None
    if current or not parts:
        parts.append((current or OpenPart(folder / stamp.file_name(0), table, schema)).close())
    with writing(folder):
        sync_folder(folder)
    return parts


def row_groups(blocks: Iterable[Any], sizes: Sizes) -> Iterator[Any]:
    """Put blocks together to row groups, each of one piece, so that its pages don't show how it came about."""
    filling = RowGroup(sizes)
    for block in blocks:
        yield from filling.add(block)
    yield from filling.rest()


class RowGroup:
    """A row group that blocks are put into until it is full; `size` are the bytes that it holds now.

    Unless it `is_of_one_piece`, it is handed on as the blocks came, and not copied.
    """

    def __init__(self, sizes: Sizes, is_of_one_piece: bool = True) -> None:
        self._sizes, self._is_of_one_piece = sizes, is_of_one_piece
        self._held: list[Any] = []
        self._rows = self.size = 0

    def add(self, block: Any) -> Iterator[Any]:
        """Take a block; yields the row groups that are full."""
        rest = block
        while rest.num_rows:
            taken = rest.slice(0, self._sizes.group_rows - self._rows)
            rest = rest.slice(taken.num_rows)
            self._held.append(taken)
            self._rows, self.size = self._rows + taken.num_rows, self.size + taken.nbytes
            if self._rows == self._sizes.group_rows or self.size >= self._sizes.group_bytes:
                yield from self.rest()

    def rest(self) -> Iterator[Any]:
        """Yield what there is, as one table of one piece; nothing is held then."""
        if self._held:
            whole = pa.concat_tables(self._held)
            self._held.clear()
            self._rows = self.size = 0
            yield whole.combine_chunks() if self._is_of_one_piece else whole


class OpenPart:
    """A file that is being written, which may be an object of a store. Methods raise OutputError.

    Only where `is_sorted` does the file say that its rows are in the table's order.
    """

    def __init__(self, path: Path | str, table: Table, schema: Any, *, is_sorted: bool = True) -> None:
        self._path = path
        self._rows = 0
        order = [(name, "ascending") for name in table.order.columns]
        sorting = pq.SortingColumn.from_ordering(schema, order, null_placement="at_end") if is_sorted else None
        with writing(self._path):
            self._file = HashedFile(self._path)
            self._buffered = pa.BufferedOutputStream(pa.PythonFile(self._file, "w"), BUFFER)
            self._writer = pq.ParquetWriter(
                self._buffered, schema, compression="zstd", write_page_index=True, sorting_columns=sorting
            )

    @property
    def size(self) -> int:
        """Bytes written so far."""
        return int(self._buffered.tell())

    def write(self, group: Any) -> None:
        """Write a row group."""
        with writing(self._path):
            self._writer.write_table(group, row_group_size=group.num_rows)
        self._rows += group.num_rows

    def close(self) -> TableFile:
        """Finish the file; it is on disk then."""
        with writing(self._path):
            self._writer.close()
            self._buffered.close()
            self._file.close()
        return TableFile(places.name(str(self._path)), self._rows, self._file.size, self._file.sha256)
