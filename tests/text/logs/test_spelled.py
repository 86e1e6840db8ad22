"""Errors of clients other than Java's: in their own words, names and shapes, wherever a line has them."""

import re

import pytest

from kafkatx.terms.catalogue.loading import spellings
from kafkatx.terms.error_codes import ErrorCode, error_code
from kafkatx.terms.events import EventKind
from kafkatx.text.logs.exceptions import thrown_in
from kafkatx.text.logs.spelled import HEAD, all_spelled_in, spelled_in, words
from tests.text.logs.reading import read_text
from tests.text.logs.recorded import recorded_lines

OLD_EPOCH = "Producer attempted an operation with an old epoch"
MAPPING = "The producer attempted to use a producer id which is not currently assigned to its transactional id"


@pytest.mark.parametrize("entry", [entry for entry in spellings() if entry.text], ids=lambda entry: entry.text[:40])
def test_words_lead_to_their_error_and_to_no_other(entry):
    found = spelled_in(f'billing: begin("x"): {entry.text}')
    assert found is not None
    assert found.name.rpartition(".")[2] == entry.name
    assert entry.code is None or error_code(found.name) in (entry.code, ErrorCode.NONE)


@pytest.mark.parametrize(
    ("line", "chain"),
    [
        ("commit: Local: This instance has been fenced by a newer instance", ["_FENCED"]),
        ("Local: Timed out in queue", ["_TIMED_OUT_QUEUE"]),
        (f"could not end it: kafka server: {OLD_EPOCH}.", ["sarama.ErrInvalidProducerEpoch"]),
        ("kafka server: Unknown error, how did this happen? Error code = 90", ["PRODUCER_FENCED"]),
        (
            "transaction manager: failed to send offsets to transaction: kafka server: The provided generation id is "
            "not the current generation",
            ["sarama.ErrTxnOffsetCommit", "sarama.ErrIllegalGeneration"],
        ),
        (f"KafkaJSProtocolError: {MAPPING}", ["KafkaJSProtocolError", "kafkajs.INVALID_PRODUCER_ID_MAPPING"]),
        (
            "Confluent.Kafka.KafkaException: Failed to end it: Broker: Transactional Id authorization failed (in 3ms)",
            ["Confluent.Kafka.KafkaException", "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"],
        ),
        (
            "Confluent.Kafka.ProduceException`2[System.String,System.String]: Broker: Message size too large",
            ["Confluent.Kafka.ProduceException", "MSG_SIZE_TOO_LARGE"],
        ),
        ("KafkaError (Transaction error: Operation not valid in state Ready)", ["rdkafka.KafkaError", "_STATE"]),
        (
            "task 0_3 failed: This exception is raised by the broker if it could not locate the producer metadata "
            "associated with the producerId in question",
            ["UNKNOWN_PRODUCER_ID"],
        ),
        ("[47] Invalid Producer Epoch: a newer one", ["kafka-go.InvalidProducerEpoch"]),
        ("abort again; code: _TIMED_OUT, attempt: 2", ["_TIMED_OUT"]),
        ("the broker says `Broker: Producer attempted to use a produ", ["INVALID_PRODUCER_ID_MAPPING"]),
        (f"org.apache.kafka.common.errors.ProducerFencedException: {OLD_EPOCH}.", None),
    ],
)
def test_errors_are_known_by_the_shapes_of_their_libraries(line, chain):
    found = [link.exception for link in thrown_in(line)]
    assert found == (chain if chain is not None else ["org.apache.kafka.common.errors.ProducerFencedException"])


@pytest.mark.parametrize("line", ["Local: everything is fine", "[47] Invalid Letters: x", "see Broker: 3", "code: _ok"])
def test_other_words_are_no_errors(line):
    assert thrown_in(line) == ()


@pytest.mark.parametrize(
    ("line", "kind", "columns"),
    [
        (
            '{"level":"ERROR","timestamp":"2026-11-21T10:00:01.000Z","logger":"kafkajs","message":"[Connection] '
            f'Response AddOffsetsToTxn(key: 25, version: 1)","clientId":"till","error":"{MAPPING}"}}',
            EventKind.failure,
            {"client_id": "till", "error": "INVALID_PRODUCER_ID_MAPPING", "api": "sendOffsetsToTransaction"},
        ),
        (
            '2026-11-21T10:00:01.000Z a1 ERROR {"logger":"kafkajs","message":"[Connection] Response EndTxn(key: 26, '
            'version: 1)","error":"The group coordinator is not available"}',
            EventKind.produce_retry,
            {},
        ),
        (
            "[sarama] 2026/11/21 10:00:01 txnmgr/transition [till-1] transition from ProducerTxnStateInTransaction to "
            "ProducerTxnStateInError|ProducerTxnStateAbortableError",
            EventKind.to_abortable,
            {"transactional_id": "till-1"},
        ),
        (
            "2026-11-21T10:00:01.000000Z ERROR librdkafka: TXNERR [thrd:main]: Fatal transaction error: Failed to end "
            "transaction: Local: This instance has been fenced by a newer instance (_FENCED)",
            EventKind.to_fatal,
            {"error": "_FENCED"},
        ),
        (
            "2026-11-21 10:00:01.000 +00:00 [WRN] CommitTransaction: Confluent.Kafka.KafkaException: "
            "Local: Erroneous state",
            EventKind.failure,
            {"error": "_STATE", "api": "commitTransaction"},
        ),
        ("2026/11/21 10:00:01 CommitTxn: kafka: client has run out of available brokers to talk to",
         EventKind.connection_failed, {}),
    ],
)  # fmt: skip
def test_a_line_that_shows_an_error_is_an_event(tmp_path, line, kind, columns):
    (event,) = read_text(tmp_path, line + "\n")
    found = {name: (event[name] or "").removeprefix("kafkajs.") for name in columns}
    assert (EventKind(event["kind"]), found) == (kind, columns)


def test_what_a_library_tries_again_or_says_at_debug_is_no_failure(tmp_path):
    text = (
        "18:20:10.012388 [Debug] [RDK] [7] [X] [thrd:main]: TxnCoordinator/2: something: Broker: Not coordinator\n"
        "2026/11/21 10:00:02 [INFO] delivered\n"
        "[sarama] 2026/11/21 10:00:01 txnmgr/endtxn [a] retrying after 100ms... (49 attempts remaining) (kafka server: "
        "Request was for a consumer group that is not coordinated by this broker)\n"
    )
    assert {EventKind(event["kind"]) for event in read_text(tmp_path, text)} <= {EventKind.request_enqueued}


def test_no_words_are_shorter_than_what_they_are_looked_for_by():
    assert min(map(len, words())) >= HEAD


def test_words_are_found_where_a_search_for_all_of_them_finds_them():
    longest_first = sorted(words(), key=len, reverse=True)
    whole = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, longest_first))})")
    texts = [*recorded_lines(), *(f"{before}{one}{behind}" for one in words() for before, behind in AROUND)]
    for text in texts:
        found = [(one.start, one.end) for one in all_spelled_in(text)]
        wanted = [one.span() for one in whole.finditer(text)]
        assert found[: len(wanted)] == wanted, text


AROUND = (("", ""), ("x", ""), (".", ": "), ("(", ")"), ("Local: ", " Local: Timed out"))
