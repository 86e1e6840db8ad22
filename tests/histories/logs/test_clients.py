"""Clients rebuilt from lines: who wrote them, where one life ends and the next begins, what failed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.histories.logs.failures import category_of
from kafkatx.terms.events import EventKind, Level
from tests.histories.log_facts import (
    ERRORS,
    FENCED,
    INVALID_EPOCH,
    KAFKA_EXCEPTION,
    TIMED_OUT,
    facts,
    line,
    log_story,
    settings,
)

APP = "client-app.log"
NETWORK = "kafka-producer-network-thread | "


def clients_of(*lines, blocks=()):
    return log_story(facts(lines, blocks=blocks)).clients


def context(name: str) -> dict[str, str]:
    return {"client_id": f"client-{name}", "transactional_id": name}


def start(at, name, thread="main", path=APP):
    return line(path, at, EventKind.client_started, thread=thread, **context(name))


def first_init(at, name, path=APP):
    return line(path, at, EventKind.init_called, thread="main", **context(name))


def given_id(at, name, producer_id, epoch, path=APP):
    thread = f"{NETWORK}client-{name}"
    return line(
        path,
        at,
        EventKind.producer_id_set,
        thread=thread,
        producer_id=producer_id,
        producer_epoch=epoch,
        **context(name),
    )


def closing(at, name):
    return line(APP, at, EventKind.client_closing, thread="main", number=30_000, **context(name))


def failed(at, thrown, **columns):
    """An application's own line: it names no client."""
    columns = {"thread": "main", "level": Level.error} | columns
    return line(APP, at, EventKind.failure, thrown=thrown, **columns)


@given(st.data())
def test_interleaved_clients_are_told_apart(data):
    """Lines of three clients in any order that keeps each one's own."""
    scripts = {
        name: [
            start("10:00:00", name, thread=f"worker-{name}"),
            given_id("10:00:01", name, number, 0),
            line(APP, "10:00:02", EventKind.abort_called, thread=f"worker-{name}", **context(name)),
            failed("10:00:03", [KAFKA_EXCEPTION, FENCED], thread=f"worker-{name}"),
        ]
        for number, name in enumerate(("a", "b", "c"))
    }
    order = data.draw(st.permutations([name for name, lines in scripts.items() for _ in lines]))
    queues = {name: iter(lines) for name, lines in scripts.items()}
    found = clients_of(*(next(queues[name]) for name in order))
    assert sorted(client.transactional_id for client in found) == ["a", "b", "c"]
    for client in found:
        assert len(client.rows) == 4
        assert client.client_id == f"client-{client.transactional_id}"
        assert client.producer_ids == {"abc".index(client.transactional_id)}
        assert [failure.exception for failure in client.failures] == [FENCED]


def test_a_client_that_starts_again_in_the_same_file_is_a_second_instance():
    first, second = clients_of(
        start("10:00:00", "orders"),
        first_init("10:00:00.1", "orders"),
        given_id("10:00:01", "orders", 7, 0),
        start("10:05:00", "orders"),
        first_init("10:05:00.1", "orders"),
        given_id("10:05:01", "orders", 7, 1),
    )
    assert [one.producer_epoch for one in first.initialisations] == [0]
    assert [one.producer_epoch for one in second.initialisations] == [1]
    assert first.number != second.number
    assert first.has_start
    assert second.has_start


def test_a_first_init_after_a_producer_id_is_a_new_life_even_where_its_making_was_not_logged():
    first, second = clients_of(
        first_init("10:00:00", "orders"),
        given_id("10:00:01", "orders", 7, 0),
        first_init("10:05:00", "orders"),
        given_id("10:05:01", "orders", 7, 1),
    )
    assert (first.until, second.since) == (first.initialisations[0].at, first.since + 300_000)


def test_a_bump_of_its_own_epoch_is_the_same_life():
    (client,) = clients_of(
        first_init("10:00:00", "orders"),
        given_id("10:00:01", "orders", 7, 0),
        line(APP, "10:00:02", EventKind.init_bump, producer_id=7, producer_epoch=0, **context("orders")),
        given_id("10:00:03", "orders", 7, 1),
    )
    assert [one.producer_epoch for one in client.initialisations] == [0, 1]


def test_what_is_printed_while_closing_belongs_to_the_life_that_closes():
    first, second = clients_of(
        start("10:00:00", "orders"),
        given_id("10:00:01", "orders", 7, 0),
        closing("10:00:05", "orders"),
        line(APP, "10:00:05.1", EventKind.abort_on_close, thread=f"{NETWORK}client-orders", **context("orders")),
        given_id("10:00:09", "orders", 7, 1),
    )
    assert first.closed_at == first.since + 5_000
    assert len(first.rows) == 4
    assert second.closed_at is None


def test_a_refusal_that_names_the_old_epoch_belongs_to_the_older_of_two_living_producers():
    """Two producers of one JVM with one client.id: the second took the id over, the first is refused."""
    refused = "Producer with transactionalId 'orders' and ProducerIdAndEpoch(producerId=7, epoch=0) has been fenced"
    first, second = clients_of(
        start("10:00:00", "orders"),
        given_id("10:00:01", "orders", 7, 0),
        start("10:00:05", "orders"),
        given_id("10:00:06", "orders", 7, 2),
        failed("10:00:07", [(FENCED, refused)]),
    )
    assert [failure.exception for failure in first.failures] == [FENCED]
    assert not second.failures


def test_a_line_of_the_thread_that_made_the_first_of_two_living_producers_is_its():
    first, second = clients_of(
        start("10:00:00", "orders", thread="worker-1"),
        given_id("10:00:01", "orders", 7, 0),
        start("10:00:05", "orders", thread="worker-2"),
        given_id("10:00:06", "orders", 7, 2),
        failed("10:00:07", [KAFKA_EXCEPTION, FENCED], thread="worker-1", **context("orders")),
        failed("10:00:09", [TIMED_OUT], thread="worker-2", **context("orders")),
    )
    assert [failure.exception for failure in first.failures] == [FENCED]
    assert [failure.exception for failure in second.failures] == [TIMED_OUT]


def test_0_11_is_put_together_from_the_id_in_brackets_and_the_names_of_threads():
    """[TransactionalId X] names no client.id; the application names nothing; the block names the id."""
    config = line(APP, "10:00:00", EventKind.config_values, detail="ProducerConfig", thread="main")
    (client,) = clients_of(
        config,
        line(APP, "10:00:00.1", EventKind.client_started, thread="main"),
        line(APP, "10:00:00.2", EventKind.client_release, detail="0.11.0.3", thread="main"),
        line(APP, "10:00:01", EventKind.producer_id_set, thread="main", transactional_id="ledger", producer_id=-1),
        line(
            APP,
            "10:00:02",
            EventKind.producer_id_set,
            thread=f"{NETWORK}producer-1",
            transactional_id="ledger",
            producer_id=2,
            producer_epoch=0,
        ),
        failed("10:00:12", [FENCED], thread=f"{NETWORK}producer-1"),
        failed("10:00:12.1", [KAFKA_EXCEPTION, FENCED]),
        blocks=[settings(APP, "producer", {"transactional.id": "ledger", "client.id": ""}, at_line=11)],
    )
    assert (client.client_id, client.transactional_id, client.release) == ("producer-1", "ledger", (0, 11, 0, 3))
    assert [one.producer_id for one in client.initialisations] == [2]
    assert [setting.name for setting in client.settings] == ["transactional.id", "client.id"]
    assert client.has_start
    assert len(client.failures) == 1
    assert len(client.failures[0].rows) == 2


def test_the_application_and_the_network_thread_tell_of_one_failure():
    """Its name is the cause's, though the application saw a wrapper."""
    (client,) = clients_of(
        start("10:00:00", "orders"),
        line(APP, "10:00:05", EventKind.to_fatal, error=FENCED, detail="There is a newer", **context("orders")),
        failed("10:00:05.1", [KAFKA_EXCEPTION, (FENCED, "There is a newer producer")], calls=("commitTransaction",)),
        failed("10:00:05.2", [KAFKA_EXCEPTION, FENCED], level=Level.warn),
    )
    (failure,) = client.failures
    assert failure.exception == FENCED
    assert failure.outer == KAFKA_EXCEPTION
    assert (failure.call, failure.category, failure.level) == ("commitTransaction", "fatal", Level.error)
    assert len(failure.rows) == 3


def test_the_abort_that_a_fatal_error_refuses_is_another_failure_than_the_commit_before():
    (client,) = clients_of(
        start("10:00:00", "orders"),
        failed("10:00:05", [KAFKA_EXCEPTION, FENCED], calls=("commitTransaction",)),
        failed("10:00:05.1", [KAFKA_EXCEPTION, FENCED], calls=("TransactionManager.beginAbort", "abortTransaction")),
    )
    assert [failure.call for failure in client.failures] == ["commitTransaction", "abortTransaction"]


def test_one_exception_under_two_names_is_one_failure_by_the_name_that_means_something():
    """confluent-kafka shows KafkaError, librdkafka beneath it _FENCED, in the same words."""
    words = "Failed to end transaction: Local: This instance has been fenced by a newer instance"
    names = {"client_id": "rdkafka#producer-1", "transactional_id": "orders"}
    (client,) = clients_of(
        line(APP, "10:00:00", EventKind.client_started, **names),
        line(
            APP, "10:00:05", EventKind.failure, thrown=[("KafkaError", words)], calls=("commit_transaction",), **names
        ),
        line(APP, "10:00:05", EventKind.failure, error="_FENCED", detail=words, api="commit_transaction", **names),
    )
    (failure,) = client.failures
    assert (failure.exception, failure.category, failure.call) == ("_FENCED", "fatal", "commitTransaction")
    assert len(failure.rows) == 2


def test_the_same_exception_minutes_later_is_another_failure():
    (client,) = clients_of(
        start("10:00:00", "orders"),
        failed("10:00:05", [FENCED]),
        failed("10:03:05", [FENCED]),
    )
    assert len(client.failures) == 2


def test_a_nameless_line_that_fits_two_producers_is_nobodys():
    both = clients_of(
        start("10:00:00", "a"),
        start("10:00:00", "b"),
        failed("10:00:05", [TIMED_OUT], thread="pool-1"),
    )
    assert [client.failures for client in both] == [(), ()]


def test_a_nameless_line_goes_with_the_only_client_that_tells_of_the_same():
    a, b = clients_of(
        start("10:00:00", "a"),
        start("10:00:00", "b"),
        line(APP, "10:00:05", EventKind.to_fatal, error=FENCED, thread=f"{NETWORK}client-b", **context("b")),
        failed("10:00:05.3", [KAFKA_EXCEPTION, FENCED], thread="pool-1"),
    )
    assert not a.failures
    assert [len(failure.rows) for failure in b.failures] == [2]


def test_an_id_in_the_text_of_an_exception_names_the_client():
    a, b = clients_of(
        start("10:00:00", "a"),
        start("10:00:00", "b"),
        failed(
            "10:00:05",
            [("java.lang.IllegalStateException", "TransactionalId b: Invalid transition attempted from state X to Y")],
            thread="pool-1",
        ),
    )
    assert (len(a.failures), len(b.failures)) == (0, 1)


def test_a_stack_trace_alone_is_one_nameless_clients():
    (client,) = clients_of(failed("10:00:05", [KAFKA_EXCEPTION, FENCED], releases=("kafka-clients-2.2.0.jar",)))
    assert (client.client_id, client.transactional_id) == (None, None)
    assert client.release == (2, 2, 0)
    assert client.failures[0].category == "fatal"


def test_a_consumers_failure_is_not_the_producers():
    lost = f"{ERRORS}RebalanceInProgressException"
    producer, consumer = clients_of(
        start("10:00:00", "orders"),
        line(APP, "10:00:00", EventKind.rebalance, client_id="reader", group="readers", thread="main"),
        failed("10:00:05", [lost], calls=("poll",)),
        failed("10:00:06", [FENCED], calls=("commitTransaction",)),
    )
    assert [failure.exception for failure in consumer.failures] == [lost]
    assert [failure.exception for failure in producer.failures] == [FENCED]
    assert consumer.is_consumer


def test_flinks_brackets_are_not_believed():
    """Its sink gives one producer object id after id; the bracket keeps the first."""
    (client,) = clients_of(
        start("10:00:00", "copy-sink-0-1"),
        given_id("10:00:01", "copy-sink-0-1", 3, 0),
        given_id("10:00:03", "copy-sink-0-1", 4, 0),
    )
    assert not client.owns_producer_ids
    (ordinary,) = clients_of(
        start("10:00:00", "orders"),
        given_id("10:00:01", "orders", 3, 0),
        given_id("10:00:03", "orders", 4, 0),
    )
    assert ordinary.owns_producer_ids, "expiry and exhaustion change producer ids too"


def test_settings_come_from_the_file_that_is_called_as_the_log():
    files = [
        settings("config/client-app.properties", "producer", {"transactional.id": "orders", "linger.ms": "5"}),
        settings("config/client-app-2.properties", "producer", {"transactional.id": "orders", "linger.ms": "9"}),
        settings("config/client-bills.properties", "producer", {"transactional.id": "bills", "linger.ms": "1"}),
    ]
    (client,) = clients_of(start("10:00:00", "orders"), blocks=files)
    assert {setting.name: setting.value for setting in client.settings}["linger.ms"] == "5"


@pytest.mark.parametrize(
    ("release", "name", "message", "category"),
    [
        ((2, 4, 1), f"{ERRORS}InvalidPidMappingException", "", "fatal"),
        ((3, 9, 1), f"{ERRORS}InvalidPidMappingException", "", "abortable"),
        ((4, 1, 0), f"{ERRORS}InvalidPidMappingException", "", "fatal"),
        ((), f"{ERRORS}InvalidPidMappingException", "", "unknown"),
        ((), FENCED, "", "fatal"),
        ((3, 9, 1), INVALID_EPOCH, "", "abortable"),
        ((), f"{ERRORS}InvalidTxnTimeoutException", "", "fatal"),
        ((3, 0), "java.io.IOException", "", "unknown"),
        (
            (2, 2, 0),
            KAFKA_EXCEPTION,
            "The client hasn't received acknowledgment for some previously sent messages and can no longer retry them. "
            "It isn't safe to continue.",
            "fatal",
        ),
        (
            (3, 9, 1),
            KAFKA_EXCEPTION,
            "The client hasn't received acknowledgment for some previously sent messages and can no longer retry them. "
            "It is safe to abort the transaction and continue.",
            "abortable",
        ),
    ],
)
def test_what_an_exception_means_depends_on_the_release(release, name, message, category):
    assert category_of("java", release, name, message) == category


def test_a_client_that_prints_no_transactional_id_has_the_one_its_producer_id_was_given_to():
    """librdkafka; the broker's log names the id."""
    bare = {"client_id": "rdkafka#producer-1", "producer_id": 7, "producer_epoch": 0}
    granted = {"transactional_id": "orders", "producer_id": 7, "producer_epoch": 0}
    (client,) = clients_of(
        line("broker-1/server.log", "10:00:01", EventKind.initialized, **granted),
        line(APP, "10:00:01.1", EventKind.producer_id_set, **bare),
    )
    assert client.transactional_id == "orders"
    (stranger,) = clients_of(
        line("broker-1/server.log", "10:00:01", EventKind.initialized, **granted),
        line(APP, "10:00:00", EventKind.producer_id_set, **bare | {"producer_id": 8}),
        line(APP, "12:06:40", EventKind.producer_id_set, **bare),
        line(APP, "12:06:41", EventKind.producer_id_set, **bare | {"producer_id": 9}),
    )
    assert stranger.transactional_id is None, "two hours later it is the producer id of another cluster"


def test_a_bracket_that_names_another_id_than_the_coordinator_is_not_believed():
    granted = {"transactional_id": "copy-sink-0-3", "producer_id": 4, "producer_epoch": 0}
    (client,) = clients_of(
        line("broker-1/server.log", "10:00:01", EventKind.initialized, **granted),
        given_id("10:00:01.1", "copy-sink-0-1", 4, 0),
    )
    assert not client.owns_producer_ids
    assert client.transactional_id == "copy-sink-0-1"


def broker_knows(name):
    return line("server.log", "09:59:00", EventKind.initialized, transactional_id=name, producer_id=7, producer_epoch=0)


def test_kafkas_own_name_of_a_producer_tells_its_id_where_that_is_known():
    """A log at WARN names nothing else: no context, only threads."""
    refused = failed("10:00:00", FENCED, thread=f"{NETWORK}producer-orders-1")
    assert [client.transactional_id for client in clients_of(refused)] == [None]
    known = [client for client in clients_of(broker_knows("orders-1"), refused) if client.client_id]
    assert [(client.client_id, client.transactional_id) for client in known] == [("producer-orders-1", "orders-1")]


def test_producers_that_are_only_numbered_have_no_id():
    refused = failed("10:00:00", FENCED, thread=f"{NETWORK}producer-1")
    assert [client.transactional_id for client in clients_of(broker_knows("1"), refused)] == [None]


def test_an_id_in_an_exception_names_the_failure_before_it_too():
    """The commit's words name nobody, those of the abort do; brokers know the id as well."""
    named = (FENCED, "Producer with transactionalId 'orders-1' and (producerId=7, epoch=0) has been fenced")
    lines = [broker_knows("orders-1"), failed("10:00:00", FENCED), failed("10:00:01", [named])]
    (client,) = (one for one in clients_of(*lines) if one.rows)
    assert (client.transactional_id, len(client.rows)) == ("orders-1", 2)
