"""The first of two passes as a job: everything but the segments of data, read once and kept for the second pass.

What it read stays with the executors (memory and disk), as facts of captures without data; in the second pass the same
partitions and logs have other numbers, so that the facts are given these.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.item import Item, Kind
from kafkatx.evidence.plans import BESIDE
from kafkatx.evidence.unread import unread_segments
from kafkatx.spark.judging import counting, stories
from kafkatx.spark.looking import LooksInTasks
from kafkatx.spark.missing import apart, look_for, told_beside
from kafkatx.spark.pipeline import captures_on, facts_on
from kafkatx.stages.fact_batches import DDL, FACTS, facts_of, record_batches
from kafkatx.stages.facts import CaptureFact, FactKind
from kafkatx.stages.logs import log_items
from kafkatx.stages.models import Telling
from kafkatx.stages.passes import Marks, named_in, suspected
from kafkatx.stages.suspects import Suspect
from kafkatx.stages.tasks import numbering
from kafkatx.terms.records import dataclass

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PLACES = pa.schema([(name, pa.int32()) for name in ("had", "was", "capture", "number")])
"""Leads from the capture and number that facts were read by to those of the captures to be told."""
SMALL_FILES = (Kind.SNAPSHOT, *BESIDE)
Places = dict[str, tuple[int, int]]
"""Capture and number of what a file is about, by the key of the file."""


@dataclass(slots=True)
class FirstPass:
    """What was read of captures without their data, and is not read again: see Kept."""

    spark: SparkSession
    looker: LooksInTasks
    telling: Telling
    verify_all: bool = False
    stretch_bytes: int | None = None
    tasks: int = 0
    _frame: DataFrame | None = None
    _places: Places = field(default_factory=dict)

    def suspected(self, captures: list[Capture], small: int) -> list[Capture]:
        """Return the captures with the segments of data left out that nothing makes suspect."""
        return suspected(captures, self._name, self.looker, small)

    def has_read(self, item: Item) -> bool:
        """See Kept."""
        return item.key in self._places

    def facts(self, captures: list[Capture]) -> list[DataFrame]:
        """See Kept."""
        if self._frame is None:
            return []
        now = _places(captures)
        moved = {(*was, *now[key]) for key, was in self._places.items() if key in now}
        table = pa.Table.from_pylist([dict(zip(PLACES.names, one, strict=True)) for one in sorted(moved)], PLACES)
        frame = self._frame.withColumnsRenamed({"capture": "had", "number": "was"})
        places = self.spark.createDataFrame(table).hint("broadcast")
        return [frame.join(places, ["had", "was"]).select(*FACTS.names)]

    def forget(self) -> None:
        """Let go of what was read."""
        if self._frame is not None:
            with suppress(Exception):  # a session that is gone keeps nothing
                self._frame.unpersist()
        self._frame, self._places = None, {}

    def _name(self, captures: list[Capture], marks: list[Marks]) -> list[set[Suspect]]:
        places = _places(captures)
        read, self.tasks = facts_on(
            self.spark, captures, self.verify_all, self.stretch_bytes, self.looker.has_read, with_plans=False
        )
        self._frame = read.persist()
        self._places = {key: place for key, place in places.items() if not self.looker.has_key(key)}
        judge = partial(_named, telling=self.telling, marks=dict(enumerate(marks)))
        told = captures_on(
            self.spark, captures, judge, DDL, self.verify_all, self.stretch_bytes, self.looker, self
        ).toArrow()
        named, beside = apart(told.sort_by("capture").to_batches())
        found = {fact.capture: fact.says(set) for fact in facts_of(named)}
        look_for(told_beside(beside))
        return [found[number] for number in range(len(captures))]


def _places(captures: list[Capture]) -> Places:
    """Places of logs, and of the files of partitions of which nothing is left out."""
    return {key: (at, number) for at, capture in enumerate(captures) for key, number in _numbers(capture).items()}


def _numbers(capture: Capture) -> dict[str, int]:
    numbers, left = numbering(capture), unread_segments(capture)
    found = {item.key: numbers[item.key][0] for item in log_items(capture)}
    small = [capture.entries(kind) for kind in SMALL_FILES]
    for key, files in capture.segments().items():
        if key not in left:
            number = numbers[files[0][1].key][0]
            items = [*(item for _, item in files), *(item for kind in small for item in kind.get(key, ()))]
            found.update((item.key, number) for item in items)
    return found


def _named(batches: Iterator[Any], telling: Telling, marks: dict[int, Marks]) -> Iterator[Any]:
    """Name what is suspect in captures whose facts come in RecordBatches; yields them as facts."""
    return record_batches(
        CaptureFact(number, 0, FactKind.STORY, named_in(model, marks[number]))
        for number, model in stories(batches, counting(telling))
    )
