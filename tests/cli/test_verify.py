import json
import os
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from kafkatx.cli.verify import verify
from kafkatx.terms.errors import NothingReadableError, UsageError
from tests.building import batch, message, segment
from tests.evidence import ROOT, fixtures

COVERAGE = {
    "capture", "path", "kind", "cluster_id", "broker_id", "topic", "partition", "first_offset", "last_offset",
    "from", "to", "bytes", "verified", "status", "note", "batches", "records", "preallocated_bytes",
}  # fmt: skip
DAMAGE = {"kind", "path", "position", "bytes", "expected", "found"}


def run(*arguments, **options):
    app = typer.Typer()
    app.command()(verify)
    return CliRunner().invoke(app, [str(argument) for argument in arguments], **options)


def damaged(folder):
    first, second = batch(0, b"a" * 30), batch(1, b"b" * 30)
    return segment(folder / "orders-0", first + second[:-1] + b"?" + batch(2, b"c"))


def test_a_whole_case_is_told_in_a_golden_text(golden, monkeypatch):
    monkeypatch.chdir(fixtures())
    result = run("k39-client-aborts/broker-1", "--records")
    assert result.exit_code == 0
    golden("verify-k39-client-aborts.txt", result.stdout)


def test_damage_is_told_first_with_file_and_position(golden, tmp_path, monkeypatch):
    damaged(tmp_path)
    segment(tmp_path / "orders-1", batch(0, b"a") + batch(1, b"b")[:50] + bytes(3))
    segment(tmp_path / "orders-1", b"text", "notes")
    segment(tmp_path / "old-0", message(0, 0))
    monkeypatch.chdir(tmp_path)
    result = run(".")
    assert result.exit_code == 1
    golden("verify-damaged.txt", result.stdout)
    assert all(len(line) <= 80 and line == line.rstrip() for line in result.stdout.splitlines())


def test_json_is_one_document_of_the_contract(tmp_path):
    path = damaged(tmp_path)
    result = run(tmp_path, "--format", "json")
    document = json.loads(result.stdout)
    assert result.exit_code == 1
    assert set(document) == {"kafkatx", "schema", "coverage", "damage", "ordinary"}
    (row,) = document["coverage"]
    assert set(row) == COVERAGE
    assert (row["status"], row["batches"], row["records"], row["cluster_id"]) == ("damaged", 2, None, None)
    assert document["damage"] == [
        {
            "kind": "crc",
            "path": str(path),
            "position": len(batch(0, b"a" * 30)),
            "bytes": len(batch(1, b"b" * 30)),
            "expected": "a batch with the CRC its header states",
            "found": "another CRC",
        }
    ]
    assert run(tmp_path, "--json").stdout == result.stdout


def test_a_torn_end_is_told_apart_and_changes_no_exit_code(tmp_path):
    segment(tmp_path / "orders-0", batch(0, b"a") + batch(1, b"b")[:-2])
    result = run(tmp_path, "--json")
    document = json.loads(result.stdout)
    assert (result.exit_code, document["damage"]) == (0, [])
    assert [set(row) for row in document["ordinary"]] == [DAMAGE]
    assert document["ordinary"][0]["kind"] == "torn"
    said = run(tmp_path).stdout
    assert "no damage, 1 file with an open end." in said.splitlines()[0]
    assert "whole." not in said.splitlines()[0]


def test_records_are_counted_with_records(tmp_path):
    segment(tmp_path / "orders-0", batch(0, b"a", b"b"))
    assert "2 records" in run(tmp_path, "--records").stdout
    assert json.loads(run(tmp_path, "--records", "--json").stdout)["coverage"][0]["records"] == 2
    assert " records" not in run(tmp_path).stdout


@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_nothing_readable_is_a_whole_document_too(tmp_path, arguments):
    (tmp_path / "notes.txt").write_text("text")
    result = run(tmp_path, *arguments)
    assert isinstance(result.exception, NothingReadableError)
    assert result.exception.exit_code == 3
    if arguments:
        assert json.loads(result.stdout)["damage"] == []
    else:
        assert "nothing could be read" in result.stdout


def test_a_path_that_does_not_exist_is_wrong_usage(tmp_path):
    result = run(tmp_path / "absent")
    assert isinstance(result.exception, UsageError)
    assert result.exception.exit_code == 2
    assert run().exit_code == 2
    assert run(tmp_path, "--format", "xml").exit_code == 2


def test_names_from_the_evidence_can_not_act_on_the_terminal(tmp_path):
    segment(tmp_path, b"x" + batch(0, b"a")[:-1], "00000000000000000000.log")
    segment(tmp_path / "evil\x1b[31m\u202e", batch(0, b"a")[:-1] + b"!", "00000000000000000000.log")
    (tmp_path / "leader-epoch-checkpoint").write_text("0\n1\n\x1b[2J\x07\n")
    result = run(tmp_path, "--color", "never")
    assert result.exit_code == 1
    assert "\x1b" not in result.stdout
    assert "\u202e" not in result.stdout
    assert "\x07" not in result.stdout
    assert "\\x1b" in result.stdout


def test_colour_is_for_those_who_ask(tmp_path, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    damaged(tmp_path)
    assert "\x1b[" in run(tmp_path, "--color", "always").stdout
    assert "\x1b[" not in run(tmp_path).stdout
    assert "\x1b[" not in run(tmp_path, "--color", "never").stdout


@pytest.mark.parametrize("width", [20, 40, 200])
def test_any_width_of_the_terminal_holds_every_word(tmp_path, monkeypatch, width):
    damaged(tmp_path)
    monkeypatch.setenv("COLUMNS", str(width))
    text = run(tmp_path).stdout
    assert all(len(line) <= width for line in text.splitlines())
    assert "position" in text


def test_the_result_goes_to_a_file_but_never_into_the_evidence(tmp_path):
    evidence, out = tmp_path / "evidence", tmp_path / "result.json"
    damaged(evidence)
    result = run(evidence, "--json", "--out", out)
    assert (result.exit_code, result.stdout) == (1, "")
    assert len(json.loads(out.read_text())["damage"]) == 1
    inside = run(evidence, "--out", evidence / "result.txt")
    assert isinstance(inside.exception, UsageError)
    assert [path.name for path in evidence.iterdir()] == ["orders-0"]


def test_help_loads_no_heavy_library():
    code = (
        "import sys, kafkatx.cli.verify; print([m for m in ('numpy', 'numba', 'pyarrow', 'rich') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=os.environ, capture_output=True, text=True, check=True
    )
    assert "numpy" not in done.stdout
    assert "numba" not in done.stdout
    assert "pyarrow" not in done.stdout


def test_a_kind_is_said_of_all_files_given(tmp_path):
    path = tmp_path / "x.bin"
    path.write_bytes(b"\xff" * 200 + batch(5, b"x"))
    with pytest.raises(NothingReadableError):
        run(path, catch_exceptions=False, standalone_mode=False)
    result = run("--as", "log", path)
    assert result.exit_code == 1
    assert "x.bin" in result.stdout
    with pytest.raises(UsageError, match="--as nonsense: there is no such kind of file") as refused:
        run("--as", "nonsense", path, catch_exceptions=False, standalone_mode=False)
    assert refused.value.advice[0].startswith("the kinds are log, index")


def test_the_result_is_not_written_into_what_was_named(tmp_path):
    segment(tmp_path / "copied", batch(0, b"x"))
    with pytest.raises(UsageError, match="inside the evidence"):
        run(f"orders-0={tmp_path / 'copied'}", "--out", tmp_path / "copied" / "x.txt", catch_exceptions=False)
