"""Blocks of a table to exported rows: copies side by side, one of each fact canonical, with run, cluster and day."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafkatx.stages.stamp import Stamp
from kafkatx.stages.table_blocks import Block, rows_of
from kafkatx.tables.columns import STRING, Table

CLUSTER, DAY = "cluster", "day"
"""Columns that an export by Spark is divided by, in the names of its folders."""
UNKNOWN = "unknown"
"""The cluster of files that no capture claims, and the day of rows without a time."""
MICROSECONDS_A_DAY = 86_400_000_000
ROWS_AT_ONCE = 16_384


def exported_rows(blocks: Iterable[Block], table: Table, stamp: Stamp) -> Iterator[Any]:
    """Yield the rows of blocks, which come unit by unit, as RecordBatches of `divided_schema`, each unit in order."""
    for _, of_unit in groupby(blocks, key=lambda block: block.unit):
        whole = pa.concat_tables(map(rows_of, of_unit)).combine_chunks()
        keys = [(name, "ascending") for name in table.order.columns]
        ordered = whole.take(pc.sort_indices(whole, sort_keys=keys))
        for stamped in stamp.stamped([ordered], table):
            yield from _divided(stamped, table).to_batches(ROWS_AT_ONCE)


def divided_schema(table: Table, stamp: Stamp) -> Any:
    """Return the schema of exported rows with the columns that they are divided by."""
    schema = stamp.schema(table)
    return pa.schema([*schema, pa.field(CLUSTER, STRING), pa.field(DAY, STRING)], schema.metadata)


def _divided(rows: Any, table: Table) -> Any:
    cluster = pc.fill_null(rows.column("capture"), UNKNOWN)
    return rows.append_column(CLUSTER, cluster).append_column(DAY, days(rows, table)).combine_chunks()


def days(rows: Any, table: Table) -> Any:
    """Return the UTC day of each row, as `2026-11-21`."""
    if not table.day:
        return pa.repeat(pa.scalar(UNKNOWN), rows.num_rows)
    times = pc.coalesce(*(rows.column(name) for name in table.day)).cast(pa.int64())
    numbers = pc.fill_null(times, -1).to_numpy() // MICROSECONDS_A_DAY
    distinct, at = np.unique(numbers, return_inverse=True)
    return pa.array([_name(int(number)) for number in distinct], STRING).take(pa.array(at))


def _name(number: int) -> str:
    if number < 0:
        return UNKNOWN
    return datetime.fromtimestamp(number * (MICROSECONDS_A_DAY // 1_000_000), UTC).strftime("%Y-%m-%d")
