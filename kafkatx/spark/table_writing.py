"""Tables of an export by Spark: files that tasks wrote as drafts, or rows appended to tables of Delta Lake or Iceberg.

Once   a run's rows are there once, however often it is killed: the drafts that count are noted before the first of them
       is moved to its table; Delta knows the run as a transaction, Iceberg by a property of a snapshot.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kafkatx.spark.export_store import ExportStore
from kafkatx.spark.failures import SparkFailedError, is_sparks
from kafkatx.stages.divided_parts import Draft
from kafkatx.stages.export_manifest import TableFile
from kafkatx.stages.exported_rows import CLUSTER, DAY
from kafkatx.stages.stamp import Stamp
from kafkatx.terms.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMATS = ("parquet", "delta", "iceberg")
PACKAGES = {
    "delta": "io.delta:delta-spark_4.1_2.13:4.4.0",
    "iceberg": "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
}
"""What a format needs, here for Spark 4.1."""
ICEBERG_CATALOG = "org.apache.iceberg.spark.SparkCatalog"
PROPERTY = "kafkatx.run"
"""Property of a snapshot of Iceberg."""


def known_format(name: str) -> str:
    """Return the name of a format; raises UsageError for one that is none."""
    if name not in FORMATS:
        raise UsageError(f"format {name!r}: write one of {', '.join(FORMATS)}")
    return name


def check_library(spark: SparkSession, format: str) -> None:
    """Raise UsageError where a session lacks the library of a format: before anything is read."""
    if format not in PACKAGES:
        return
    try:
        spark.read.format(format).load("file:///nowhere/of/kafkatx")
    except Exception as error:  # that nothing lies there is no news
        if not is_sparks(error):
            raise
        if "DATA_SOURCE_NOT_FOUND" in str(error):
            told = f"Spark lacks the library of {format}; start it with spark.jars.packages, like {PACKAGES[format]}"
            raise UsageError(told) from error


def append(frame: DataFrame, format: str, store: ExportStore, table: str, run_id: str) -> None:
    """Append the rows of a run to a table of Delta Lake or Iceberg; once more appends nothing."""
    if format == "iceberg":
        _append_to_iceberg(frame, store, table, run_id)
        return
    once = {"txnAppId": f"kafkatx-{run_id}-{table}", "txnVersion": "1"}
    writer = frame.write.format("delta").mode("append").partitionBy(CLUSTER, DAY).options(**once)
    writer.save(store.for_spark(table))


def _append_to_iceberg(frame: DataFrame, store: ExportStore, table: str, run_id: str) -> None:
    """Append to a table of a catalog that is the export itself: a folder a table, as Iceberg's Hadoop tables are."""
    from pyspark.sql import functions as F

    spark = frame.sparkSession
    catalog = f"kafkatx_{hashlib.sha256(store.path.encode()).hexdigest()[:12]}"
    settings = {"": ICEBERG_CATALOG, ".type": "hadoop", ".warehouse": store.for_spark()}
    for name, value in settings.items():
        spark.conf.set(f"spark.sql.catalog.{catalog}{name}", value)
    name = f"{catalog}.`{table}`"
    if not spark.catalog.tableExists(name):
        empty = spark.createDataFrame([], frame.schema)
        empty.writeTo(name).using("iceberg").partitionedBy(F.col(CLUSTER), F.col(DAY)).create()
    known = spark.table(f"{name}.snapshots").select("summary").collect()
    if run_id not in {row.summary.get(PROPERTY) for row in known}:
        writer = frame.writeTo(name).option(f"snapshot-property.{PROPERTY}", run_id)
        writer.option("distribution-mode", "none").option("fanout-enabled", "true").append()


def check_rows(store: ExportStore, drafts: Iterable[Draft], rows: dict[str, int]) -> None:
    """Raise SparkFailedError where the drafts of a table have not as many rows as were read."""
    found: dict[str, int] = defaultdict(int)
    for draft in drafts:
        found[draft.table] += draft.rows
    for name, count in found.items():
        if count != rows.get(name, 0):
            raise _lacking(store, name, f"{count:,} of {rows.get(name, 0):,} rows of {name} are")


def moved(store: ExportStore, drafts: Iterable[Draft], folder: str, stamp: Stamp) -> dict[str, list[TableFile]]:
    """Give the drafts in a folder their names in their tables, as far as they have not got them before.

    Raises SparkFailedError, before anything is moved, for one that is neither here nor there.
    """
    drafted, there = store.files(folder), dict[str, dict[str, int]]()
    found: dict[str, list[TableFile]] = defaultdict(list)
    moves = []
    for draft in sorted(drafts):
        files = found[draft.table]
        name = "/".join(filter(None, [draft.folder, stamp.file_name(len(files))]))
        if drafted.get(draft.name) == draft.bytes:
            moves.append((f"{folder}/{draft.name}", f"{draft.table}/{name}"))
        elif there.setdefault(draft.table, store.files(draft.table)).get(name) != draft.bytes:
            raise _lacking(store, draft.table, f"a file of {draft.rows:,} rows of {draft.table} is not")
        files.append(TableFile(name, draft.rows, draft.bytes, draft.sha256))
    for draft_name, name in moves:
        store.move(draft_name, name)
    return found


def _lacking(store: ExportStore, table: str, what: str) -> SparkFailedError:
    return SparkFailedError(
        f"Spark failed: {what} in {store.path}",
        ["The place must be the same for all workers: a mount that each of them has, or an object store."],
        stage=f"writing {table}",
    )
