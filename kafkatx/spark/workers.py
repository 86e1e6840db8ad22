"""What every step of ours does in a Python worker of Spark, whatever it computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from typing import Any

import pyarrow as pa

from kafkatx.sources.archives import unpacked_places
from kafkatx.sources.files import openings_told
from kafkatx.sources.stores import take, ways
from kafkatx.sources.urls import Way
from kafkatx.spark import trail
from kafkatx.spark.failures import noted
from kafkatx.spark.memory import give_back, leave_out_loaded
from kafkatx.spark.missing import Opened, Report, raised
from kafkatx.terms.records import dataclass

Step = Callable[[Iterator[Any]], Iterator[Any]]
"""RecordBatches to RecordBatches; a function of a module, or a partial of one, so that it can travel."""


@dataclass(frozen=True, slots=True)
class InWorker:
    """A step as a Python worker of Spark runs it: on one thread; what it unpacked and what it freed goes with it.

    `stage` says in words what it does, for who is told that it failed; `report` makes rows of files that could not be
    opened. `ways` is what it takes to open the stores that the driver was given.
    """

    step: Step
    stage: str = "reading"
    report: Report = raised
    ways: tuple[Way, ...] = field(default_factory=ways, repr=False)
    job: str = field(default_factory=lambda: trail.JOB)

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield what the step yields, and at its end which files this machine could not open."""
        pa.set_cpu_count(1)
        take(self.ways)
        try:
            with trail.Trail(self.job, self.stage) as noting:
                opened = Opened(noting)
                try:
                    with unpacked_places(), openings_told(opened):
                        yield from self.step(batches)
                        yield from self.report(opened.missing.values())
                except Exception as error:
                    noted(error, noting.note)
                    raise
        finally:
            leave_out_loaded()
            give_back()
