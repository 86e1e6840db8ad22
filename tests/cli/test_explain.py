import json
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

import kafkatx.rules
from kafkatx.rules.docstring import rule_texts
from kafkatx.terms.catalogue.entries import simple_name
from kafkatx.terms.catalogue.loading import client_exceptions, configs, error_codes, event_templates, states
from kafkatx.terms.catalogue.lookup import by_name
from kafkatx.terms.catalogue.templates import match_line
from tests.cases import commands

RULE = '''"""A transaction stayed open in one partition after its coordinator had ended it.

Mechanism    A late write.
Evidence     An open span that no row lists.
Against      A row in Prepare*.
Look-alikes  open_transaction
Remedy       Abort it, once \x5b guards hold.
Source       KIP-890
"""
'''


@pytest.fixture
def run():
    def explained(*words):
        done = commands.run("explain", *words)
        return SimpleNamespace(exit_code=done.code, stdout=done.out, stderr=done.err, output=done.out + done.err)

    return explained


@pytest.fixture
def rules(tmp_path, monkeypatch):
    (tmp_path / "partition_left_open.py").write_text(RULE)
    monkeypatch.setattr(kafkatx.rules, "__path__", [str(tmp_path)])


def test_an_error_code_is_explained_whole(run, golden):
    golden("explain-47.txt", run("47").stdout)


def test_a_pasted_broker_line_is_explained_whole(run, golden):
    line = (
        "[2026-11-21 10:23:51,003] INFO [TransactionCoordinator id=1] Completed rollback of ongoing transaction for "
        "transactionalId orders-1 due to timeout (kafka.coordinator.transaction.TransactionCoordinator)"
    )
    golden("explain-rollback-line.txt", run(line).stdout)


@pytest.mark.parametrize(
    "words", [("INVALID_TXN_STATE",), ("fenced",), ("transaction.timeout.ms",), ("-1",), ("PrepareAbort",)]
)
def test_text_fits_80_columns_and_has_no_blanks_at_line_ends(run, words):
    lines = run(*words).stdout.splitlines()
    assert lines
    assert all(len(line) <= 80 and line == line.rstrip() for line in lines)


@pytest.mark.parametrize(
    "word",
    [str(e.code) for e in error_codes()]
    + [e.name for e in error_codes()]
    + [s.state for s in states()]
    + [c.name for c in configs()],
)
def test_every_name_of_the_catalogue_is_explained(run, word):
    result = run(word)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert word.lower() in result.stdout.lower()


@pytest.mark.parametrize("release", [None, "2.8"])
def test_every_rule_is_explained(run, release):
    options = ["--kafka-version", release] if release else []
    for rule in (found.rule_id for found in rule_texts()):
        result = run(rule, *options)
        assert result.exit_code == 0
        assert result.stdout.splitlines()[0] == rule


def test_every_exception_is_explained_by_its_names():
    names = {name for entry in client_exceptions() for full in entry.exceptions for name in (full, simple_name(full))}
    for name in names:
        assert by_name(name), name


def test_every_line_that_readers_of_logs_know_is_explained():
    """Held against the texts alone: a thousand calls of the command take minutes."""
    unknown = []
    for template in event_templates():
        text = re.sub(r"<[\w.]+>", "7", template.template)
        if match_line(f"[2026-11-21 10:23:51,003] INFO {text}") is None:
            unknown.append(text)
    assert not unknown


def test_a_line_of_an_election_is_told_with_its_values(run):
    known = [t for t in event_templates() if t.kind.name == "leader_changed"]
    text = re.sub(r"<[\w.]+>", "7", known[0].template)
    found = json.loads(run("--json", f"[2026-11-21 10:23:51,003] INFO [Broker id=1] {text}").stdout)["explanations"]
    assert [one["kind"] for one in found] == ["broker log message"]
    assert found[0]["summary"]
    assert any(item.endswith(" = 7") for item in found[0]["sections"][0]["items"])


def test_several_words_are_one_phrase(run):
    found = json.loads(
        run("--json", "Invoking", "InitProducerId", "for the first time", "in order to acquire a producer ID").stdout
    )
    assert found["word"] == "Invoking InitProducerId for the first time in order to acquire a producer ID"
    assert [e["kind"] for e in found["explanations"]] == ["client log message"]


@pytest.mark.parametrize("word", ["proved", "Likely", "possible", "error", "warning", "info"])
def test_a_verdict_and_a_severity_are_explained_with_their_scale(run, word):
    lines = run(word).stdout.splitlines()
    assert lines[0] == word.lower()
    assert sum(line.startswith("  - ") for line in lines) == 3


def test_a_default_in_milliseconds_is_said_in_other_units_too(run):
    assert "0.11+: 60000 (60 s)" in run("transaction.timeout.ms").stdout
    assert "(" not in run("linger.ms", "--kafka-version", "4.0").stdout.partition("4.0+: 5")[2].splitlines()[0]


def test_a_stack_trace_is_explained_by_its_message(run):
    trace = (
        "org.apache.kafka.common.errors.ProducerFencedException: There is a newer producer with the same "
        "transactionalId which fences the current one.\n\tat org.apache.kafka.clients.producer.KafkaProducer.send(x)"
    )
    found = json.loads(run("--json", trace).stdout)
    assert [(e["kind"], e["name"]) for e in found["explanations"]] == [
        ("exception", "ProducerFencedException"),
        ("error code", "90 PRODUCER_FENCED"),
    ]


def test_a_line_that_quotes_an_error_explains_line_and_error(run):
    line = (
        "WARN Sender - Got error produce response with correlation id 5 on topic-partition t-0, "
        "retrying (3 attempts left). Error: NOT_ENOUGH_REPLICAS"
    )
    found = json.loads(run("--json", line).stdout)
    assert [e["kind"] for e in found["explanations"]] == ["client log message", "error code"]
    assert "response = NOT_ENOUGH_REPLICAS" in found["explanations"][0]["sections"][0]["items"]


def test_json_is_one_document_with_the_same_facts(run):
    found = json.loads(run("PRODUCER_FENCED", "--json").stdout)
    assert (found["schema"], found["kafka_version"], found["mentions"], found["notes"]) == (1, None, [], [])
    (error,) = found["explanations"]
    assert (error["name"], error["releases"], error["in_release"]) == ("90 PRODUCER_FENCED", "2.7+", True)
    assert error["rules"] == ["fenced_by_new_instance", "transaction_timed_out"]


def test_the_meaning_in_a_release_leaves_others_out(run):
    old, new = run("47", "--kafka-version", "2.6.3").stdout, run("47", "--kafka-version", "2.7").stdout
    assert "ProducerFencedException, fatal everywhere" in old
    assert "abortable on Produce" not in old
    assert "abortable on Produce" in new
    assert "fatal everywhere" not in new


def test_a_setting_has_one_default_in_a_release(run):
    text = run("linger.ms", "--kafka-version", "4.0").stdout
    assert "4.0+: 5" in text
    assert "0.11-3.9" not in text


@pytest.mark.parametrize(
    ("word", "release", "note"),
    [
        ("PRODUCER_FENCED", "2.0", "Not in 2.0: 2.7+."),
        ("NOT_LEADER_FOR_PARTITION", "3.0", "Not in 3.0: 0.11-2.5."),
        ("group.protocol", "3.6", "Not in 3.6: 3.7+."),
    ],
)
def test_what_a_release_has_not_is_said_and_still_explained(run, word, release, note):
    result = run(word, "--kafka-version", release)
    assert result.exit_code == 0
    assert note in result.stdout
    assert word in result.stdout


def test_releases_of_other_clients_are_not_narrowed(run):
    found = json.loads(run("_FENCED", "--json", "--kafka-version", "4.0").stdout)
    assert [(e["name"], e["in_release"]) for e in found["explanations"]] == [("RD_KAFKA_RESP_ERR__FENCED", True)]


def test_a_release_beyond_the_catalogue_is_answered_with_a_note(run):
    assert "checked up to 4.4; 5.1 may differ" in run("47", "--kafka-version", "5.1").stdout


@pytest.mark.parametrize("version", ["abc", "", "2..8", "\x1b[31m"])
def test_a_version_that_is_none_is_refused(run, version):
    result = run("47", "--kafka-version", version)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "write it as 2.8" in result.stderr
    assert "\x1b" not in result.stderr


def test_part_of_a_text_lists_where_it_stands(run):
    text = run("rollback of ongoing").stdout
    assert text.startswith("Found in ")
    assert "broker log message: Completed rollback of ongoing transaction" in text


def test_a_kip_is_explained_whole(run, golden):
    golden("explain-kip-890.txt", run("KIP-890").stdout)


def test_a_term_is_explained_whole(run, golden):
    golden("explain-lso.txt", run("LSO").stdout)


@pytest.mark.parametrize("word", ["LSO", "fence", "KIP-1050", "TV2", "FATAL_ERROR", "EndTxn", "ErrProducerFenced"])
def test_what_is_not_kafkas_own_name_fits_80_columns_too(run, word):
    lines = run(word).stdout.splitlines()
    assert lines
    assert all(len(line) <= 80 and line == line.rstrip() for line in lines)


def test_a_kip_is_narrowed_to_the_release(run):
    old, new = run("KIP-890", "--kafka-version", "3.6").stdout, run("KIP-890", "--kafka-version", "4.0").stdout
    assert "part 1" in old
    assert "part 2" not in old
    assert "part 2" in new
    assert "Not in 3.5: 3.6+." in run("KIP-890", "--kafka-version", "3.5").stdout


def test_a_kip_of_unknown_release_is_in_no_release_by_guess(run):
    assert "(KIP, release not known)" in run("KIP-892").stdout


def test_a_state_leads_to_findings(run):
    assert "stuck_prepare" in run("PrepareCommit").stdout.partition("Findings that it may point to")[2]


@pytest.mark.parametrize(
    ("line", "names"),
    [
        (
            "%1|1763720631.003|TXNERR|rdkafka#producer-3| [thrd:main]: Fatal transaction error: Failed to end "
            "transaction: Local: This instance has been fenced by a newer instance (_FENCED)",
            {"RD_KAFKA_RESP_ERR__FENCED"},
        ),
        ("KafkaJSProtocolError: The producer attempted a transactional operation in an invalid state",
         {"48 INVALID_TXN_STATE"}),
        ("KafkaJSNumberOfRetriesExceeded: nobody knows", {"KafkaJSNumberOfRetriesExceeded"}),
        ('confluent: kafka: aiokafka.errors.ProducerFenced: There is a newer producer with the same transactionalId '
         'which fences the current one.', {"ProducerFenced", "90 PRODUCER_FENCED"}),
        ('cimpl.KafkaException: KafkaError{code=_STATE,val=-172,str="Operation not valid in state FatalError"}',
         {"RD_KAFKA_RESP_ERR__STATE"}),
        ("producer/txnmgr [orders-1] kafka server: Producer attempted to produce with an old epoch.",
         {"47 INVALID_PRODUCER_EPOCH"}),
        ("PRODUCER_FENCED: There is a newer producer with the same transactionalId which fences the current one.",
         {"90 PRODUCER_FENCED"}),
    ],
)  # fmt: skip
def test_a_line_of_another_client_is_explained(run, line, names):
    found = json.loads(run("--json", line).stdout)["explanations"]
    assert names <= {one["name"] for one in found}


def test_a_question_is_answered_by_the_name_in_it(run):
    assert run("what", "is", "the", "LSO?").stdout.startswith("last stable offset")


def test_an_unknown_word_is_refused_with_suggestions(run):
    result = run("PRODUCR_FENCED")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "did you mean" in result.stderr
    assert "PRODUCER_FENCED" in result.stderr.splitlines()[1]


def test_a_word_like_nothing_says_what_can_be_asked(run):
    result = run("qqqqqqqq")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "give a finding, an error code" in result.stderr


@pytest.mark.parametrize("words", [("",), (" ", "\n")])
def test_no_word_at_all_is_refused(run, words):
    result = run(*words)
    assert (result.exit_code, result.stdout) == (2, "")


@pytest.mark.parametrize(
    "word",
    [
        "\x1b[31mred\x07",
        "[bold red]x[/bold red]",
        "a\u202eb",
        "\udcff\udcfe",
        "x" * 100_000,
        "[/]",
        "%s{0}",
        "--nonsense",
        "\x00",
    ],
)
def test_hostile_words_are_refused_and_shown_harmless(run, word):
    result = run(word)
    assert (result.exit_code, result.stdout) == (2, "")
    assert not {"\x1b", "\x07", "\u202e", "\x00"} & set(result.stderr)
    assert len(result.stderr) < 1000


def test_values_of_a_pasted_line_are_shown_harmless_and_unstyled(run):
    text = run("ProducerId set to \x1b]0;owned\x07 with epoch [bold]5[/bold] \u202e:smile:").stdout
    assert "producerId = \\x1b]0;owned\\x07" in text
    assert "epoch = [bold]5[/bold] \\u202e:smile:" in text
    assert not {"\x1b", "\x07", "\u202e"} & set(text)


def test_json_of_a_hostile_line_is_ascii(run):
    output = run("--json", "ProducerId set to \x1b\u202e\udcff with epoch 5").stdout
    assert output.isascii()
    assert json.loads(output)["explanations"][0]["sections"][0]["items"][0] == "producerId = \x1b\u202e\udcff"


def test_a_long_paste_is_read_to_a_limit_and_says_so(run):
    found = json.loads(run("--json", "ProducerId set to 1 with epoch 1\n" * 250).stdout)
    assert len(found["explanations"]) == 1
    assert found["notes"] == ["50 more lines were not looked at."]


@pytest.mark.parametrize("word", ["partition_left_open", "Partition-Left-Open", "partition left open"])
@pytest.mark.usefixtures("rules")
def test_a_rule_is_explained_from_its_docstring(run, word):
    found = json.loads(run("--json", word).stdout)
    (rule,) = found["explanations"]
    assert (rule["kind"], rule["name"]) == ("rule", "partition_left_open")
    assert rule["summary"].startswith("A transaction stayed open")
    headings = [section["heading"] for section in rule["sections"]]
    assert headings == ["Mechanism", "Evidence", "Against", "Look-alikes", "Remedy", "Source"]
    assert "Abort it, once [ guards hold." in run(word).stdout


@pytest.mark.usefixtures("rules")
def test_a_rule_is_suggested_and_found_by_part(run):
    assert "partition_left_open" in run("partition_left_opn").stderr
    assert "rule: partition_left_open" in run("left_open").stdout


def test_a_rule_names_what_points_to_it_narrowed_to_the_release(run, tmp_path, monkeypatch):
    (tmp_path / "transaction_timed_out.py").write_text(RULE)
    monkeypatch.setattr(kafkatx.rules, "__path__", [str(tmp_path)])

    def links(*options):
        sections = json.loads(run("--json", "transaction_timed_out", *options).stdout)["explanations"][0]["sections"]
        return {section["heading"]: section["items"] for section in sections}

    assert {"47 INVALID_PRODUCER_EPOCH", "90 PRODUCER_FENCED"} <= set(links()["Error codes"])
    assert "90 PRODUCER_FENCED" not in links("--kafka-version", "2.5")["Error codes"]
    assert any("rollback" in text for text in links()["Log messages"])
    assert len(links()["Log messages"]) <= 13


def test_the_command_is_imported_without_anything_heavy():
    code = "import sys, kafkatx.cli.explain; print({'numpy', 'pyarrow', 'numba'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
