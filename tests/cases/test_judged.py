"""Every recorded case is judged right from its data directories alone, alone and in company."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kafkatx import __version__
from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.rules.registry import RULES
from tests.cases.commands import run
from tests.cases.judging import SUFFICES, diagnosed, evidence_of, shortfalls
from tests.evidence import broker_folders, cases, expectations, groundtruth

CASES = list(cases())
TEXT_LACKS: list[tuple[str, str, str]] = [
    (
        "k20-expired",
        "weak: transactional_id_expired about settle-3 is likely, the evidence carries proved",
        "is_tombstone: tools before 2.4.1 die at the first tombstone, in the middle of its line",
    ),
]
"""What text alone can't tell: case, the shortfall, and the column that the tool's text lacks."""
HEDGES = ("probabl", "possibl", "may ", "might", "not known", "no longer knew", "could not be told")
"""What makes a sentence less than a claim."""
JUDGE = (groundtruth() or Path()) / "judge.py"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case_is_judged_as_recorded(case: Path) -> None:
    assert shortfalls(case, diagnosed(case)["findings"]) == []


@pytest.mark.parametrize("kind", ["all", "logs", "text"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_case_is_judged_as_recorded_by_what_its_programs_wrote(case: Path, kind: str) -> None:
    lacking = {sentence for name, sentence, _ in TEXT_LACKS if name == case.name} if kind == "text" else set()
    short = shortfalls(case, diagnosed(case, kind)["findings"], SUFFICES[kind])
    assert [sentence for sentence in short if sentence not in lacking] == []
    assert lacking <= set(short), "an exception is no longer needed"


@pytest.mark.parametrize("kind", list(SUFFICES))
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_summary_claims_more_than_its_verdict(case: Path, kind: str) -> None:
    for finding in diagnosed(case, kind)["findings"]:
        is_hedged = any(word in finding["summary"] for word in HEDGES)
        assert is_hedged or finding["verdict"] == "proved", (finding["rule"], finding["summary"])
        is_guess = any(word in finding["summary"] for word in ("probably", "possibly"))
        assert not is_guess or finding["verdict"] != "proved", (finding["rule"], finding["summary"])


@pytest.mark.parametrize("kind", list(SUFFICES))
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_sentence_names_what_has_no_name(case: Path, kind: str) -> None:
    for finding in diagnosed(case, kind)["findings"]:
        told = (
            finding["who"] or "",
            finding["title"],
            finding["summary"],
            *(step["text"] for step in finding["steps"]),
        )
        assert not any(blank in text for text in told for blank in ("None", "not named)", "--1")), told


def test_text_lacks_little() -> None:
    asked = sum(len(_asked(case, SUFFICES["text"])) for case in CASES)
    assert len(TEXT_LACKS) <= asked // 20


def test_expectations_fail_without_their_findings() -> None:
    asked = [case for case in CASES if _asked_of_disk(case)]
    assert asked
    for case in asked:
        assert len(shortfalls(case, [])) == len(_asked_of_disk(case)), case.name


def test_healthy_ids_and_traps_fail_with_a_loud_finding() -> None:
    for case in CASES:
        for name in expectations(case).get("quiet", []):
            assert any("noise" in text for text in shortfalls(case, [_loud("no_such_rule", name)])), (case.name, name)
        for trap in expectations(case).get("must_not_find", []):
            said = shortfalls(case, [_loud(trap["rule"], trap["transactional_id"])])
            assert any("wrong" in text for text in said), (case.name, trap)


def test_third_guess_about_one_id_is_noise() -> None:
    guess = {**_loud("no_such_rule", "some-id"), "verdict": "possible", "severity": "info"}
    assert not any("guesses" in text for text in shortfalls(CASES[0], [guess] * 2))
    assert any("guesses" in text for text in shortfalls(CASES[0], [guess] * 3))


def test_all_cases_in_one_call_are_judged_like_each_alone() -> None:
    alone = [_without_paths(finding) for case in CASES for finding in diagnosed(case)["findings"]]
    together = [_without_paths(finding) for finding in _together()["findings"]]
    assert sorted(map(_text, together)) == sorted(map(_text, alone))


def test_what_can_not_be_checked_is_the_same_alone_and_in_company() -> None:
    alone = [entry for case in CASES for entry in diagnosed(case)["not_checkable"]]
    assert sorted(map(_text, _together()["not_checkable"])) == sorted(map(_text, alone))


def test_no_finding_joins_two_clusters() -> None:
    homes = {str(folder): case.name for case in CASES for folder in broker_folders(case)}
    captures: dict[str, set[str]] = {}
    for finding in _together()["findings"]:
        sources = [Path(item["source"]) for item in finding["evidence"] + finding["against"]]
        places = {homes[str(parent)] for path in sources for parent in path.parents if str(parent) in homes}
        assert len(places) == 1, finding["summary"]
        captures.setdefault(finding["capture"], set()).update(places)
    assert all(len(places) == 1 for places in captures.values())


def test_two_captures_never_share_a_file() -> None:
    owners: dict[str, set[str]] = {}
    for entry in _together()["coverage"]:
        case = next(case.name for case in CASES if Path(entry["path"]).is_relative_to(case))
        owners.setdefault(entry["capture"], set()).add(case)
    assert all(len(cases) == 1 for cases in owners.values())
    assert len(owners) == len(CASES)


@pytest.mark.skipif(not JUDGE.is_file(), reason="the collection of all recorded cases is not at hand")
@pytest.mark.parametrize("kind", ["disk", "logs", "all"])  # text falls short where TEXT_LACKS says so
def test_judge_of_the_collection_finds_nothing_short(tmp_path: Path, kind: str) -> None:
    command = _answering(tmp_path, kind)
    ruling = subprocess.run(
        [sys.executable, str(JUDGE), str(command), str(JUDGE.parent), "--evidence", kind,
         "--only", ",".join(sorted(RULES))],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert ruling.returncode == 0, ruling.stdout + ruling.stderr


@pytest.mark.parametrize("kind", ["disk", "logs"])
def test_the_command_prints_what_the_judge_is_shown(kind: str) -> None:
    case = next(case for case in CASES if case.name == "k39-fenced")
    printed = run("diagnose", *map(str, evidence_of(case, kind)), "--format", "json", "--quiet")
    assert json.loads(printed.out) == diagnosed(case, kind)


def _answering(folder: Path, kind: str) -> Path:
    """A program that answers like `kafkatx diagnose PATH... --format json`, from what was diagnosed in this process."""
    answers = {" ".join(map(str, evidence_of(case, kind))): diagnosed(case, kind) for case in CASES}
    for number, document_of in enumerate(answers.values()):
        (folder / f"{number}.json").write_text(json.dumps(document_of))
    (folder / "asked.json").write_text(json.dumps({asked: number for number, asked in enumerate(answers)}))
    program = folder / "kafkatx"
    program.write_text(
        f"#!{sys.executable} -IS\n"
        "import json, pathlib, sys\n"
        "folder, asked = pathlib.Path(sys.argv[0]).parent, ' '.join(sys.argv[2 : sys.argv.index('--format')])\n"
        "number = json.loads((folder / 'asked.json').read_text())[asked]\n"
        "print((folder / f'{number}.json').read_text())\n"
    )
    program.chmod(0o755)
    return program


@cache
def _together() -> dict[str, Any]:
    return document(diagnose(folder for case in CASES for folder in broker_folders(case)), __version__)


def _asked_of_disk(case: Path) -> list[dict[str, Any]]:
    return _asked(case, SUFFICES["disk"])


def _asked(case: Path, evidence: frozenset[str]) -> list[dict[str, Any]]:
    wanted = expectations(case).get("must_find", [])
    return [want for want in wanted if want["rule"] in RULES and evidence.issuperset(want.get("needs", ["disk"]))]


def _loud(rule: str, transactional_id: str | None) -> dict[str, Any]:
    nothing = dict.fromkeys(("producer_id", "topic", "partition"))
    return {**nothing, "rule": rule, "transactional_id": transactional_id, "verdict": "proved", "severity": "error"}


def _without_paths(value: Any) -> Any:
    """Leave out paths, and numbers of what to bring next: they count the captures of a document together."""
    if isinstance(value, dict):
        numbers = value.get("decided_by")
        left = {"source", "decided_by"} if isinstance(numbers, list) else {"source"}
        return {name: _without_paths(item) for name, item in value.items() if name not in left}
    return [_without_paths(item) for item in value] if isinstance(value, list) else value


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
