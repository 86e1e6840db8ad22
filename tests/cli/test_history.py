"""`kafkatx history`: the timelines as they print, limits, ids that do not occur, names that would act on a terminal."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kafkatx.cli.app import app
from tests.evidence import ROOT, fixtures
from tests.rules.cluster import Cluster

CASES = ["k39-fenced", "k39-timeout", "k4-tv2-fenced", "k39-open", "k4-overflow"]
WITH_LOGS = ["k39-timeout", "k4-tv2-fenced", "k39-unresolved", "k4-librdkafka"]
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
    done = run(f"fixtures/{case}/broker-1")
    assert done.exit_code == 0, done.output
    golden(f"history-{case}.txt", told(done.stdout))
    assert not [line for line in done.stdout.splitlines() if len(line) > 80 or line.endswith(" ")]


@pytest.mark.parametrize("case", CASES)
def test_the_document_of_a_case_holds_everything(run, golden, case):
    found = json.loads(run(f"fixtures/{case}/broker-1", "--json").stdout)
    assert list(found) == ["kafkatx", "schema", "histories", "coverage", "damage"]
    golden(f"history-{case}.json", json.dumps(found["histories"], indent=1) + "\n")


@pytest.mark.parametrize("case", WITH_LOGS)
def test_the_timelines_with_logs_read_like_this(run, golden, case):
    done = run(f"fixtures/{case}")
    assert done.exit_code == 0, done.output
    golden(f"history-{case}-logs.txt", told(done.stdout))
    assert not [line for line in done.stdout.splitlines() if len(line) > 80 or line.endswith(" ")]


def test_lines_of_logs_stand_in_the_document_with_place_and_clock(run):
    document = json.loads(run("fixtures/k39-timeout", "--id", "payments-eu-1", "--json").stdout)
    (found,) = document["histories"]
    lines = [event for event in found["events"] if event["event"] == "log_line"]
    rollback = next(event for event in lines if event["kind"] == "timeout_rollback")
    assert rollback["source"].endswith("broker-1/server.log")
    with Path(rollback["source"]).open() as file:
        quoted = file.read().splitlines()[rollback["line"] - 1]
    assert "Completed rollback of ongoing transaction for transactionalId payments-eu-1" in quoted
    assert rollback["at"] == "2026-11-21T" + quoted[12:24].replace(",", ".") + "Z"
    assert [event["call"] for event in lines if event["exception"]][:2] == ["commitTransaction", "abortTransaction"]
    assert {clock["zone_ms"] for clock in found["clocks"]} == {0}
    assert all(abs(clock["skew_ms"]) < 100 for clock in found["clocks"])


def test_logs_alone_make_timelines_of_the_ids_they_name(run):
    out = run("fixtures/k39-timeout/logs", "--id", "payments-eu-1").stdout
    text = " ".join(out.split())
    assert text.startswith("payments-eu-1: beginTransaction threw ProducerFencedException ")
    assert "known from logs only: neither its records of __transaction_state nor its data were read" in text
    assert "server.log:529: the coordinator aborted a transaction that passed its timeout: payments-eu-1" in text
    unknown = run("fixtures/k39-timeout/logs", "--id", "payments-eu-2")
    assert "near to it: payments-eu-1" in str(unknown.exception)


def test_a_zone_that_logs_are_in_is_told_with_the_timeline(run, tmp_path):
    """The client's log prints +08:00; the time in UTC that it shows at its start tells it."""
    case = ROOT / "fixtures" / "k39-timeout"
    moved = tmp_path / "client-payments-a.log"
    text = (case / "logs" / moved.name).read_text()
    moved.write_text(re.sub(r"(?m)^(2026-11-21) 10:", r"\1 18:", text))
    out = run(case / "broker-1", moved, "--id", "payments-eu-1").stdout
    assert "client-payments-a.log: times of zone +08:00 (evidence: its own lines), clock 1 ms ahead" in " ".join(
        out.split()
    )
    assert "10:29:55.071  client-payments-a.log:110: abortTransaction was called" in out


def test_one_id_is_told_without_the_table(run):
    text = run("fixtures/k39-fenced", "--id", "payments-eu-1").stdout
    assert text.startswith("payments-eu-1: 2 transactions committed, 1 aborted by the start of a new\ninstance\n")
    assert "orders-sink-0" not in text


def test_all_folds_nothing(run):
    short, long = (run("fixtures/k4-overflow", "--id", "metering-1", *more).stdout for more in ((), ("--all",)))
    assert "4 committed transactions" in short
    assert "committed transactions" not in long
    assert long.count("Committed after") == 11


def test_time_and_partition_limit_what_is_told(run):
    text = run(
        "fixtures/k39-fenced", "--since", "2026-11-21T10:29:01.300Z", "--topic", "payments", "--partition", "1"
    ).stdout
    assert "Instance 2 started" in text
    assert "Instance 1 started" not in text
    assert "orders-sink-0" not in text


PAGES = ["rebalanced_group", "expired_id", "takeover_in_a_table", "four_incidents", "aborted_after_idle"]


@pytest.mark.parametrize("page", PAGES)
def test_the_timelines_of_a_pasted_text_read_like_this(run, golden, page):
    text = told(run(f"fixtures/pages/{page}.md").stdout)
    golden(f"history-page-{page}.txt", text)
    assert not re.search(r"topic not named|unknown|at hand|\b0 records", text)


def test_times_of_an_assumed_zone_are_not_called_utc(run):
    assert "\n   2024-05-07\n" in run("fixtures/pages/rebalanced_group.md").stdout
    assert "\n   2026-11-21 UTC\n" in run("fixtures/k39-fenced", "--id", "payments-eu-1").stdout


def test_as_of_is_now_for_ages(run):
    text = run("fixtures/k39-open", "--id", "batch-loader-7", "--as-of", "2026-11-21T11:28:41.543Z").stdout
    assert "1 transaction open since 10:28:41.543 (60 min)" in text


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
