"""Exports two runs as Delta or Iceberg, read back by other libraries: `lake.py FORMAT FOLDER PACKAGES CASE CASE`.

Run with a Spark that the libraries are made for (tests/spark/test_lakes.py). Tells as JSON, for each table, its rows,
the rows of each run, and what its types are to another reader.
"""

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from kafkatx.spark import export
from kafkatx.tables.catalogue import EXPORTED
from kafkatx.tables.exported import plain_schema

TABLES = ("batches", "transactions", "findings", "damage")
EXTENSIONS = {
    "delta": {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.databricks.delta.snapshotPartitions": "1",
    },
    "iceberg": {},
}


def session(format: str, packages: str) -> SparkSession:
    builder = (
        SparkSession.builder.master("local[1]")
        .config("spark.jars.packages", packages)
        .config("spark.ui.enabled", "false")
    )
    for name, value in EXTENSIONS[format].items():
        builder = builder.config(name, value)
    return builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()


def read(format: str, path: Path) -> Any:
    """Read a table without Spark, as Arrow."""
    if format == "delta":
        from deltalake import DeltaTable

        return pa.table(DeltaTable(str(path)).to_pyarrow_table())
    from pyiceberg.table import StaticTable

    newest = max((path / "metadata").glob("v*.metadata.json"), key=lambda one: int(one.name[1:].partition(".")[0]))
    return StaticTable.from_metadata(str(newest)).scan().to_arrow()


def plain(type_: Any) -> str:
    """A type in words that large strings and lists, and names of members of lists, do not change."""
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        return f"list<{plain(type_.value_type)}>"
    if pa.types.is_struct(type_):
        return f"struct<{', '.join(f'{one.name}: {plain(one.type)}' for one in type_)}>"
    return str(type_).removeprefix("large_").replace("tz=Etc/UTC", "tz=UTC").replace("tz=+00:00", "tz=UTC")


def widened(type_: Any) -> Any:
    """A declared type as Iceberg has it, which has no integers below 32 bits."""
    return pa.int32() if pa.types.is_int16(type_) or pa.types.is_int8(type_) else type_


def told(format: str, folder: Path, table: str) -> dict[str, Any]:
    found, declared = read(format, folder / table), plain_schema(EXPORTED[table])
    wanted = {one.name: plain(widened(one.type) if format == "iceberg" else one.type) for one in declared}
    types = {one.name: plain(one.type) for one in found.schema}
    other = {name: (types.get(name), wanted[name]) for name in wanted if types.get(name) != wanted[name]}
    runs = found.column("run_id").value_counts().to_pylist()
    return {"rows": found.num_rows, "runs": sorted(one["counts"] for one in runs), "other_types": other}


def main() -> None:
    format, folder, packages, *cases = sys.argv[1:]
    spark = session(format, packages)
    runs = [export(spark, case, folder, format=format, tables=TABLES) for case in (*cases, cases[0])]
    rows = {table: [run.run.tables[table][0].rows for run in runs[:2]] for table in TABLES}
    tables = {table: told(format, Path(folder), table) for table in TABLES}
    print(json.dumps({"new": [run.is_new for run in runs], "rows": rows, "tables": tables}))


if __name__ == "__main__":
    main()
