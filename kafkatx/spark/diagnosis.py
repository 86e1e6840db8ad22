"""The diagnosis on Spark, and the tables that follow from it: as on this machine, by the same functions."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kafkatx.evidence.coverage import coverage_of
from kafkatx.findings.diagnosis import Diagnosis, Selection
from kafkatx.spark.failures import failures_told
from kafkatx.spark.judging import judged, rows
from kafkatx.spark.looking import looks_in_tasks
from kafkatx.spark.missing import apart, look_for, told_beside
from kafkatx.spark.passes import FirstPass
from kafkatx.spark.pipeline import captures_on, exported_on, safe_on
from kafkatx.spark.planning import placed
from kafkatx.spark.schema import spark_schema
from kafkatx.spark.shipping import ship
from kafkatx.stages.export_folders import exports_among
from kafkatx.stages.exports import open_exports
from kafkatx.stages.fact_batches import DDL, ORDER, facts_of
from kafkatx.stages.judging import CaptureDiagnosis, united
from kafkatx.stages.models import Telling, joined_evidence
from kafkatx.stages.passes import complete
from kafkatx.stages.suspects import SMALL
from kafkatx.tables.catalogue import TABLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def diagnose(
    spark: SparkSession,
    paths: str | Path | Iterable[str | Path],
    *,
    selection: Selection | None = None,
    as_of: int | None = None,
    verify_all: bool = False,
    captures: dict[str, str] | None = None,
    release: tuple[int, ...] = (),
    log_zone_ms: int | None = None,
    stretch_bytes: int | None = None,
    thorough: bool = False,
) -> Diagnosis:
    """Say what went wrong in the evidence under `paths`, which every executor must reach by the same paths.

    Paths are made absolute.

    Args:
        spark: the session; it is neither configured nor stopped.
        paths: one path or several; or exports (`kafkatx export`), which are diagnosed without the files they are of.
        selection: what of the diagnosis is wanted.
        as_of: "now" for ages, in milliseconds; default: the end of the evidence.
        verify_all: check the CRC of every batch.
        captures: path to name of the capture that it is forced into.
        release: that of the brokers, e.g. (2, 5, 1), where the evidence does not tell.
        log_zone_ms: what is to be taken from times of logs that name no zone; default: estimated.
        stretch_bytes: bytes of a file that one task reads at most; default 64 MiB.
        thorough: read every segment. Else large partitions are read in two passes: first all but segments of data, then
            those of these that rows of the coordinator, indexes, snapshots or logs make suspect; what is left unread is
            told in the coverage, in what could not be checked and in the answer.

    Raises:
        UsageError: a path does not exist, or an export can't be used.
        NothingToDiagnoseError: nothing in it is evidence.
        WorkerLacksFileError: a worker can't open what this process can.
        SparkFailedError: a worker, a disk or Spark itself failed.
    """
    given = placed([paths] if isinstance(paths, str | Path) else paths)
    telling = Telling(as_of, release, log_zone_ms)
    judge = partial(judged, telling=telling, selection=selection or Selection())
    with failures_told(spark):
        ship(spark)
        if folders := exports_among(given):
            exported = open_exports(folders, verify_all, captures)
            judge = partial(judge, exports=exported.exports)
            return united(_collected(exported_on(spark, exported.exports, judge, DDL)), exported.others)
        with looks_in_tasks(spark) as looker:
            evidence = joined_evidence(given, captures, looker)
            first = FirstPass(spark, looker, telling, verify_all, stretch_bytes)
            try:
                chosen = evidence.captures if thorough else first.suspected(evidence.captures, SMALL)
                told = captures_on(spark, chosen, judge, DDL, verify_all, stretch_bytes, looker, first, safe_on(spark))
                found = [*map(complete, _collected(told), chosen)]
            finally:
                first.forget()
    return united(found, (coverage_of(None, item, None) for item in evidence.others))


def _collected(judged_captures: DataFrame) -> list[CaptureDiagnosis]:
    """What is said of each capture, in their order.

    Sorted here: to learn how the keys are spread orderBy would judge every capture once more.
    """
    told = judged_captures.toArrow().sort_by([(name, "ascending") for name in ORDER])
    captures, beside = apart(told.to_batches())
    found = [fact.says(CaptureDiagnosis) for fact in facts_of(captures)]
    look_for(told_beside(beside))
    return found


def table(
    spark: SparkSession,
    paths: Iterable[str | Path],
    name: str,
    *,
    captures: dict[str, str] | None = None,
    verify_all: bool = False,
) -> DataFrame:
    """Return a table that follows from all files of a capture: transactions, findings or evidence.

    Which files there are is settled when this is called; they are read each time that the frame is evaluated. Raises
    UsageError for a path that does not exist.
    """
    with looks_in_tasks(spark) as looker:
        found = joined_evidence(paths, captures, looker)
    schema = spark_schema(TABLES[name].schema)
    judge = partial(rows, table=name, telling=Telling())
    return captures_on(spark, found.captures, judge, schema, verify_all, is_light=False)  # `captures` counts all files
