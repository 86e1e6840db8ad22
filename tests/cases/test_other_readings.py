"""What a verdict promises of other readings: likely names what is not ruled out, proved leaves questions only."""

from pathlib import Path
from typing import Any

import pytest

from kafkatx import __version__
from kafkatx.findings.finding import UNEXPLAINED
from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from tests.cases.judging import SUFFICES, diagnosed, evidence_of
from tests.evidence import cases, fixtures

CASES = list(cases())
TEXTS = [*sorted(fixtures().glob("adversarial/*.tar.xz"))[::5], fixtures() / "lookalikes" / "ends.txt"]
QUESTION = "whether "
"""How what stays open beside a proof begins: it is no other reading of what is proved."""


def hold(document: dict[str, Any]) -> None:
    for finding in (one for one in document["findings"] if one["rule"] != UNEXPLAINED):
        left = [other for other in finding["considered"] if not other["refuted"]]
        readings = {other["rule"] for other in left if not other["rule"].startswith(QUESTION)}
        if finding["verdict"] == "proved":
            assert not readings, finding["summary"]
        else:
            assert readings, finding["summary"]
            assert any(other["decided_by"] for other in left), finding["summary"]
        assert readings.isdisjoint(other["rule"] for other in finding["considered"] if other["refuted"]), finding[
            "summary"
        ]


@pytest.mark.parametrize("kind", SUFFICES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_likely_names_what_is_not_ruled_out_and_proved_leaves_no_other_reading(case: Path, kind: str):
    if all(path.exists() for path in evidence_of(case, kind)):
        hold(diagnosed(case, kind))


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_the_same_of_generated_evidence(path: Path):
    hold(document(diagnose([path]), __version__))
