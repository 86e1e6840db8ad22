"""The stage of an export by Spark: what was read and told of a run, in storage, until its tables are written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import reduce
from typing import TYPE_CHECKING

from kafkatx.spark.export_steps import MISSING, STAGE_DDL, STAGE_OPTIONS, WRITTEN
from kafkatx.spark.export_store import ExportStore
from kafkatx.spark.failures import SparkFailedError
from kafkatx.spark.missing import look_for, told_beside
from kafkatx.stages.fact_batches import FACTS
from kafkatx.stages.strands import StrandTold, strand_told
from kafkatx.terms.records import dataclass

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WITH_BLOCKS = ("read", "again", "told")
"""The parts of a stage that hold blocks of tables."""


@dataclass(frozen=True, slots=True)
class ExportStage:
    """The folder of a run, `_stage-RUN` in its export, by parts: each is there whole, with a note beside it, or not."""

    spark: SparkSession
    store: ExportStore
    run_id: str

    def place(self, *inner: str) -> str:
        """A path in it, as its store calls it."""
        return "/".join([f"_stage-{self.run_id}", *inner])

    def kept(self, stage: str, kinds: Iterable[str], make: Callable[[], DataFrame]) -> dict[str, int]:
        """Return how many rows of each kind a stage holds; it is made unless it is noted that it is there."""
        from pyspark.sql import Observation
        from pyspark.sql import functions as F

        if (noted := self.store.noted(self.place(f"{stage}.json"))) is None:
            seen, rows = Observation(), F.coalesce("rows", F.lit(1))
            of_table = F.when(F.col("kind") == WRITTEN, F.col("unit")).otherwise(F.col("kind"))
            counts = [F.sum(F.when(of_table == kind, rows)).alias(kind) for kind in kinds]
            writer = make().observe(seen, *counts).write.partitionBy("kind").mode("overwrite")
            writer.options(**STAGE_OPTIONS).parquet(self.store.for_spark(self.place(stage)))
            noted = {kind: count for kind, count in seen.get.items() if count}
            self.store.note(self.place(f"{stage}.json"), noted)
        return dict(noted)

    def rows(self, stage: str, kinds: Iterable[str]) -> DataFrame:
        """The rows of a stage that are of some kinds."""
        from pyspark.sql import functions as F

        if not any("/" in path for path in self.store.files(self.place(stage))):
            return self.spark.createDataFrame([], STAGE_DDL)
        rows = self.spark.read.schema(STAGE_DDL).parquet(self.store.for_spark(self.place(stage)))
        return rows.where(F.col("kind").isin([*kinds]))

    def blocks(self, names: Iterable[str]) -> DataFrame:
        """The blocks of some tables, of all stages that have any."""
        there = [stage for stage in WITH_BLOCKS if self.store.files(self.place(stage))]
        found = [self.rows(stage, names) for stage in there or WITH_BLOCKS]
        return reduce(lambda one, other: one.unionByName(other), found)

    def sizes(self, names: Iterable[str]) -> dict[str, int]:
        """Bytes of tables in the stages."""
        found = dict.fromkeys(names, 0)
        for path, size in [one for stage in WITH_BLOCKS for one in self.store.files(self.place(stage)).items()]:
            kind = path.partition("/")[0].removeprefix("kind=")
            if kind in found:
                found[kind] += size
        return found

    def looked_for(self, stage: str, kinds: Iterable[str], read: Callable[[], DataFrame]) -> Counter[str]:
        """Have files read; raises SparkFailedError where a worker could not open what is here."""
        rows = Counter(self.kept(stage, (*kinds, MISSING), read))
        if rows.pop(MISSING, 0):
            try:
                missing = self.rows(stage, [MISSING]).select(*FACTS.names).toArrow()
                look_for(told_beside(missing.to_batches()))
            except SparkFailedError:
                self.store.remove(self.place(stage))
                self.store.remove_file(self.place(f"{stage}.json"))
                raise
        return rows

    def strands(self) -> list[StrandTold]:
        """What tasks wrote that read the rows."""
        if not self.store.files(self.place("read", f"kind={WRITTEN}")):
            return []
        told = self.rows("read", [WRITTEN]).select("payload").toArrow().column("payload").to_pylist()
        return [strand_told(one) for one in told]
