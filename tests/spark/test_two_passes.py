"""Two passes on Spark say what they say on this machine, and all of it with `thorough`."""

import pytest

from kafkatx.outputs.diagnosis_json import document
from kafkatx.spark import diagnosis, pipeline
from kafkatx.spark.diagnosis import diagnose
from tests.evidence import broker_folders, fixture_cases
from tests.two_passes import in_two_passes, whole

NAMES = ("k39-codecs", "k39-fenced", "k39-hanging", "k4-tv2-fenced")
PATHS = [folder for case in fixture_cases() if case.name in NAMES for folder in broker_folders(case)]


@pytest.fixture(autouse=True)
def nothing_is_small(monkeypatch):
    monkeypatch.setattr(diagnosis, "SMALL", 0)


def test_two_passes_say_what_they_say_here(spark):
    assert document(diagnose(spark, PATHS), "") == in_two_passes(PATHS, small=0)


def test_checkpoints_change_nothing(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(pipeline, "checkpoint_folder", lambda session: str(tmp_path))
    spark.sparkContext.setCheckpointDir(str(tmp_path))
    assert document(diagnose(spark, PATHS[:1]), "") == in_two_passes(PATHS[:1], small=0)
    assert [*tmp_path.rglob("part-*")]


def test_thorough_says_what_one_pass_says(spark):
    assert document(diagnose(spark, PATHS, thorough=True), "") == whole(PATHS)
