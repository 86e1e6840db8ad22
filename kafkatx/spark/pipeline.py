"""The stages as DataFrames: tasks are read, partitions folded, joined, captures judged; a shuffle between them.

Only the DataFrame API is used, so a Spark Connect session will do. Sorting is done within the partitions of Spark, and
those who read check it (facts.facts_of).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kafkatx.evidence.captures import Capture
from kafkatx.spark.folding import folded
from kafkatx.spark.joining import joined_facts
from kafkatx.spark.judging import ORDER_OF_CAPTURES
from kafkatx.spark.shipping import ship
from kafkatx.stages.blocks import packed
from kafkatx.stages.decoding import decoded
from kafkatx.stages.facts import DDL, ORDER
from kafkatx.stages.tasks import tasks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ByCapture = Callable[[Iterable[Any]], Iterator[Any]]
"""What is done with the facts of whole captures: RecordBatches of FACTS to RecordBatches."""


def captures_on(
    spark: SparkSession,
    captures: list[Capture],
    judge: ByCapture,
    schema: str,
    verify_all: bool = False,
    stretch_bytes: int | None = None,
) -> DataFrame:
    """Return a DataFrame of `schema` with what `judge` yields for each capture; nothing runs before it is asked for."""
    ship(spark)
    width = int(spark.conf.get("spark.sql.shuffle.partitions") or "1")
    todo = [packed(task) for task in tasks(captures, verify_all, stretch_bytes, width)]
    table = pa.table({"task": pa.array(range(len(todo)), pa.int32()), "payload": pa.array(todo, pa.binary())})
    facts = spark.createDataFrame(table).repartitionByRange(len(todo), "task").mapInArrow(decoded, DDL)
    by_partition = facts.repartition(width, "capture", "number").sortWithinPartitions(*ORDER)
    told = by_partition.mapInArrow(partial(folded, stretch_bytes=stretch_bytes), DDL)
    at_partition = told.repartition(width, "capture", "number").sortWithinPartitions(*ORDER)
    joined = at_partition.mapInArrow(joined_facts, DDL)
    by_capture = joined.repartition(min(width, max(len(captures), 1)), "capture").sortWithinPartitions(
        *ORDER_OF_CAPTURES
    )
    return by_capture.mapInArrow(judge, schema)
