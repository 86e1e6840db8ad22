"""Every table reads back equal, column by column and row by row, with DuckDB, Polars, pandas and pyarrow.

Spark does in tests/spark.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafkatx.tables.catalogue import TABLES
from kafkatx.tables.exported import exported_columns, plain_schema
from tests.outputs.parquet.exported import in_order, telling, write_cases
from tests.repeats import one_by_one, together


def with_pyarrow(folder: Path) -> Any:
    return pq.read_table(folder)


def with_duckdb(folder: Path) -> Any:
    with duckdb.connect() as connection:
        return connection.read_parquet(f"{folder}/*.parquet").to_arrow_table()


def with_polars(folder: Path) -> Any:
    return polars.read_parquet(f"{folder}/*.parquet").to_arrow()


def with_pandas(folder: Path) -> Any:
    return pa.Table.from_pandas(pandas.read_parquet(folder, dtype_backend="pyarrow"), preserve_index=False)


READERS = {"pyarrow": with_pyarrow, "duckdb": with_duckdb, "polars": with_polars, "pandas": with_pandas}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    target = tmp_path_factory.mktemp("readers") / "tables"
    return target, write_cases(telling(), target)


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@pytest.mark.parametrize("name", TABLES)
def test_a_table_reads_back_as_it_was(name: str, reader: Callable[[Path], Any], written: Any) -> None:
    target, tables = written
    assert tables[name].num_rows
    found = reader(target / name)
    assert found.schema.names == [column.name for column in exported_columns(TABLES[name])]
    assert found.select(tables[name].schema.names).cast(tables[name].schema) == in_order(tables[name], name)


NATIVE = {
    pa.int16(): ("SMALLINT", polars.Int16, "int16[pyarrow]"),
    pa.int32(): ("INTEGER", polars.Int32, "int32[pyarrow]"),
    pa.int64(): ("BIGINT", polars.Int64, "int64[pyarrow]"),
    pa.bool_(): ("BOOLEAN", polars.Boolean, "bool[pyarrow]"),
    pa.string(): ("VARCHAR", polars.String, "string[pyarrow]"),
    pa.binary(): ("BLOB", polars.Binary, "binary[pyarrow]"),
    pa.timestamp("us", "UTC"): (
        "TIMESTAMP WITH TIME ZONE", polars.Datetime("us", "UTC"), "timestamp[us, tz=UTC][pyarrow]",
    ),
}  # fmt: skip
"""Types that each reader has for a column, by its type in Arrow."""


@pytest.mark.parametrize("name", TABLES)
def test_readers_have_their_own_types_for_columns(name: str, written: Any) -> None:
    folder = written[0] / name
    with duckdb.connect() as connection:
        in_duckdb = [str(kind) for kind in connection.read_parquet(f"{folder}/*.parquet").types]
    in_polars = polars.read_parquet_schema(next(folder.iterdir()))
    in_pandas = pandas.read_parquet(folder, dtype_backend="pyarrow").dtypes
    for field, duck in zip(plain_schema(TABLES[name]), in_duckdb, strict=True):
        if pa.types.is_list(field.type):
            member = field.type.value_type
            assert duck.startswith("STRUCT(") if pa.types.is_struct(member) else duck == f"{NATIVE[member][0]}[]"
            assert duck.endswith("[]")
            assert isinstance(in_polars[field.name], polars.List)
        else:
            assert (duck, in_polars[field.name], str(in_pandas[field.name])) == NATIVE[field.type]


def test_times_are_times_for_plain_pandas_too(written: Any) -> None:
    found = pandas.read_parquet(written[0] / "transactions")
    assert str(found["started_at"].dtype) == "datetime64[us, UTC]"


@pytest.mark.parametrize("case", one_by_one())
def test_every_table_of_a_case_equals_the_arrow_table_that_it_came_from(case: Path, tmp_path: Path) -> None:
    tables = write_cases([case], tmp_path / "tables")
    for name, table in tables.items():
        found = pq.read_table(tmp_path / "tables" / name)
        assert found.select(table.schema.names) == in_order(table, name), name


@pytest.mark.repeats
@pytest.mark.parametrize("cases", together())
def test_cases_in_one_call_are_the_same_tables_too(cases: tuple[Path, ...], tmp_path: Path) -> None:
    tables = write_cases(cases, tmp_path / "tables")
    assert len(set(tables["batches"].column("capture").to_pylist())) > len(cases) / 2
    for name, table in tables.items():
        found = pq.read_table(tmp_path / "tables" / name)
        assert found.select(table.schema.names) == in_order(table, name), name
