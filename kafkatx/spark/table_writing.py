"""A table of an export by Spark's own writer: Parquet files, or rows appended to a table of Delta Lake or Iceberg.

Once   a run's rows are appended once, however often it is killed: files get names that follow from the run and come to
       the table when all of them are there; Delta knows the run as a transaction, Iceberg by a property of a snapshot.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

from kafkatx.spark.export_store import ExportStore
from kafkatx.spark.failures import is_sparks
from kafkatx.stages.exported_rows import CLUSTER, DAY, UNKNOWN
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
PART = re.compile(r"part-(\d+)-[0-9a-f-]+(?:[.-]c(\d+))?[\w.]*\.parquet")
ROW_GROUP = str(32 << 20)
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


def write_files(frame: DataFrame, store: ExportStore, folder: str) -> None:
    """Write rows as Parquet to a folder of their own, whole or not at all."""
    frame.write.partitionBy(CLUSTER, DAY).mode("overwrite").option("compression", "zstd").option(
        "parquet.block.size", ROW_GROUP
    ).parquet(store.for_spark(folder))


def moved(store: ExportStore, folder: str, table: str, run_id: str) -> list[str]:
    """Give the files of a finished folder their names in a table; return all files that the run has there."""
    for path in store.files(folder):
        place, _, name = path.rpartition("/")
        if (found := PART.fullmatch(name)) is not None:
            number = f"{int(found[1]):05}{f'-{int(found[2])}' if int(found[2] or 0) else ''}"
            store.move(f"{folder}/{path}", "/".join(filter(None, [table, place, f"part-{run_id}-{number}.parquet"])))
    return sorted(path for path in store.files(table) if path.rpartition("/")[2].startswith(f"part-{run_id}-"))


def write_empty(store: ExportStore, table: str, schema: Any, run_id: str) -> str:
    """Write a file without rows, so that a table that has none can be read; return its name."""
    import io

    import pyarrow.parquet as pq

    name, out = f"{CLUSTER}={UNKNOWN}/{DAY}={UNKNOWN}/part-{run_id}-00000.parquet", io.BytesIO()
    pq.write_table(schema.empty_table(), out)
    store.write(f"{table}/{name}", out.getvalue())
    return name
