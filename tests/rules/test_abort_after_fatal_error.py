"""abort_after_fatal_error: fatal states by every wording, and errors to which an abort is the right answer."""

from pathlib import Path

import pytest

from kafkatx.terms.events import EventKind, Level
from kafkatx.terms.verdicts import Severity, Verdict
from tests.histories.log_facts import ERRORS, FENCED, INVALID_EPOCH, KAFKA_EXCEPTION, TIMED_OUT, line
from tests.rules.cluster import SECOND, START, Cluster
from tests.rules.log_told import ERROR_STATE, Client, beside, by_logs, findings, only, rule

check = rule("abort_after_fatal_error")

NEWER = "There is a newer producer with the same transactionalId which fences the current one."
AGAIN = (
    "Producer with transactionalId 'orders-1' and ProducerIdAndEpoch(producerId=7, epoch=0) has been fenced by another "
    "producer with the same transactionalId"
)
REJECTED = (
    "The producer has been rejected from the broker because it tried to use an old epoch with the transactionalId"
)
INVALID_STATE = f"{ERRORS}InvalidTxnStateException"
MAPPING = f"{ERRORS}InvalidPidMappingException"


def fenced_commit(release: str = "3.9.1") -> Client:
    client = Client(release=release).start("10:00:00")
    return client.threw("10:00:09", "commitTransaction", FENCED, NEWER)


@pytest.mark.parametrize(
    ("release", "outer", "cause", "message"),
    [
        ("2.2.2", ERROR_STATE, FENCED, "Producer attempted an operation with an old epoch."),
        (
            "0.11.0.1",
            ERROR_STATE,
            INVALID_STATE,
            "The producer attempted a transactional operation in an invalid state.",
        ),
        ("2.0.1", ERROR_STATE, MAPPING, "not currently assigned"),
        ("4.3.1", ERROR_STATE, INVALID_STATE, "The producer attempted a transactional operation in an invalid state."),
        ("2.7.2", None, FENCED, REJECTED),
        ("3.9.1", None, FENCED, AGAIN),
    ],
)
def test_an_abort_that_the_client_refuses_by_itself_is_proved(release, outer, cause, message):
    client = Client(release=release).start("10:00:00")
    client.threw("10:00:09", "commitTransaction", cause, message)
    client.threw("10:00:11", "abortTransaction", cause, message, wrapped=outer)
    found = only(check, by_logs(client.said))
    assert (found.verdict, found.severity, found.transactional_id) == (Verdict.proved, Severity.warning, "orders-1")
    assert (found.producer_id, found.producer_epoch, found.count) == (7, 0, 1)
    assert cause.rpartition(".")[2] in found.summary
    assert "commit_outcome_unknown" in {other.rule for other in found.considered}


def test_a_stack_through_begin_abort_is_an_abort():
    client = Client(release="2.2.0").start("10:00:00")
    client.threw("10:00:11", "TransactionManager.beginAbort", FENCED, "old epoch", wrapped=ERROR_STATE)
    assert only(check, by_logs(client.said)).verdict is Verdict.proved


def test_an_abort_that_begins_after_the_fatal_state_is_likely_whatever_it_throws():
    client = fenced_commit().fatal("10:00:09.001", FENCED, NEWER).aborts("10:00:12")
    client.threw("10:00:12.010", "abortTransaction", f"{ERRORS}AuthorizationException", "no")
    found = only(check, by_logs(client.said))
    assert (found.verdict, found.severity) == (Verdict.likely, Severity.warning)
    assert "probably dead" in found.summary


def test_a_producer_that_is_kept_is_an_error():
    client = fenced_commit()
    client.threw("10:00:11", "abortTransaction", FENCED, AGAIN)
    for second in range(12, 20):
        client.threw(f"10:00:{second}", "beginTransaction", FENCED, AGAIN)
        client.threw(f"10:00:{second}.5", "commitTransaction", FENCED, AGAIN)
    found = only(check, by_logs(client.said))
    assert found.severity is Severity.error
    assert "The application kept using it" in found.summary
    assert (found.since, found.until) != (None, None)


def test_the_same_error_in_many_lives_is_one_finding():
    client = Client()
    for minute in range(10, 15):
        client.start(f"10:{minute}:00", epoch=minute)
        client.threw(f"10:{minute}:09", "commitTransaction", FENCED, NEWER)
        client.threw(f"10:{minute}:11", "abortTransaction", FENCED, AGAIN)
        client.say(f"10:{minute}:12", EventKind.client_closing, number=0)
    found = only(check, by_logs(client.said))
    assert (found.count, len(found.subjects)) == (5, 3)


def test_a_framework_that_swallows_what_follows_is_told_as_information():
    name = "ledger-0f44002f-18c4-47dc-9161-0f0105243615-1"
    client = Client(name, client_id="ledger-0f44002f-18c4-47dc-9161-0f0105243615-StreamThread-1-producer")
    client.start("10:00:00").fatal("10:00:09", FENCED, NEWER).aborts("10:00:10")
    found = only(check, by_logs(client.said))
    assert (found.verdict, found.severity) == (Verdict.proved, Severity.info)  # the client tells its state itself
    assert [remedy.text[:24] for remedy in found.remedies] == ["Check that Kafka Streams"]


def test_an_abort_of_an_abortable_error_is_right_even_if_its_answer_is_fatal():
    client = Client(release="2.7.2").start("10:00:00")
    client.abortable("10:00:09", INVALID_EPOCH, "Producer attempted to produce with an old epoch.")
    client.threw("10:00:09.1", "commitTransaction", INVALID_EPOCH, "Producer attempted to produce with an old epoch.")
    client.aborts("10:00:11").fatal("10:00:11.010", FENCED, NEWER)
    client.threw("10:00:11.011", "abortTransaction", FENCED, NEWER)
    assert not findings(check, by_logs(client.said))


def test_a_commit_that_throws_after_an_abortable_error_is_not_it():
    client = Client().start("10:00:00").abortable("10:00:09", TIMED_OUT, "Expiring 1 record(s) for orders-0:4001 ms")
    client.threw("10:00:10", "commitTransaction", TIMED_OUT, "Expiring 1 record(s)", wrapped=ERROR_STATE)
    client.aborts("10:00:11")
    assert not findings(check, by_logs(client.said))


@pytest.mark.parametrize(
    ("exception", "message"),
    [
        (
            KAFKA_EXCEPTION,
            "TransactionalId orders-1: Invalid transition attempted from state COMMITTING_TRANSACTION to state "
            "ABORTING_TRANSACTION",
        ),
        (
            "java.lang.IllegalStateException",
            "Cannot attempt operation `abortTransaction` because the previous call to `commitTransaction` timed out "
            "and must be retried",
        ),
        (
            "java.lang.IllegalStateException",
            "TransactionalId orders-1: Invalid transition attempted from state READY to state ABORTING_TRANSACTION",
        ),
    ],
    ids=["commit_outcome_unknown-2.8", "commit_outcome_unknown-3.9", "shared_producer"],
)
def test_an_abort_refused_for_another_state_is_not_it(exception, message):
    client = Client().start("10:00:00")
    client.threw("10:00:09", "commitTransaction", TIMED_OUT, "Timeout expired after 3000ms while awaiting EndTxn(true)")
    client.aborts("10:00:09.1").threw("10:00:09.2", "abortTransaction", exception, message)
    assert not findings(check, by_logs(client.said))


def test_close_after_a_fatal_error_is_right():
    client = fenced_commit().say("10:00:10", EventKind.client_closing, number=0)
    assert not findings(check, by_logs(client.said))


def test_without_times_and_without_the_first_error_the_refused_abort_alone_proves_it():
    client = Client(release="2.2.0")
    client.threw(None, "abortTransaction", FENCED, "old epoch", wrapped=ERROR_STATE, level=Level.info)
    found = only(check, by_logs(client.said))
    assert (found.verdict, found.since, found.until) == (Verdict.proved, None, None)


def fenced(cluster: Cluster, epoch: int = 0) -> Client:
    """The client that began the open transaction of orders-1 and aborts it when it is fenced, a minute later."""
    client = Client().start(START, cluster.ids["orders-1"].producer_id, epoch)
    client.threw(cluster.clock + 60 * SECOND, "commitTransaction", FENCED, NEWER)
    return client.threw(cluster.clock + 61 * SECOND, "abortTransaction", FENCED, AGAIN)


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    made = Cluster(tmp_path)
    made.init("orders-1")
    made.begin("orders-1", "orders-0")
    return made


def test_records_show_who_aborted_the_transaction_before_its_client_tried_to(cluster):
    client = fenced(cluster)
    cluster.time_out("orders-1")
    found = only(check, beside(cluster, client.said))
    assert "The coordinator aborted the transaction at its timeout" in found.summary
    assert found.steps[-1].places
    assert "Send the aborted records again" in found.remedies[0].text
    assert "last committed offsets" not in found.remedies[0].text  # it had none in its transaction


def test_offsets_in_the_transaction_say_where_to_begin_again(tmp_path):
    cluster = Cluster(tmp_path)
    cluster.init("orders-1")
    cluster.begin("orders-1", "orders-0", "__consumer_offsets-3")
    client = fenced(cluster)
    cluster.time_out("orders-1")
    found = only(check, beside(cluster, client.said))
    assert "Process again from the last committed offsets" in found.remedies[0].text
    assert "end the aborted records again" not in found.remedies[0].text


def test_who_was_replaced_already_is_not_to_be_restarted(cluster):
    client = fenced(cluster)
    cluster.time_out("orders-1")
    at = cluster.clock + 90 * SECOND
    other = Client(path="other.log").start(at, cluster.ids["orders-1"].producer_id, 2)
    found = only(check, beside(cluster, [*client.said, *other.said]))
    assert found.remedies[0].text.startswith("Nothing to restart: another producer has had the id since")


def test_under_transactions_v2_the_instance_tells_whose_transaction_it_was(tmp_path):
    """Each end raises the epoch above the one that the client was given."""
    cluster = Cluster(tmp_path, v2=True)
    cluster.init("orders-1")
    client = Client().start(START, cluster.ids["orders-1"].producer_id, cluster.ids["orders-1"].epoch)
    cluster.run("orders-1", "orders-0")
    cluster.begin("orders-1", "orders-0")
    cluster.time_out("orders-1")
    rolled_back = line("server.log", cluster.clock, EventKind.timeout_rollback, transactional_id="orders-1")
    client.threw(cluster.clock + 60 * SECOND, "commitTransaction", FENCED, NEWER)
    client.threw(cluster.clock + 61 * SECOND, "abortTransaction", FENCED, AGAIN)
    found = only(check, beside(cluster, [*client.said, rolled_back]))
    assert "The coordinator aborted the transaction at its timeout" in found.summary


def test_what_another_epoch_of_the_producer_id_wrote_is_not_its_transaction(cluster):
    client = fenced(cluster, epoch=3)
    cluster.time_out("orders-1")
    found = only(check, beside(cluster, client.said))
    assert found.summary.endswith("it could neither commit nor abort.")
    assert "aborted already" not in found.remedies[0].text


def test_a_producer_whose_id_a_new_instance_has_is_not_to_be_made_again(cluster):
    client = fenced(cluster)
    cluster.wait(5 * SECOND)
    cluster.init("orders-1")
    row = cluster.ids["orders-1"]
    given = {"transactional_id": "orders-1", "producer_id": row.producer_id, "producer_epoch": row.epoch}
    broker = line("broker-1/server.log", cluster.clock, EventKind.initialized, **given)
    found = only(check, beside(cluster, [*client.said, broker]))
    assert "A new instance took the id over" in found.summary
    assert "create a new one" not in found.remedies[0].text
