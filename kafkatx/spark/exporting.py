"""An export by Spark: every file read once, to a stage in storage; from that tasks write the files of all tables.

Stage    `_stage-RUN` in the export holds what was done of a run: `read` (rows of all tables, and facts), `told` (the
         tables that follow from facts, judged once), and drafts of files. A note beside each says that it is there
         whole, so a run that was killed goes on behind the last of them. It goes when the manifest has the run.
Rows     are counted where they are made, on their way to the stage; as many must be in the files that came of it.
Never    pickled: rows are Arrow streams, facts are encoded by stages/codec.py. What was there is read as anybody's.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafkatx.evidence.joining import JoinedEvidence
from kafkatx.sources import places
from kafkatx.sources.said import of_place
from kafkatx.sources.states import file_states, with_sums
from kafkatx.spark.dealt_blocks import dealt, jobs, shares, width_of
from kafkatx.spark.export_lock import locked
from kafkatx.spark.export_stage import ExportStage
from kafkatx.spark.export_steps import (
    DRAFTS_DDL,
    STAGE_DDL,
    TOLD,
    as_stage_rows,
    exported,
    facts_written,
    judged_to_blocks,
    read_files,
    tables_written,
)
from kafkatx.spark.export_store import ExportStore
from kafkatx.spark.failures import SparkFailedError, failures_told
from kafkatx.spark.looking import looks_in_tasks
from kafkatx.spark.pipeline import exported_on
from kafkatx.spark.planning import placed
from kafkatx.spark.schema import spark_schema
from kafkatx.spark.shipping import ship
from kafkatx.spark.spreading import running_on, spread
from kafkatx.spark.table_writing import append, check_library, check_rows, known_format, moved
from kafkatx.spark.workers import InWorker
from kafkatx.spark.writing_session import writing_session
from kafkatx.stages.divided_parts import Draft, Drafting
from kafkatx.stages.export_folders import release
from kafkatx.stages.export_manifest import MANIFEST, SUCCESS, Manifest, Recipe, Run, TableFile, parse_manifest
from kafkatx.stages.export_packing import tasks_of_export, tasks_of_places
from kafkatx.stages.exported_rows import divided_schema
from kafkatx.stages.exports import Export
from kafkatx.stages.fact_batches import FACTS, ORDER
from kafkatx.stages.lone_copies import TOLD_IN_ORDER
from kafkatx.stages.models import Telling, joined_evidence
from kafkatx.stages.packing import COST_OF_FILE, grouped
from kafkatx.stages.run_names import captures_kept, names_kept
from kafkatx.stages.stamp import Stamp
from kafkatx.stages.strands import StrandTold, not_in_order, without
from kafkatx.stages.table_files import sources
from kafkatx.stages.whole_partitions import ENOUGH
from kafkatx.tables.catalogue import EXPORTED
from kafkatx.tables.facts import FACTS as FACTS_TABLE
from kafkatx.terms.errors import NothingReadableError, OutputError, UsageError
from kafkatx.terms.records import dataclass

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


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
    strands: list[StrandTold] = field(default_factory=list)

    def done(self) -> ExportedBySpark:
        """Do what is still to be done of the run, and have it in the manifest."""
        manifest = self._manifest()
        if (known := manifest.run(self.run.run_id)) is not None:
            return ExportedBySpark(self.store.path, manifest, known, is_new=False)
        with locked(self.store, self.run.run_id):
            if self._manifest().runs != manifest.runs:
                raise OutputError(f"another export has just added a run to {self.store.path}; give the command again")
            self._begin()
            rows = self._read()
            self._write_facts(rows)
            rows |= self._judge()
            self._write_tables(rows)
            whole = Manifest([*manifest.runs, self.run])
            self.store.write(MANIFEST, whole.to_json())
            self.store.write(SUCCESS, b"")
            self.store.remove(self._stage.place())
        return ExportedBySpark(self.store.path, whole, self.run, tuple(self.taken_over))

    def _manifest(self) -> Manifest:
        """The manifest that lies there, an empty one where nothing does; raises UsageError for anything else."""
        data = self.store.read(MANIFEST)
        found = parse_manifest(data) if data is not None else Manifest()
        strange = (
            None if data is not None else next((one for one in self.store.files() if not one.startswith("_")), None)
        )
        if found is None or (strange is not None and not self.store.has(self._stage.place("run.json"))):
            raise UsageError(f"{self.store.path} exists and is no export of kafkatx; give another place")
        if any(run.recipe["options"].get("format") != self.format for run in found.runs):
            raise UsageError(f"{self.store.path} is an export that is laid otherwise; give another place")
        return found

    @property
    def _stage(self) -> ExportStage:
        return ExportStage(self.spark, self.store, self.run.run_id)

    @property
    def _stamp(self) -> Stamp:
        return Stamp(self.run.run_id, self.run.exported_at, release())

    def _begin(self) -> None:
        """Take over when the run began, else note it."""
        if (told := self.store.noted(self._stage.place("run.json"))) is not None:
            self.run.exported_at = int(told["exported_at"])
        else:
            self.store.note(self._stage.place("run.json"), {"exported_at": self.run.exported_at})

    def _read(self) -> dict[str, int]:
        """Read every file, once; what workers could not open is looked for also where that was done before.

        Returns how many rows of each table were read; of facts each row is one.
        """
        names = tuple(name for name in self.run.recipe["wanted"] if name != FACTS_TABLE.name)

        def read() -> DataFrame:
            todo = tasks_of_export(self.evidence, self.verify_all, self._width)
            place = self.store.shown(self._stage.place("drafts")) if self.format == "parquet" else None
            step = partial(read_files, tables=names, place=place, stamp=self._stamp, enough=ENOUGH)
            return spread(self.spark, todo).mapInArrow(InWorker(step, "reading files", as_stage_rows), STAGE_DDL)

        return self._read_again(self._stage.looked_for("read", (*names, FACTS_TABLE.name), read))

    def _read_again(self, rows: Counter[str]) -> Counter[str]:
        """Read as blocks what was written of strands that reach into each other; returns how many rows there are."""
        told = self._stage.strands()
        self.strands, places = told, {*not_in_order(told)}
        if not places:
            return rows
        self.strands = without(told, places)
        rows.subtract({table: sum(one.rows for one in told if one.table == table) for table in TOLD_IN_ORDER})
        rows.update({table: sum(one.rows for one in self.strands if one.table == table) for table in TOLD_IN_ORDER})

        def read() -> DataFrame:
            todo = tasks_of_places(self.evidence, self.verify_all, self._width, places)
            step = partial(read_files, tables=tuple(sorted({table for table, _ in places})))
            return spread(self.spark, todo).mapInArrow(InWorker(step, "reading files again", as_stage_rows), STAGE_DDL)

        rows.update(self._stage.looked_for("again", TOLD_IN_ORDER, read))
        return rows

    def _write_facts(self, rows: dict[str, int]) -> None:
        """Write the facts as they are diagnosed: in one order, in row groups of some megabytes."""
        name = FACTS_TABLE.name

        def write() -> list[Draft]:
            width = width_of(self._stage.sizes([name])[name], self._width)
            facts = self._stage.rows("read", [name]).select(*FACTS.names)
            spread_out = facts.repartitionByRange(width, *ORDER) if width > 1 else facts.coalesce(1)
            return self._drafts(spread_out.sortWithinPartitions(*ORDER), facts_written, [name])

        self._written("facts", write, rows)

    def _judge(self) -> dict[str, int]:
        """Judge every capture once, from the facts: all tables that follow from all files; returns their rows."""
        files = [self.store.shown(f"{FACTS_TABLE.name}/{part.name}") for part in self.run.tables[FACTS_TABLE.name]]
        facts = Export(self.store.path, tuple(files), tuple(range(len(self.evidence.captures))))
        names = tuple(name for name in self.run.recipe["wanted"] if name in TOLD)
        judge = partial(judged_to_blocks, telling=Telling(), exports=(facts,), tables=names)
        return (
            self._stage.kept("told", names, lambda: exported_on(self.spark, [facts], judge, STAGE_DDL)) if names else {}
        )

    def _write_tables(self, rows: dict[str, int]) -> None:
        """Write the other tables from the stages, which hold so many rows of each."""
        sizes = self._stage.sizes(name for name in self.run.recipe["wanted"] if name != FACTS_TABLE.name)
        if self.format != "parquet":
            for name in sizes:
                self._append(name, rows.get(name, 0))
            return
        for number, names in enumerate(jobs(sizes)):
            of_job = {name: sizes[name] for name in names}
            self._written(f"tables-{number}", partial(self._written_tables, of_job), rows)

    def _written_tables(self, sizes: dict[str, int]) -> list[Draft]:
        blocks = self._stage.blocks(sizes)
        to_write = dealt(blocks.select("kind", "unit", "rows", "payload"), *shares(sizes, self._width))
        written = [draft for one in self.strands for draft in one.drafts if one.table in sizes]
        return self._drafts(to_write, tables_written, sizes, written)

    def _append(self, name: str, rows: int) -> None:
        """Append a table's rows to a table that is not of files alone."""
        sizes = self._stage.sizes([name])
        blocks = self._stage.blocks([name])
        step = InWorker(partial(exported, table=name, stamp=self._stamp), f"writing {name}")
        in_units = dealt(blocks.select("kind", "unit", "rows", "payload"), *shares(sizes, self._width))
        frame = in_units.mapInArrow(step, spark_schema(divided_schema(EXPORTED[name], self._stamp)))
        append(frame, self.format, self.store, name, self.run.run_id)
        self.run.tables[name] = [TableFile("", rows, sum(self.store.files(name).values()), "")]

    def _drafts(
        self, rows: DataFrame, step: Callable[..., Any], names: Iterable[str], before: Iterable[Draft] = ()
    ) -> list[Draft]:
        """Have tasks write rows to files; what they tell of them, with what was written before.

        A table that has no rows gets a file as well.
        """
        place = self.store.shown(self._stage.place("drafts"))
        writing = InWorker(partial(step, place=place, stamp=self._stamp), "writing tables")
        told = rows.mapInArrow(writing, DRAFTS_DDL).toArrow().to_pylist()
        found = [*before, *(Draft(**one) for one in told)]
        empty, there = Drafting(place, 0, self._stamp), {draft.table for draft in found}
        return [*found, *(empty.empty(EXPORTED[name]) for name in names if name not in there)]

    def _written(self, step: str, write: Callable[[], list[Draft]], rows: dict[str, int]) -> None:
        """Have files of tables written, unless it is noted that they are, and move them to their tables.

        Raises SparkFailedError where a table lacks rows that were read.
        """
        noted = self.store.noted(self._stage.place(f"{step}.json"))
        drafts = write() if noted is None else [Draft(**one) for one in noted]
        try:
            check_rows(self.store, drafts, rows)
            if noted is None:
                self.store.note(self._stage.place(f"{step}.json"), [asdict(draft) for draft in drafts])
            else:
                self.taken_over += sorted({draft.table for draft in drafts})
            self.run.tables |= moved(self.store, drafts, self._stage.place("drafts"), self._stamp)
        except SparkFailedError:  # what is there can't be gone on with
            self.store.remove(self._stage.place())
            raise

    @property
    def _width(self) -> int:
        return int(self.spark.conf.get("spark.sql.shuffle.partitions") or "1")
