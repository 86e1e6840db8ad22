"""Work spread over a cluster: one task a value, by nothing but the DataFrame API, so over Spark Connect as well.

Values and answers travel packed, between processes that run the same kafkatx. What it takes to open the stores that
this process was given goes with the step (spark/workers.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kafkatx.spark.dealing import keys_of_partitions
from kafkatx.spark.seams import Run
from kafkatx.spark.workers import InWorker, Step
from kafkatx.stages.blocks import packed, unpacked

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NUMBER, VALUE, KEY = "number", "value", "key"


def spread(spark: SparkSession, values: list[Any]) -> DataFrame:
    """Return a frame of the packed values (`number`, `value`), at least one, each in a partition of its own.

    Values are rows that Spark moves by a shuffle, by keys that it deals one by one: each goes to the task that needs it
    and nowhere else, so that no executor holds them all.
    """
    rows = pa.table(
        {NUMBER: range(len(values)), KEY: keys_of_partitions(len(values)), VALUE: [packed(value) for value in values]}
    )
    return spark.createDataFrame(rows).repartition(len(values), KEY).select(NUMBER, VALUE)


def values_of(batches: Iterator[Any]) -> Iterator[tuple[int, Any]]:
    """Yield numbers and values out of a frame that `spread` made."""
    for batch in batches:
        for number, value in zip(batch.column(NUMBER).to_pylist(), batch.column(VALUE).to_pylist(), strict=True):
            yield number, unpacked(value)


def running_on(spark: SparkSession) -> Run:
    """Return what calls a function for values as tasks of one job."""

    def run(function: Any, values: list[Any]) -> list[Any]:
        return collected(spread(spark, [(function, value) for value in values]), _called) if values else []

    return run


def collected(frame: DataFrame, step: Step) -> list[Any]:
    """Return what a step tells of a frame by `answers`, in the order of their numbers."""
    told = frame.mapInArrow(InWorker(step), f"{NUMBER} bigint, {VALUE} binary").toArrow().sort_by(NUMBER)
    return [unpacked(answer) for answer in told.column(VALUE).to_pylist()]


def answers(found: Iterable[tuple[int, Any]]) -> Iterator[Any]:
    """Yield a RecordBatch for each number and its answer."""
    for number, answer in found:
        yield pa.RecordBatch.from_pydict({NUMBER: pa.array([number]), VALUE: pa.array([packed(answer)], pa.binary())})


def _called(batches: Iterator[Any]) -> Iterator[Any]:
    return answers((number, function(value)) for number, (function, value) in values_of(batches))
