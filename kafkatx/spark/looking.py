"""Looks into files as tasks: texts are cut, logs read and samples taken where the workers run; the driver gets answers.

What was read of a log stays with the executors as facts of stage one (a frame that is kept), and becomes part of the
facts of its capture when that is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import pyarrow as pa

from kafkatx.evidence.item import Item
from kafkatx.evidence.log_reading import FileFacts, read_log
from kafkatx.spark.missing import MissingFile, apart, as_facts, lacks, told_beside
from kafkatx.spark.spreading import answers, collected, missing_as_answers, running_on, spread, values_of
from kafkatx.spark.trail import worker_name
from kafkatx.spark.workers import InWorker
from kafkatx.stages.fact_batches import DDL, FACTS, facts_of, record_batches
from kafkatx.stages.facts import CaptureFact, FactKind
from kafkatx.stages.packing import COST_OF_FILE, grouped
from kafkatx.terms.records import dataclass

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

T = TypeVar("T")
R = TypeVar("R")

PLACES = pa.schema([(name, pa.int32()) for name in ("read", "capture", "number")])
"""Leads from the numbers that logs were read by to those of their captures and of themselves."""


@dataclass(slots=True)
class LooksInTasks:
    """Looks taken by jobs of a session that runs this kafkatx (spark/shipping.py)."""

    lists_in_parts: ClassVar[bool] = True
    spark: SparkSession
    _ids: dict[str, frozenset[str]] = field(default_factory=dict)
    _read: list[tuple[DataFrame, list[Item]]] = field(default_factory=list)

    def each(self, look: Callable[[T], R], values: Sequence[T], size: Callable[[T], int]) -> Iterable[R]:
        """Return the answers of one job; of none where there are no values."""
        groups = grouped(values, lambda value: COST_OF_FILE + size(value))
        return chain.from_iterable(running_on(self.spark)(_looks, [(look, group) for group in groups]))

    def ids(self, logs: Sequence[Item]) -> list[frozenset[str]]:
        """Read those logs that were not read yet, in one job."""
        new = {item.key: item for item in logs if item.key not in self._ids}
        if new:
            self._learn([*new.values()])
        return [self._ids[item.key] for item in logs]

    def has_read(self, item: Item) -> bool:
        """Whether a log was read."""
        return self.has_key(item.key)

    def has_key(self, key: str) -> bool:
        """The same, by the key of the log."""
        return key in self._ids

    def facts(self, places: dict[str, tuple[int, int]]) -> list[DataFrame]:
        """Return the facts of the logs that were read; `places` are (capture, number) by the keys of the logs."""
        return [self._placed(frame, logs, places) for frame, logs in self._read]

    def forget(self) -> None:
        """Let go of what was read of logs."""
        for frame, _ in self._read:
            frame.unpersist()
        self._read, self._ids = [], {}

    def _learn(self, logs: list[Item]) -> None:
        groups = [*grouped(enumerate(logs), lambda one: COST_OF_FILE + one[1].size)]
        frame = spread(self.spark, groups).mapInArrow(InWorker(_read_logs, "reading logs", as_facts), DDL).persist()
        self._read.append((frame, logs))
        for item, ids in zip(logs, collected(frame, _ids_named), strict=True):
            self._ids[item.key] = ids

    def _placed(self, frame: DataFrame, logs: list[Item], places: dict[str, tuple[int, int]]) -> DataFrame:
        known = [(number, *places[item.key]) for number, item in enumerate(logs) if item.key in places]
        table = pa.Table.from_pylist([dict(zip(PLACES.names, one, strict=True)) for one in known], PLACES)
        read = frame.drop("capture").withColumnRenamed("number", "read")
        return read.join(self.spark.createDataFrame(table).hint("broadcast"), "read").select(*FACTS.names)


@contextmanager
def looks_in_tasks(spark: SparkSession) -> Iterator[LooksInTasks]:
    """Yield what looks into files by jobs; what was read is let go of at the end of a block."""
    looker = LooksInTasks(spark)
    try:
        yield looker
    finally:
        with suppress(Exception):  # a session that is gone keeps nothing, and why it is gone is to be said
            looker.forget()


def _looks(given: tuple[Callable[[Any], Any], list[Any]]) -> list[Any]:
    look, values = given
    try:
        return [look(value) for value in values]
    except FileNotFoundError as error:  # a path that is to be listed: the driver has it
        raise lacks(MissingFile(str(error.filename), worker_name(), str(error.strerror), has_folder=False)) from error


def _read_logs(batches: Iterator[Any]) -> Iterator[Any]:
    """Read logs; yields their facts, numbered as they were given, in RecordBatches of FACTS."""
    logs = chain.from_iterable(group for _, group in values_of(batches))
    return record_batches(CaptureFact(0, number, FactKind.LOG, read_log(item)) for number, item in logs)


def _ids_named(batches: Iterator[Any]) -> Iterator[Any]:
    told, missing = apart(batches)
    yield from answers((fact.number, fact.says(FileFacts).ids()) for fact in facts_of(told))
    yield from missing_as_answers(told_beside(missing))
