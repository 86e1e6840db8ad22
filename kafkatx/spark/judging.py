"""Stage three, on the executors: the models of a capture's partitions and its logs, joined, told and judged.

Grain: one capture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from kafkatx.evidence.captures import Capture
from kafkatx.findings.diagnosis import Diagnosis, Selection
from kafkatx.spark.conform import conform
from kafkatx.stages.counting import HELD_UP_TO
from kafkatx.stages.exported_files import files_of
from kafkatx.stages.exports import Export
from kafkatx.stages.fact_batches import ORDER_OF_CAPTURES, facts_of, record_batches
from kafkatx.stages.facts import CaptureFact, FactKind
from kafkatx.stages.judging import diagnosed
from kafkatx.stages.models import JudgedCapture, Telling, build_models, models
from kafkatx.stages.table_diagnosis import (
    captures_table,
    evidence_table,
    finding_table,
    next_table,
    not_checkable_table,
)
from kafkatx.stages.table_interpreted import transaction_table
from kafkatx.tables.catalogue import TABLES


def judged(
    batches: Iterable[Any], telling: Telling, selection: Selection, exports: tuple[Export, ...] = ()
) -> Iterator[Any]:
    """Judge the captures whose facts come in RecordBatches of FACTS, in ORDER_OF_CAPTURES.

    `exports` are what the facts come of, if they do not come of files that are at hand. Yields RecordBatches of FACTS,
    a CaptureDiagnosis for each.
    """
    return record_batches(
        CaptureFact(number, 0, FactKind.STORY, diagnosed(model, selection, files_of(exports, number, model.capture)))
        for number, model in stories(batches, counting(telling))
    )


def counting(telling: Telling) -> Telling:
    """What is known, with plain transactions of large captures counted."""
    return telling if telling.held_up_to is not None else replace(telling, held_up_to=HELD_UP_TO)


def stories(batches: Iterable[Any], telling: Telling) -> Iterator[tuple[int, JudgedCapture]]:
    """Tell the captures whose facts come in RecordBatches of FACTS, in ORDER_OF_CAPTURES; with their numbers."""
    return models(facts_of(batches, ORDER_OF_CAPTURES), telling)


def rows(batches: Iterable[Any], table: str, telling: Telling) -> Iterator[Any]:
    """Yield the rows of a table of TOLD for the captures whose facts come, as RecordBatches of its schema."""
    schema = TABLES[table].schema
    for _, model in stories(batches, telling if table == "transactions" else counting(telling)):
        yield from (conform(batch, schema) for batch in TOLD[table](model))


def told_rows(table: str, captures: Iterable[Capture], verify_all: bool) -> Iterator[Any]:
    """Yield the rows of a table of TOLD for captures whose files are read here, one after the other."""
    for model in build_models(captures, verify_all=verify_all):
        yield from TOLD[table](model)


def _findings(model: JudgedCapture) -> Iterator[Any]:
    return finding_table(_diagnosed(model))


def _evidence(model: JudgedCapture) -> Iterator[Any]:
    return evidence_table(_diagnosed(model))


def _diagnosed(model: JudgedCapture) -> Diagnosis:
    """The diagnosis of one capture alone."""
    part = diagnosed(model, Selection())
    told = [(part.capture, entry) for entry in part.not_checkable]
    return Diagnosis(part.findings, part.coverage, not_checkable=told, next=part.next)


TOLD: dict[str, Callable[[JudgedCapture], Iterator[Any]]] = {
    "transactions": lambda model: transaction_table([model]),
    "findings": _findings,
    "evidence": _evidence,
    "not_checkable": lambda model: not_checkable_table(_diagnosed(model)),
    "next": lambda model: next_table(_diagnosed(model)),
    "captures": captures_table,
}
"""Tables that need the whole model of a capture."""
