"""Rows of all tables on their way through a stage of an export: blocks of one table, as bytes that anybody may hand us.

Block     some rows of one table and one unit as an Arrow stream, compressed; nothing in it is pickled.
Unit      what rows of one fact, however many files hold it, have in common: the capture, and of tables that are read
          partition by partition the partition and a range of offsets. So copies meet, and no unit is large.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafkatx.stages.facts import FactsError
from kafkatx.stages.table_files import Source
from kafkatx.tables.catalogue import TABLES
from kafkatx.terms.records import dataclass

OFFSETS = {
    "batches": ("base_offset", 17),
    "records": ("record_offset", 14),
    "markers": ("record_offset", 17),
    "transaction_states": ("record_offset", 16),
    "aborted_transactions": ("last_offset", 20),
    "producer_states": ("snapshot_offset", 20),
    "offset_commits": ("record_offset", 16),
}
"""Tables whose facts lie at an offset of their file's partition: the column that has it, and how many offsets, as a
power of two, are a unit. A row that lacks it is of a unit by itself."""
FULL_BLOCK = 1 << 20
"""Bytes of rows at which a block is closed: some hundred kilobytes compressed."""
UNITS_OPEN = 4
"""Units whose blocks are filled at a time: a log's offsets ascend, so one is soon done with."""
CODEC = "zstd"
APART = 64
"""Units that rows without copies are dealt to."""


@dataclass(frozen=True, slots=True)
class Block:
    """Rows of a table."""

    table: str
    unit: str
    rows: int
    payload: bytes


class BlocksOfFile:
    """Lays the rows that a file has of several tables into blocks, as they come."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._open: dict[str, _Blocks] = {}

    def add(self, table: str, batch: Any) -> Iterator[Block]:
        """Take rows of a table; yields blocks that are full."""
        if table not in self._open:
            self._open[table] = _Blocks(table, *self._place(table))
        yield from self._open[table].add(batch)

    def rest(self) -> Iterator[Block]:
        """Yield the blocks that are not full."""
        for blocks in self._open.values():
            yield from blocks.rest()

    def _place(self, table: str) -> tuple[str, str | None, int]:
        """What the units of a table begin with, the column that cuts them and the width of each."""
        source, capture = self._source, self._source.capture.name if self._source.capture else ""
        if not TABLES[table].identity.copies:
            return f"/{_dealt(source.item.path)}", None, 0
        if table not in OFFSETS:
            return capture, None, 0
        return f"{capture}/{source.item.topic}-{source.partition}", *OFFSETS[table]


def blocks_of_capture(table: str, capture: str, batches: Iterable[Any]) -> Iterator[Block]:
    """Lay the rows that a capture has of a table into blocks."""
    blocks = _Blocks(table, capture, None, 0)
    for batch in batches:
        yield from blocks.add(batch)
    yield from blocks.rest()


def rows_of(block: Block) -> Any:
    """Return the rows of a block as a pyarrow.Table; raises FactsError for bytes that are none."""
    schema = TABLES[block.table].schema
    try:
        with pa.ipc.open_stream(block.payload) as reader:
            found = reader.read_all()
        found.validate(full=False)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise FactsError(f"not a block of {block.table}: {error}") from error
    if found.schema != schema or found.num_rows != block.rows:
        raise FactsError(f"not a block of {block.table}: {found.num_rows:,} rows, of other columns")
    return found


@dataclass(slots=True)
class _Open:
    """Rows that wait for a block of theirs to be full."""

    held: list[Any] = field(default_factory=list)
    size: int = 0


@dataclass(slots=True)
class _Blocks:
    """Blocks of a table that are being filled."""

    table: str
    where: str
    column: str | None
    width: int
    waiting: dict[str, _Open] = field(default_factory=dict)

    def add(self, batch: Any) -> Iterator[Block]:
        """Take rows; yields the blocks that are full."""
        for unit, rows in _units(self.where, self.column, self.width, batch):
            held = self.waiting.setdefault(unit, _Open())
            held.held.append(rows)
            held.size += rows.nbytes
            if held.size >= FULL_BLOCK or len(self.waiting) > UNITS_OPEN:
                full = unit if held.size >= FULL_BLOCK else next(iter(self.waiting))
                yield _block(self.table, full, self.waiting.pop(full).held)

    def rest(self) -> Iterator[Block]:
        """Yield the others."""
        for unit, held in self.waiting.items():
            yield _block(self.table, unit, held.held)


def _units(where: str, column: str | None, width: int, batch: Any) -> Iterator[tuple[str, Any]]:
    """Cut rows to those of each unit."""
    if column is None or not batch.num_rows:
        if batch.num_rows:
            yield where, batch
        return
    numbers = pc.fill_null(pc.shift_right(batch.column(column), width), -1).to_numpy()
    changes = np.flatnonzero(np.diff(numbers)) + 1
    begins = [0, *changes.tolist()]
    for begin, end in zip(begins, [*begins[1:], batch.num_rows], strict=True):
        yield f"{where}/{numbers[begin]}", batch.slice(begin, end - begin)


def _block(table: str, unit: str, held: list[Any]) -> Block:
    rows = pa.Table.from_batches(held, TABLES[table].schema).combine_chunks()
    out = io.BytesIO()
    with pa.ipc.new_stream(
        out, rows.schema, options=pa.ipc.IpcWriteOptions(compression=CODEC, use_threads=False)
    ) as to:
        to.write_table(rows)
    return Block(table, unit, rows.num_rows, out.getvalue())


def _dealt(path: str) -> int:
    return int.from_bytes(hashlib.blake2b(path.encode("utf-8", "surrogateescape"), digest_size=2).digest()) % APART
