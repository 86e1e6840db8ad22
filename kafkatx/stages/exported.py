"""The diagnosis of exports in this process: stages two and three over facts that lie in order already."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import replace

from kafkatx.findings.diagnosis import Diagnosis, Selection
from kafkatx.stages.exported_files import files_of
from kafkatx.stages.exports import Export, Exports
from kafkatx.stages.fact_batches import facts_of
from kafkatx.stages.fact_files import FactGroup, loaded
from kafkatx.stages.facts import CaptureFact, FactsError
from kafkatx.stages.folding import folded
from kafkatx.stages.judging import CaptureDiagnosis, Show, diagnosed, shown, united
from kafkatx.stages.models import Telling, models


def diagnose_exports(exports: Exports, telling: Telling, selection: Selection, show: Show | None = None) -> Diagnosis:
    """Judge every capture of some exports, one after the other; `show` is called with each.

    Raises FactsError for facts that are none, NothingToDiagnoseError where nothing in the exports is evidence.
    """
    parts: dict[int, CaptureDiagnosis] = {}
    for facts in _streams(exports):
        for number, model in models(folded(facts, None), telling):
            part = diagnosed(model, selection, files_of(exports.exports, number, model.capture))
            parts[number] = shown(model, part, show)
    return united((parts[number] for number in sorted(parts)), exports.others)


def _streams(exports: Exports) -> Iterator[Iterator[CaptureFact]]:
    """Streams of facts in order: of each run those of captures that it alone has, then of each united capture."""
    for export in exports.exports:
        alone = {number for number, _ in export.united}
        if len(alone) < len(export.numbers):
            yield _facts(replace(group, without=frozenset(alone)) for group in export.groups())
    for number, capture, held in exports.united:
        runs = [_of_run(exports.exports[at], own) for at, own in held]
        plans = capture.plan_facts(number)
        yield heapq.merge(plans, *(facts for pair in runs for facts in pair), key=_place)


def _of_run(export: Export, own: int) -> tuple[Iterator[CaptureFact], Iterator[CaptureFact]]:
    """Facts of a capture in one run, in the order of the united one: those of strays come apart."""
    others = frozenset(range(len(export.numbers))) - {own}
    found = [replace(group, without=others) for group in export.groups()]
    renumbering = dict(export.united)[own]
    strays = (replace(group, strays=True) for group in found if renumbering.strays)
    return _facts(replace(group, strays=False) for group in found), _facts(strays)


def _facts(groups: Iterable[FactGroup]) -> Iterator[CaptureFact]:
    return facts_of((batch for group in groups for batch in loaded(group)), error=FactsError)


def _place(fact: CaptureFact) -> tuple[int, ...]:
    return fact.number, int(fact.rank), fact.at, fact.file, fact.begin
