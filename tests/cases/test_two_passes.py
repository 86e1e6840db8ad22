"""Two passes over recorded cases: never another claim than a thorough look, and never a clean bill in silence.

What they miss where nothing is read for being small is listed, case by case, with the reason
(tests/cases/two_passes.tsv).
"""

import csv
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.evidence import broker_folders
from tests.repeats import one_by_one
from tests.two_passes import in_two_passes, whole

VERDICTS = ("possible", "likely", "proved")
LISTED = Path(__file__).with_name("two_passes.tsv")
COLUMNS = ("case", "rule", "severity", "who")
Missed = tuple[str, ...]


@cache
def listed() -> dict[Missed, str]:
    """Why a finding is missed, by (case, rule, severity, who)."""
    with LISTED.open(newline="") as file:
        rows = csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t")
        return {tuple(row[name] for name in COLUMNS): row["why"] for row in rows}


@pytest.mark.parametrize("case", one_by_one())
def test_small_evidence_is_read_whole(case):
    paths = broker_folders(case)
    assert in_two_passes(paths) == whole(paths)


@pytest.mark.parametrize("case", one_by_one())
def test_what_is_left_unread_makes_no_other_claim_and_what_is_missed_is_listed(case):
    paths = broker_folders(case)
    thorough, quick = whole(paths), in_two_passes(paths, small=0)
    for finding in quick["findings"]:
        alike = [other for other in thorough["findings"] if is_about_the_same(finding, other)]
        assert any(rank(finding) <= rank(other) for other in alike), finding["summary"]
    missed = {
        (case.name, finding["rule"], finding["severity"], str(finding["who"]))
        for finding in thorough["findings"]
        if not any(is_about_the_same(other, finding) for other in quick["findings"])
    }
    assert missed == {key for key in listed() if key[0] == case.name}


@pytest.mark.parametrize("case", one_by_one())
def test_what_is_left_unread_is_said(case):
    paths = broker_folders(case)
    quick = in_two_passes(paths, small=0)
    unread = [entry for entry in quick["coverage"] if (entry["note"] or "").startswith("not read: nothing in")]
    assert quick["answer"]["examined"]["unread_segments"] == len(unread)
    assert {entry["path"] for entry in quick["coverage"]} == {entry["path"] for entry in whole(paths)["coverage"]}
    if unread:
        assert {"hanging_transaction", "sequence_gap"} <= {
            entry["rule"] for entry in quick["not_checkable"] if "--thorough" in entry["missing"]
        }
        assert quick["answer"]["state"] == "findings" or "not read" in quick["answer"]["headline"]


def is_about_the_same(finding: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two findings tell the same of the same id or producer; places may be known to one of them alone."""
    names = ("capture", "rule", "severity", "transactional_id", "producer_id")
    return all(finding[name] == other[name] for name in names)


def rank(finding: dict[str, Any]) -> int:
    return VERDICTS.index(finding["verdict"])
