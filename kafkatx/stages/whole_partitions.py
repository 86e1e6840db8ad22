"""Rows that need to meet no others: of a partition all of whose files lie in one folder, in ascending offsets.

Nothing of them travels: the task that read them writes them to files, if they are enough for files of their own.
Offsets that do not ascend show that a fact may be there twice; then the rows of the table are read again, as blocks,
which meet where it is decided which copy counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa

from kafkatx.stages.divided_parts import DividedParts, Draft, Drafting
from kafkatx.stages.export_tasks import FileOfExport, blocks_of, rows_of
from kafkatx.stages.exported_rows import in_folders
from kafkatx.stages.lone_copies import TOLD_IN_ORDER, Ascent
from kafkatx.stages.strands import Strand, StrandTold
from kafkatx.stages.table_blocks import OFFSETS, Block, BlocksOfFile
from kafkatx.tables.catalogue import EXPORTED
from kafkatx.tables.columns import Table

ENOUGH = 16 << 20
"""Bytes of rows, as Arrow holds them, that are worth files of their own."""


def rows_of_files(
    files: Iterable[FileOfExport], tables: Iterable[str], drafting: Drafting, enough: int = ENOUGH
) -> Iterator[Block | StrandTold]:
    """Read the files of a task: blocks of some tables, and what was written of others where it was read."""
    for strand, of_strand in groupby(files, key=lambda one: one.strand):
        if strand is None:
            yield from (block for one in of_strand for block in blocks_of(one, tables))
        else:
            yield from _of_strand(strand, [*of_strand], frozenset(tables), drafting, enough)


def _of_strand(
    strand: Strand, files: list[FileOfExport], tables: frozenset[str], drafting: Drafting, enough: int
) -> Iterator[Block | StrandTold]:
    apart = {name: _InOrder(EXPORTED[name], strand, drafting, enough) for name in TOLD_IN_ORDER if name in tables}
    for one, source in ((one, one.source) for one in files if one.source is not None):
        blocks = BlocksOfFile(source)
        for table, batch in rows_of(one, tables):
            if table in apart:
                apart[table].add(batch)
            else:
                yield from blocks.add(table, batch)
        yield from blocks.rest()
    for name, rows in apart.items():
        told = rows.told()
        yield from (block for one in files for block in blocks_of(one, [name])) if told is None else [told]


class _InOrder:
    """Rows of a table of one strand, as long as each comes behind all before it."""

    def __init__(self, table: Table, strand: Strand, drafting: Drafting, enough: int) -> None:
        self._table, self._strand, self._drafting, self._enough = table, strand, drafting, enough
        self._parts = DividedParts(drafting, table, is_sorted=True)
        self._ascent = Ascent(OFFSETS[table.name][0])
        self._size = 0
        self._held: list[Any] = []
        self._held_bytes = 0
        self._drafts: list[Draft] = []
        self._is_in_order = True

    def add(self, batch: Any) -> None:
        """Take rows."""
        self._is_in_order = self._is_in_order and self._ascent.goes_on_with(batch)
        if not self._is_in_order:
            self._held.clear()
            return
        self._held.append(batch)
        self._size += batch.nbytes
        self._held_bytes += batch.nbytes
        if self._held_bytes >= self._enough:
            self._write()

    def told(self) -> StrandTold | None:
        """Say what was written; None where the rows are better told as blocks: all of a partition, unsorted or few."""
        is_whole = self._strand.of == 1
        if is_whole and (not self._is_in_order or self._size < self._enough):
            return None
        if not self._is_in_order:
            return StrandTold(self._table.name, self._strand, False)
        self._write()
        drafts = [*self._drafts, *self._parts.rest()]
        return StrandTold(self._table.name, self._strand, True, *self._ascent.ends(), drafts)

    def _write(self) -> None:
        """Write what is held: each row is the only one of its fact."""
        if self._held:
            rows = pa.Table.from_batches(self._held, self._table.schema)
            self._held.clear()
            self._held_bytes = 0
            each = pa.array(np.ones(rows.num_rows, bool))
            for folder, some in in_folders(self._drafting.stamp.added(rows, self._table, each), self._table):
                self._drafts += self._parts.add(folder, some)
