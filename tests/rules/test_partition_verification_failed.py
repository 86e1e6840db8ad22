"""partition_verification_failed: clients' and brokers' words, late batches kept from hanging, and what is not it."""

from pathlib import Path

import pytest

from kafkatx.terms.events import EventKind, Level
from kafkatx.terms.verdicts import Severity, Verdict
from tests.histories.log_facts import ERRORS, TIMED_OUT, line
from tests.rules.cluster import SECOND, START, Cluster
from tests.rules.log_told import ERROR_STATE, NETWORK, Client, beside, by_logs, findings, only, rule

check = rule("partition_verification_failed")

ABORTABLE, INVALID = f"{ERRORS}TransactionAbortableException", f"{ERRORS}InvalidTxnStateException"
SERVER = "The server encountered an error with the transaction. The client can abort the transaction to continue."
NOT_ADDED = "Partition was not added to the transaction"
UNABLE = (
    "Unable to verify the partition has been added to the transaction. Underlying error: COORDINATOR_LOAD_IN_PROGRESS"
)
BROKER = "broker-1/server.log"


def refused(client: Client, at: str, exception: str = ABORTABLE, message: str = SERVER) -> Client:
    client.threw(f"{at}.000", "send", exception, message).abortable(f"{at}.001", exception, message)
    return client.aborts(f"{at}.100")


def test_the_abortable_error_of_a_send_is_likely_and_information():
    found = only(check, by_logs(refused(Client().start("10:00:00"), "10:00:09").said))
    assert (found.verdict, found.severity, found.count) == (Verdict.likely, Severity.info, 1)
    assert (found.transactional_id, found.producer_id) == ("orders-1", 7)
    assert found.steps[-1].text == "P aborted the transaction"
    assert found.remedies[0].text.startswith("Send the records of the transaction again")
    assert "The transaction was aborted" in found.remedies[0].text
    assert [other.rule for other in found.considered if not other.refuted] == ["another reason for the refusal"]


@pytest.mark.parametrize("message", [NOT_ADDED, "Record was not part of an ongoing transaction", UNABLE])
def test_the_verifications_own_words_prove_it(message):
    found = only(check, by_logs(refused(Client().start("10:00:00"), "10:00:09", INVALID, message).said))
    assert found.verdict is Verdict.proved


def test_old_clients_are_told_that_the_state_is_invalid_and_may_abort():
    message = "The producer attempted a transactional operation in an invalid state."
    found = only(check, by_logs(refused(Client(release="3.5.2").start("10:00:00"), "10:00:09", INVALID, message).said))
    assert found.verdict is Verdict.likely


def test_a_client_without_states_shows_it_in_the_callback_of_its_send():
    message = "The producer attempted a transactional operation in an invalid state."
    client = Client(release="2.4.1").start("10:00:00").threw("10:00:09", "callback", INVALID, message, thread=NETWORK)
    assert only(check, by_logs(client.said)).verdict is Verdict.likely
    client.fatal("10:00:09", INVALID, message)
    assert not findings(check, by_logs(client.said))


def test_a_brokers_line_of_the_same_producer_proves_it_in_the_same_finding():
    said = refused(Client().start("10:00:00"), "10:00:09").said
    said.append(
        line(
            BROKER,
            "10:00:09",
            EventKind.verification_failed,
            producer_id=7,
            topic="orders",
            partition=2,
            detail=NOT_ADDED,
        )
    )
    found = only(check, by_logs(said))
    assert (found.verdict, found.topic, found.partition) == (Verdict.proved, "orders", 2)


def test_a_brokers_log_alone_tells_it_too():
    said = {"transactional_id": "orders-1", "topic": "orders", "partition": 2, "detail": UNABLE}
    row = line(BROKER, "10:00:09", EventKind.verification_failed, error="NOT_ENOUGH_REPLICAS", **said)
    found = only(check, by_logs([row]))
    assert (found.verdict, found.transactional_id, found.count) == (Verdict.proved, "orders-1", 1)
    assert "too few replicas in sync" in {other.rule for other in found.considered if other.refuted}


def test_what_the_client_retries_by_itself_need_not_be_written_again():
    client = Client().start("10:00:00")
    said = {"error": "NOT_ENOUGH_REPLICAS", "topic": "orders", "partition": 2, "detail": UNABLE}
    client.say("10:00:09", EventKind.produce_retry, level=Level.warn, **said)
    found = only(check, by_logs(client.said))
    assert found.verdict is Verdict.proved
    assert found.summary.endswith("the client retries by itself.")
    assert found.remedies[0].text.startswith("Nothing to do while the client retries")


def test_refusals_that_repeat_are_a_warning():
    client = Client().start("10:00:00")
    for second in (10, 20, 30):
        refused(client, f"10:00:{second}")
    found = only(check, by_logs(client.said))
    assert (found.severity, found.count) == (Severity.warning, 3)
    assert any(remedy.config == "transaction.partition.verification.enable" for remedy in found.remedies)


def test_a_batch_that_came_after_its_transactions_end_was_kept_from_hanging(tmp_path: Path):
    cluster = Cluster(tmp_path)
    cluster.init("orders-1")
    cluster.wait(SECOND)
    cluster.begin("orders-1", "orders-0")
    cluster.abort("orders-1")
    client = Client().start(START, cluster.ids["orders-1"].producer_id)
    client.threw(cluster.clock + SECOND, "send", ABORTABLE, SERVER)
    found = only(check, beside(cluster, client.said))
    assert ("would have stayed open for ever" in found.summary, found.severity) == (True, Severity.info)
    assert any(place.topic == "orders" for place in found.places())


def test_a_commit_refused_after_a_timeout_is_not_it():
    message = "The producer attempted a transactional operation in an invalid state."
    client = Client(release="4.3.1").start("10:00:00").threw("10:00:09", "commitTransaction", INVALID, message)
    client.fatal("10:00:09", INVALID, message)
    assert not findings(check, by_logs(client.said))


def test_exhausted_retries_name_their_own_cause():
    client = Client(release="4.1.0").start("10:00:00")
    client.threw("10:00:09", "send", TIMED_OUT, "Expiring 1 record(s)",
                 wrapped="Transaction Request was aborted after exhausting retries.")  # fmt: skip
    client.abortable("10:00:09", ABORTABLE, "Transaction Request was aborted after exhausting retries.")
    assert not findings(check, by_logs(client.said))


def test_too_few_replicas_without_the_message_are_not_it():
    client = Client().start("10:00:00")
    client.say(
        "10:00:05", EventKind.produce_retry, level=Level.warn, error="NOT_ENOUGH_REPLICAS", topic="orders", partition=0
    )
    client.threw("10:00:09", "commitTransaction", f"{ERRORS}NotEnoughReplicasException", "ISR", wrapped=ERROR_STATE)
    assert not findings(check, by_logs(client.said))


def test_without_a_time_and_a_name_it_is_told_of_nobody():
    found = only(check, by_logs([line("page.log", None, EventKind.failure, error=INVALID, detail=NOT_ADDED)]))
    assert (found.verdict, found.transactional_id, found.since) == (Verdict.proved, None, None)
