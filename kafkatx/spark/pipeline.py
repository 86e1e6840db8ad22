"""The stages as DataFrames: tasks are read, partitions folded, joined, captures judged; a shuffle between them.

Only the DataFrame API is used, so a Spark Connect session will do. Sorting is done within the partitions of Spark, and
those who read check it (stages/fact_batches.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.item import Item
from kafkatx.spark.looking import LooksInTasks
from kafkatx.spark.missing import Report, apart, as_facts, raised, told_beside
from kafkatx.spark.spreading import spread, values_of
from kafkatx.spark.workers import InWorker, Step
from kafkatx.stages.decoding import facts_of_task
from kafkatx.stages.exports import Export
from kafkatx.stages.fact_batches import DDL, ORDER, ORDER_OF_CAPTURES, facts_of, record_batches
from kafkatx.stages.fact_files import loaded
from kafkatx.stages.facts import CaptureFact
from kafkatx.stages.folding import RereadPolicy, folded
from kafkatx.stages.joined_partitions import joined_partitions
from kafkatx.stages.tasks import places_of_logs, tasks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


def _decoded(batches: Iterator[Any]) -> Iterator[Any]:
    return record_batches(fact for _, task in values_of(batches) for fact in facts_of_task(task))


def _loaded(batches: Iterator[Any]) -> Iterator[Any]:
    return (rows for _, group in values_of(batches) for rows in loaded(group))


def _between(batches: Iterator[Any], step: Callable[[Iterable[CaptureFact]], Iterator[CaptureFact]]) -> Iterator[Any]:
    """A step between facts, whose rows come in order."""
    facts, beside = apart(batches)
    yield from record_batches(step(facts_of(facts)))
    yield from beside


def _telling(batches: Iterator[Any], judge: Step, report: Report) -> Iterator[Any]:
    """The last step; what is told beside the captures comes out as `report` makes rows of it."""
    facts, beside = apart(batches)
    yield from judge(facts)
    yield from report(told_beside(beside))


Safe = Callable[["DataFrame"], "DataFrame"]
"""Puts what a stage yields where no worker that dies can take it along, or leaves it."""


def safe_on(spark: SparkSession) -> Safe:
    """Return what writes what stages yield to the session's folder for checkpoints, if it has one; it runs them."""
    return (lambda frame: frame.checkpoint()) if checkpoint_folder(spark) else (lambda frame: frame)


def checkpoint_folder(spark: SparkSession) -> str | None:
    """Where a session that was started with `spark.checkpoint.dir` keeps checkpoints."""
    return spark.conf.get("spark.checkpoint.dir", None)


class Kept(Protocol):
    """What was read of captures before by some `tasks`, and is kept with the executors."""

    tasks: int

    def has_read(self, item: Item) -> bool:
        """Whether the facts of a file are kept."""

    def facts(self, captures: list[Capture]) -> list[DataFrame]:
        """Return the facts that are kept, numbered as those of these captures."""


def captures_on(
    spark: SparkSession,
    captures: list[Capture],
    judge: Step,
    schema: str | StructType,
    verify_all: bool = False,
    stretch_bytes: int | None = None,
    read: LooksInTasks | None = None,
    kept: Kept | None = None,
    safe: Safe = lambda frame: frame,
    is_light: bool = True,
) -> DataFrame:
    """Return a DataFrame of `schema` with what `judge` yields for each capture; nothing runs before it is asked for.

    `read` has what was read of logs to join them; the others are read by the tasks, but for what is `kept`. `safe` is
    given what was read, and what partitions came to. `is_light`: see tasks.
    """
    known = read or LooksInTasks(spark)

    def is_read(item: Item) -> bool:
        return known.has_read(item) or (kept is not None and kept.has_read(item))

    facts, count = facts_on(spark, captures, verify_all, stretch_bytes, is_read, is_light=is_light)
    for before in (*known.facts(places_of_logs(captures)), *(kept.facts(captures) if kept is not None else ())):
        facts = facts.unionByName(before)
    width = min(_width(spark), PARTITIONS_A_TASK * (count + (kept.tasks if kept is not None else 0)))
    return _judged(safe(facts), width, RereadPolicy(stretch_bytes), len(captures), judge, schema, safe)


def facts_on(
    spark: SparkSession,
    captures: list[Capture],
    verify_all: bool,
    stretch_bytes: int | None,
    is_read: Callable[[Item], bool],
    with_plans: bool = True,
    is_light: bool = True,
) -> tuple[DataFrame, int]:
    """Return the facts of the files that are not read yet, with the plans, and how many tasks these are."""
    found = tasks(captures, verify_all, stretch_bytes, _width(spark), is_read, is_light)
    if not with_plans:
        found = ([piece for piece in task if not isinstance(piece, CaptureFact)] for task in found)
    todo = [*found] or [[]]
    return spread(spark, todo).mapInArrow(InWorker(_decoded, "reading files", as_facts), DDL), len(todo)


def exported_on(spark: SparkSession, exports: Iterable[Export], judge: Step, schema: str | StructType) -> DataFrame:
    """Return the same for the captures of exports, whose facts were read when they were exported."""
    given = [*exports]
    todo = [group for export in given for group in export.tasks()]
    facts = spread(spark, todo).mapInArrow(InWorker(_loaded, "reading facts"), DDL)
    width = min(_width(spark), PARTITIONS_A_TASK * len(todo))
    return _judged(facts, width, None, sum(len(export.numbers) for export in given), judge, schema)


def _judged(
    facts: DataFrame,
    width: int,
    again: RereadPolicy | None,
    captures: int,
    judge: Step,
    schema: str | StructType,
    safe: Safe = lambda frame: frame,
) -> DataFrame:
    """What comes of the facts of stage one; `again` says how stretches of files are read again, None that none is."""
    by_partition = facts.repartition(width, "capture", "number").sortWithinPartitions(*ORDER)
    told = by_partition.mapInArrow(
        InWorker(partial(_between, step=partial(folded, again=again)), "folding partitions", as_facts), DDL
    )
    at_partition = told.repartition(width, "capture", "number").sortWithinPartitions(*ORDER)
    joined = safe(
        at_partition.mapInArrow(
            InWorker(partial(_between, step=joined_partitions), "joining partitions", as_facts), DDL
        )
    )
    by_capture = joined.repartition(min(width, max(captures, 1)), "capture").sortWithinPartitions(*ORDER_OF_CAPTURES)
    report = as_facts if schema == DDL else raised
    last = InWorker(partial(_telling, judge=judge, report=report), "judging captures", report)
    return by_capture.mapInArrow(last, schema)


PARTITIONS_A_TASK = 2
"""What a task reads goes to this many partitions at most: a small incident is not spread over the 200 of Spark."""


def _width(spark: SparkSession) -> int:
    return int(spark.conf.get("spark.sql.shuffle.partitions") or "1")
