"""Where outages begin: with the first answer that was lacked, as far as lines show that it was."""

import pytest

from kafkatx.histories.logs.broker_outages import BrokerOutage, outages
from kafkatx.terms.events import EventKind as Kind
from kafkatx.terms.events import Level
from tests.histories.log_facts import facts, line, milliseconds, settings, source
from tests.rules.log_told import by_logs

SERVER = "broker-1/server.log"
CANNOT_ASK = "Unable to verify the partition has been added to the transaction. Underlying error: NOT_COORDINATOR"
PATIENT = settings("producer.properties", "producer", {"transactional.id": "TID", "request.timeout.ms": "20000"})


def told(lines, *blocks) -> tuple[BrokerOutage, ...]:
    return outages(by_logs(facts(lines, [source(SERVER, broker_id=1)], blocks)).logs)


def failing(path, *times):
    """Connections to broker 3 that could not be made."""
    return [line(path, at, Kind.connection_failed, node=3, detail="10.0.0.1:9092") for at in times]


def retried(error, *times, detail=None):
    """A producer that tries one batch again, and works on a minute later."""
    who = {"transactional_id": "TID", "client_id": "p"}
    lines = [
        line("app.log", at, Kind.produce_retry, topic="T", partition=0, error=error, detail=detail, **who)
        for at in times
    ]
    return [*lines, line("app.log", "10:02:00", Kind.commit_called, **who)]


def test_a_leader_that_could_not_ask_the_coordinator_waited_for_no_follower():
    """KIP-890: it answers at once, and its replicas are in sync."""
    lines = retried("NOT_ENOUGH_REPLICAS", "10:00:40", "10:00:42", detail=CANNOT_ASK)
    assert not told(lines, PATIENT)
    assert told(retried("NOT_ENOUGH_REPLICAS", "10:00:40", "10:00:42"), PATIENT)


@pytest.mark.parametrize(
    ("error", "begin"),
    [
        ("REQUEST_TIMED_OUT", "10:00:20"),
        ("NOT_ENOUGH_REPLICAS", "10:00:40"),
        ("NOT_ENOUGH_REPLICAS_AFTER_APPEND", "10:00:40"),
        ("NETWORK_EXCEPTION", "10:00:40"),
    ],
)
def test_only_an_answer_that_had_to_wait_moves_the_start_back(error, begin):
    (outage,) = told(retried(error, "10:00:40", "10:00:42"), PATIENT)
    assert outage.since == milliseconds(begin)


def test_losses_one_request_timeout_apart_are_requests_that_ran_out_of_time():
    """To 3.2 clients print NETWORK_EXCEPTION for these too."""
    (outage,) = told(retried("NETWORK_EXCEPTION", "10:00:40", "10:01:00.100"), PATIENT)
    assert outage.since == milliseconds("10:00:20")


@pytest.mark.parametrize(("waited", "begin"), [(475, "10:00:10"), (900, "10:00:10"), (2_500, "10:00:08")])
def test_a_fetch_lacks_its_answer_from_when_it_was_due(waited, begin):
    """Followers fetch all the time, and each fetch may stay for replica.fetch.wait.max.ms (500 ms)."""
    lines = [line(SERVER, "10:00:10", Kind.request_cancelled, node=3, api="FETCH", number=waited)]
    (outage,) = told([*lines, *failing(SERVER, "10:00:12", "10:00:14")])
    assert outage.since == milliseconds(begin)


def test_a_reader_with_a_long_poll_lacked_nothing():
    lines = [line("app.log", "10:00:10", Kind.request_cancelled, node=3, api="FETCH", number=9_000)]
    lines += failing("app.log", "10:00:12", "10:00:14")
    config = settings("consumer.properties", "consumer", {"fetch.max.wait.ms": "10000"})
    assert [outage.since for outage in told(lines, config)] == [milliseconds("10:00:10")]


@pytest.mark.parametrize(("waited", "begin"), [(8_000, "10:00:40"), (30_000, "10:00:10")])
def test_a_write_that_was_lost_with_its_connection_may_have_waited_for_others(waited, begin):
    lines = [line("app.log", "10:00:40", Kind.request_cancelled, node=3, api="END_TXN", number=waited)]
    (outage,) = told([*lines, *failing("app.log", "10:00:41", "10:00:43")])
    assert outage.since == milliseconds(begin)


def started(path, second, *failed, then=Kind.coordinator_found, **columns):
    """A client's start, connections that it could not make yet, and what came of it two seconds after the last."""
    who = {"transactional_id": path, "client_id": path}
    yield line(path, f"10:00:{second:02d}", Kind.client_release, detail="2.16.0", **who)
    yield line(path, f"10:00:{second:02d}", Kind.init_called, **who)
    for at in failed:
        yield line(path, f"10:00:{at:02d}", Kind.connection_failed, **who)
    if then is not None:
        yield line(path, f"10:00:{max(failed) + 2:02d}", then, **who, **columns)


def test_clients_that_start_one_after_the_other_have_lost_nothing():
    """Each is connected soon after; their starts are no stretch of one outage either."""
    starts = [line for number in range(6) for line in started(f"{number}.log", 2 * number, 2 * number, 2 * number + 1)]
    assert not told(starts)


def test_a_start_that_lasts_is_an_outage():
    (outage,) = told(started("app.log", 0, 1, 3, 6, 9))
    assert (outage.since, outage.until) == (milliseconds("10:00:01"), milliseconds("10:00:09"))


def test_a_start_that_is_given_up_is_an_outage():
    given_up = {"then": Kind.failure, "error": "_TIMED_OUT", "level": Level.error}
    assert told(started("app.log", 0, 1, 3, **given_up))
    assert not told(started("app.log", 0, 1, 3, then=None))


def test_a_client_that_was_connected_before_is_not_starting():
    lost = [line("app.log", at, Kind.connection_failed, client_id="app.log") for at in ("10:00:08", "10:00:10")]
    assert told([*started("app.log", 0, 1), *lost])
