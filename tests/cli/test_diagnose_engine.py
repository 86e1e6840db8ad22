"""`diagnose --engine`: who is called with what, and what is said where that can't be. Spark is a stand-in here."""

import json
import subprocess
import sys
from contextlib import contextmanager

import pytest
import typer
from typer.testing import CliRunner

import kafkatx
import kafkatx.spark.session
from kafkatx.cli.diagnose import diagnose
from kafkatx.findings.diagnosis import Selection
from kafkatx.terms.errors import UsageError
from tests.evidence import ROOT, fixtures

CASE = str(fixtures() / "k39-fenced")


def run(*arguments):
    app = typer.Typer()
    app.command()(diagnose)
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture
def calls(monkeypatch):
    """Let Spark be a word and its diagnosis the local one; return what either is called with."""
    seen = []

    @contextmanager
    def session(master):
        seen.append(master)
        yield "spark"

    def on_spark(spark, paths, **options):
        seen.append((spark, paths, options))
        return kafkatx.diagnose(paths, selection=options["selection"])

    monkeypatch.setattr(kafkatx.spark.session, "session", session)
    monkeypatch.setitem(vars(kafkatx.spark), "diagnose", on_spark)
    return seen


def test_without_a_word_the_work_is_done_here(calls):
    assert run(CASE).exit_code == 0
    assert not calls


def test_spark_is_given_what_the_user_gave(calls):
    options = "--as-of 2026-11-21T10:29:00Z --capture a=b --kafka-version 3.9 --log-zone +01:00 --id x --thorough"
    options += " --stretch-bytes 1048576"
    result = run(CASE, "--engine", "spark", "--master", "local[2]", "--verify", *options.split())
    assert result.exit_code == 0
    master, (spark, paths, given) = calls
    assert (master, spark, paths) == ("local[2]", "spark", [CASE])
    assert given == {
        "selection": Selection(transactional_id="x"),
        "as_of": 1795256940000,
        "verify_all": True,
        "captures": {"b": "a"},
        "release": (3, 9),
        "log_zone_ms": 3_600_000,
        "stretch_bytes": 1 << 20,
        "thorough": True,
    }


def test_without_a_master_spark_is_asked_for_its_own(calls):
    assert run(CASE, "--engine", "spark").exit_code == 0
    assert calls[0] is None


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["text", "json"])
def test_either_engine_is_shown_the_same_way(calls, options):
    assert run(CASE, "--engine", "spark", *options).stdout == run(CASE, *options).stdout


def test_a_finding_ends_either_engine_with_1(calls):
    assert run(CASE, "--engine", "spark", "--fail-on", "error").exit_code == 1


def test_nothing_readable_is_a_whole_document_from_spark_too(calls, tmp_path):
    result = run(str(tmp_path), "--engine", "spark", "--json")
    assert json.loads(result.stdout)["findings"] == []
    assert result.exception.exit_code == 3


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ((CASE, "--master", "local[2]"), "--master local[2] goes with --engine spark"),
        ((CASE, "--stretch-bytes", "5"), "--stretch-bytes 5 goes with --engine spark"),
        (
            (CASE, "-", "--engine", "spark"),
            "--engine spark can't read standard input: save it to a file and give its path",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(calls, arguments, line):
    error = run(*arguments).exception
    assert isinstance(error, UsageError)
    assert str(error) == line
    assert not calls


def test_a_missing_extra_is_one_line_that_names_the_cure():
    code = "import sys; sys.modules['pyspark'] = None; from kafkatx.cli.app import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "diagnose", CASE, "--engine", "spark"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "kafkatx: Spark needs pyspark: pip install 'kafkatx[spark]'\n"


def test_the_command_line_alone_loads_no_spark():
    code = "import sys, kafkatx.cli.app, kafkatx.spark; sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
