"""api_misuse: each library's own words prove it; states that an error left, and the client's own thread, are not it."""

import pytest

from kafkatx.local.diagnosis import diagnose
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from tests.histories.log_facts import ERRORS, KAFKA_EXCEPTION, line
from tests.rules.log_told import NETWORK, Client, by_logs, findings, only, rule

check = rule("api_misuse")
INSIDE = "TransactionalId orders-1: Invalid transition attempted from state IN_TRANSACTION to state IN_TRANSACTION"


def test_the_clients_words_prove_a_transaction_inside_another():
    client = Client().start("10:00:00").threw("10:00:40", "beginTransaction", KAFKA_EXCEPTION, INSIDE)
    found = only(check, by_logs(client.said))
    assert (found.verdict, found.severity, found.transactional_id) == (Verdict.proved, Severity.warning, "orders-1")
    assert "began a transaction while another one was open" in found.summary


def test_the_failure_before_is_told_with_it():
    client = Client().start("10:00:00").abortable("10:00:30", f"{ERRORS}OutOfOrderSequenceException", "out of order")
    found = only(check, by_logs(client.threw("10:00:40", "beginTransaction", KAFKA_EXCEPTION, INSIDE).said))
    assert found.steps[0].text == "The producer had already failed"
    assert found.remedies[0].text.startswith("Start with the failure before")


def test_a_line_without_client_or_time_is_enough():
    said = "Cannot perform a 'send' before completing a call to initTransactions when transactions are enabled."
    found = only(check, by_logs([line("a.log", None, EventKind.failure, error="IllegalStateException", detail=said)]))
    assert (found.verdict, found.severity, found.transactional_id) == (Verdict.proved, Severity.error, None)


@pytest.mark.parametrize(
    ("before", "asked"),
    [
        ("FATAL_ERROR", "ABORTING_TRANSACTION"),
        ("COMMITTING_TRANSACTION", "ABORTING_TRANSACTION"),
        ("INITIALIZING", "ABORTING_TRANSACTION"),
    ],
)
def test_a_state_that_an_error_left_is_not_it(before, asked):
    said = f"TransactionalId orders-1: Invalid transition attempted from state {before} to state {asked}"
    client = Client().start("10:00:00").threw("10:00:40", "abortTransaction", KAFKA_EXCEPTION, said)
    assert not findings(check, by_logs(client.said))


@pytest.mark.parametrize(("state", "awaits"), [("WaitPID", True), ("Init", False), ("ReadyNotAcked", False)])
def test_a_call_before_the_producer_id_came_asks_whether_the_coordinator_answered(state, awaits):
    said = f"Operation not valid in state {state}"
    found = only(check, by_logs([line("a.log", None, EventKind.failure, error="_STATE", detail=said)]))
    assert (found.verdict, found.severity) == (Verdict.proved, Severity.error)
    assert ("had asked for its producer id" in found.summary) is awaits
    assert [one.rule for one in found.considered if not one.refuted] == ["whether the coordinator answered"] * awaits
    assert ("call it again where it timed out" in found.remedies[0].text) is awaits


def test_the_clients_own_thread_is_no_application():
    client = Client().start("10:00:00").threw("10:00:40", "send", KAFKA_EXCEPTION, INSIDE, thread=NETWORK)
    assert not findings(check, by_logs(client.said))


def test_a_cut_log_says_less_and_nothing_else():
    client = Client().start("10:00:00")
    assert not findings(check, by_logs(client.said))


def test_a_send_while_the_commit_is_under_way_is_likely():
    said = "Cannot call send in state COMMITTING_TRANSACTION"
    found = only(check, by_logs([line("a.log", None, EventKind.failure, error="IllegalStateException", detail=said)]))
    assert found.verdict is Verdict.likely
    assert "while its commit was under way" in found.summary


def test_a_send_behind_a_commit_that_had_no_answer_is_not_it():
    said = "Cannot call send in state COMMITTING_TRANSACTION"
    waited = line("a.log", None, EventKind.await_timeout, api="EndTxn(true)")
    lines = [waited, line("a.log", None, EventKind.failure, error="IllegalStateException", detail=said)]
    assert not findings(check, by_logs(lines))


NOT_SET_UP = (
    "java.lang.IllegalArgumentException: The 'ProducerFactory' must support transactions",
    "java.lang.IllegalStateException: Producer factory does not support transactions",
    "java.lang.IllegalStateException: Cannot use transactional methods without enabling transactions by setting the "
    "transactional.id configuration parameter",
)
NOT_OPEN = (
    "java.lang.IllegalStateException: No transaction is in process; possible solutions: run the template operation "
    "within the scope of a template.executeInTransaction() operation, start a transaction with @Transactional"
)


@pytest.mark.parametrize("error", NOT_SET_UP)
def test_a_program_that_was_not_set_up_for_transactions_is_one_story(tmp_path, error):
    path = tmp_path / "app.log"
    path.write_text(
        f"2023-01-04 10:00:00.120 ERROR 1 --- [main] shop.Bills : not sent\n{error}\n"
        f"2023-01-04 10:00:07.120 ERROR 1 --- [main] shop.Bills : not sent\n{NOT_OPEN}\n"
    )
    told = {one.finding.rule: one for one in diagnose([path]).findings}
    assert told["api_misuse"].caused_by == told["misconfiguration"].id
    (tmp_path / "other.log").write_text(path.read_text().split("\n", 2)[2])
    (alone,) = diagnose([tmp_path / "other.log"]).findings
    assert (alone.finding.rule, alone.caused_by) == ("api_misuse", None)


CLIENTS = "org.apache.kafka.clients.producer"
WITHOUT_ID = "java.lang.IllegalStateException: Transactional method invoked on a non-transactional producer.\n"
OWN_THREAD = (
    f"\tat {CLIENTS}.internals.TransactionManager.beginAbort(TransactionManager.java:323)\n"
    f"\tat {CLIENTS}.internals.Sender.run(Sender.java:276)\n"
)
OF_APPLICATION = f"\tat {CLIENTS}.KafkaProducer.initTransactions(KafkaProducer.java:544)\n"


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        (WITHOUT_ID + OF_APPLICATION, {"misconfiguration"}),
        (WITHOUT_ID + OWN_THREAD, set()),
        (
            "[2024-10-30 12:50:36,877] ERROR [Producer clientId=console-producer] Error in kafka producer I/O thread "
            f"while aborting transaction when during closing:  ({CLIENTS}.internals.Sender)\n" + WITHOUT_ID,
            set(),
        ),
    ],
    ids=["the application's", "frames of the sender", "the sender's words"],
)
def test_what_the_producers_own_thread_calls_is_no_fault_of_the_application(text, rules, tmp_path):
    path = tmp_path / "page.md"
    path.write_text(text)
    found = {one.finding.rule for one in diagnose([path]).findings}
    assert found & {"misconfiguration", "api_misuse"} == rules


READY_TO_ABORT = (
    "org.apache.kafka.common.KafkaException: TransactionalId feed-0_2: Invalid transition attempted from state READY "
    "to state ABORTING_TRANSACTION\n"
    f"\tat {CLIENTS}.internals.TransactionManager.transitionTo(TransactionManager.java:757)\n"
    f"\tat {CLIENTS}.KafkaProducer.abortTransaction(KafkaProducer.java:660)\n"
)


@pytest.mark.parametrize(
    ("caller", "rules"),
    [
        ("\tat com.example.Feed.close(Feed.java:86)\n", {"api_misuse"}),
        (
            "\tat org.apache.kafka.streams.processor.internals.StreamTask.closeSuspended(StreamTask.java:486)\n",
            {"client_bug"},
        ),
    ],
    ids=["an application", "Kafka Streams"],
)
def test_a_call_that_a_frameworks_defect_makes_is_not_the_applications(caller, rules, tmp_path):
    path = tmp_path / "page.md"
    path.write_text("We run kafka-streams 1.1 here.\n\n" + READY_TO_ABORT + caller)
    found = {one.finding.rule for one in diagnose([path]).findings}
    assert found & {"api_misuse", "client_bug"} == rules
