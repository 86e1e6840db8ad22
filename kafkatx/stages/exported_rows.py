"""Blocks of a table to exported rows: copies side by side, one of each fact canonical, with run; by cluster and day."""

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
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
ESCAPED = frozenset(map(chr, [*range(1, 32), 127])) | frozenset("\"#%'*/:=?\\{[]^")
"""Signs that stand by their codes in names of folders (org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils)."""


def exported_rows(blocks: Iterable[Block], table: Table, stamp: Stamp) -> Iterator[Any]:
    """Yield the rows of blocks, which come unit by unit, as tables with what the run adds, each unit in order."""
    for _, of_unit in groupby(blocks, key=lambda block: block.unit):
        whole = pa.concat_tables(map(rows_of, of_unit)).combine_chunks()
        keys = [(name, "ascending") for name in table.order.columns]
        ordered = whole.take(pc.sort_indices(whole, sort_keys=keys))
        yield from stamp.stamped([ordered], table)


def divided_schema(table: Table, stamp: Stamp) -> Any:
    """Return the schema of exported rows with the columns that they are divided by."""
    schema = stamp.schema(table)
    return pa.schema([*schema, pa.field(CLUSTER, STRING), pa.field(DAY, STRING)], schema.metadata)


def divided(rows: Any, table: Table) -> Iterator[Any]:
    """Yield exported rows as RecordBatches with the columns that they are divided by."""
    cluster = pc.fill_null(rows.column("capture"), UNKNOWN)
    whole = rows.append_column(CLUSTER, cluster).append_column(DAY, days(rows, table)).combine_chunks()
    yield from whole.to_batches(ROWS_AT_ONCE)


def in_folders(rows: Any, table: Table) -> Iterator[tuple[str, Any]]:
    """Yield the folders that exported rows belong to, each with its rows in the order in which they come."""
    clusters = pc.dictionary_encode(pc.fill_null(rows.column("capture"), UNKNOWN).combine_chunks())
    numbers = _day_numbers(rows, table)
    codes = clusters.indices.to_numpy().astype(np.int64) + numbers * len(clusters.dictionary)
    if not len(codes) or codes.min() == codes.max():
        found = [(0, rows)] if len(codes) else []
    else:
        distinct, first = np.unique(codes, return_index=True)
        found = [(at, rows.filter(pa.array(codes == code))) for code, at in zip(distinct, first, strict=True)]
    for at, some in found:
        cluster = escaped(clusters[int(at)].as_py())
        yield f"{CLUSTER}={cluster}/{DAY}={_name(int(numbers[at]))}", some


def escaped(value: str) -> str:
    """Return a value as it stands in the name of a folder: as Hive and Spark write it, and readers undo it."""
    return "".join(f"%{ord(sign):02X}" if sign in ESCAPED else sign for sign in value) or NO_VALUE


def _day_numbers(rows: Any, table: Table) -> Any:
    """Days since 1970, -1 of rows without a time."""
    if not table.day:
        return np.full(rows.num_rows, -1, np.int64)
    times = pc.coalesce(*(rows.column(name) for name in table.day)).cast(pa.int64())
    return pc.fill_null(times, -1).to_numpy() // MICROSECONDS_A_DAY


def days(rows: Any, table: Table) -> Any:
    """Return the UTC day of each row, as `2026-11-21`."""
    distinct, at = np.unique(_day_numbers(rows, table), return_inverse=True)
    return pa.array([_name(int(number)) for number in distinct], STRING).take(pa.array(at))


def _name(number: int) -> str:
    if number < 0:
        return UNKNOWN
    return datetime.fromtimestamp(number * (MICROSECONDS_A_DAY // 1_000_000), UTC).strftime("%Y-%m-%d")
