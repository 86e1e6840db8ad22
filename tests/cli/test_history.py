"""`kafkatx history`: the timelines as they print, limits, ids that do not occur, names that would act on a terminal."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kafkatx.cli.app import app
from tests.evidence import ROOT, fixtures
from tests.rules.cluster import Cluster

CASES = ["k39-fenced", "k39-timeout", "k4-tv2-fenced", "k39-open", "k4-overflow"]
HOSTILE = "pay\x1b[2J\u202ements\n"


@pytest.fixture
def run(monkeypatch):
    monkeypatch.chdir(ROOT)
    return lambda *words: CliRunner().invoke(app, ["history", *map(str, words)])


def whole(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the program as a shell would."""
    command = [sys.executable, "-m", "kafkatx", "history", *map(str, words)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


def told(text: str) -> str:
    """The timelines alone: what was read is told by the last lines and tested elsewhere."""
    return text[: text.rindex("Read ")]


@pytest.mark.parametrize("case", CASES)
def test_the_timelines_of_a_case_read_like_this(run, golden, case):
    done = run(f"fixtures/{case}")
    assert done.exit_code == 0, done.output
    golden(f"history-{case}.txt", told(done.stdout))
    assert not [line for line in done.stdout.splitlines() if len(line) > 80 or line.endswith(" ")]


@pytest.mark.parametrize("case", CASES)
def test_the_document_of_a_case_holds_everything(run, golden, case):
    found = json.loads(run(f"fixtures/{case}", "--json").stdout)
    assert list(found) == ["kafkatx", "schema", "histories", "coverage", "damage"]
    golden(f"history-{case}.json", json.dumps(found["histories"], indent=1) + "\n")


def test_one_id_is_told_without_the_table(run):
    text = run("fixtures/k39-fenced", "--id", "payments-eu-1").stdout
    assert text.startswith("payments-eu-1\n")
    assert "orders-sink-0" not in text


def test_all_folds_nothing(run):
    short, long = (run("fixtures/k4-overflow", "--id", "metering-1", *more).stdout for more in ((), ("--all",)))
    assert "4 committed transactions" in short
    assert "committed transactions" not in long
    assert long.count("Committed by the client") == 11


def test_time_and_partition_limit_what_is_told(run):
    text = run(
        "fixtures/k39-fenced", "--since", "2026-11-21T10:29:01.300Z", "--topic", "payments", "--partition", "1"
    ).stdout
    assert "Instance 2 starts" in text
    assert "Instance 1 starts" not in text
    assert "orders-sink-0" not in text


def test_as_of_is_now_for_ages(run):
    text = run("fixtures/k39-open", "--id", "batch-loader-7", "--as-of", "2026-11-21T11:28:41.543Z").stdout
    assert "since 10:28:41.543, for 60 min." in text


def test_an_id_that_does_not_occur_ends_with_3_and_names_the_nearest():
    done = whole("fixtures/k39-fenced", "--id", "payment-eu-2")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        "kafkatx: there is no transactional.id payment-eu-2 in the evidence; near to it: payments-eu-1\n"
    )


def test_an_id_that_does_not_occur_is_still_one_whole_document():
    done = whole("fixtures/k39-fenced", "--id", "payment-eu-2", "--json")
    assert done.returncode == 3
    assert json.loads(done.stdout)["histories"] == []


@pytest.mark.parametrize("words", [["--producer-id", "77"], ["--id", "payments-eu-1", "--since", "2030-01-01"]])
def test_nothing_within_the_limits_ends_with_3(words):
    done = whole("fixtures/k39-fenced", *words)
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1


def test_a_path_without_evidence_ends_with_3(tmp_path):
    (tmp_path / "notes.txt").write_text("nothing here")
    assert whole(tmp_path).returncode == 3
    assert json.loads(whole(tmp_path, "--json").stdout)["histories"] == []


@pytest.mark.parametrize("words", [["--since", "yesterday"], ["no-such-folder"]])
def test_wrong_usage_ends_with_2(words):
    assert whole("fixtures/k39-fenced", *words).returncode == 2


def test_names_that_act_on_a_terminal_are_made_visible(run, tmp_path):
    cluster = Cluster(tmp_path)
    cluster.init(HOSTILE)
    cluster.begin(HOSTILE, "orders-0")
    text = run(*cluster.write(), "--color", "never").stdout
    assert "pay\\x1b[2J\\u202ements\\x0a" in text
    assert not {"\x1b", "\u202e"} & set(text)
    found = run(*cluster.write(), "--json").stdout
    assert found.isascii()
    assert json.loads(found)["histories"][0]["transactional_id"] == HOSTILE


def test_many_ids_are_a_table_and_a_way_to_one(run, tmp_path):
    cluster = Cluster(tmp_path)
    for number in range(9):
        cluster.init(f"id-{number}")
        cluster.run(f"id-{number}", "orders-0")
    text = run(*cluster.write()).stdout
    assert "9 ids; --id TXID tells one of them" in text
    assert "Committed" not in text
    assert "Committed" in run(*cluster.write(), "--all").stdout


def test_a_file_takes_the_result_and_the_evidence_never_does(run, tmp_path):
    out = tmp_path / "history.txt"
    assert run("fixtures/k39-fenced", "-o", out).stdout == ""
    assert "payments-eu-1" in out.read_text()
    inside = Path(fixtures() / "k39-fenced" / "history.txt")
    assert whole("fixtures/k39-fenced", "-o", inside).returncode == 2
    assert not inside.exists()
