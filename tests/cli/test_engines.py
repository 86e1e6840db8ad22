"""`--engine spark` on the command line: what it hands on and refuses, and that a failed engine leaves a document."""

import json
from contextlib import nullcontext
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import kafkatx.spark
from kafkatx.spark.exporting import ExportedBySpark
from kafkatx.spark.failures import SparkFailedError, WorkerLacksFileError
from kafkatx.stages.export_manifest import Manifest, Recipe, Run, TableFile
from tests.cases.commands import run
from tests.evidence import fixtures
from tests.schemas.documents import DOCUMENTS

CASE = str(fixtures() / "k39-fenced/broker-1")
FAILED = SparkFailedError("Spark failed: x", stage="reading files", file="/a/0.log", worker="w", memory_bytes=9)


@pytest.fixture
def without_spark(monkeypatch):
    monkeypatch.setattr("kafkatx.spark.session.session", lambda master: nullcontext(master))


def failing(*given: Any, **options: Any) -> Any:
    raise FAILED


@pytest.mark.parametrize("command", ["diagnose", "export"])
def test_an_engine_that_fails_ends_with_5_one_line_and_a_whole_document(without_spark, monkeypatch, tmp_path, command):
    monkeypatch.setitem(vars(kafkatx.spark), command, failing)
    words = ["--out", str(tmp_path / "out")] if command == "export" else []
    ended = run(command, CASE, "--engine", "spark", "--json", *words)
    assert (ended.code, ended.err) == (5, "kafkatx: Spark failed: x\n")
    found = json.loads(ended.raw)
    assert not [*Draft202012Validator(DOCUMENTS[command]()).iter_errors(found)]
    where = {"stage": "reading files", "file": "/a/0.log", "worker": "w", "memory_bytes": 9}
    assert found["error"] == {"kind": "SparkFailedError", "text": "Spark failed: x", **where}
    if command == "diagnose":
        assert (found["answer"]["state"], found["answer"]["headline"]) == ("failed", "Spark failed: x")


def test_advice_is_a_line_of_its_own(without_spark, monkeypatch):
    def lacking(*given: Any, **options: Any) -> Any:
        raise WorkerLacksFileError("worker w can't open /a: gone", ["Mount it."])

    monkeypatch.setitem(vars(kafkatx.spark), "diagnose", lacking)
    ended = run("diagnose", CASE, "--engine", "spark")
    assert (ended.code, ended.raw, ended.err) == (5, b"", "kafkatx: worker w can't open /a: gone\n  Mount it.\n")


def test_what_is_said_of_an_export_is_said_of_one_by_spark(without_spark, monkeypatch, tmp_path):
    handed: dict[str, Any] = {}

    def exporting(spark: Any, paths: list[str], url: str, **options: Any) -> ExportedBySpark:
        handed.update(options, spark=spark, paths=paths, url=url)
        made = Run.begun(Recipe("1", "2", ("markers",), {}, []))
        made.tables["markers"] = [TableFile("cluster=c/day=d/part-1.parquet", 3, 1000, "")]
        return ExportedBySpark(url, Manifest([made]), made)

    monkeypatch.setitem(vars(kafkatx.spark), "export", exporting)
    out = str(tmp_path / "out")
    ended = run("export", CASE, "--out", out, "--engine", "spark", "--master", "local[3]", "--table", "markers")
    assert ended.code == 0, ended.err
    assert (handed["spark"], handed["paths"], handed["url"]) == ("local[3]", [CASE], out)
    assert (handed["tables"], handed["format"], handed["verify_all"]) == (("markers",), "parquet", False)
    assert f"Wrote 1 table to {out}: 3 rows" in " ".join(ended.out.split())
    assert "/markers/**/*.parquet" in ended.out


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--table-format", "delta"], "--table-format delta goes with --engine spark"),
        (["--master", "local[2]"], "--master local[2] goes with --engine spark"),
        (["--engine", "spark", "--overwrite"], "--overwrite is not for --engine spark"),
    ],
)
def test_what_does_not_go_together_is_refused(words, text, tmp_path):
    ended = run("export", CASE, "--out", str(tmp_path / "out"), *words)
    assert ended.code == 2
    assert text in ended.err
