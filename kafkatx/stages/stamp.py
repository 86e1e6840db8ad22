"""What a run adds to each row and file that it writes: which run it was, when, and what the columns mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from kafkatx.stages.canonical import with_canonical
from kafkatx.tables.columns import STRING, TIME, Table, microseconds
from kafkatx.tables.exported import RUN_ID, exported_columns, exported_schema
from kafkatx.tables.facts import FACTS
from kafkatx.terms.records import dataclass


@dataclass(frozen=True, slots=True)
class Stamp:
    """The run that writes: its id, when it began (milliseconds), and the release; without an id nothing is added."""

    run_id: str = ""
    exported_at: int = 0
    version: str = ""

    def schema(self, table: Table) -> Any:
        """Return the schema of a table as this run writes it."""
        return exported_schema(table, self.version) if self.run_id else table.schema

    def file_name(self, number: int) -> str:
        """Return the name of the file with this number of a table: other runs have other names."""
        return f"part-{self.run_id}-{number:05}.parquet" if self.run_id else f"part-{number:05}.parquet"

    def of_facts(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Return facts, RecordBatches of their schema, as tables of the schema that this run writes."""
        schema = self.schema(FACTS)
        return (pa.Table.from_arrays(batch.columns, schema=schema) for batch in batches)

    def stamped(self, blocks: Iterable[Any], table: Table) -> Iterator[Any]:
        """Add the columns of exported rows to blocks that come in the table's order."""
        if RUN_ID not in {column.name for column in exported_columns(table)}:
            schema = self.schema(table)
            yield from (pa.Table.from_arrays(block.columns, schema=schema) for block in blocks)
            return
        for block, canonical in with_canonical(blocks, table):
            yield self.added(block, table, canonical)

    def added(self, block: Any, table: Table, canonical: Any) -> Any:
        """Return rows with the columns of exported ones, of which each says in `canonical` whether it counts."""
        run, time = pa.scalar(self.run_id, STRING), pa.scalar(microseconds(self.exported_at), TIME)
        more = [pa.repeat(run, block.num_rows), pa.repeat(time, block.num_rows), canonical]
        return pa.Table.from_arrays([*block.columns, *more], schema=self.schema(table))


UNSTAMPED = Stamp()
