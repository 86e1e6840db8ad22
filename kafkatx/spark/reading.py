"""Tables of evidence as DataFrames, decoded where the tasks run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafkatx.spark.conditions import all_of
from kafkatx.spark.looking import looks_in_tasks
from kafkatx.spark.planning import Task, opened_evidence, placed, planned
from kafkatx.spark.request import OF_ALL_FILES, TOPIC, Request, request
from kafkatx.spark.rows import rows_of
from kafkatx.spark.schema import spark_schema
from kafkatx.spark.shipping import ship
from kafkatx.spark.spreading import spread, values_of
from kafkatx.spark.workers import InWorker
from kafkatx.tables.catalogue import TABLES
from kafkatx.terms.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def read(
    spark: SparkSession,
    paths: str | Path | Iterable[str | Path],
    *,
    table: str,
    columns: Iterable[str] | None = None,
    topic: str | Iterable[str] | None = None,
    partition: int | Iterable[int] | None = None,
    since: str | int | datetime | None = None,
    until: str | int | datetime | None = None,
    producer_id: int | Iterable[int] | None = None,
    transactional_id: str | Iterable[str] | None = None,
    verify_all: bool = False,
    captures: dict[str, str] | None = None,
    stretch_bytes: int | None = None,
) -> DataFrame:
    """Return a table of evidence as a DataFrame, with the names and types that Parquet and Arrow have (docs/tables.md).

    Which files there are, and how long, is settled when this is called; their rows are decoded by the tasks each time
    that the frame is evaluated.

    Args:
        spark: the session; it is not configured.
        paths: as of `kafkatx.open`, to be found at the same place by driver and workers; made absolute.
        table: name of the table.
        columns: those wanted, in this order (None: all). Keys, values and headers cost nothing where they are not.
        topic: only rows of this topic, or of these.
        since: only rows of this time or later: ISO 8601 (UTC unless a zone is given), a datetime, or milliseconds.
            Rows without a time are left out.
        until: only rows that are, or began, before this time.
        partition: only rows of this partition, or of these.
        producer_id: only rows of this producer id, or of these.
        transactional_id: only rows of this transactional.id, or of these.
        verify_all: check the CRC of every batch, not only of those that matter.
        captures: path to name of the capture that it is forced into.
        stretch_bytes: how much of a large file one task reads, 64 MiB unless something else is wanted.

    Raises:
        UsageError: there is no such table, column, path or time, or the table has no topic or time to choose by.
    """
    names = {"partition": partition, "producer_id": producer_id, "transactional_id": transactional_id}
    wanted = request(table, columns, topic, since, verify_all, until, **names)
    if stretch_bytes is not None and stretch_bytes < 1:
        raise UsageError(f"stretch_bytes {stretch_bytes}: it takes a byte at least")
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    ship(spark)
    if table in OF_ALL_FILES:
        return _of_all_files(spark, given, wanted, captures)
    tasks = _tasks(spark, wanted, given, captures, stretch_bytes)
    schema = spark_schema(wanted.schema)
    if not tasks:
        return spark.createDataFrame([], schema)
    return spread(spark, tasks).mapInArrow(InWorker(_rows, f"reading {table}"), schema)


def _tasks(
    spark: SparkSession,
    wanted: Request,
    paths: list[str | Path],
    captures: dict[str, str] | None,
    stretch_bytes: int | None,
) -> list[Task]:
    with looks_in_tasks(spark) as looker:
        return planned(wanted, opened_evidence(paths, captures, looker), stretch_bytes)


def _rows(batches: Iterator[Any]) -> Iterator[Any]:
    for _, task in values_of(batches):
        yield from rows_of(task)


def _of_all_files(
    spark: SparkSession, paths: list[str | Path], wanted: Request, captures: dict[str, str] | None
) -> DataFrame:
    from kafkatx.spark import diagnosis  # loaded here: workers that decode have no use for rules

    found = diagnosis.table(spark, placed(paths), wanted.table, captures=captures, verify_all=wanted.verify_all)
    return _narrowed(found, wanted)


def _narrowed(frame: DataFrame, wanted: Request) -> DataFrame:
    """Return the rows and columns of a whole table that are asked for."""
    from pyspark.sql import functions as F

    if wanted.topics is not None:
        frame = frame.where(F.col(TOPIC).isin(sorted(wanted.topics)))
    if wanted.since is not None:
        begin = F.timestamp_micros(F.lit(wanted.begin))
        frame = frame.where(reduce(or_, [F.col(name) >= begin for name in wanted.times]))
    if wanted.conditions:
        frame = frame.where(all_of(wanted.conditions, TABLES[wanted.table].schema))
    return frame.select(*(F.col(f"`{name}`") for name in wanted.columns))
