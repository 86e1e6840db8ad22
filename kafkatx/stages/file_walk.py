"""One walk of a file for all tables: what the walk over records meets is every table's, where nothing is damaged.

Of a log that is neither text nor an internal topic the walk yields batches, of which markers are some, and records; its
coverage is that of `files`. Where it meets damage the tables that tell of it are read by themselves: records that
can't be read are damage to `records` only.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import numpy as np

from kafkatx.stages.file_tables import FILE_TABLES
from kafkatx.stages.table_damage import file_row
from kafkatx.stages.table_files import Source
from kafkatx.stages.table_segments import records_in
from kafkatx.tables import logs
from kafkatx.terms.topics import INTERNAL

OF_BATCHES = {"batches": logs.batches, "markers": logs.markers}
OF_ENDS = ("files", "damage")
"""Tables of how a walk ended."""


def rows_of_file(source: Source, tables: frozenset[str]) -> Iterator[tuple[str, Any]]:
    """Yield the rows that a file has of some tables, as RecordBatches with the name of the table."""
    shared: frozenset[str] = frozenset()
    if source.is_log and source.item.part is None:
        shared = yield from _walked(source, tables)
    for name, table in FILE_TABLES.items():
        if name in tables - shared and table.has_rows(source):
            yield from ((name, batch) for batch in table.rows(source))


def _walked(source: Source, tables: frozenset[str]) -> Generator[tuple[str, Any], None, frozenset[str]]:
    """Yield rows of the tables that one walk tells; returns their names."""
    reading, size = source.reading(), 0
    told = tables & {*OF_BATCHES, "records"}
    walk = reading.records if "records" in tables else reading.batches
    for rows, parts in walk(source.extent):
        size += int(rows["size"].sum(dtype=np.int64))
        yield from _of_batches(rows, source, told)
        if "records" in told:
            yield from (("records", records_in(chunk, source)) for chunk in parts if len(chunk.records))
    if source.item.topic in INTERNAL or reading.damage or reading.entry.status in ("unreadable", "damaged"):
        return told
    if "files" in tables:
        yield "files", file_row(source, reading, size + reading.entry.preallocated)
    return told | (tables & {*OF_ENDS})


def _of_batches(rows: Any, source: Source, told: frozenset[str]) -> Iterator[tuple[str, Any]]:
    for name, build in OF_BATCHES.items():
        if name in told:
            batch = build(rows, source.common())
            if batch.num_rows:
                yield name, batch
