"""Pages as people paste them: prose, prompts, quotes and holes, and what must be found in each of them."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kafkatx.findings.diagnosis import Diagnosis
from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from tests.cases.commands import run
from tests.evidence import fixtures
from tests.golden import Golden

PAGES = fixtures() / "pages"
EXPECTED = json.loads((PAGES / "expected.json").read_text())
RANK = {"possible": 0, "likely": 1, "proved": 2}
ASKED = ("transactional_id", "producer_id", "topic", "partition", "severity")


@cache
def _diagnosed(name: str) -> Diagnosis:
    return diagnose([PAGES / name])


def _findings(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = document(_diagnosed(name), "test")["findings"]
    return found


def _hits(name: str, want: dict[str, Any]) -> list[dict[str, Any]]:
    asked = [column for column in ASKED if column in want]
    return [
        found
        for found in _findings(name)
        if found["rule"] == want["rule"] and all(found[column] == want[column] for column in asked)
    ]


def test_every_page_has_expectations() -> None:
    assert sorted(path.name for path in PAGES.glob("*.md")) == sorted(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_page_tells_its_incident(name: str) -> None:
    for want in EXPECTED[name]["must_find"]:
        hits = _hits(name, want)
        assert hits, (want, [(found["rule"], found["verdict"]) for found in _findings(name)])
        assert max(RANK[found["verdict"]] for found in hits) >= RANK[want["verdict_at_least"]], want


@pytest.mark.parametrize("name", EXPECTED)
def test_page_is_not_read_as_another_incident(name: str) -> None:
    for trap in EXPECTED[name]["must_not_find"]:
        assert not [found for found in _hits(name, trap) if found["verdict"] != "possible"], trap


@pytest.mark.parametrize("name", [name for name in EXPECTED if "chain" in EXPECTED[name]])
def test_causes_of_a_page_are_one_chain(name: str) -> None:
    findings = {found["id"]: found for found in _findings(name)}
    for cause, effect in zip(EXPECTED[name]["chain"], EXPECTED[name]["chain"][1:], strict=False):
        named = [findings[found["caused_by"]]["rule"] for found in findings.values()
                 if found["rule"] == effect and found["caused_by"]]  # fmt: skip
        assert cause in named, (cause, effect)


@pytest.mark.parametrize("name", [name for name in EXPECTED if "considered" in EXPECTED[name]])
def test_popular_explanation_is_named_and_refuted(name: str) -> None:
    for rule, refuted in EXPECTED[name]["considered"].items():
        named = {other["rule"] for found in _findings(name) if found["rule"] == rule for other in found["considered"]}
        assert set(refuted) <= named


def test_two_incidents_under_one_file_name_are_two_captures() -> None:
    for name, apart in ((name, wanted["captures"]) for name, wanted in EXPECTED.items() if "captures" in wanted):
        for one, other in apart.items():
            homes = [{found["capture"] for found in _findings(name) if found["rule"] == rule} for rule in (one, other)]
            assert all(homes)
            assert homes[0].isdisjoint(homes[1])


@pytest.mark.parametrize("name", EXPECTED)
def test_every_line_that_a_finding_cites_is_there(name: str) -> None:
    lines = (PAGES / name).read_text().splitlines()
    for found in _findings(name):
        for item in found["evidence"]:
            assert item["source"] is None or 1 <= item["line"] <= len(lines)


@pytest.mark.parametrize("name", EXPECTED)
def test_page_is_told_like_this(name: str, monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    monkeypatch.chdir(PAGES)
    told = run("diagnose", name)
    assert told.code == 0, told.err
    golden(f"{Path(name).stem}.txt", told.out)
