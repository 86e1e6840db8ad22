"""What every step of ours does in a Python worker of Spark, whatever it computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from kafkatx.sources.archives import unpacked_places
from kafkatx.sources.stores import take, ways
from kafkatx.sources.urls import Way
from kafkatx.spark.memory import give_back

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
