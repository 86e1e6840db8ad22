"""The stages as DataFrames: tasks are read, partitions folded, joined, captures judged; a shuffle between them.

Only the DataFrame API is used, so a Spark Connect session will do. Sorting is done within the partitions of Spark, and
those who read check it (stages/facts.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kafkatx.evidence.captures import Capture
from kafkatx.sources.archives import unpacked_places
from kafkatx.sources.stores import take, ways
from kafkatx.sources.urls import Way
from kafkatx.spark.joining import joined_facts
from kafkatx.spark.memory import give_back
from kafkatx.spark.shipping import ship
from kafkatx.spark.spreading import spread, values_of
from kafkatx.stages.decoding import facts_of_task
from kafkatx.stages.exports import Export
from kafkatx.stages.fact_files import loaded
from kafkatx.stages.facts import DDL, ORDER, record_batches
from kafkatx.stages.folding import Again, folded
from kafkatx.stages.gathering import ORDER_OF_CAPTURES
from kafkatx.stages.tasks import tasks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

Step = Callable[[Iterator[Any]], Iterator[Any]]
"""RecordBatches to RecordBatches; a function of a module, or a partial of one, so that it can travel."""


@dataclass(frozen=True, slots=True)
class InWorker:
    """A step as a Python worker of Spark runs it: on one thread; what it unpacked and what it freed goes with it.

    `ways` is what it takes to open the stores that the driver was given.
    """

    step: Step
    ways: tuple[Way, ...] = field(default_factory=ways, repr=False)

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield what the step yields."""
        pa.set_cpu_count(1)
        take(self.ways)
        try:
            with unpacked_places():
                yield from self.step(batches)
        finally:
            give_back()


def _decoded(batches: Iterator[Any]) -> Iterator[Any]:
    return record_batches(fact for _, task in values_of(batches) for fact in facts_of_task(task))


def _loaded(batches: Iterator[Any]) -> Iterator[Any]:
    return (rows for _, group in values_of(batches) for rows in loaded(group))


def captures_on(
    spark: SparkSession,
    captures: list[Capture],
    judge: Step,
    schema: str | StructType,
    verify_all: bool = False,
    stretch_bytes: int | None = None,
) -> DataFrame:
    """Return a DataFrame of `schema` with what `judge` yields for each capture; nothing runs before it is asked for."""
    ship(spark)
    todo = [*tasks(captures, verify_all, stretch_bytes, _width(spark))]
    facts = spread(spark, todo).mapInArrow(InWorker(_decoded), DDL)
    width = min(_width(spark), PARTITIONS_A_TASK * len(todo))
    return _judged(facts, width, Again(stretch_bytes), len(captures), judge, schema)


def exported_on(spark: SparkSession, exports: Iterable[Export], judge: Step, schema: str | StructType) -> DataFrame:
    """Return the same for the captures of exports, whose facts were read when they were exported."""
    ship(spark)
    given = [*exports]
    todo = [group for export in given for group in export.groups()]
    facts = spread(spark, todo).mapInArrow(InWorker(_loaded), DDL)
    width = min(_width(spark), PARTITIONS_A_TASK * len(todo))
    return _judged(facts, width, None, sum(len(export.numbers) for export in given), judge, schema)


def _judged(
    facts: DataFrame, width: int, again: Again | None, captures: int, judge: Step, schema: str | StructType
) -> DataFrame:
    """What comes of the facts of stage one; `again` says how stretches of files are read again, None that none is."""
    by_partition = facts.repartition(width, "capture", "number").sortWithinPartitions(*ORDER)
    told = by_partition.mapInArrow(InWorker(partial(folded, again=again)), DDL)
    at_partition = told.repartition(width, "capture", "number").sortWithinPartitions(*ORDER)
    joined = at_partition.mapInArrow(InWorker(joined_facts), DDL)
    by_capture = joined.repartition(min(width, max(captures, 1)), "capture").sortWithinPartitions(*ORDER_OF_CAPTURES)
    return by_capture.mapInArrow(InWorker(judge), schema)


PARTITIONS_A_TASK = 2
"""What a task reads goes to this many partitions at most: a small incident is not spread over the 200 of Spark."""


def _width(spark: SparkSession) -> int:
    return int(spark.conf.get("spark.sql.shuffle.partitions") or "1")
