"""Lines as places, and phrases for clients and failures."""

import pytest

from kafkatx.terms.catalogue.loading import event_words
from kafkatx.terms.events import EventKind, Level
from kafkatx.words.facts import client_name
from kafkatx.words.log_refs import (
    MOST_QUOTED,
    client_seen,
    event_ref,
    event_refs,
    failure_phrase,
)
from tests.histories.log_facts import DAY, FENCED, TEXTS, line
from tests.rules.log_told import ERROR_STATE, Client, by_logs

CLIENT = "logs/client.log"


@pytest.mark.parametrize(
    ("kind", "columns", "text"),
    [
        (EventKind.producer_id_set, {"producer_id": 7, "producer_epoch": 3}, "producer id 7, epoch 3"),
        (
            EventKind.produce_retry,
            {"topic": "orders", "partition": 2, "error": "NETWORK_EXCEPTION", "correlation_id": 12, "number": 5},
            "orders-2, NETWORK_EXCEPTION, correlation id 12, 5 attempts left",
        ),
        (EventKind.batch_expired, {"topic": "t", "partition": 0, "number": 4001, "offset": 3}, "t-0, 4 s, 3 records"),
        (EventKind.idempotent_bump, {"topic": "t", "partition": 0, "number": 3, "offset": 7}, "t-0, sequence 3 then 7"),
        (EventKind.coordinator_loaded, {"partition": 9, "number": 90_000}, "__transaction_state-9, 90 s"),
        (EventKind.to_fatal, {"error": FENCED, "detail": "newer"}, "ProducerFencedException: newer"),
        (
            EventKind.stale_epoch,
            {"offset": 8, "producer_epoch": 1, "other_epoch": 2},
            "at offset 8, epoch 1, against epoch 2",
        ),
    ],
)
def test_a_place_says_what_the_line_is_and_quotes_its_parts(kind, columns, text):
    model = by_logs([line(CLIENT, "10:00:01", kind, **columns)])
    place = event_ref(model, 0)
    assert place.text == f"{event_words()[kind].phrase}: {text}"
    assert (place.source, place.line, place.at, place.offset) == (CLIENT, 10, DAY + 36_001_000, None)


def test_a_request_before_that_for_the_data_is_named():
    columns = {"topic": "t", "partition": 0, "error": "_FENCED", "api": "AddPartitionsToTxn"}
    model = by_logs([line(CLIENT, "10:00:01", EventKind.produce_failed, **columns)])
    assert event_ref(model, 0).text == "AddPartitionsToTxn failed for good: t-0, _FENCED"


def test_long_words_are_cut_and_absent_ones_left_out():
    model = by_logs(
        [line(CLIENT, None, EventKind.to_fatal, detail="x" * 5_000), line(CLIENT, None, EventKind.abort_called)]
    )
    long, short = event_ref(model, 0), event_ref(model, 1)
    assert long.text.endswith("...")
    assert len(long.text) <= len(event_words()[EventKind.to_fatal].phrase) + 2 + MOST_QUOTED
    assert (short.text, short.at) == (event_words()[EventKind.abort_called].phrase, None)


def test_an_exception_reads_as_in_a_log_with_the_call_that_threw_it():
    said = {"error": FENCED, "detail": "newer", "api": "commitTransaction"}
    long = said | {"detail": "y" * 500}
    given = (said, said | {"api": None}, said | {"detail": None}, long, {})
    model = by_logs([line(CLIENT, None, EventKind.failure, **columns) for columns in given])
    texts = [event_ref(model, row).text for row in range(len(given))]
    assert texts[:3] == [
        "ProducerFencedException: newer (commitTransaction)",
        "ProducerFencedException: newer",
        "ProducerFencedException (commitTransaction)",
    ]
    assert texts[3].endswith("y... (commitTransaction)")
    assert texts[4] == event_words()[EventKind.failure].phrase


def test_every_kind_has_words_and_shows_the_columns_that_they_name():
    columns = {name: 7 for name in ("number", "offset", "partition", "producer_id", "producer_epoch", "other_epoch")}
    columns |= {"node": 7, "correlation_id": 7} | {name: f"a {name}" for name in TEXTS}
    model = by_logs([line(CLIENT, "10:00:09", kind, **columns) for kind in EventKind])
    for row, kind in enumerate(EventKind):
        words = event_words()[kind]
        assert words.phrase
        begins = {
            EventKind.failure: "a error",
            EventKind.produce_failed: "a api failed for good",
            EventKind.request_enqueued: "a request was answered a error and is made again",
        }
        assert event_ref(model, row).text.startswith(begins.get(kind, words.phrase))
        assert (":" in event_ref(model, row).text) == bool(words.columns)


def test_of_many_lines_the_first_and_the_last_are_places():
    model = by_logs([line(CLIENT, f"10:00:{second}", EventKind.abort_called) for second in range(10, 30)])
    assert [place.line for place in event_refs(model, range(20), 4)] == [10, 20, 30, 200]
    assert [place.line for place in event_refs(model, [3, 3, 1])] == [40, 20]


def test_clients_and_failures_in_words():
    client = (
        Client(path=CLIENT).start("10:00:00").threw("10:00:09", "commitTransaction", FENCED, "", wrapped=ERROR_STATE)
    )
    model = by_logs(client.said)
    (made,) = model.logs.clients
    assert format(client_name(made), "") == "the producer of orders-1"
    assert (
        failure_phrase(made.failures[0]) == "commitTransaction threw KafkaException because of ProducerFencedException"
    )
    seen = client_seen(model, made)
    actor = seen.words.said(seen.facts)
    assert actor.name == "P"
    for part in ("transactional.id orders-1", "kafka-clients 3.9.1", "producer id 7 epoch 0", CLIENT, "10:00:09.000"):
        assert part in actor.what
    nameless = by_logs([line(CLIENT, None, EventKind.failure, error=FENCED, level=Level.error)])
    assert ["not named" in format(client_name(one), "") for one in nameless.logs.clients] == [True]
