"""An export by Spark: every file read once, to a stage in storage; all tables written from that by Spark's own writer.

Stage    `_stage-RUN` in the export holds what was done of a run: `read` (rows of all tables, and facts), `told` (the
         tables that follow from facts, judged once), and what is written of tables. Each is there whole or not, so a
         run that was killed goes on behind the last of them. It goes when the manifest has the run.
Never    pickled: rows are Arrow streams, facts are encoded by stages/codec.py. What was there is read as anybody's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafkatx.evidence.joining import JoinedEvidence
from kafkatx.sources import places
from kafkatx.sources.said import of_place
from kafkatx.sources.states import file_states, with_sums
from kafkatx.spark.export_steps import (
    FACTS_OPTIONS,
    STAGE_DDL,
    STAGE_OPTIONS,
    as_stage_rows,
    exported,
    judged_to_blocks,
    read_files,
    sums,
)
from kafkatx.spark.export_store import ExportStore
from kafkatx.spark.failures import SparkFailedError, failures_told
from kafkatx.spark.looking import looks_in_tasks
from kafkatx.spark.missing import look_for, told_beside
from kafkatx.spark.pipeline import exported_on
from kafkatx.spark.planning import placed
from kafkatx.spark.schema import spark_schema
from kafkatx.spark.shipping import ship
from kafkatx.spark.spreading import running_on, spread
from kafkatx.spark.table_writing import append, check_library, known_format, moved, write_empty, write_files
from kafkatx.spark.workers import InWorker
from kafkatx.spark.writing_session import writing_session
from kafkatx.stages.export_folders import release
from kafkatx.stages.export_manifest import MANIFEST, SUCCESS, Manifest, Recipe, Run, TableFile, parse_manifest
from kafkatx.stages.export_tasks import tasks_of_export
from kafkatx.stages.exported_rows import divided_schema
from kafkatx.stages.exports import Export
from kafkatx.stages.fact_batches import FACTS, ORDER
from kafkatx.stages.models import Telling, joined_evidence
from kafkatx.stages.packing import COST_OF_FILE, grouped
from kafkatx.stages.run_names import captures_kept, names_kept
from kafkatx.stages.stamp import Stamp
from kafkatx.stages.table_files import sources
from kafkatx.tables.catalogue import EXPORTED
from kafkatx.tables.facts import FACTS as FACTS_TABLE
from kafkatx.terms.errors import NothingReadableError, UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BYTES_A_TASK = 32 << 20
"""Bytes of compressed rows that one task writes, about."""


@dataclass(frozen=True, slots=True)
class ExportedBySpark:
    """A finished export: its path, its runs, this one; `is_new`: it was written; `taken_over`: tables there before."""

    path: str
    manifest: Manifest
    run: Run
    taken_over: tuple[str, ...] = ()
    is_new: bool = True


def export(
    spark: SparkSession,
    paths: str | Path | Iterable[str | Path],
    url: str | Path,
    *,
    format: str = "parquet",
    tables: Iterable[str] | None = None,
    verify_all: bool = False,
    captures: dict[str, str] | None = None,
) -> ExportedBySpark:
    """Write all tables of the evidence under `paths`, which every executor must reach by the same paths.

    Each file is read once for all tables. An export that lies at `url` already is added to; a run that was killed is
    gone on with.

    Args:
        spark: the session; it is neither configured nor stopped.
        paths: one path or several; made absolute.
        url: a folder that all executors reach, or one of an object store that Hadoop has a file system for.
        format: `parquet`, or `delta` or `iceberg`, whose libraries the session must have.
        tables: those that are wanted; default: all.
        verify_all: check the CRC of every batch.
        captures: path to name of the capture that it is forced into.

    Raises:
        UsageError: a path does not exist, or the target is something else.
        NothingReadableError: nothing in it is evidence.
        OutputError: it can't be written; what was written stays, and the next call goes on from there.
        WorkerLacksFileError: a worker can't open what this process can.
        SparkFailedError: a worker, a disk or Spark itself failed.
    """
    given = placed([paths] if isinstance(paths, str | Path) else paths)
    store, names = ExportStore.at(str(url)), _names(tables)
    known_format(format)
    if any(places.is_within(store.path, of_place(path)) for path in given):
        raise UsageError(f"{store.path} lies inside the evidence, which is only read; choose another place")
    with failures_told(spark), writing_session(spark) as session:
        check_library(session, format)
        ship(session)
        names_before = names_kept_at(store)
        with looks_in_tasks(session) as looker:
            evidence = joined_evidence(sorted(set(given)), captures, looker)
            kept = names_kept(evidence.captures, names_before) if captures is None else {}
            if kept:
                evidence = joined_evidence(sorted(set(given)), kept, looker)
        if not evidence.captures:
            raise NothingReadableError(NOTHING)
        options = {"paths": sorted(set(given)), "verify": verify_all, "captures": captures, "format": format}
        run = Run.begun(_recipe(session, evidence, names, options))
        return _Export(session, store, format, evidence, verify_all, run).done()


NOTHING = "nothing that was given is evidence of Kafka, so nothing was written; kafkatx diagnose says why"


def _names(tables: Iterable[str] | None) -> tuple[str, ...]:
    wanted = {FACTS_TABLE.name, *(EXPORTED if tables is None else tables)}
    if unknown := sorted(wanted - EXPORTED.keys()):
        raise UsageError(f"there is no table {unknown[0]!r}; the tables are {', '.join(EXPORTED)}")
    return tuple(name for name in EXPORTED if name in wanted)


def names_kept_at(store: ExportStore) -> dict[str, Any] | None:
    """The manifest that lies somewhere as it is written, None where there is none."""
    data = store.read(MANIFEST)
    try:
        found = json.loads(data) if data is not None else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _recipe(spark: SparkSession, evidence: JoinedEvidence, names: tuple[str, ...], options: dict[str, Any]) -> Recipe:
    """All that the rows of a run follow from; files are known by their sums, which tasks take."""
    import pyarrow as pa

    met = file_states(source.item.path for source in sources(evidence))
    groups = [*grouped(met, lambda one: COST_OF_FILE + (one.size or 0))]
    states = [one for group in running_on(spark, "taking sums of files")(with_sums, groups) for one in group]
    inputs = [{name: value for name, value in asdict(state).items() if value is not None} for state in states]
    return Recipe(release(), pa.__version__, names, options, inputs, captures_kept(evidence.captures))


@dataclass(slots=True)
class _Export:
    """A run that is being written."""

    spark: SparkSession
    store: ExportStore
    format: str
    evidence: JoinedEvidence
    verify_all: bool
    run: Run
    taken_over: list[str] = field(default_factory=list)

    def done(self) -> ExportedBySpark:
        """Do what is still to be done of the run, and have it in the manifest."""
        manifest = self._manifest()
        if (known := manifest.run(self.run.run_id)) is not None:
            return ExportedBySpark(self.store.path, manifest, known, is_new=False)
        self._begin()
        self._read()
        self._write_facts()
        self._judge()
        told = self._counted()
        for name in self.run.recipe["wanted"]:
            if name != FACTS_TABLE.name:
                self._write(name, told.get(name, 0))
        self._take_sums(told)
        whole = Manifest([*manifest.runs, self.run])
        self.store.write(MANIFEST, whole.to_json())
        self.store.write(SUCCESS, b"")
        self.store.remove(self._stage())
        return ExportedBySpark(self.store.path, whole, self.run, tuple(self.taken_over))

    def _manifest(self) -> Manifest:
        """The manifest that lies there, an empty one where nothing does; raises UsageError for anything else."""
        data = self.store.read(MANIFEST)
        found = parse_manifest(data) if data is not None else Manifest()
        strange = (
            None if data is not None else next((one for one in self.store.files() if not one.startswith("_")), None)
        )
        if found is None or (strange is not None and not self.store.has(self._stage("run.json"))):
            raise UsageError(f"{self.store.path} exists and is no export of kafkatx; give another place")
        if any(run.recipe["options"].get("format") != self.format for run in found.runs):
            raise UsageError(f"{self.store.path} is an export that is laid otherwise; give another place")
        return found

    def _stage(self, *inner: str) -> str:
        return "/".join([f"_stage-{self.run.run_id}", *inner])

    def _begin(self) -> None:
        """Take over when the run began, else note it."""
        if (told := self.store.read(self._stage("run.json"))) is not None:
            self.run.exported_at = int(json.loads(told)["exported_at"])
        else:
            self.store.write(self._stage("run.json"), json.dumps({"exported_at": self.run.exported_at}).encode())

    def _read(self) -> None:
        """Read every file, once; what workers could not open is looked for also where that was done before."""
        if not self.store.has(self._stage("read", SUCCESS)):
            names = tuple(name for name in self.run.recipe["wanted"] if name != FACTS_TABLE.name)
            todo = tasks_of_export(self.evidence, self.verify_all, names, self._width)
            step = InWorker(partial(read_files, tables=names), "reading files", as_stage_rows)
            self._keep(spread(self.spark, todo).mapInArrow(step, STAGE_DDL), "read")
        try:
            look_for(told_beside(self._rows("read", "missing").select(*FACTS.names).toArrow().to_batches()))
        except SparkFailedError:
            self.store.remove(self._stage("read"))
            raise

    def _write_facts(self) -> None:
        """Write the facts as they are diagnosed: in one order, in row groups of some megabytes."""
        folder = self._stage("facts")
        if not self.store.has(f"{folder}/{SUCCESS}"):
            facts = self._rows("read", FACTS_TABLE.name).select(*FACTS.names)
            width = self._width_of([self._stage("read", f"kind={FACTS_TABLE.name}")])
            spread_out = facts.repartitionByRange(width, *ORDER) if width > 1 else facts.coalesce(1)
            ordered = spread_out.sortWithinPartitions(*ORDER)
            ordered.write.mode("overwrite").options(**FACTS_OPTIONS).parquet(self.store.for_spark(folder))
        self._note(FACTS_TABLE.name, moved(self.store, folder, FACTS_TABLE.name, self.run.run_id))

    def _judge(self) -> None:
        """Judge every capture once, from the facts: all tables that follow from all files."""
        if self.store.has(self._stage("told", SUCCESS)):
            return
        files = [self.store.shown(f"{FACTS_TABLE.name}/{part.name}") for part in self.run.tables[FACTS_TABLE.name]]
        facts = Export(self.store.path, tuple(files), tuple(range(len(self.evidence.captures))))
        names = tuple(self.run.recipe["wanted"])
        judge = partial(judged_to_blocks, telling=Telling(), exports=(facts,), tables=names)
        self._keep(exported_on(self.spark, [facts], judge, STAGE_DDL), "told")

    def _counted(self) -> dict[str, int]:
        """Rows of each table that the stages hold; of facts each row is one."""
        from pyspark.sql import functions as F

        stages = [self.spark.read.schema(STAGE_DDL).parquet(self.store.for_spark(self._stage("read")))]
        if any("/" in path for path in self.store.files(self._stage("told"))):
            stages.append(self.spark.read.schema(STAGE_DDL).parquet(self.store.for_spark(self._stage("told"))))
        rows = stages[0].select("kind", "rows")
        for stage in stages[1:]:
            rows = rows.unionByName(stage.select("kind", "rows"))
        counted = rows.groupBy("kind").agg(F.sum(F.coalesce("rows", F.lit(1)))).collect()
        return {row[0]: row[1] for row in counted}

    def _write(self, name: str, rows: int) -> None:
        """Write a table from the stages, which hold so many rows of it."""
        table, stamp = EXPORTED[name], Stamp(self.run.run_id, self.run.exported_at, release())
        schema, folder = divided_schema(table, stamp), self._stage("tables", name)
        blocks = self._rows("read", name).unionByName(self._rows("told", name)).select("unit", "rows", "payload")
        width = self._width_of([self._stage(stage, f"kind={name}") for stage in ("read", "told")])
        step = InWorker(partial(exported, table=name, stamp=stamp), f"writing {name}")
        dealt = blocks.repartition(width, "unit") if width > 1 else blocks.coalesce(1)
        in_units = dealt.sortWithinPartitions("unit")
        frame = in_units.mapInArrow(step, spark_schema(schema, ids=self.format == "parquet"))
        if self.format != "parquet":
            append(frame, self.format, self.store, name, self.run.run_id)
            self.run.tables[name] = [TableFile("", rows, sum(self.store.files(name).values()), "")]
            return
        if self.store.has(f"{folder}/{SUCCESS}"):
            self.taken_over.append(name)
        elif rows:
            write_files(frame, self.store, folder)
        files = moved(self.store, folder, name, self.run.run_id) if rows else []
        self._note(name, files or [write_empty(self.store, name, stamp.schema(table), self.run.run_id)])

    def _note(self, name: str, files: list[str]) -> None:
        """Note the files of a table; what is in them is told by `_take_sums`."""
        self.run.tables[name] = [TableFile(file, 0, size, "") for file, size in self._sizes(name, files)]

    def _sizes(self, name: str, files: list[str]) -> list[tuple[str, int]]:
        sizes = self.store.files(name)
        return [(file, sizes[file]) for file in files]

    def _take_sums(self, rows: dict[str, int]) -> None:
        """Take the sums of all files, as tasks; raises SparkFailedError where a table lacks rows that were read."""
        tables = self.run.tables
        files = [(name, part) for name, parts in tables.items() for part in parts if part.name]
        groups = [*grouped(files, lambda one: one[1].bytes, self._width)]
        paths = [[self.store.shown(f"{name}/{part.name}") for name, part in group] for group in groups]
        told = [one for group in running_on(self.spark, "taking sums")(sums, paths) for one in group]
        for name in {name for name, _ in files}:
            tables[name] = []
        for (name, part), sum_ in zip((one for group in groups for one in group), told, strict=True):
            tables[name].append(TableFile(part.name, *sum_))
        for name, parts in tables.items():
            found = sum(part.rows for part in parts)
            if found != rows.get(name, 0):
                raise SparkFailedError(
                    f"Spark failed: {found:,} of {rows.get(name, 0):,} rows of {name} are in {self.store.path}",
                    ["The place must be the same for all workers: a mount that each of them has, or an object store."],
                    stage=f"writing {name}",
                )

    def _keep(self, frame: DataFrame, stage: str) -> None:
        writer = frame.write.partitionBy("kind").mode("overwrite").options(**STAGE_OPTIONS)
        writer.parquet(self.store.for_spark(self._stage(stage)))

    def _rows(self, stage: str, kind: str) -> DataFrame:
        """The rows of a stage that are of a kind."""
        folder = self._stage(stage, f"kind={kind}")
        if not self.store.files(folder):
            return self.spark.createDataFrame([], STAGE_DDL).drop("kind")
        return self.spark.read.schema(STAGE_DDL.partition(", ")[2]).parquet(self.store.for_spark(folder))

    def _width_of(self, folders: list[str]) -> int:
        """How many tasks write what lies in some folders."""
        size = sum(sum(self.store.files(folder).values()) for folder in folders)
        return max(-(-size // BYTES_A_TASK), min(self._width, -(-size // (BYTES_A_TASK // 8))), 1)

    @property
    def _width(self) -> int:
        return int(self.spark.conf.get("spark.sql.shuffle.partitions") or "1")
