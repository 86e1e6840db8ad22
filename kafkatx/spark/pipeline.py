"""The stages as DataFrames: tasks are read, partitions folded, joined, captures judged; a shuffle between them.

Only the DataFrame API is used, so a Spark Connect session will do. Sorting is done within the partitions of Spark, and
those who read check it (facts.facts_of).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kafkatx.evidence.captures import Capture
from kafkatx.sources.archives import unpacked_places
from kafkatx.spark.folding import folded
from kafkatx.spark.joining import joined_facts
from kafkatx.spark.judging import ORDER_OF_CAPTURES
from kafkatx.spark.shipping import ship
from kafkatx.spark.spreading import spread, values_of
from kafkatx.stages.decoding import facts_of_task
from kafkatx.stages.facts import DDL, ORDER, record_batches
from kafkatx.stages.tasks import tasks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

Step = Callable[[Iterator[Any]], Iterator[Any]]
"""RecordBatches to RecordBatches; a function of a module, or a partial of one, so that it can travel."""


@dataclass(frozen=True, slots=True)
class InWorker:
    """A step as a Python worker of Spark runs it: on one thread, and what it unpacked goes with it."""

    step: Step

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield what the step yields."""
        pa.set_cpu_count(1)
        with unpacked_places():
            yield from self.step(batches)


def _decoded(batches: Iterator[Any]) -> Iterator[Any]:
    return record_batches(fact for _, task in values_of(batches) for fact in facts_of_task(task))


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
    width = int(spark.conf.get("spark.sql.shuffle.partitions") or "1")
    todo = [*tasks(captures, verify_all, stretch_bytes, width)]
    facts = spread(spark, todo).mapInArrow(InWorker(_decoded), DDL)
    by_partition = facts.repartition(width, "capture", "number").sortWithinPartitions(*ORDER)
    told = by_partition.mapInArrow(InWorker(partial(folded, stretch_bytes=stretch_bytes)), DDL)
    at_partition = told.repartition(width, "capture", "number").sortWithinPartitions(*ORDER)
    joined = at_partition.mapInArrow(InWorker(joined_facts), DDL)
    by_capture = joined.repartition(min(width, max(len(captures), 1)), "capture").sortWithinPartitions(
        *ORDER_OF_CAPTURES
    )
    return by_capture.mapInArrow(InWorker(judge), schema)
