"""silent_failure: exceptions below WARN, closes and forgotten commits without a word, and aborts that were told."""

from pathlib import Path

import pytest

from kafkatx.findings.finding import NotCheckable
from kafkatx.terms.events import EventKind, Level
from kafkatx.terms.verdicts import Severity, Verdict
from tests.histories.log_facts import ERRORS, FENCED, Line, facts, source
from tests.rules.cluster import MINUTE, SECOND, Cluster
from tests.rules.log_told import CLIENT, ERROR_STATE, Client, beside, by_logs, findings, only, rule

check = rule("silent_failure")

TOO_LARGE = f"{ERRORS}RecordTooLargeException"
PLAIN = "java.lang.IllegalArgumentException"


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    """An id that has committed, and a transaction of it with three records."""
    made = Cluster(tmp_path)
    made.init("orders-1")
    made.run("orders-1", "orders-0")
    made.wait(20 * SECOND)
    made.begin("orders-1", "orders-0", records=3)
    return made


def started(cluster: Cluster, release: str = "3.9.1") -> Client:
    """The id's client, given its producer id when the cluster gave it."""
    row = cluster.ids["orders-1"]
    return Client(release=release).start(cluster.clock - 20 * SECOND - 20, row.producer_id)


def told(cluster: Cluster, said: list[Line], last: int | None = None) -> list:
    """What the rule says; the client's log goes on until `last`."""
    end = cluster.clock + MINUTE if last is None else last
    return list(check(beside(cluster, facts(said, [source(CLIENT, last=end)]))))


def test_exceptions_below_warn_prove_it(cluster):
    client = started(cluster)
    client.threw(cluster.clock, "send", TOO_LARGE, "The message is 4089 bytes", level=Level.info)
    client.threw(
        cluster.clock + 1, "commitTransaction", TOO_LARGE, "The message", wrapped=ERROR_STATE, level=Level.info
    )
    client.aborts(cluster.clock + 2)
    cluster.wait(3)
    cluster.abort("orders-1")
    (found,) = told(cluster, client.said)
    assert (found.verdict, found.severity, found.count) == (Verdict.proved, Severity.error, 1)
    assert (found.transactional_id, found.topic, found.partition) == ("orders-1", "orders", 0)
    assert (found.last_offset - found.first_offset, "3 records" in found.summary) == (2, True)
    assert "an intended rollback" in {other.rule for other in found.considered}


def test_a_close_that_aborts_without_a_word_is_likely(cluster):
    client = started(cluster).say(cluster.clock, EventKind.client_closing)
    client.say(cluster.clock + 1, EventKind.abort_on_close, thread="kafka-producer-network-thread | producer-orders-1")
    cluster.wait(3)
    cluster.abort("orders-1")
    (found,) = told(cluster, client.said, cluster.clock)
    assert (found.verdict, found.severity) == (Verdict.likely, Severity.error)
    assert "close() aborted" in found.steps[-1].text


def test_a_commit_that_was_forgotten_until_the_timeout_is_likely(cluster):
    client = started(cluster)
    cluster.time_out("orders-1")
    (found,) = told(cluster, client.said)
    assert (found.verdict, "no warning" in found.steps[-1].text) == (Verdict.likely, True)


def test_aborts_of_one_id_are_one_finding(cluster):
    client = started(cluster)
    for count in range(4):
        client.threw(cluster.clock, "send", TOO_LARGE, "The message is 4089 bytes", level=Level.info)
        client.aborts(cluster.clock + 1)
        cluster.wait(2)
        cluster.abort("orders-1")
        if count < 3:
            cluster.wait(30 * SECOND)
            cluster.begin("orders-1", "orders-0", records=3)
    (found,) = told(cluster, client.said)
    assert (found.count, len(found.subjects)) == (4, 3)


@pytest.mark.parametrize("level", [Level.warn, Level.error])
def test_a_failure_that_was_told_is_not_silent(cluster, level):
    client = started(cluster).threw(cluster.clock, "commitTransaction", TOO_LARGE, "too large", level=level)
    client.aborts(cluster.clock + 2)
    cluster.wait(3)
    cluster.abort("orders-1")
    assert not told(cluster, client.said)


def test_a_line_of_the_application_that_names_no_client_tells_it_too(cluster):
    client = started(cluster)
    unnamed = {"transactional_id": None, "client_id": None, "thread": "worker-9"}
    client.say(cluster.clock, EventKind.failure, level=Level.error, error=PLAIN, thrown=PLAIN, **unnamed)
    client.say(cluster.clock, EventKind.abort_on_close)
    cluster.abort("orders-1")
    assert not told(cluster, client.said)


def test_a_timeout_that_the_client_meets_at_its_next_call_is_not_silent(cluster):
    client = started(cluster)
    cluster.time_out("orders-1")
    client.threw(cluster.clock + MINUTE, "commitTransaction", FENCED, "There is a newer producer")
    assert not told(cluster, client.said, cluster.clock + 2 * MINUTE)


def test_an_abort_by_choice_is_intended(cluster):
    client = started(cluster).aborts(cluster.clock)
    cluster.abort("orders-1")
    assert not told(cluster, client.said)


def test_a_client_that_logs_no_aborts_can_have_wanted_it(cluster):
    client = started(cluster, "2.5.1")
    cluster.abort("orders-1")
    assert not told(cluster, client.said)


def test_a_process_that_died_is_not_silent(cluster):
    client, died = started(cluster), cluster.clock
    cluster.time_out("orders-1")
    assert not told(cluster, client.said, died)


def test_a_process_that_died_and_was_started_again_in_the_same_log_is_not_silent(cluster):
    client, died = started(cluster), cluster.clock
    cluster.time_out("orders-1")
    restarted = died + 2 * MINUTE
    again = [*client.said, *Client().start(restarted, cluster.ids["orders-1"].producer_id, 2).said]
    assert not told(cluster, again, restarted + SECOND)


def test_a_process_of_which_another_producer_goes_on_is_silent_though_the_id_is_started_again(cluster):
    client, wrote = started(cluster), cluster.clock
    other = Client("other-1").start(wrote - 20 * SECOND, 8, 0).aborts(wrote + 5 * MINUTE)
    cluster.time_out("orders-1")
    again = Client().start(wrote + 2 * MINUTE, cluster.ids["orders-1"].producer_id, 2)
    (found,) = told(cluster, sorted((*client.said, *other.said, *again.said), key=lambda one: one.at))
    assert found.verdict is Verdict.likely


def test_a_transaction_that_the_next_instance_took_over_is_done_again(cluster):
    client = started(cluster)
    cluster.wait(SECOND)
    cluster.init("orders-1")
    assert not told(cluster, client.said)


def test_a_framework_processes_again(tmp_path):
    name = "ledger-0f44002f-18c4-47dc-9161-0f0105243615-1"
    made = Cluster(tmp_path)
    made.init(name, timeout_ms=10 * SECOND)
    client = Client(name).start(made.clock, made.ids[name].producer_id)
    made.begin(name, "orders-0")
    made.time_out(name)
    assert not told(made, client.said)


def test_an_earlier_instance_owns_its_transaction(cluster):
    first = started(cluster).aborts(cluster.clock)
    cluster.abort("orders-1")
    cluster.wait(2 * SECOND)
    cluster.init("orders-1")
    second = Client(path="a.log").start(cluster.clock, cluster.ids["orders-1"].producer_id, 1)
    cluster.wait(MINUTE)
    assert not told(cluster, second.said + first.said)


def test_an_id_without_any_log_is_not_checkable_where_others_have_one(cluster):
    cluster.abort("orders-1")
    other = Client("payments-1", path="payments.log").start(cluster.clock)
    (missing,) = check(beside(cluster, other.said))
    assert isinstance(missing, NotCheckable)
    assert ("orders-1" in missing.scope, "log of their client" in missing.missing) == (True, True)


def test_without_rows_a_commit_that_threw_at_info_is_proved_and_one_at_error_is_not_it():
    for level, expected in ((Level.info, 1), (Level.error, 0)):
        client = Client(release="2.2.0").start("10:00:00")
        client.threw("10:00:09", "abortTransaction", FENCED, "old epoch", wrapped=ERROR_STATE, level=level)
        assert len(findings(check, by_logs(client.said))) == expected


def test_retries_at_warn_do_not_tell_of_a_lost_transaction():
    client = Client(release="2.2.0").start("10:00:00")
    client.say("10:00:08", EventKind.produce_retry, level=Level.warn, error="REQUEST_TIMED_OUT", topic="t", partition=0)
    client.threw("10:00:09", "abortTransaction", FENCED, "old epoch", wrapped=ERROR_STATE, level=Level.info)
    found = only(check, by_logs(client.said))
    assert (found.verdict, "abortTransaction" in found.summary) == (Verdict.proved, True)
