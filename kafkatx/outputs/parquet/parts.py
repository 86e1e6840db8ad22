"""The files of one table: row groups that a scan takes whole, statistics of pages to skip by, several files if large.

Sizes   a row group is closed at `group_rows` rows or `group_bytes` bytes (as Arrow holds them), whichever comes first;
        a file at `file_bytes` bytes on disk.
Types   those of the schema, as they are; nothing is coerced, and of times only that of the run stands in a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kafkatx.outputs.parquet.disk import HashedFile, sync_folder, writing
from kafkatx.stages.export_manifest import TableFile
from kafkatx.stages.stamp import UNSTAMPED, Stamp
from kafkatx.tables.columns import Table


@dataclass(frozen=True, slots=True)
class Sizes:
    """When a row group and a file are closed."""

    group_rows: int = 131_072
    group_bytes: int = 64 << 20
    file_bytes: int = 256 << 20


DEFAULT_SIZES = Sizes()


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
    current: _OpenPart | None = None
    for group in row_groups(blocks, sizes):
        current = current or _OpenPart(folder / stamp.file_name(len(parts)), table, schema)
        current.write(group)
        written(group.num_rows)
        del group  # before the next one is put together
        if current.size >= sizes.file_bytes:
            parts.append(current.close())
            current = None
    if current or not parts:
        parts.append((current or _OpenPart(folder / stamp.file_name(0), table, schema)).close())
    with writing(folder):
        sync_folder(folder)
    return parts


def row_groups(blocks: Iterable[Any], sizes: Sizes) -> Iterator[Any]:
    """Put blocks together to row groups, each of one piece, so that its pages don't show how it came about."""
    held: list[Any] = []
    rows = size = 0
    for block in blocks:
        rest = block
        while rest.num_rows:
            taken = rest.slice(0, sizes.group_rows - rows)
            rest = rest.slice(taken.num_rows)
            held.append(taken)
            rows, size = rows + taken.num_rows, size + taken.nbytes
            if rows == sizes.group_rows or size >= sizes.group_bytes:
                yield _whole(held)
                rows = size = 0
    if held:
        yield _whole(held)


def _whole(held: list[Any]) -> Any:
    """One table of what is held, which is let go."""
    whole = pa.concat_tables(held)
    held.clear()
    return whole.combine_chunks()


class _OpenPart:
    """A file that is being written."""

    def __init__(self, path: Path, table: Table, schema: Any) -> None:
        self._path = path
        self._rows = 0
        order = [(name, "ascending") for name in table.order.columns]
        with writing(self._path):
            self._file = HashedFile(self._path)
            self._writer = pq.ParquetWriter(
                self._file,
                schema,
                compression="zstd",
                write_page_index=True,
                sorting_columns=pq.SortingColumn.from_ordering(schema, order, null_placement="at_end"),
            )

    @property
    def size(self) -> int:
        """Bytes written so far."""
        return self._file.size

    def write(self, group: Any) -> None:
        """Write a row group."""
        with writing(self._path):
            self._writer.write_table(group, row_group_size=group.num_rows)
        self._rows += group.num_rows

    def close(self) -> TableFile:
        """Finish the file; it is on disk then."""
        with writing(self._path):
            self._writer.close()
            self._file.close()
        return TableFile(self._path.name, self._rows, self._file.size, self._file.sha256)
