"""fenced_by_group_generation: the client's words, the consumer's reasons, the pattern on disk, and what is not it."""

from pathlib import Path

import pytest

from kafkatx.terms.events import EventKind, Level
from kafkatx.terms.verdicts import Severity, Verdict
from tests.histories.log_facts import ERRORS, FENCED, line
from tests.rules.cluster import SECOND, Cluster
from tests.rules.log_told import CLIENT, ERROR_STATE, Client, beside, by_logs, findings, only, rule

check = rule("fenced_by_group_generation")

COMMIT_FAILED = "org.apache.kafka.clients.consumer.CommitFailedException"
MISMATCH = (
    "Transaction offset Commit failed due to consumer group metadata mismatch: The coordinator is not aware of this "
    "member."
)
OFFSETS = "sendOffsetsToTransaction"


def refused(client: Client, at: str) -> Client:
    client.abortable(f"{at}.000", COMMIT_FAILED, MISMATCH).threw(f"{at}.001", OFFSETS, COMMIT_FAILED, MISMATCH)
    client.threw(f"{at}.100", "commitTransaction", COMMIT_FAILED, MISMATCH, wrapped=ERROR_STATE)
    return client.aborts(f"{at}.200")


def test_the_clients_words_prove_it_and_the_late_poll_is_its_reason():
    client = Client().start("10:00:00")
    client.say("10:00:30", EventKind.poll_timeout, transactional_id=None, client_id="consumer-1", group="etl")
    found = only(check, by_logs(refused(client, "10:00:40").said))
    assert (found.verdict, found.severity, found.count) == (Verdict.proved, Severity.warning, 1)
    assert (found.transactional_id, found.producer_id) == ("orders-1", 7)
    assert [step.text for step in found.steps] == [
        "The consumer polled too late and left its group",
        "The group coordinator refused the offsets of the transaction",
        "P aborted the transaction and can go on under its epoch: the error is abortable",
    ]
    assert {other.rule for other in found.considered} == {"fenced_by_new_instance", "transaction_timed_out"}
    assert all(remedy.config is None for remedy in found.remedies)  # nothing tells the interval
    assert "max.poll.interval.ms" in found.remedies[-1].text


@pytest.mark.parametrize(
    ("call", "exception"),
    [(OFFSETS, f"{ERRORS}FencedInstanceIdException"), (OFFSETS, f"{ERRORS}UnknownMemberIdException")],
)
def test_other_refusals_of_the_member_are_the_same(call, exception):
    client = Client().start("10:00:00").threw("10:00:40", call, exception, "rejected this static consumer")
    found = only(check, by_logs(client.said))
    assert found.verdict is Verdict.proved
    assert found.remedies[0].text.startswith("Abort the transaction")
    assert found.remedies[-1].config == "group.instance.id"


def test_librdkafka_says_it_in_its_own_words():
    client = Client(logger="rdkafka").start("10:00:00")
    said = "Failed to commit offsets to transaction on broker: Broker: Unknown member (UNKNOWN_MEMBER_ID)"
    client.say("10:00:40", EventKind.failure, error="UNKNOWN_MEMBER_ID", detail=said)
    assert only(check, by_logs(client.said)).verdict is Verdict.proved


@pytest.mark.parametrize(("minutes", "severity"), [(10, Severity.warning), (25, Severity.info)])
def test_more_than_three_an_hour_are_a_warning(minutes, severity):
    client = Client().start("10:00:00")
    for count in range(1, 6):
        at = count * minutes
        refused(client, f"{10 + at // 60}:{at % 60:02}:00")
    found = only(check, by_logs(client.said))
    assert (found.severity, found.count, len(found.subjects)) == (severity, 5, 3)


def test_a_producer_that_is_fenced_is_not_it():
    client = Client().start("10:00:00").threw("10:00:40", OFFSETS, FENCED, "There is a newer producer")
    assert not findings(check, by_logs(client.said))


def test_a_consumers_own_commit_has_no_transaction():
    said = "Commit cannot be completed since the group has already rebalanced"
    client = Client().start("10:00:00").threw("10:00:40", "commitSync", COMMIT_FAILED, said)
    assert not findings(check, by_logs(client.said))


def test_a_rebalance_alone_refuses_nothing():
    plain = line(CLIENT, "10:00:30", EventKind.rebalance, level=Level.info, detail="revoked", group="etl")
    assert not findings(check, by_logs([*Client().start("10:00:00").said, plain]))


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    made = Cluster(tmp_path)
    made.init("orders-1")
    made.log("__consumer_offsets-0")
    made.wait(SECOND)
    return made


def test_on_disk_an_aborted_transaction_without_its_offsets_is_a_guess(cluster):
    cluster.ongoing("orders-1", "orders-0", "__consumer_offsets-0")
    cluster.data("orders-1", "orders-0")
    cluster.abort("orders-1")
    found = only(check, beside(cluster, []))
    assert (found.verdict, found.severity, found.transactional_id) == (Verdict.possible, Severity.info, "orders-1")


def test_an_abort_by_choice_after_the_offsets_is_not_it(cluster):
    cluster.begin("orders-1", "orders-0", "__consumer_offsets-0")
    cluster.abort("orders-1")
    assert not findings(check, beside(cluster, []))


def test_a_clients_log_that_says_nothing_of_it_leaves_no_guess(cluster):
    cluster.ongoing("orders-1", "orders-0", "__consumer_offsets-0")
    cluster.data("orders-1", "orders-0")
    cluster.abort("orders-1")
    assert not findings(check, beside(cluster, Client().start("10:00:00").said))


def test_a_task_of_streams_that_moved_on_has_no_transaction_to_abort():
    said = "Offset commit cannot be completed since the consumer is not part of an active group"
    wrapped = "Client request for task 0_1 has been fenced due to a rebalance"
    chain = (("org.apache.kafka.streams.errors.TaskMigratedException", wrapped), (COMMIT_FAILED, said))
    migrated = line(CLIENT, "10:00:40", EventKind.failure, level=Level.warn, error=COMMIT_FAILED, thrown=chain)
    found = only(check, by_logs([migrated]))
    assert (found.verdict, found.severity) == (Verdict.proved, Severity.info)
    assert "Kafka Streams gave its tasks up" in found.summary
    assert "transaction" not in found.steps[-1].text
