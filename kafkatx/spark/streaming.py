"""The data source `kafkatx` for `readStream`: of tables that grow, the rows that are new since the last offset.

Offsets are told by the driver, which looks at ends of files only; rows are read by tasks and pass no driver.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from kafkatx.spark.growing import Growing
from kafkatx.spark.request import Request
from kafkatx.stages.table_growth import GROWING
from kafkatx.terms.errors import UsageError


class GrowthReader(DataSourceStreamReader):
    """Says how far files go, plans what is new between two offsets, and reads it where it runs."""

    def __init__(self, wanted: Request, paths: list[str], captures: dict[str, str] | None) -> None:
        """Prepare to follow what grows under some paths; raises UsageError for a table that does not."""
        if wanted.table not in GROWING:
            raise UsageError(f"{wanted.table} can't be followed: those that can are {', '.join(GROWING)}")
        self.growing, self._last = Growing(wanted, paths, captures), dict[str, Any]()

    def initialOffset(self) -> dict[str, Any]:
        """Return the offset before all that is there."""
        return {}

    def latestOffset(self, *given: Any) -> dict[str, Any]:
        """Return how far files go now; Spark 4.2 says behind which offset, 4.0 and 4.1 do not."""
        self._last = self.growing.offset(given[0] if given else self._last)
        return self._last

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """Return one partition a task."""
        self._last = end
        return [InputPartition(task) for task in self.growing.tasks(start, end)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Yield the rows of a task."""
        from kafkatx.spark.growth_rows import rows_of_growth
        from kafkatx.spark.workers import InWorker

        task = partition.value
        return InWorker(lambda _: rows_of_growth(task), ways=task.ways)(iter(()))
