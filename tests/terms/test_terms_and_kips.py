"""KIPs, terms and the spellings of names: what tables say, and how they are found."""

from itertools import pairwise

import pytest

from kafkatx.rules.docstring import rule_texts
from kafkatx.terms.catalogue.entries import ClientException, Kip, ProtocolError, StateEntry, Term
from kafkatx.terms.catalogue.loading import kips, terms
from kafkatx.terms.catalogue.lookup import by_name, containing, failures_in, holding_all, names_within
from kafkatx.terms.catalogue.whole_words import folded, split, words_in


def called(word):
    """What a word names, by kind and name; rows of clients by their client."""
    names = {ProtocolError: "name", ClientException: "client", Kip: "kip", Term: "name", StateEntry: "state"}
    return [getattr(entry, names.get(type(entry), "name")) for entry in by_name(word)]


# --- words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("transactionalId", ("transactional", "id")),
        ("KafkaJSProtocolError", ("kafka", "js", "protocol", "error")),
        ("RD_KAFKA_RESP_ERR__FENCED", ("rd", "kafka", "resp", "err", "fenced")),
        ("KIP-890, 2PC", ("kip", "890", "2", "pc")),
        ("\u0664\u0667 \udcff", ()),
    ],
)
def test_words_are_cut_as_names_are_written(text, words):
    assert split(text) == words


@pytest.mark.parametrize("phrase", ["transactional id", "transactionalId", "TRANSACTIONAL_ID", "id of"])
def test_a_phrase_stands_in_a_text_however_either_is_cut(phrase):
    assert words_in("the transactionalId of it").hold(folded(phrase))


@pytest.mark.parametrize("phrase", ["", "lso", "action", "transactional i", "kip 89"])
def test_a_part_of_a_word_stands_nowhere(phrase):
    assert not words_in("also the transactionalId of KIP-890").hold(folded(phrase))


def test_the_underscore_of_librdkafka_tells_its_own_errors_apart():
    assert folded("_FENCED") == "_fenced"
    assert folded("__transaction_state") == folded("transaction state") == "transactionstate"


# --- tables


def test_kips_are_sorted_and_each_says_what_it_changed():
    numbers = [int(kip.kip.removeprefix("KIP-")) for kip in kips()]
    assert all(a < b for a, b in pairwise(numbers))
    assert {98, 360, 447, 588, 618, 664, 679, 732, 854, 890, 892, 939, 1050} <= set(numbers)
    assert all(kip.changes and kip.meaning and kip.source for kip in kips())


@pytest.mark.parametrize("entry", [*kips(), *terms()], ids=lambda entry: getattr(entry, "kip", None) or entry.name)
def test_no_statement_is_older_than_its_entry(entry):
    stated = entry.changes if isinstance(entry, Kip) else entry.details
    begins = [tuple(map(int, s.span.since.split("."))) for s in stated if s.span.since and s.span.until is None]
    assert not begins or not entry.span.since or min(begins) >= tuple(map(int, entry.span.since.split(".")))


@pytest.mark.parametrize("term", terms(), ids=lambda term: term.name)
def test_a_term_is_found_by_all_of_its_names_and_leads_to_what_is_known(term):
    assert all(term in by_name(name) for name in (term.name, *term.names))
    rules = {rule.rule_id for rule in rule_texts()}
    assert [name for name in term.see if not by_name(name) and name not in rules] == []


# --- names


@pytest.mark.parametrize("word", ["LSO", "lso", "last stable offset", "last_stable_offset", "lastStableOffsets"])
def test_a_term_is_found_however_it_is_written(word):
    assert called(word) == ["last stable offset"]


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("KIP-98", ["KIP-98"]),
        ("kip 1050", ["KIP-1050"]),
        ("fence", ["fencing"]),
        ("epoch", ["producer epoch", "coordinator epoch", "leader epoch"]),
        ("TV2", ["transaction.version 2"]),
        ("transaction.version=1", ["transaction.version 1"]),
        ("EOSv1", ["EOS v1"]),
        ("exactly_once_beta", ["EOS v2"]),
        ("ABORTABLE_ERROR", ["ABORTABLE_ERROR"]),
        ("AbortableError", ["ABORTABLE_ERROR"]),
        ("fatal error", ["fatal error"]),
        ("ProducerTxnFlagFatalError", ["FATAL_ERROR"]),
        ("prepare epoch fence", ["PrepareEpochFence"]),
        ("Dead", ["Dead"]),
    ],
)
def test_kips_states_and_feature_levels_are_found(word, names):
    assert called(word) == names


@pytest.mark.parametrize("word", ["KIP-1", "KIP-9", "KIP-98x", "SO", "fences off", "stable", "x" * 100_000])
def test_what_is_no_name_names_nothing(word):
    assert by_name(word) == ()


@pytest.mark.parametrize(
    ("word", "code"),
    [
        ("ErrProducerFenced", 90),
        ("sarama.ErrProducerFenced", 90),
        ("kerr.ProducerFenced", 90),
        ("ProducerFenced", 90),
        ("ProducerFencedError", 90),
        ("producer_fenced", 90),
        ("RDKafkaErrorCode::ProducerFenced", 90),
        ("ERR_PRODUCER_FENCED", 90),
        ("RD_KAFKA_RESP_ERR_PRODUCER_FENCED", 90),
        ("InvalidProducerEpochError", 47),
        ("kerr.InvalidTxnState", 48),
        ("InvalidProducerIDMapping", 49),
        ("ErrorCode.InvalidPidMapping", 49),
        ("ErrConcurrentTransactions", 51),
        ("RDKafkaErrorCode::OutOfOrderSequenceNumber", 45),
    ],
)
def test_an_error_is_found_in_the_spelling_of_any_client(word, code):
    assert [entry.code for entry in by_name(word) if isinstance(entry, ProtocolError)] == [code]


@pytest.mark.parametrize(
    "word",
    ["_FENCED", "Local_Fenced", "ErrorCode.Local_Fenced", "ERR__FENCED", "ErrFenced", "RDKafkaErrorCode::Fenced",
     "KafkaError._FENCED", "RD_KAFKA_RESP_ERR__FENCED"],
)  # fmt: skip
def test_an_error_of_librdkafka_is_found_in_the_spelling_of_its_children(word):
    rows = by_name(word)
    assert rows
    assert all(isinstance(row, ClientException) for row in rows)
    assert ("RD_KAFKA_RESP_ERR__FENCED",) in {row.exceptions for row in rows}


@pytest.mark.parametrize("word", ["com.example.State", "io.netty.Transport", "ErrorCode", "Fatal", "Conflict", "errno"])
def test_words_of_programs_are_no_errors_of_librdkafka(word):
    assert by_name(word) == ()


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("kafka server: The producer attempted a transactional operation in an invalid state", [48]),
        ('{"error":"The producer attempted to update a transaction while another concurrent operation on the same '
         'transaction was ongoing","groupId":"g"}', [51]),
        ("KafkaJSProtocolError: nope { type: 'PRODUCER_FENCED', code: 90 }", [90]),
        ("batch errored err: INVALID_PRODUCER_EPOCH, id: 7", [47]),
        ("the producer fenced itself off with a transport", []),
    ],
)  # fmt: skip
def test_failures_are_picked_out_of_lines_of_other_clients(line, codes):
    assert [entry.code for entry in failures_in(line) if isinstance(entry, ProtocolError)] == codes


# --- parts and questions


def test_entries_are_found_by_whole_words_only():
    names = [getattr(entry, "name", "") for entry in containing("txn")]
    assert "INVALID_TXN_STATE" in names
    assert not any("also" in str(entry) and "LSO" not in str(entry) for entry in containing("LSO"))
    assert containing("xn") == ()


def test_all_words_in_any_order_are_the_last_resort():
    assert containing("txn state invalid") == ()
    assert "INVALID_TXN_STATE" in [getattr(entry, "name", "") for entry in holding_all("txn state invalid")]
    assert holding_all("a b") == holding_all("state") == ()


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("what is the LSO?", ["last stable offset"]),
        ("KIP-890 part 2", ["KIP-890"]),
        ("difference between EOS v1 and EOS v2", ["EOS v1", "EOS v2"]),
        ("what does one do with 47 of them", []),
        ("a very long text that goes on and on without any end names the LSO as well", []),
    ],
)
def test_a_short_question_is_answered_by_the_names_in_it(question, names):
    assert [getattr(entry, "kip", None) or entry.name for entry in names_within(question)] == names
