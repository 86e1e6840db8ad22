"""unresolved_sequence: the fatal, the abortable and the idempotent form, and whether the batch is in the log."""

from pathlib import Path

import pytest

from kafkatx.terms.events import EventKind, Level
from kafkatx.terms.verdicts import Severity, Verdict
from tests.histories.log_facts import FENCED, KAFKA_EXCEPTION, TIMED_OUT
from tests.rules.cluster import SECOND, START, Cluster
from tests.rules.log_told import ERROR_STATE, Client, beside, by_logs, findings, only, rule

check = rule("unresolved_sequence")

LOST = "The client hasn't received acknowledgment for some previously sent messages and can no longer retry them."
UNSAFE, SAFE = f"{LOST} It isn't safe to continue.", f"{LOST} It is safe to abort the transaction and continue."


def gave_up(release: str = "2.4.1", producer_id: int = 7, at: int = START) -> Client:
    """A batch made 10 s after the start, retried twice, given up 8 s after it was made."""
    client = Client(release=release).start(at, producer_id)
    batch = {"topic": "orders", "partition": 0}
    for attempt, error in enumerate(("NETWORK_EXCEPTION", "REQUEST_TIMED_OUT")):
        left = 2_147_483_646 - attempt
        client.say(
            at + (12 + attempt) * SECOND, EventKind.produce_retry, level=Level.warn, error=error, number=left, **batch
        )
    return client.say(at + 18 * SECOND, EventKind.batch_expired, level=Level.error, number=8_000, offset=3, **batch)


def fatal() -> Client:
    return gave_up().threw(START + 19 * SECOND, "commitTransaction", KAFKA_EXCEPTION, UNSAFE, wrapped=ERROR_STATE)


def test_the_fatal_form_is_an_error_with_its_partition_and_retries():
    found = only(check, by_logs(fatal().said))
    assert (found.verdict, found.severity, found.count) == (Verdict.proved, Severity.error, 1)
    assert (found.transactional_id, found.producer_id, found.topic, found.partition) == ("orders-1", 7, "orders", 0)
    assert (found.since, found.until) == (START + 12 * SECOND, START + 19 * SECOND)
    assert "NETWORK_EXCEPTION, REQUEST_TIMED_OUT" in found.steps[0].text
    assert "2 of 2147483647 attempts" in found.steps[0].because
    assert "8 s after it was made" in found.steps[1].text
    assert any(remedy.proposed == "2.5" for remedy in found.remedies)


def test_the_abortable_form_is_a_warning_and_each_transaction_counts():
    client = gave_up("3.9.1")
    for second in (19, 40, 60):
        client.abortable(START + second * SECOND, KAFKA_EXCEPTION, SAFE)
        client.threw(START + (second + 1) * SECOND, "commitTransaction", KAFKA_EXCEPTION, SAFE, wrapped=ERROR_STATE)
        client.aborts(START + (second + 2) * SECOND)
    found = only(check, by_logs(client.said))
    assert (found.verdict, found.severity, found.count) == (Verdict.proved, Severity.warning, 3)
    assert not any(remedy.proposed == "2.5" for remedy in found.remedies)


def test_an_idempotent_producer_that_raises_its_epoch_is_named_by_client_and_producer_id():
    client = Client(None, client_id="telemetry").start("10:00:00", 1000)
    client.say("10:00:09", EventKind.idempotent_bump, topic="telemetry", partition=0, number=3, offset=7)
    client.given("10:00:09", 1000, 1)
    found = only(check, by_logs(client.said))
    assert (found.verdict, found.severity) == (Verdict.proved, Severity.warning)
    assert (found.transactional_id, found.producer_id, found.producer_epoch) == (None, 1000, 0)
    assert (found.topic, found.partition, "telemetry" in found.summary) == ("telemetry", 0, True)


def test_several_partitions_leave_the_columns_empty_and_are_named():
    client = gave_up()
    client.say(START + 18_100, EventKind.batch_expired, number=8_000, offset=1, topic="payments", partition=3)
    client.threw(START + 19 * SECOND, "commitTransaction", KAFKA_EXCEPTION, UNSAFE, wrapped=ERROR_STATE)
    found = only(check, by_logs(client.said))
    assert (found.topic, found.partition, "orders-0, payments-3" in found.summary) == (None, None, True)


@pytest.mark.parametrize("exception", [FENCED, TIMED_OUT])
def test_another_cause_behind_the_same_outer_text_is_not_it(exception):
    client = gave_up().threw(START + 19 * SECOND, "commitTransaction", exception, "an old epoch", wrapped=ERROR_STATE)
    assert not findings(check, by_logs(client.said))


def test_the_expiry_of_a_batch_that_was_never_sent_is_not_it():
    client = (
        Client().start("10:00:00").say("10:00:09", EventKind.batch_expired, topic="orders", partition=0, number=8_000)
    )
    client.abortable("10:00:09", TIMED_OUT, "Expiring 1 record(s) for orders-0:8000 ms has passed since batch creation")
    assert not findings(check, by_logs(client.said))


def test_batches_retried_until_they_were_acknowledged_are_not_it():
    client = Client().start("10:00:00")
    client.say("10:00:05", EventKind.produce_retry, topic="orders", partition=0, error="NETWORK_EXCEPTION", number=9)
    assert not findings(check, by_logs(client.said))


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    """An id in a transaction whose first record was acknowledged 5 s after the start."""
    made = Cluster(tmp_path)
    made.init("orders-1")
    made.wait(5 * SECOND)
    made.begin("orders-1", "orders-0")
    return made


def lines_of(cluster: Cluster) -> list:
    client = gave_up("3.9.1", cluster.ids["orders-1"].producer_id)
    return client.abortable(START + 19 * SECOND, KAFKA_EXCEPTION, SAFE).said


def test_a_batch_that_was_written_all_the_same_is_found(cluster):
    cluster.data("orders-1", "orders-0", 3, at=START + 10 * SECOND)
    cluster.clock = START + 20 * SECOND
    cluster.abort("orders-1")
    texts = [step.text for step in only(check, beside(cluster, lines_of(cluster))).steps]
    assert "The batch was written to orders-0 all the same" in texts
    assert "The client aborted the transaction itself" in texts


def test_a_batch_that_never_came_is_missing(cluster):
    cluster.clock = START + 80 * SECOND
    cluster.time_out("orders-1")
    cluster.beat()
    texts = [step.text for step in only(check, beside(cluster, lines_of(cluster))).steps]
    assert "The batch was not written to orders-0" in texts
    assert "The coordinator aborted the transaction at its timeout" in texts


def test_of_a_page_that_shows_the_stack_alone_the_fact_remains():
    client = Client(release="2.2.0").threw(None, "beginAbort", KAFKA_EXCEPTION, UNSAFE, wrapped=ERROR_STATE)
    found = only(check, by_logs(client.said))
    assert (found.verdict, found.topic, found.since) == (Verdict.proved, None, None)


@pytest.mark.parametrize(
    ("errors", "is_told"),
    [
        (("OUT_OF_ORDER_SEQUENCE_NUMBER",), False),
        (("OUT_OF_ORDER_SEQUENCE_NUMBER", "OUT_OF_ORDER_SEQUENCE_NUMBER"), False),
        (("NETWORK_EXCEPTION", "OUT_OF_ORDER_SEQUENCE_NUMBER"), True),
        (("REQUEST_TIMED_OUT",), True),
        ((), True),
    ],
)
def test_a_batch_that_the_leader_refused_each_time_was_answered(errors, is_told):
    client, batch = Client().start("10:00:00"), {"topic": "telemetry", "partition": 0}
    for number, error in enumerate(errors):
        client.say(f"10:00:0{number + 1}", EventKind.produce_retry, error=error, number=9, **batch)
    client.say("10:00:09", EventKind.idempotent_bump, number=3, offset=7, **batch)
    assert bool(findings(check, by_logs(client.said))) == is_told
