"""The data source `kafkatx`, for `spark.read.format("kafkatx")`: any table, planned when an action runs.

Planning a source can't run a job and need not: files are listed, large ones cut by their bytes, and each task finds
where its stretch begins (stages/seams.py). What follows from all files of a capture is one task's.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from kafkatx.spark.conditions import Condition, of_filter
from kafkatx.spark.request import Request, request
from kafkatx.tables.catalogue import TABLES
from kafkatx.terms.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    from kafkatx.spark.streaming import GrowthReader

NAME = "kafkatx"
NAMES = ("topic", "partition", "producer_id", "transactional_id")
OPTIONS = ("table", "columns", *NAMES, "since", "until", "verify_all", "captures", "stretch_bytes")
PATHS = ("path", "paths")
PUSHING = "pyspark.sql.worker.data_source_pushdown_filters"
"""What plans a source where `spark.sql.python.filterPushdown.enabled` is set and there are filters (Spark 4.1)."""


def register(spark: SparkSession) -> None:
    """Make `spark.read.format("kafkatx")` known to a session.

    Options are `table` (needed), `columns` (divided by commas), `topic`, `partition`, `producer_id` and
    `transactional_id` (one, or a JSON list), `since`, `until`, `verify_all` (true or false), `captures` (a JSON object)
    and `stretch_bytes`, each as of `kafkatx.spark.read`; a path, or a list of them, goes to `load`. `readStream` takes
    the same for the tables that grow (spark/streaming.py).
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
        wanted = self._wanted(schema)
        kind = PushingReader if is_pushing() else KafkatxReader
        return kind(wanted, paths_of(self.options), _captures(self.options), stretch_bytes_of(self.options))

    def streamReader(self, schema: StructType) -> GrowthReader:
        """Return what follows a table that grows; raises UsageError as `reader`, and for a table that does not."""
        from kafkatx.spark.streaming import GrowthReader

        return GrowthReader(self._wanted(schema), paths_of(self.options), _captures(self.options))

    def _wanted(self, schema: StructType) -> Request:
        from kafkatx.spark.schema import spark_schema

        wanted = asked({**self.options, "columns": ",".join(schema.names)})
        declared = spark_schema(wanted.schema)
        if schema.simpleString() != declared.simpleString():
            raise UsageError(f"{wanted.table} has {declared.simpleString()}, not {schema.simpleString()}")
        return wanted


class KafkatxReader(DataSourceReader):
    """Plans tasks on the driver, and reads one where it runs."""

    def __init__(
        self, wanted: Request, paths: list[str], captures: dict[str, str] | None, stretch_bytes: int | None = None
    ) -> None:
        """Prepare to read what is asked for under some paths."""
        self.wanted, self.paths, self.captures, self.stretch_bytes = wanted, paths, captures, stretch_bytes

    def partitions(self) -> list[InputPartition]:
        """Return one partition a task."""
        from kafkatx.sources.archives import unpacked_places
        from kafkatx.spark.planning import opened_evidence, planned

        with unpacked_places():
            evidence = opened_evidence(self.paths, self.captures)
            return [InputPartition(task) for task in planned(self.wanted, evidence, self.stretch_bytes)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Yield the rows of a task; none of no task, which Spark asks for where there are no partitions."""
        from kafkatx.spark.rows import rows_of
        from kafkatx.spark.workers import InWorker

        task = getattr(partition, "value", None)  # before 4.1 it is the partition itself that is None
        return InWorker(lambda _: rows_of(task), ways=task.ways)(iter(())) if task is not None else iter(())


class PushingReader(KafkatxReader):
    """The same, of the rows that Spark's filters leave.

    Spark refuses a reader that has `pushFilters` where they are not to be pushed.
    """

    def pushFilters(self, filters: list[Any]) -> Iterator[Any]:
        """Take over the filters that are tested here row by row; yields the others, which Spark tests."""
        schema, taken = TABLES[self.wanted.table].schema, list[Condition]()
        for pushed in filters:
            condition = of_filter(pushed, schema)
            if condition is None:
                yield pushed
            else:
                taken.append(condition)
        self.wanted = self.wanted.where(taken)


def is_pushing() -> bool:
    """Whether this process plans a source whose filters are pushed down."""
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    return PUSHING in sys.modules or getattr(main, "name", None) == PUSHING


def asked(options: Mapping[str, str]) -> Request:
    """Return what options ask for, whose names Spark makes lower case; raises UsageError."""
    unknown = [name for name in options if name.lower() not in (*OPTIONS, *PATHS)]
    if unknown:
        raise UsageError(f"there is no option {', '.join(sorted(unknown))}; the options are {', '.join(OPTIONS)}")
    given = {name.lower(): value for name, value in options.items()}
    if "table" not in given:
        raise UsageError('which table? option("table", "batches")')
    verify_all = given.get("verify_all", "false").lower()
    if verify_all not in ("true", "false"):
        raise UsageError(f"verify_all {verify_all!r}: write true or false")
    columns = given.get("columns")
    names = None if columns is None else [name.strip() for name in columns.split(",")]
    topic, *others = (_one_or_list(name, given.get(name)) for name in NAMES)
    chosen: dict[str, Any] = dict(zip(NAMES[1:], others, strict=True))
    is_checked, until = verify_all == "true", given.get("until")
    return request(given["table"], names, topic, given.get("since"), is_checked, until, **chosen)


def paths_of(options: Mapping[str, str]) -> list[str]:
    """Return the paths that `load` was given: one as `path`, several as `paths`, a JSON list; raises UsageError."""
    if "paths" in options:
        return [str(path) for path in _json("paths", options["paths"], list)]
    if "path" in options:
        return [options["path"]]
    raise UsageError("read what? load(path), or load([path, path])")


def stretch_bytes_of(options: Mapping[str, str]) -> int | None:
    """Return the bytes of a stretch that are asked for, None for as many as usual; raises UsageError."""
    given = options.get("stretch_bytes")
    if given is not None and not (given.isdecimal() and int(given)):
        raise UsageError(f"stretch_bytes {given!r}: it takes a number of bytes, one at least")
    return None if given is None else int(given)


def _one_or_list(name: str, given: str | None) -> str | list[str] | None:
    return [str(one) for one in _json(name, given, list)] if given and given.startswith("[") else given


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
