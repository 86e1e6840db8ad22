"""Two passes on this machine: what is suspect is named by a first one, the second one reads that."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.coverage import coverage_of
from kafkatx.evidence.looking import LooksHere
from kafkatx.findings.diagnosis import Diagnosis, Selection
from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.stages.judging import NothingToDiagnoseError, diagnosed, united
from kafkatx.stages.models import build_models, joined_evidence
from kafkatx.stages.passes import Marks, complete, named_in, suspected
from kafkatx.stages.suspects import SMALL, Suspect


def in_two_passes(paths: Iterable[str | Path], small: int = SMALL) -> dict[str, Any]:
    """Return the document of two passes; partitions and ends of logs of no more than `small` bytes are read anyway."""
    evidence = joined_evidence(paths)
    chosen = suspected(evidence.captures, named_here, LooksHere(), small)
    parts = (
        complete(diagnosed(told, Selection()), capture)
        for told, capture in zip(build_models(chosen), chosen, strict=True)
    )
    return _said(lambda: united(parts, (coverage_of(None, item, None) for item in evidence.others)))


def whole(paths: Iterable[str | Path]) -> dict[str, Any]:
    """Return the document of one pass over everything."""
    return _said(lambda: diagnose(paths))


def named_here(captures: list[Capture], marks: list[Marks]) -> list[set[Suspect]]:
    """Read captures without their data on this machine, and name what is suspect in them."""
    return [named_in(told, of_capture) for told, of_capture in zip(build_models(captures), marks, strict=True)]


def _said(run: Any) -> dict[str, Any]:
    try:
        found: Diagnosis = run()
    except NothingToDiagnoseError as error:
        found = error.diagnosis
    return document(found, "")
