"""Rows that need to meet no others: of a partition all of whose files one task reads, in ascending offsets.

Nothing of them travels: the task that read them writes them to files, if they are enough for files of their own.
Offsets that do not ascend show that a fact may be there twice; then the rows of the table are read again, as blocks,
which meet where it is decided which copy counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa

from kafkatx.evidence.joining import JoinedEvidence
from kafkatx.stages.divided_parts import DividedParts, Draft, Drafting
from kafkatx.stages.export_tasks import FileOfExport, blocks_of, files_of_export
from kafkatx.stages.exported_rows import in_folders
from kafkatx.stages.file_walk import rows_of_file
from kafkatx.stages.lone_copies import TOLD_IN_ORDER, Ascent, are_alone, partition_of
from kafkatx.stages.packing import LARGEST_TASK, grouped
from kafkatx.stages.table_blocks import OFFSETS, Block, BlocksOfFile
from kafkatx.tables.catalogue import EXPORTED
from kafkatx.tables.columns import Table

LARGEST_PARTITION = 1 << 30
"""Bytes of several files that one task reads for the sake of this: as many as a segment has by default."""
ENOUGH = 16 << 20
"""Bytes of rows, as Arrow holds them, that are worth files of their own."""


def rows_of_files(
    files: Iterable[FileOfExport], tables: Iterable[str], drafting: Drafting, enough: int = ENOUGH
) -> Iterator[Block | Draft]:
    """Read the files of a task: blocks of some tables, and drafts of what was written where it was read."""
    for partition, of_partition in groupby(files, key=lambda one: one.whole):
        if partition is None:
            yield from (block for one in of_partition for block in blocks_of(one, tables))
        else:
            yield from _of_partition([*of_partition], frozenset(tables), drafting, enough)


def _of_partition(
    files: list[FileOfExport], tables: frozenset[str], drafting: Drafting, enough: int
) -> Iterator[Block | Draft]:
    apart = {name: _InOrder(EXPORTED[name], drafting, enough) for name in TOLD_IN_ORDER if name in tables}
    for source in (one.source for one in files if one.source is not None):
        blocks = BlocksOfFile(source)
        for table, batch in rows_of_file(source, tables):
            if table in apart:
                apart[table].add(batch)
            else:
                yield from blocks.add(table, batch)
        yield from blocks.rest()
    for name, rows in apart.items():
        drafts = rows.rest()
        yield from (block for one in files for block in blocks_of(one, [name])) if drafts is None else drafts


class _InOrder:
    """Rows of a table of one partition, as long as each comes behind all before it."""

    def __init__(self, table: Table, drafting: Drafting, enough: int) -> None:
        self._table, self._drafting, self._enough = table, drafting, enough
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

    def rest(self) -> list[Draft] | None:
        """Return the files that hold all rows; None where these are not in order, or too few."""
        if not self._is_in_order or self._size < self._enough:
            return None
        self._write()
        return [*self._drafts, *self._parts.rest()]

    def _write(self) -> None:
        """Write what is held: each row is the only one of its fact."""
        if self._held:
            rows = pa.Table.from_batches(self._held, self._table.schema)
            self._held.clear()
            self._held_bytes = 0
            each = pa.array(np.ones(rows.num_rows, bool))
            for folder, some in in_folders(self._drafting.stamp.added(rows, self._table, each), self._table):
                self._drafts += self._parts.add(folder, some)


def tasks_of_export(evidence: JoinedEvidence, verify_all: bool, at_once: int) -> list[list[FileOfExport]]:
    """Pack all files to tasks, of which about so many run at once."""
    found = [*files_of_export(evidence, verify_all)]
    largest = min(max(sum(one.bytes for one in found) // max(at_once, 1), LARGEST_TASK), LARGEST_PARTITION)
    packed = grouped(_together(found, largest), lambda unit: sum(one.bytes for one in unit), at_once)
    return [[one for unit in task for one in unit] for task in packed] or [[]]


def _together(found: list[FileOfExport], largest: int) -> Iterator[list[FileOfExport]]:
    """Yield files that one task must read: those of a partition that all lie in one folder, in order, else each alone.

    Together they have at most `largest` bytes, or are one file.
    """
    logs: dict[str, list[FileOfExport]] = {}
    for one in found:
        if (partition := _partition(one)) is not None:
            logs.setdefault(partition, []).append(one)
    whole = {name: of for name, of in logs.items() if _are_whole(of, largest)}
    for one in found:
        partition = _partition(one)
        if partition is None or partition not in whole:
            yield [one]
        elif whole[partition][0] is one:
            ordered = sorted(whole[partition], key=_place)
            yield [replace(each, whole=partition) for each in ordered]


def _partition(one: FileOfExport) -> str | None:
    return partition_of(one.source)


def _are_whole(files: list[FileOfExport], largest: int) -> bool:
    items = [one.source.item for one in files if one.source is not None]
    return (len(items) == 1 or sum(item.size for item in items) <= largest) and are_alone(items)


def _place(one: FileOfExport) -> tuple[int, str]:
    item = one.source.item if one.source is not None else None
    return (item.base_offset, item.path) if item is not None else (-1, "")
