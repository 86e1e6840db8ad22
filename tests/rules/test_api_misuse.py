"""api_misuse: each library's own words prove it; states that an error left, and the client's own thread, are not it."""

import pytest

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
    assert "while its commit or abort was under way" in found.summary


def test_a_send_behind_a_commit_that_had_no_answer_is_not_it():
    said = "Cannot call send in state COMMITTING_TRANSACTION"
    waited = line("a.log", None, EventKind.await_timeout, api="EndTxn(true)")
    lines = [waited, line("a.log", None, EventKind.failure, error="IllegalStateException", detail=said)]
    assert not findings(check, by_logs(lines))
