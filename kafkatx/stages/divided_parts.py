"""Files of tables that tasks of an engine write as drafts, divided by cluster and UTC day; who runs them moves them.

Draft     its name is of the task and of this very attempt: what two attempts at a task write is apart, and only what
          the one tells that counts comes to the table. Its sum is taken while it is written.
Memory    row groups that are being filled hold HELD bytes together, and FOLDERS files are open at a time: a folder that
          is met again later gets another file.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import field
from itertools import groupby
from pathlib import Path
from typing import Any

from kafkatx.sources import places
from kafkatx.stages.disk import writing
from kafkatx.stages.exported_rows import CLUSTER, DAY, UNKNOWN, exported_rows, in_folders
from kafkatx.stages.parquet_parts import OpenPart, RowGroup, Sizes, row_groups
from kafkatx.stages.stamp import Stamp
from kafkatx.stages.table_blocks import Block
from kafkatx.tables.catalogue import EXPORTED
from kafkatx.tables.columns import Table
from kafkatx.tables.facts import FACTS
from kafkatx.terms.records import dataclass

HELD = 64 << 20
FOLDERS = 32
SIZES = Sizes(group_bytes=32 << 20)
SIZES_OF_FACTS = Sizes(group_bytes=8 << 20)
"""A row group of facts is read by itself."""


@dataclass(frozen=True, slots=True, order=True)
class Draft:
    """A file that a task wrote: its table, its name as a draft, the folder of the table that it is for ("": itself)."""

    table: str
    name: str
    folder: str
    rows: int
    bytes: int
    sha256: str


@dataclass(slots=True)
class Drafting:
    """An attempt at the task with a number: where its drafts lie, and what it stamps them with."""

    place: str
    task: int
    stamp: Stamp
    attempt: str = field(default_factory=lambda: secrets.token_hex(8))
    _made: int = 0

    def tables(self, blocks: Iterable[Block]) -> Iterator[Draft]:
        """Write blocks, which come table by table and in it unit by unit."""
        for name, of_table in groupby(blocks, key=lambda block: block.table):
            divided = DividedParts(self, EXPORTED[name])
            for rows in exported_rows(of_table, EXPORTED[name], self.stamp):
                for folder, some in in_folders(rows, EXPORTED[name]):
                    yield from divided.add(folder, some)
            yield from divided.rest()

    def facts(self, batches: Iterable[Any]) -> Iterator[Draft]:
        """Write facts, which come as RecordBatches of their schema in their order."""
        part: _Part | None = None
        for group in row_groups(self.stamp.of_facts(batches), SIZES_OF_FACTS):
            part = part or self.begun(FACTS, "", is_sorted=True)
            part.file.write(group)
            if part.file.size >= SIZES_OF_FACTS.file_bytes:
                yield part.closed()
                part = None
        if part is not None:
            yield part.closed()

    def empty(self, table: Table) -> Draft:
        """Write a file without rows, so that a table that has none can be read."""
        folder = "" if table is FACTS else f"{CLUSTER}={UNKNOWN}/{DAY}={UNKNOWN}"
        return self.begun(table, folder, is_sorted=True).closed()

    def begun(self, table: Table, folder: str, *, is_sorted: bool = False) -> _Part:
        """Begin the next file."""
        name = f"{table.name}-{self.task:05}-{self.attempt}-{self._made:05}.parquet"
        self._made += 1
        path = places.joined(self.place, name)
        if not places.is_url(path):
            with writing(path):
                Path(path).parent.mkdir(parents=True, exist_ok=True)
        file = OpenPart(path, table, self.stamp.schema(table), is_sorted=is_sorted)
        return _Part(table.name, name, folder, file)


@dataclass(slots=True)
class _Part:
    """A file that is being written, and the row group of it that is being filled."""

    table: str
    name: str
    folder: str
    file: OpenPart
    group: RowGroup = field(default_factory=lambda: RowGroup(SIZES, is_of_one_piece=False))

    def write(self, groups: Iterable[Any]) -> None:
        for group in groups:
            self.file.write(group)

    def closed(self) -> Draft:
        self.write(self.group.rest())
        told = self.file.close()
        return Draft(self.table, self.name, self.folder, told.rows, told.bytes, told.sha256)


@dataclass(slots=True)
class DividedParts:
    """The open files of one table by their folders, that last written to at the end."""

    drafting: Drafting
    table: Table
    is_sorted: bool = False
    open: dict[str, _Part] = field(default_factory=dict)

    def add(self, folder: str, rows: Any) -> Iterator[Draft]:
        """Take rows of a folder; yields what is finished."""
        part = self.open.pop(folder, None) or self.drafting.begun(self.table, folder, is_sorted=self.is_sorted)
        self.open[folder] = part
        part.write(part.group.add(rows))
        if sum(one.group.size for one in self.open.values()) > HELD:
            fullest = max(self.open.values(), key=lambda one: one.group.size)
            fullest.write(fullest.group.rest())
        if part.file.size >= SIZES.file_bytes:
            yield self.open.pop(folder).closed()
        if len(self.open) > FOLDERS:
            yield self.open.pop(next(iter(self.open))).closed()

    def rest(self) -> Iterator[Draft]:
        """Finish all."""
        while self.open:
            yield self.open.pop(next(iter(self.open))).closed()
