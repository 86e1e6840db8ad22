"""The diagnosis of exports in this process: stages two and three over facts that lie in order already."""

from __future__ import annotations

from kafkatx.findings.diagnosis import Diagnosis, Selection
from kafkatx.stages.exported_files import files_of
from kafkatx.stages.exports import Exports
from kafkatx.stages.fact_batches import facts_of
from kafkatx.stages.fact_files import loaded
from kafkatx.stages.facts import FactsError
from kafkatx.stages.folding import folded
from kafkatx.stages.judging import CaptureDiagnosis, Show, diagnosed, shown, united
from kafkatx.stages.models import Telling, models


def diagnose_exports(exports: Exports, telling: Telling, selection: Selection, show: Show | None = None) -> Diagnosis:
    """Judge every capture of some exports, one after the other; `show` is called with each.

    Raises FactsError for facts that are none, NothingToDiagnoseError where nothing in the exports is evidence.
    """
    parts: dict[int, CaptureDiagnosis] = {}
    for export in exports.exports:
        facts = facts_of((batch for group in export.groups() for batch in loaded(group)), error=FactsError)
        for number, model in models(folded(facts, None), telling):
            part = diagnosed(model, selection, files_of([export], number, model.capture))
            parts[number] = shown(model, part, show)
    return united((parts[number] for number in sorted(parts)), exports.others)
