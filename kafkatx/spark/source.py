"""The data source `kafkatx`, for `spark.read.format("kafkatx")`: any table that files have rows of.

Planning a source can't run a job, so a large file is one task here; `kafkatx.spark.read` reads it in stretches.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from kafkatx.spark.request import OF_ALL_FILES, Request, request
from kafkatx.terms.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

NAME = "kafkatx"
OPTIONS = ("table", "columns", "topic", "since", "verify_all", "captures")
PATHS = ("path", "paths")


def register(spark: SparkSession) -> None:
    """Make `spark.read.format("kafkatx")` known to a session.

    Options are `table` (needed), `columns` (divided by commas), `topic` (one, or a JSON list), `since`, `verify_all`
    (true or false) and `captures` (a JSON object), each as of `kafkatx.spark.read`; a path, or a list of them, goes to
    `load`. Tables that follow from all files together are for `kafkatx.spark.read` only.
    """
    from kafkatx.spark.shipping import ship

    ship(spark)
    spark.dataSource.register(KafkatxSource)


class KafkatxSource(DataSource):
    """A table of evidence."""

    @classmethod
    def name(cls) -> str:
        """What it is called in `format`."""
        return NAME

    def schema(self) -> StructType:
        """Return the columns asked for; raises UsageError for an option that can't be."""
        from kafkatx.spark.schema import spark_schema

        return spark_schema(asked(self.options).schema)

    def reader(self, schema: StructType) -> KafkatxReader:
        """Return what reads the columns of `schema`; raises UsageError where the table has them not, or not so."""
        from kafkatx.spark.schema import spark_schema

        wanted = asked({**self.options, "columns": ",".join(schema.names)})
        declared = spark_schema(wanted.schema)
        if schema.simpleString() != declared.simpleString():
            raise UsageError(f"{wanted.table} has {declared.simpleString()}, not {schema.simpleString()}")
        return KafkatxReader(wanted, paths_of(self.options), _captures(self.options))


class KafkatxReader(DataSourceReader):
    """Plans tasks on the driver, and reads one where it runs."""

    def __init__(self, wanted: Request, paths: list[str], captures: dict[str, str] | None) -> None:
        """Prepare to read what is asked for under some paths."""
        self.wanted, self.paths, self.captures = wanted, paths, captures

    def partitions(self) -> list[InputPartition]:
        """Return one partition a task."""
        from kafkatx.sources.archives import unpacked_places
        from kafkatx.spark.planning import files_of, opened_evidence, tasks_of, tasks_of_settings

        with unpacked_places():
            evidence = opened_evidence(self.paths, self.captures)
            if self.wanted.table == "settings":
                return [InputPartition(task) for task in tasks_of_settings(self.wanted, evidence)]
            return [InputPartition(task) for task in tasks_of(self.wanted, files_of(self.wanted, evidence))]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Yield the rows of a task; none of no task, which Spark asks for where there are no partitions."""
        from kafkatx.spark.rows import rows_of
        from kafkatx.spark.workers import InWorker

        task = getattr(partition, "value", None)  # before 4.1 it is the partition itself that is None
        return InWorker(lambda _: rows_of(task), task.ways)(iter(())) if task is not None else iter(())


def asked(options: Mapping[str, str]) -> Request:
    """Return what options ask for, whose names Spark makes lower case; raises UsageError."""
    unknown = [name for name in options if name.lower() not in (*OPTIONS, *PATHS)]
    if unknown:
        raise UsageError(f"there is no option {', '.join(sorted(unknown))}; the options are {', '.join(OPTIONS)}")
    given = {name.lower(): value for name, value in options.items()}
    if "table" not in given:
        raise UsageError('which table? option("table", "batches")')
    if given["table"] in OF_ALL_FILES:
        call = f"kafkatx.spark.read(spark, paths, table={given['table']!r})"
        raise UsageError(f"{given['table']} follows from all files together: {call}")
    verify_all = given.get("verify_all", "false").lower()
    if verify_all not in ("true", "false"):
        raise UsageError(f"verify_all {verify_all!r}: write true or false")
    columns = given.get("columns")
    names = None if columns is None else [name.strip() for name in columns.split(",")]
    return request(given["table"], names, _topics(given), given.get("since"), verify_all == "true")


def paths_of(options: Mapping[str, str]) -> list[str]:
    """Return the paths that `load` was given: one as `path`, several as `paths`, a JSON list; raises UsageError."""
    if "paths" in options:
        return [str(path) for path in _json("paths", options["paths"], list)]
    if "path" in options:
        return [options["path"]]
    raise UsageError("read what? load(path), or load([path, path])")


def _topics(given: Mapping[str, str]) -> str | list[str] | None:
    topic = given.get("topic")
    return [str(one) for one in _json("topic", topic, list)] if topic and topic.startswith("[") else topic


def _captures(options: Mapping[str, str]) -> dict[str, str] | None:
    return _json("captures", options["captures"], dict) if "captures" in options else None


def _json(name: str, text: str, kind: type) -> Any:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, kind):
        raise UsageError(f"{name} {text!r} is no JSON {'list' if kind is list else 'object'}")
    return found
