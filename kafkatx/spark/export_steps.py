"""The steps of an export by Spark as its workers run them: RecordBatches in, RecordBatches out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import chain
from typing import Any

import pyarrow as pa

from kafkatx.findings.diagnosis import Diagnosis, Selection
from kafkatx.spark.conform import conform
from kafkatx.spark.missing import MissingFile, as_facts
from kafkatx.spark.spreading import values_of
from kafkatx.stages.divided_parts import Draft, Drafting
from kafkatx.stages.export_tasks import blocks_of, facts_of_file
from kafkatx.stages.exported_files import files_of
from kafkatx.stages.exported_rows import divided, divided_schema, exported_rows
from kafkatx.stages.exports import Export
from kafkatx.stages.fact_batches import FACTS, ORDER_OF_CAPTURES, facts_of, record_batches
from kafkatx.stages.facts import FactsError
from kafkatx.stages.judging import CaptureDiagnosis, diagnosed
from kafkatx.stages.models import Telling, models
from kafkatx.stages.stamp import UNSTAMPED, Stamp
from kafkatx.stages.strands import StrandTold
from kafkatx.stages.table_blocks import Block, blocks_of_capture
from kafkatx.stages.table_diagnosis import (
    captures_table,
    evidence_table,
    finding_table,
    next_table,
    not_checkable_table,
)
from kafkatx.stages.table_interpreted import transaction_table
from kafkatx.stages.table_settings import settings_of
from kafkatx.stages.whole_partitions import ENOUGH, rows_of_files
from kafkatx.tables.catalogue import EXPORTED
from kafkatx.tables.facts import FACTS as FACTS_TABLE

STAGE = pa.schema(
    [("kind", pa.string()), ("unit", pa.string()), ("rows", pa.int64()), *((one.name, one.type) for one in FACTS)]
)
"""Rows of a stage: blocks of a table (`kind` its name), or facts (`kind` is `facts`), or those beside the tables."""
STAGE_DDL = (
    "kind string, unit string, rows bigint, capture int, number int, rank int, first_offset bigint, file int, "
    "begin bigint, piece int, payload binary"
)
MISSING, WRITTEN = "missing", "written"
"""Kinds of rows that are no table's: files that are missing; strands that were written already, `unit` their table."""
STAGE_OPTIONS = {
    "compression": "uncompressed",
    "parquet.block.size": str(16 << 20),
    "parquet.enable.dictionary": "false",
}
"""Payloads are compressed already."""
DRAFTS = pa.schema(
    [
        *((name, pa.string()) for name in ("table", "name", "folder")),
        *((name, pa.int64()) for name in ("rows", "bytes")),
        ("sha256", pa.string()),
    ]
)
"""What a task tells of the files that it wrote (stages/divided_parts.py, Draft)."""
DRAFTS_DDL = "`table` string, name string, folder string, rows bigint, bytes bigint, sha256 string"
FULL_BATCH = 4 << 20


def read_files(
    batches: Iterator[Any],
    tables: tuple[str, ...],
    place: str | None = None,
    stamp: Stamp = UNSTAMPED,
    enough: int = ENOUGH,
) -> Iterator[Any]:
    """Read the files of tasks; yields rows of STAGE: of all `tables`, and facts.

    Where there is a `place` for files, rows that need to meet no others are written there, if a partition has `enough`
    bytes of them, and the files told as well.
    """
    files = [one for _, task in values_of(batches) for one in task]
    if place is None:
        yield from of_blocks(block for one in files for block in blocks_of(one, tables))
    else:
        told: list[StrandTold] = []
        yield from of_blocks(
            _blocks_beside(told, rows_of_files(files, tables, Drafting(place, _task(), stamp), enough))
        )
        yield from of_blocks(Block(WRITTEN, one.table, one.rows, one.to_json()) for one in told)
    yield from of_facts(record_batches(fact for one in files for fact in facts_of_file(one)), FACTS_TABLE.name)


def _blocks_beside(told: list[StrandTold], found: Iterable[Block | StrandTold]) -> Iterator[Block]:
    for one in found:
        if isinstance(one, StrandTold):
            told.append(one)
        else:
            yield one


def judged_to_blocks(
    batches: Iterable[Any], telling: Telling, exports: tuple[Export, ...], tables: tuple[str, ...]
) -> Iterator[Any]:
    """Judge the captures whose facts come; yields rows of STAGE: of those of `tables` that follow from all files."""
    for number, model in models(facts_of(batches, ORDER_OF_CAPTURES), telling):
        part = diagnosed(model, Selection(), files_of(exports, number, model.capture))
        told = (blocks_of_capture(name, model.capture.name, TOLD[name](model, part)) for name in tables if name in TOLD)
        yield from of_blocks(chain.from_iterable(told))


def _of_diagnosis(build: Any) -> Any:
    return lambda model, part: build(_alone(part))


def _alone(part: CaptureDiagnosis) -> Diagnosis:
    """What is said of one capture, as a diagnosis."""
    told = [(part.capture, entry) for entry in part.not_checkable]
    return Diagnosis(part.findings, part.coverage, not_checkable=told, next=part.next)


TOLD: dict[str, Any] = {
    "transactions": lambda model, part: transaction_table([model]),
    "settings": lambda model, part: settings_of(model.capture, model.model.logs.settings),
    "findings": _of_diagnosis(finding_table),
    "evidence": _of_diagnosis(evidence_table),
    "not_checkable": _of_diagnosis(not_checkable_table),
    "next": _of_diagnosis(next_table),
    "captures": lambda model, part: captures_table(model),
}
"""Tables that follow from all files of a capture: of its model, and what is said of it."""


def exported(batches: Iterator[Any], table: str, stamp: Stamp) -> Iterator[Any]:
    """Make exported rows of the blocks of a table, which come unit by unit, for a writer of Spark's."""
    of_table = EXPORTED[table]
    schema = divided_schema(of_table, stamp).remove_metadata()
    schema = pa.schema([pa.field(one.name, _plain(one.type)) for one in schema])
    for whole in exported_rows(_blocks(batches), of_table, stamp):
        yield from (conform(rows, schema) for rows in divided(whole, of_table))


def tables_written(batches: Iterator[Any], place: str, stamp: Stamp) -> Iterator[Any]:
    """Write the rows of blocks, which come table by table and unit by unit, to files; yields rows of DRAFTS."""
    yield from _of_drafts(Drafting(place, _task(), stamp).tables(_blocks(batches)))


def facts_written(batches: Iterator[Any], place: str, stamp: Stamp) -> Iterator[Any]:
    """Write facts, which come in their order, to files; yields rows of DRAFTS."""
    yield from _of_drafts(Drafting(place, _task(), stamp).facts(conform(rows, FACTS) for rows in batches))


def _of_drafts(drafts: Iterable[Draft]) -> Iterator[Any]:
    if told := [asdict(draft) for draft in drafts]:
        yield pa.RecordBatch.from_pylist(told, DRAFTS)


def _task() -> int:
    """The number of the partition that is written here."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


def _plain(type_: Any) -> Any:
    """A type without the metadata of its members."""
    if pa.types.is_list(type_):
        return pa.list_(_plain(type_.value_type))
    if pa.types.is_struct(type_):
        return pa.struct([pa.field(one.name, _plain(one.type)) for one in type_])
    return type_


def _blocks(batches: Iterator[Any]) -> Iterator[Block]:
    for batch in batches:
        columns = (batch.column(name).to_pylist() for name in ("kind", "unit", "rows", "payload"))
        for kind, unit, rows, payload in zip(*columns, strict=True):
            if kind not in EXPORTED or unit is None or rows is None or payload is None:
                raise FactsError(f"not a block of {kind}: null")
            yield Block(kind, unit, rows, payload)


def as_stage_rows(missing: Iterable[MissingFile]) -> Iterator[Any]:
    """Tell files that could not be opened beside the rows of a stage."""
    return of_facts(as_facts(missing), MISSING)


def of_facts(batches: Iterable[Any], kind: str) -> Iterator[Any]:
    """Rows of STAGE of RecordBatches of FACTS."""
    for batch in batches:
        rows = batch.num_rows
        head = [pa.repeat(pa.scalar(kind), rows), pa.nulls(rows, pa.string()), pa.nulls(rows, pa.int64())]
        yield pa.RecordBatch.from_arrays([*head, *batch.columns], schema=STAGE)


def of_blocks(blocks: Iterable[Block]) -> Iterator[Any]:
    """Rows of STAGE of blocks, some megabytes at a time."""
    held: list[Block] = []
    size = 0
    for block in blocks:
        held.append(block)
        size += len(block.payload)
        if size >= FULL_BATCH:
            yield _of_blocks(held)
            held, size = [], 0
    if held:
        yield _of_blocks(held)


def _of_blocks(held: list[Block]) -> Any:
    known = {
        "kind": [one.table for one in held],
        "unit": [one.unit for one in held],
        "rows": [one.rows for one in held],
        "payload": [one.payload for one in held],
    }
    columns = [
        pa.array(known[field.name], field.type) if field.name in known else pa.nulls(len(held), field.type)
        for field in STAGE
    ]
    return pa.RecordBatch.from_arrays(columns, schema=STAGE)
