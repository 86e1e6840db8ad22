"""Work spread over a cluster: one task a value, by nothing but the DataFrame API, so over Spark Connect as well.

Values and answers travel packed, between processes that run the same kafkatx. What it takes to open the stores that
this process was given goes with the step (spark/workers.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kafkatx.spark.dealing import keys_of_partitions
from kafkatx.spark.missing import MissingFile, look_for
from kafkatx.spark.workers import InWorker, Step
from kafkatx.stages.blocks import packed, unpacked

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NUMBER, VALUE, KEY = "number", "value", "key"
BESIDE = -1
"""Number of what is told beside the answers: a MissingFile."""

Run = Callable[[Callable[[Any], Any], list[Any]], list[Any]]
"""Calls a function of a module for each of some values, anywhere; returns the answers in their order."""


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


def running_on(spark: SparkSession, stage: str = "looking into files") -> Run:
    """Return what calls a function for values as tasks of one job."""

    def run(function: Any, values: list[Any]) -> list[Any]:
        return collected(spread(spark, [(function, value) for value in values]), _called, stage) if values else []

    return run


def collected(frame: DataFrame, step: Step, stage: str = "looking into files") -> list[Any]:
    """Return what a step tells of a frame by `answers`, in the order of their numbers.

    Raises WorkerLacksFileError where a worker could not open what this process can.
    """
    found = frame.mapInArrow(InWorker(step, stage, missing_as_answers), f"{NUMBER} bigint, {VALUE} binary").toArrow()
    told = found.sort_by(NUMBER)
    rows = [*zip(told.column(NUMBER).to_pylist(), map(unpacked, told.column(VALUE).to_pylist()), strict=True)]
    look_for(answer for number, answer in rows if number == BESIDE)
    return [answer for number, answer in rows if number != BESIDE]


def missing_as_answers(missing: Iterable[MissingFile]) -> Iterator[Any]:
    """Tell files that could not be opened, beside the answers."""
    return answers((BESIDE, one) for one in missing)


def answers(found: Iterable[tuple[int, Any]]) -> Iterator[Any]:
    """Yield a RecordBatch for each number and its answer."""
    for number, answer in found:
        yield pa.RecordBatch.from_pydict({NUMBER: pa.array([number]), VALUE: pa.array([packed(answer)], pa.binary())})


def _called(batches: Iterator[Any]) -> Iterator[Any]:
    return answers((number, function(value)) for number, (function, value) in values_of(batches))
