"""What a worker lacks, or dies of, is told with its name, on the Spark that all tests share; clusters: -m cluster."""

import os
import shutil
from functools import partial
from pathlib import Path

import pytest

import kafkatx.spark
from kafkatx.spark import trail
from kafkatx.spark.failures import SparkBugError, SparkFailedError, WorkerLacksFileError, failures_told
from kafkatx.spark.missing import MissingFile, apart, as_facts, look_for, raised, told_beside
from kafkatx.spark.spreading import collected, spread
from kafkatx.stages.fact_batches import record_batches
from kafkatx.stages.facts import CaptureFact, FactKind
from kafkatx.stages.judging import NothingToDiagnoseError
from tests.evidence import fixtures

CASE = fixtures() / "k39-fenced/broker-1"
needs_proc = pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="needs /proc")


def dying(path, batches):
    from kafkatx.sources.files import OpenFile

    with OpenFile(path):
        os._exit(9)
    yield from batches


def failing(error, path, batches):
    from kafkatx.sources.files import OpenFile

    with OpenFile(path):
        raise error
    yield from batches


@needs_proc
def test_a_path_that_workers_lack_fails_with_it_and_their_name(spark, tmp_path, monkeypatch):
    shutil.copytree(CASE, tmp_path / "broker-1")
    monkeypatch.chdir(tmp_path)  # the workers' folder is that in which the JVM was started
    with pytest.raises(
        WorkerLacksFileError, match=r"worker \S+ can't open /proc/self/cwd/broker-1\b.*: [Nn]o such"
    ) as found:
        kafkatx.spark.diagnose(spark, "/proc/self/cwd/broker-1")
    assert found.value.exit_code == 5
    assert found.value.worker == trail.worker_name()


def test_a_relative_path_is_made_absolute(spark, tmp_path, monkeypatch):
    shutil.copytree(CASE, tmp_path / "broker-1")
    monkeypatch.chdir(tmp_path)
    found = kafkatx.spark.diagnose(spark, "broker-1")
    assert {Path(entry.path).is_relative_to(tmp_path) for entry in found.coverage} == {True}
    assert [one.finding.rule for one in found.findings]


def test_what_is_gone_for_the_driver_too_is_as_on_one_machine(spark, tmp_path, monkeypatch):
    whole = tmp_path / "broker-1"
    shutil.copytree(CASE, whole)
    joined = kafkatx.spark.diagnosis.joined_evidence

    def and_then_gone(*given):
        found = joined(*given)
        shutil.rmtree(whole)
        return found

    monkeypatch.setattr("kafkatx.spark.diagnosis.joined_evidence", and_then_gone)
    with pytest.raises(NothingToDiagnoseError) as found:
        kafkatx.spark.diagnose(spark, whole)
    told = {entry.status for entry in found.value.diagnosis.coverage}
    assert "unreadable" in told
    assert "read" not in told


def test_of_a_worker_that_ends_stage_file_and_memory_are_named(spark, tmp_path):
    path = tmp_path / "0.log"
    path.touch()
    with pytest.raises(SparkFailedError, match="Python worker exited unexpectedly") as found, failures_told(spark):
        collected(spread(spark, [1]), partial(dying, str(path)), "dying")
    error = found.value
    assert (error.exit_code, error.stage, error.file, error.worker) == (5, "dying", str(path), trail.worker_name())
    assert error.memory_bytes > 10_000_000
    assert not trail.folder_of(trail.JOB).exists()


@pytest.mark.parametrize(
    ("raised", "kind", "code"),
    [
        (MemoryError("x"), SparkFailedError, 5),
        (OSError(28, "No space left on device"), SparkFailedError, 5),
        (ValueError("x"), SparkBugError, 70),
    ],
)
def test_an_exception_in_a_task_is_told_with_its_file_and_a_bug_stays_a_bug(spark, tmp_path, raised, kind, code):
    path = tmp_path / "0.log"
    path.touch()
    with pytest.raises(kind, match=type(raised).__name__) as found, failures_told(spark):
        collected(spread(spark, [1]), partial(failing, raised, str(path)), "failing")
    assert f"while failing; file {path}" in str(found.value)
    assert found.value.exit_code == code


def test_what_is_missing_travels_beside_the_facts_of_captures():
    fact = CaptureFact(0, 0, FactKind.LOG, b"log")
    missing = [MissingFile(f"/{n}", "w", "No such file", has_folder=True) for n in range(3)]
    batches = [*as_facts(missing), *record_batches([fact])]
    of_captures, beside = apart(batches)
    assert sum(batch.num_rows for batch in of_captures) == 1
    assert sorted(told_beside(beside), key=lambda one: one.path) == missing


def test_only_what_this_machine_can_open_is_laid_at_the_door_of_a_worker(tmp_path):
    here = tmp_path / "here"
    here.touch()
    look_for([MissingFile(str(tmp_path / "gone"), "w", "No such file", has_folder=True)])
    with pytest.raises(WorkerLacksFileError, match=f"worker w can't open {here}: Permission denied"):
        look_for([MissingFile(str(here), "w", "Permission denied", has_folder=True)])


def test_rows_that_nobody_looks_at_first_fail_where_the_folder_is_missing():
    assert [*raised([MissingFile("/a/b", "w", "gone", has_folder=True)])] == []
    with pytest.raises(WorkerLacksFileError):
        raised([MissingFile("/a/b", "w", "gone", has_folder=False)])
