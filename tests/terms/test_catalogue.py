import ast
import re
from itertools import count, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kafkatx.terms.catalogue
from kafkatx.terms.catalogue.entries import ClientException, Config, LogTemplate, ProtocolError
from kafkatx.terms.catalogue.loading import (
    broker_log_templates,
    client_exceptions,
    client_log_templates,
    configs,
    error_codes,
    states,
)
from kafkatx.terms.catalogue.lookup import by_name, close_texts, close_words, containing, failures_in
from kafkatx.terms.catalogue.releases import Release, Span, parse_release, parse_span
from kafkatx.terms.catalogue.templates import Template, match_line, parse_template
from kafkatx.terms.errors import UsageError
from kafkatx.terms.transaction_states import TransactionState
from tests.evidence import all_cases

TEXTS = [(template.template, template) for template in (*broker_log_templates(), *client_log_templates())]
TEXTS += [(message.text, error) for error in error_codes() for message in error.messages]
TEXTS += [(message, exception) for exception in client_exceptions() for message in exception.messages]


def sample(text: str) -> str:
    """A template with something plain in each placeholder."""
    numbers = count()
    return re.sub(r"<[\w.]+>", lambda _: f"q{next(numbers)}z", text)


# --- names


@pytest.mark.parametrize("error", error_codes(), ids=lambda error: error.name)
def test_an_error_is_found_by_number_name_and_exception_class(error):
    classes = [exception.text for exception in error.exceptions]
    for word in (str(error.code), error.name, error.name.lower(), *classes):
        assert error in by_name(word)
    assert all(error in by_name(f"org.apache.kafka.common.errors.{name}") for name in classes)


def test_an_error_has_no_more_than_the_entries_of_its_code():
    assert [(e.code, e.name) for e in by_name("6") if isinstance(e, ProtocolError)] == [
        (6, "NOT_LEADER_FOR_PARTITION"),
        (6, "NOT_LEADER_OR_FOLLOWER"),
    ]


def test_error_codes_are_sorted_and_named_once():
    assert all(a.code <= b.code for a, b in pairwise(error_codes()))
    assert len({error.name for error in error_codes()}) == len(error_codes())


def test_producer_fenced_exception_was_another_code_before_2_7():
    found = {
        e.code: [str(x.span) for x in e.exceptions]
        for e in by_name("ProducerFencedException")
        if isinstance(e, ProtocolError)
    }
    assert found == {47: ["0.11-2.6", "2.7+"], 90: ["all"]}


@pytest.mark.parametrize("row", client_exceptions(), ids=lambda row: row.exceptions[0])
def test_an_exception_is_found_by_each_of_its_names(row):
    for name in row.exceptions:
        found = by_name(name)
        assert row in found or any(isinstance(e, ProtocolError) and e.code in row.codes for e in found)


@pytest.mark.parametrize("word", ["_FENCED", "RD_KAFKA_RESP_ERR__FENCED", "-144"])
def test_errors_of_librdkafka_are_found_by_constant_and_code(word):
    assert any(isinstance(e, ClientException) and e.client == "librdkafka" for e in by_name(word))


@pytest.mark.parametrize("state", states(), ids=lambda state: state.state)
def test_a_state_is_found_by_name_java_constant_and_code(state):
    assert all(state in by_name(word) for word in (state.state, state.java_constant, str(state.code)))


def test_states_are_those_of_the_enumeration():
    assert {state.code: state.state for state in states()} == {state.value: state.name for state in TransactionState}
    names = {state.state for state in states()}
    assert all({*state.predecessors, *state.added_predecessors} <= names for state in states())


def test_a_setting_is_found_in_each_scope_and_by_its_name_in_a_topic():
    assert {c.scope for c in by_name("request.timeout.ms") if isinstance(c, Config)} == {"producer", "consumer"}
    assert [c.name for c in by_name("delete.retention.ms") if isinstance(c, Config)] == [
        "log.cleaner.delete.retention.ms"
    ]


@pytest.mark.parametrize(
    ("scope", "name", "release", "default"),
    [
        ("broker", "transaction.abort.timed.out.transaction.cleanup.interval.ms", "2.4", "60000"),
        ("broker", "transaction.abort.timed.out.transaction.cleanup.interval.ms", "2.5", "10000"),
        ("producer", "enable.idempotence", "2.8.2", "false"),
        ("producer", "enable.idempotence", "3.0.0", "true"),
        ("consumer", "session.timeout.ms", "3.0", "45000"),
        ("broker", "producer.id.expiration.ms", "3.3", None),
        ("broker", "producer.id.expiration.ms", "3.4", "86400000"),
        ("broker", "log.message.timestamp.difference.max.ms", "4.0", None),
    ],
)
def test_defaults_follow_the_release(scope, name, release, default):
    setting = next(c for c in configs() if (c.scope, c.name) == (scope, name))
    found = [d.text for d in setting.defaults if d.span.holds(parse_release(release))]
    assert found == ([default] if default else [])


def test_no_release_has_two_defaults_or_two_messages():
    for entries in [c.defaults for c in configs()] + [e.messages for e in error_codes()]:
        assert all(a.span.until and b.span.since and a.span.until < b.span.since for a, b in pairwise(entries))


@pytest.mark.parametrize("word", ["", " ", "no such thing", "999", "\x00", "٤٧", "47 or", "\udcff"])
def test_other_words_name_nothing(word):
    assert by_name(word) == ()


# --- likeness and parts


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("PRODUCR_FENCED", "PRODUCER_FENCED"),
        ("transaction.timeot.ms", "transaction.timeout.ms"),
        ("preparabort", "PrepareAbort"),
    ],
)
def test_misspelled_names_are_recognised(typed, meant):
    assert meant in close_words(typed)


def test_names_from_outside_are_suggested_too():
    assert close_words("hanging_transactoin", ["hanging_transaction"])[0] == "hanging_transaction"


def test_a_reworded_message_is_recognised_by_its_words():
    likely = close_texts("Completed the rollback of an ongoing transaction for transactionalId x-1, due to a timeout")
    assert likely[0] == "Completed rollback of ongoing transaction for transactionalId <transactionalId> due to timeout"
    assert close_texts("nothing of the kind") == ()


def test_part_of_a_text_finds_its_entries_and_no_others():
    found = containing("ROLLBACK of  ongoing")
    assert found
    assert all(isinstance(e, LogTemplate) and "rollback of ongoing" in e.template.lower() for e in found)
    assert containing("") == () == containing("qqqq")


def test_words_of_a_meaning_are_looked_at_only_when_no_text_has_them():
    assert [e.name for e in containing("lacks the permission") if isinstance(e, ProtocolError)]
    assert all(
        "fenced" in e.name.lower() + str(e.exceptions).lower()
        for e in containing("fenced")
        if isinstance(e, ProtocolError)
    )


def test_failures_are_picked_out_of_a_line_in_its_order():
    line = "Caused by: org.apache.kafka.common.errors.InvalidPidMappingException: text. (see CONCURRENT_TRANSACTIONS)."
    found = failures_in(line)
    assert [e.code for e in found if isinstance(e, ProtocolError)] == [49, 51]
    assert failures_in("Empty Ongoing transaction.timeout.ms 47") == ()


# --- texts


@pytest.mark.parametrize(("text", "entry"), TEXTS, ids=range(len(TEXTS)))
def test_each_text_with_its_placeholders_filled_is_recognised_as_itself(text, entry):
    template = parse_template(text)
    found = match_line(sample(text))
    assert found is not None
    assert found.template.pieces == template.pieces
    assert entry in found.sources
    assert re.findall(r"q\d+z", "".join(value for _, value in found.values)) == re.findall(r"q\d+z", sample(text))


@pytest.mark.parametrize(
    "prefix",
    [
        "[2026-11-21 10:23:51,003] INFO [TransactionCoordinator id=1] ",
        "2026-11-21T10:23:51.003Z WARN  ",
        "2026-11-21 10:23:51.003 [main] INFO  o.a.k.c.p.KafkaProducer - [Producer clientId=p, transactionalId=t] ",
        "%3|1763720631.003|TXNERR|rdkafka#producer-1| [thrd:main]: ",
        "org.apache.kafka.common.KafkaException: ",
        "    Caused by: org.apache.kafka.common.KafkaException: ",
    ],
)
def test_a_logger_prefix_does_not_hide_the_text(prefix):
    line = f"{prefix}Completed rollback of ongoing transaction for transactionalId t-1 due to timeout"
    found = match_line(line)
    assert found is not None
    assert found.values == (("transactionalId", "t-1"),)


def test_a_text_within_a_sentence_is_not_the_message():
    assert match_line("we saw that Shutting down.") is None
    assert match_line("Shutting down. And more") is None


def test_the_logger_at_the_end_of_a_line_is_no_part_of_it_and_chooses_the_class():
    line = "[2026-11-21 10:23:51,003] INFO [UnifiedLog partition=t-0] Truncating to offset 7 (kafka.log.UnifiedLog$)"
    found = match_line(line)
    assert found is not None
    assert found.values == (("targetOffset", "7"),)
    assert {s.logger.rpartition(".")[2] for s in found.sources if isinstance(s, LogTemplate)} == {"UnifiedLog"}


def test_json_lines_are_read():
    found = match_line('{"level":"INFO","message":"ProducerId set to 7000 with epoch 5"}')
    assert found is not None
    assert found.values == (("producerId", "7000"), ("epoch", "5"))


def test_white_space_and_a_final_dot_do_not_matter():
    message = "The  producer attempted to use a producer id which is\tnot currently assigned to its transactional id"
    for line in (message, f"{message}.", f" {message} \r"):
        found = match_line(line)
        assert found is not None
        assert any(isinstance(s, ProtocolError) and s.code == 49 for s in found.sources)


def test_the_most_specific_text_wins():
    short, long = (
        match_line("Deleting segment 12"),
        match_line(
            "Deleting segment 12 due to retention time 5ms breach based on the last modified time of the segment"
        ),
    )
    assert short is not None
    assert long is not None
    assert (short.template.weight, long.template.weight) == (17, 96)


def test_placeholders_that_touch_become_one():
    assert parse_template("a <x><y> b<z>") == Template(("a ", " b", ""), ("x y", "z"))
    assert parse_template("<x>-> <Klass id=<y>") == Template(("", "-> <Klass id=", ""), ("x", "y"))


@pytest.mark.parametrize(
    "line",
    [
        "Starting up. " * 20_000,
        "Timeout expired after " * 10_000 + "ms while awaiting " * 10_000,
        '{"a":' * 50_000,
        "[" * 200_000,
        "((((" * 50_000,
        "a" * 200_000,
        " (" * 100_000 + "x.y)",
    ],
    ids=["repeated text", "repeated pieces", "deep json", "brackets", "parentheses", "letters", "loggers"],
)
def test_hostile_lines_are_done_with(line):
    """Work that grew with the square of these lines would not end."""
    found = match_line(line)
    assert found is None or found.template.names == ("unit", "operation")


@given(st.text())
def test_any_text_is_matched_without_failing(line):
    found = match_line(line)
    assert found is None or found.sources


@pytest.mark.parametrize(
    ("line", "values"),
    [  # as brokers 0.11.0.3, 2.4.1 and 4.3.1 wrote them
        (
            "[2026-11-21 10:43:19,038] INFO [Transaction Coordinator 1]: Completed rollback ongoing transaction of "
            "transactionalId: ledger-1 due to timeout (kafka.coordinator.transaction.TransactionCoordinator)",
            {"transactionalId": "ledger-1"},
        ),
        (
            "[2026-11-21 10:43:49,284] INFO [TransactionCoordinator id=1] Initialized transactionalId local-0 with "
            "producerId 1000 and producer epoch 0 on partition __transaction_state-0 "
            "(kafka.coordinator.transaction.TransactionCoordinator)",
            {"transactionalId": "local-0", "producerId": "1000", "producerEpoch": "0", "txnManager": "0"},
        ),
        (
            "[2026-11-21 10:31:12,140] INFO Creating new marker queue for txn partition 1 to destination broker 1 "
            "(kafka.coordinator.transaction.TxnMarkerQueue)",
            {"txnTopicPartition": "1", "destination.id": "1"},
        ),
    ],
)
def test_recorded_broker_lines_are_recognised_with_their_values(line, values):
    found = match_line(line)
    assert found is not None
    assert dict(found.values) == values


def test_every_line_of_the_transaction_classes_in_recorded_logs_is_recognised():
    classes = {
        "TransactionCoordinator",
        "TransactionStateManager",
        "TransactionMarkerRequestCompletionHandler",
        "ProducerStateManager",
    }
    lines = [
        line
        for case in all_cases()
        for log in sorted(case.glob("logs/**/server*.log"))
        for line in log.read_text("utf-8", "replace").splitlines()
        if line.startswith("[") and line.rstrip(")$").rpartition(".")[2] in classes
    ]
    if not lines:
        pytest.skip("the cases at hand have no broker logs")
    assert [line for line in lines if match_line(line) is None] == []


# --- releases


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("2.8", (2, 8)), ("v3.9.1", (3, 9, 1)), (" 0.11.0.3 ", (0, 11, 0, 3)), ("4", (4,)), ("4.1.0-SNAPSHOT", (4, 1, 0))],
)
def test_releases_are_read(text, numbers):
    assert parse_release(text) == Release(numbers)


@pytest.mark.parametrize(
    "text", ["", "x", "2,8", "2.8.", "1.2.3.4.5.6 x", "-1", "9" * 5000, "\uff12.\uff18", "\x1b[31m"]
)
def test_other_texts_are_refused_with_a_way_out(text):
    with pytest.raises(UsageError, match=r"write it as 2\.8"):
        parse_release(text)


@pytest.mark.parametrize(
    ("span", "inside", "outside"),
    [
        ("2.5+", ["2.5", "2.5.1", "4.4", "2"], ["2.4.9", "1", "0.11.0.3"]),
        ("0.11-2.4", ["0.11", "0.11.0.3", "2.4.1", "1", "2"], ["2.5.0", "3"]),
        ("2.6", ["2.6", "2.6.3", "2"], ["2.5.1", "2.7"]),
        ("2.4.1+", ["2.4", "2.4.1", "2.5"], ["2.4.0"]),
        ("0.11-2.4.0", ["2.4", "2.4.0", "2.3"], ["2.4.1", "2.5"]),
        ("all", ["0.10", "9"], []),
    ],
)
def test_a_short_release_stands_for_all_of_its_patches(span, inside, outside):
    assert [text for text in (*inside, *outside) if parse_span(span).holds(parse_release(text))] == inside


@pytest.mark.parametrize("text", ["2.5+", "0.11-2.4", "2.6", "all"])
def test_spans_print_as_they_are_written(text):
    assert str(parse_span(text)) == text
    assert parse_span(text).holds(None)


def test_a_span_without_beginning_prints_its_end():
    assert str(Span(None, "2.4")) == "to 2.4"


# --- the data


def test_spans_of_all_rows_are_in_order():
    for entry in (*error_codes(), *client_exceptions(), *broker_log_templates(), *client_log_templates()):
        assert entry.span.until is None or entry.span.holds(parse_release(entry.span.until))


def test_tables_say_nothing_of_the_place_they_were_made_at():
    folder = Path(kafkatx.terms.catalogue.__file__).parent
    tables = {path.name: path.read_text() for path in folder.glob("*.tsv")}
    assert len(tables) >= 6
    words = ("[captured", "[src", "[assumed", "[issue")
    assert [(name, word) for name, text in tables.items() for word in words if word in text] == []


def test_tables_are_read_when_asked_for_not_when_imported():
    tree = ast.parse(Path(kafkatx.terms.catalogue.loading.__file__).read_text())
    loaders = [node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
    assert len(loaders) >= 6
    assert all(ast.unparse(node.decorator_list[0]) == "cache" for node in loaders)
