"""Spark says what this machine says, field by field: whole cases, cut into stretches, damaged, and after a kill."""

import random
import shutil
import threading
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kafkatx.findings.diagnosis import Diagnosis, Selection
from kafkatx.local.diagnosis import diagnose as diagnose_here
from kafkatx.outputs.diagnosis_json import document
from kafkatx.segments import batches as walks
from kafkatx.spark.diagnosis import diagnose as diagnose_on
from kafkatx.stages.judging import NothingToDiagnoseError
from kafkatx.terms.errors import UsageError
from tests.evidence import broker_folders, fixture_cases
from tests.repeats import one_by_one, together

TINY = 400


def said(run: Any, *arguments: Any, **options: Any) -> dict[str, Any]:
    """The document, also where nothing was evidence."""
    try:
        found: Diagnosis = run(*arguments, **options)
    except NothingToDiagnoseError as error:
        found = error.diagnosis
    return document(found, "")


@cache
def here(case: Path) -> dict[str, Any]:
    return said(diagnose_here, [case])


@pytest.mark.parametrize("case", one_by_one(8))
def test_every_case(spark, case):
    assert said(diagnose_on, spark, case) == here(case)


@pytest.mark.parametrize("cases", together())
def test_cases_in_one_call(spark, cases):
    assert said(diagnose_on, spark, cases) == said(diagnose_here, cases)


@pytest.mark.parametrize("cases", together())
def test_recorded_directories_in_tiny_stretches(spark, cases, monkeypatch):
    paths = [folder for case in cases for folder in broker_folders(case)]
    monkeypatch.setattr(walks, "STRETCH_BYTES", TINY)
    assert said(diagnose_on, spark, paths, stretch_bytes=TINY) == said(diagnose_here, paths)


def test_a_corrupt_file_in_a_fleet_is_damage_and_no_failure(spark, monkeypatch, tmp_path):
    chance = random.Random(11)
    for case in fixture_cases()[:3]:
        shutil.copytree(case, tmp_path / case.name)
    logs = [path for path in sorted(tmp_path.rglob("broker-*/*/*.log")) if path.stat().st_size > 1000]
    for path in chance.sample(logs, 6):
        data = bytearray(path.read_bytes())
        first = chance.choice([0, chance.randrange(len(data) - 500)])
        data[first : first + 500] = chance.randbytes(500)
        path.write_bytes(data)
    monkeypatch.setattr(walks, "STRETCH_BYTES", TINY)
    found = said(diagnose_on, spark, [tmp_path], stretch_bytes=TINY)
    assert found == said(diagnose_here, [tmp_path])
    assert len({entry["path"] for entry in found["damage"]}) >= 4


def test_files_that_go_while_the_job_runs_are_unreadable_and_no_failure(spark, tmp_path, monkeypatch):
    case = shutil.copytree(fixture_cases()[0], tmp_path / "case")
    from kafkatx.spark import pipeline

    cut = pipeline.tasks

    def cut_and_remove(*arguments: Any) -> list[Any]:
        found = [*cut(*arguments)]
        next(path for path in sorted(case.rglob("*.log")) if path.stat().st_size > 300).unlink()
        return found

    monkeypatch.setattr(pipeline, "tasks", cut_and_remove)
    found = said(diagnose_on, spark, [case])
    assert "unreadable" in {entry["status"] for entry in found["coverage"]}


def test_a_job_that_is_killed_in_the_middle_and_run_again(spark):
    case = next(case for case in fixture_cases() if case.name == "c3-storm")
    before = sorted(case.rglob("*"))
    running = threading.Event()

    def kill() -> None:
        while not running.is_set():
            if spark.sparkContext.statusTracker().getActiveJobsIds():
                spark.sparkContext.cancelAllJobs()

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        with pytest.raises(Exception, match="cancel"):
            diagnose_on(spark, case)
    finally:
        running.set()
        killer.join()
    assert said(diagnose_on, spark, case) == here(case)
    assert sorted(case.rglob("*")) == before


def test_what_is_asked_for_reaches_the_executors(spark):
    case = next(case for case in fixture_cases() if case.name == "k39-fenced")
    chosen = Selection(rules=frozenset({"fenced_by_new_instance"}), transactional_id="payments-eu-1")
    as_of = 1_900_000_000_000
    options: dict[str, Any] = {"selection": chosen, "as_of": as_of, "verify_all": True, "release": (3, 9, 1)}
    found = said(diagnose_on, spark, case, **options)
    assert found == said(diagnose_here, [case], **options)
    assert [finding["rule"] for finding in found["findings"]] == ["fenced_by_new_instance"]


def test_captures_can_be_forced(spark):
    case = next(case for case in fixture_cases() if case.name == "k39-fenced")
    forced = {str(case): "eu"}
    found = said(diagnose_on, spark, case, captures=forced)
    assert found == said(diagnose_here, [case], captures=forced)
    assert {finding["capture"] for finding in found["findings"]} == {"eu"}


def test_nothing_that_is_evidence(spark, tmp_path):
    (tmp_path / "notes.txt").write_text("nothing of Kafka")
    assert said(diagnose_on, spark, tmp_path) == said(diagnose_here, [tmp_path])


def test_a_path_that_does_not_exist(spark, tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        diagnose_on(spark, tmp_path / "missing")
