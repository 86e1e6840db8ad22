"""`kafkatx locate`: what is at an offset as it prints, as a document, and what ends otherwise."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from kafkatx.cli.app import app
from tests.building import batch, record, segment
from tests.evidence import ROOT

PLACES = {
    "k39-fenced": ["payments-0:8", "payments-0:3", "payments-0:6", "__transaction_state-0:13"],
    "k39-timeout": ["payments-1:0"],
    "k4-tv2-fenced": ["ledger-0:5", "__transaction_state-0:9"],
    "k39-open": ["orders-0:7", "orders-0:4"],
    "k4-overflow": ["metering-0:14", "__transaction_state-1:65300", "orders-0:1"],
}
HOSTILE = b"\x1b]0;owned\x07\xe2\x80\xae\xff"


@pytest.fixture
def run(monkeypatch):
    monkeypatch.chdir(ROOT)
    return lambda *words: CliRunner().invoke(app, ["locate", *map(str, words)])


def whole(*words: str) -> subprocess.CompletedProcess[str]:
    """Run the program as a shell would."""
    command = [sys.executable, "-m", "kafkatx", "locate", *map(str, words)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("case", PLACES)
def test_the_offsets_of_a_case_are_told_like_this(run, golden, case):
    texts = [run(f"fixtures/{case}", place).stdout for place in PLACES[case]]
    golden(f"locate-{case}.txt", "".join(texts))
    assert not [line for text in texts for line in text.splitlines() if len(line) > 80 or line.endswith(" ")]


@pytest.mark.parametrize("case", PLACES)
def test_the_documents_of_a_case_hold_everything(run, golden, case):
    found = [json.loads(run(f"fixtures/{case}", place, "--json").stdout) for place in PLACES[case]]
    assert all(list(document)[:5] == ["kafkatx", "schema", "topic", "partition", "offset"] for document in found)
    golden(f"locate-{case}.json", json.dumps([document["locations"] for document in found], indent=1) + "\n")


def test_both_ways_to_name_an_offset_mean_the_same(run):
    colon, at = (run("fixtures/k39-fenced", f"payments-0{mark}8") for mark in ":@")
    assert colon.stdout == at.stdout != ""


def test_keys_and_values_are_shown_only_where_they_are_asked_for(run):
    assert "k-0" not in run("fixtures/k39-fenced", "payments-0:0").stdout
    assert '"k-0"' not in run("fixtures/k39-fenced", "payments-0:0", "--json").stdout
    text = run("fixtures/k39-fenced", "payments-0:0", "--show-payloads").stdout
    assert "key             k-0\n" in text
    found = json.loads(run("fixtures/k39-fenced", "payments-0:0", "--show-payloads", "--json").stdout)
    assert found["locations"][0]["record"]["key"] == {"text": "k-0", "base64": "ay0w"}


def test_payloads_that_act_on_a_terminal_are_made_visible(run, tmp_path):
    headers = ({"key": HOSTILE[:8].decode(), "value": HOSTILE},)
    segment(tmp_path / "orders-0", [batch(0, content=record(0, HOSTILE, HOSTILE, headers=headers), records_count=1)])
    text = run(tmp_path, "orders-0:0", "--show-payloads", "--color", "never").stdout
    assert text.count("\\x1b]0;owned\\x07\\u202e\\xff") == 3
    assert not {"\x1b", "\x07", "\u202e"} & set(text)
    assert run(tmp_path, "orders-0:0", "--show-payloads", "--json").stdout.isascii()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["fixtures/k39-fenced", "payments-0"], 2),
        (["fixtures/k39-fenced"], 2),
        (["payments-0:1"], 2),
        (["no-such-folder", "payments-0:1"], 2),
        (["fixtures/k39-fenced", "payments-9:1"], 3),
    ],
)
def test_what_can_not_be_answered_ends_with_its_code_and_one_line(words, code):
    done = whole(*words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1)


def test_a_partition_that_is_not_there_is_still_one_whole_document():
    done = whole("fixtures/k39-fenced", "payments-9:1", "--json")
    assert done.returncode == 3
    assert json.loads(done.stdout)["locations"] == []


def test_an_answer_may_be_that_nothing_is_there(run):
    done = run("fixtures/k39-fenced", "payments-0:99")
    assert done.exit_code == 0
    assert "payments-0:99 is not in the log that was read: it ends at 10." in done.stdout


def test_a_batch_that_only_a_tool_printed_is_told_with_its_line(run):
    text = run("fixtures/k39-fenced/kafka-dump-log", "payments-0:3").stdout
    assert "payments-0:3 is hidden from read_committed: its transaction was aborted" in text
    assert "line 8 (printed by a tool)" in text
    assert "does not list this abort" not in text


def test_a_printed_batch_without_its_magic_is_found(run):
    text = " ".join(run("fixtures/pages/fenced_by_second_instance.md", "Payments-Test-0:0").stdout.split())
    assert text.startswith(
        "Payments-Test-0:0 is hidden from read_committed: its transaction was aborted (evidence: ABORT"
    )
    assert "codec" not in text
    assert "none" not in text


def test_states_printed_without_offsets_are_at_none(run):
    text = run("fixtures/pages/takeover_in_a_table.md", "__transaction_state-21:3").stdout
    assert text.startswith("__transaction_state-21:3 is not known: the text prints states without their")
    assert "visible" not in text


def test_a_log_without_a_topic_is_not_named(run):
    done = run("fixtures/pages/markers_only.md", "x-0:1")
    assert "it holds a log, but nothing names its topic" in str(done.exception)
