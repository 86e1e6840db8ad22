"""aborted_by_client by logs alone: aborts that took place, and lines of aborts that were refused."""

import pytest

from kafkatx.terms.events import EventKind as Kind
from kafkatx.terms.verdicts import Severity, Verdict
from tests.histories.log_facts import ERRORS, FENCED, INVALID_EPOCH, facts, line
from tests.rules.cluster import DAY, SECOND, START
from tests.rules.log_told import Client, beside, by_logs, findings, only, rule

check = rule("aborted_by_client")

ILLEGAL = "java.lang.IllegalStateException"


def aborted():
    return Client().start("10:00:00").aborts("10:00:05")


def test_an_abort_that_nothing_refuses_is_likely():
    found = only(check, by_logs(aborted().said))
    assert (found.verdict, found.severity, found.transactional_id) == (Verdict.likely, Severity.info, "orders-1")
    assert (found.producer_id, found.producer_epoch, found.count) == (7, 0, 1)


def test_aborts_of_one_id_are_counted():
    client = aborted().aborts("10:00:07").aborts("10:00:09")
    assert only(check, by_logs(client.said)).count == 3


def test_an_abort_on_close_is_told_as_such():
    client = Client().start("10:00:00").say("10:00:05", Kind.abort_on_close)
    assert "by close()" in only(check, by_logs(client.said)).summary


def test_the_exception_before_it_is_its_reason():
    client = Client().start("10:00:00").threw("10:00:04", "send", f"{ERRORS}RecordTooLargeException").aborts("10:00:05")
    assert "RecordTooLargeException" in only(check, by_logs(client.said)).steps[0].text


def test_the_applications_own_exceptions_do_not_refuse_an_abort():
    client = aborted().say(
        "10:00:06", Kind.failure, error="com.example.PriceMissing", thrown="com.example.PriceMissing"
    )
    assert only(check, by_logs(client.said)).count == 1


@pytest.mark.parametrize("exception", [FENCED, ILLEGAL])
def test_an_abort_that_throws_had_no_effect(exception):
    assert not findings(check, by_logs(aborted().threw("10:00:05.010", "abortTransaction", exception).said))


def test_an_abort_after_which_the_state_is_fatal_had_no_effect():
    client = Client().start("10:00:00").abortable("10:00:04", INVALID_EPOCH).aborts("10:00:05")
    assert not findings(check, by_logs(client.fatal("10:00:05.020", FENCED).said))


def test_an_abort_in_a_fatal_state_had_no_effect():
    client = Client().start("10:00:00").fatal("10:00:04", FENCED).aborts("10:00:05")
    assert not findings(check, by_logs(client.said))


def test_an_abort_while_a_commit_may_be_on_its_way_is_nobodys():
    client = Client().start("10:00:00").say("10:01:04", Kind.await_timeout, api="EndTxn(true)", number=60_000)
    assert not findings(check, by_logs(client.aborts("10:01:05").said))


def test_an_abort_after_the_coordinators_rollback_came_too_late():
    rollback = line("broker-1/server.log", "10:00:03", Kind.timeout_rollback, transactional_id="orders-1")
    assert not findings(check, by_logs([*aborted().said, rollback]))


def test_rows_decide_where_they_are(classic):
    classic.init("orders-1")
    classic.begin("orders-1", "orders-0")
    classic.commit("orders-1")
    client = Client().start(START - 5, classic.ids["orders-1"].producer_id).aborts(START + 3)
    assert not findings(check, beside(classic, client.said))


def test_rows_and_the_line_of_one_abort_are_one_finding(classic):
    classic.init("orders-1")
    classic.begin("orders-1", "orders-0")
    classic.wait(SECOND)
    at = classic.clock
    classic.abort("orders-1")
    client = Client().start(START - 5, classic.ids["orders-1"].producer_id).aborts(at)
    found = only(check, beside(classic, client.said))
    assert (found.verdict, found.count) == (Verdict.proved, 1)
    assert any(place.source == "client.log" for place in found.places())


@pytest.mark.parametrize(("days", "named"), [(8, True), (0, False)])
def test_an_abort_after_idle_days_is_no_expiry_while_the_producer_id_goes_on(classic, days, named):
    classic.init("orders-1")
    classic.begin("orders-1", "orders-0")
    classic.commit("orders-1")
    classic.wait(days * DAY + SECOND)
    classic.begin("orders-1", "orders-0")
    classic.abort("orders-1")
    found = only(check, classic.model())
    assert ("transactional_id_expired" in {other.rule for other in found.considered}) is named


def test_a_cut_log_hides_the_refusal_and_then_only_likely_is_said():
    lines = aborted().threw("10:00:05.010", "abortTransaction", FENCED).said
    for end in range(len(lines)):
        for found in findings(check, by_logs(facts(lines[:end]))):
            assert found.verdict is Verdict.likely
            assert found.severity is Severity.info


@pytest.mark.parametrize(("after", "found"), [("10:00:05.010", 0), ("10:00:20", 1)])
def test_an_abort_that_fails_in_a_line_of_nobody_is_not_claimed(after, found):
    """Two processes write to one file, both by their thread `main`: whose abort it was that failed is open."""
    other = Client("bills-1").start("10:00:01", 8, 0).aborts("09:59:00")
    nobodys = line("client.log", after, Kind.failure, thread="main", error=ILLEGAL, thrown=ILLEGAL,
                   calls=("abortTransaction",))  # fmt: skip
    told = [
        f for f in findings(check, by_logs([*aborted().said, *other.said, nobodys])) if f.transactional_id == "orders-1"
    ]
    assert len(told) == found
