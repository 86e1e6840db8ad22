"""producer_epoch_exhausted: P12, P13, the impossible epoch and the road to it."""

from dataclasses import replace

import pytest

from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.verdicts import Severity, Verdict
from tests.histories.log_facts import line
from tests.rules.cluster import DAY, HOUR, LAST_EPOCH, MINUTE, SECOND, Cluster, replace_epoch
from tests.rules.log_told import beside, by_logs, only, rule

RULE = "producer_epoch_exhausted"


def near_the_end(cluster: Cluster, epoch: int = LAST_EPOCH - 1) -> None:
    cluster.init("orders-1")
    replace_epoch(cluster, "orders-1", epoch)


def test_a_classic_restart_at_the_last_epoch_gives_another_producer_id(classic):
    near_the_end(classic)
    classic.init("orders-1")
    classic.run("orders-1", "orders-0")
    classic.init("orders-1")
    classic.run("orders-1", "orders-0")
    told = classic.tell()
    finding = told.only(RULE)
    assert (finding.verdict, finding.severity, finding.producer_id) == (Verdict.proved, Severity.info, 7000)
    assert "7001" in finding.summary
    assert "initTransactions" in finding.remedies[0].text
    assert told.rules == {RULE}


def test_a_v2_transaction_at_the_last_epoch_ends_under_another_producer_id(v2):
    near_the_end(v2)
    v2.run("orders-1", "orders-0", times=3)
    told = v2.tell()
    finding = told.only(RULE)
    assert (finding.verdict, finding.severity, finding.producer_id) == (Verdict.proved, Severity.info, 7000)
    assert finding.remedies[0].text.startswith("Nothing to do")
    assert told.rules == {RULE}


def test_epochs_of_v2_that_starts_took_are_no_routine(v2):
    """Starts took nearly all: few transactions ran, and there were more epochs than milliseconds."""
    v2.init("orders-1")
    v2.wait(13 * SECOND)
    v2.store("orders-1", replace(v2.ids["orders-1"], epoch=LAST_EPOCH - 3))
    v2.run("orders-1", "orders-0", times=5)
    finding = v2.tell().only(RULE)
    assert "InitProducerId took 32,763 of them within 13 s" in finding.summary
    assert finding.remedies[0].text.startswith("Find out what calls initTransactions so often")
    assert "32,763 within 13 s" in finding.remedies[0].text


def test_epochs_of_v2_that_took_their_time_may_be_of_transactions(v2):
    v2.init("orders-1")
    v2.wait(HOUR)
    v2.store("orders-1", replace(v2.ids["orders-1"], epoch=LAST_EPOCH - 3))
    v2.run("orders-1", "orders-0", times=5)
    finding = v2.tell().only(RULE)
    assert "InitProducerId" not in finding.summary
    assert finding.remedies[0].text.startswith("Nothing to do if its transactions took them")


def test_the_coordinators_lines_show_the_loop_that_rows_no_longer_have(v2):
    """The cleaner left the last rows; each start is a line of the coordinator."""
    near_the_end(v2)
    v2.run("orders-1", "orders-0", times=3)
    lines = [
        line(
            "server.log",
            time,
            EventKind.initialized,
            side=Side.broker,
            transactional_id="orders-1",
            producer_id=7000,
            producer_epoch=epoch,
        )
        for time, epoch in (("09:59:40", 0), ("09:59:41", 1), ("09:59:53", 32_760))
    ]
    finding = only(rule(RULE), beside(v2, lines))
    assert "InitProducerId took 32,760 of them within 13 s" in finding.summary


def test_rotations_of_one_id_are_counted(v2):
    near_the_end(v2)
    v2.run("orders-1", "orders-0", times=3)
    v2.store("orders-1", replace(v2.ids["orders-1"], epoch=LAST_EPOCH))
    v2.state_log("orders-1").batches.pop()
    v2.state_log("orders-1").next_offset -= 1
    v2.run("orders-1", "orders-0", times=2)
    assert v2.tell().only(RULE).count == 2


def test_an_aborted_transaction_at_the_last_epoch_rotates_too(v2):
    near_the_end(v2, LAST_EPOCH)
    v2.begin("orders-1", "orders-0")
    v2.abort("orders-1")
    v2.run("orders-1", "orders-0")
    assert v2.tell().rules == {RULE, "aborted_by_client"}


def test_data_at_32767_are_an_error(either):
    near_the_end(either)
    either.run("orders-1", "orders-0")
    either.late_data("orders-0", 7000, LAST_EPOCH + 1)
    finding = next(finding for finding in either.tell().of(RULE) if finding.severity is Severity.error)
    assert (finding.verdict, finding.producer_epoch, finding.topic) == (Verdict.proved, 32_767, "orders")


def test_markers_at_32767_are_the_coordinators_own(either):
    near_the_end(either, LAST_EPOCH)
    either.begin("orders-1", "orders-0")
    either.init("orders-1")
    assert all(finding.severity is Severity.info for finding in either.tell().of(RULE))


def test_an_overdue_transaction_at_the_last_epoch_is_a_known_bug(either):
    """KAFKA-20090: a timeout exactly at 32766 leaves the transaction Ongoing."""
    near_the_end(either, LAST_EPOCH)
    either.begin("orders-1", "orders-0")
    either.wait(10 * MINUTE)
    either.beat()
    finding = either.tell().only(RULE)
    assert (finding.verdict, finding.severity) == (Verdict.likely, Severity.error)
    assert "KAFKA-20090" in finding.summary + finding.remedies[0].text


def test_a_young_transaction_at_the_last_epoch_is_none(either):
    near_the_end(either, LAST_EPOCH)
    either.begin("orders-1", "orders-0")
    either.beat()
    assert not either.tell().of(RULE)


def test_a_loop_of_restarts_is_told_with_the_days_that_are_left(classic):
    """A classic id that takes hundreds of epochs a day will be through in months."""
    classic.init("orders-1")
    for _ in range(300):
        classic.wait(4 * MINUTE)
        classic.init("orders-1")
    classic.run("orders-1", "orders-0")
    finding = classic.tell().only(RULE)
    assert (finding.verdict, finding.severity) == (Verdict.likely, Severity.warning)
    assert "epochs a day" in finding.summary
    assert "90 d" in finding.summary


@pytest.mark.parametrize(("restarts", "pause"), [(20, SECOND), (300, HOUR)], ids=["a burst", "slowly"])
def test_ordinary_restarts_are_no_loop(classic, restarts, pause):
    classic.init("orders-1")
    for _ in range(restarts):
        classic.wait(pause)
        classic.init("orders-1")
    assert not classic.tell().rules


def test_epochs_of_v2_transactions_are_no_loop(v2):
    v2.init("orders-1")
    v2.run("orders-1", "orders-0", times=300)
    assert not v2.tell().rules


def test_an_expired_id_rotates_for_another_reason(either):
    either.init("orders-1")
    either.run("orders-1", "orders-0")
    either.wait(7 * DAY + 10 * MINUTE)
    either.expire("orders-1")
    either.wait(DAY)
    either.init("orders-1")
    assert either.tell().rules == {"transactional_id_expired"}


def test_an_exhausted_id_that_expired_first_is_none(classic):
    near_the_end(classic, LAST_EPOCH)
    classic.run("orders-1", "orders-0")
    classic.wait(7 * DAY + 10 * MINUTE)
    classic.expire("orders-1")
    classic.wait(DAY)
    classic.init("orders-1")
    assert not classic.tell().of(RULE)


def test_without_the_coordinators_log_only_the_impossible_epoch_shows(either):
    near_the_end(either)
    either.run("orders-1", "orders-0")
    del either.logs["__transaction_state-0"]
    assert not either.tell().of(RULE)
    either.late_data("orders-0", 7000, LAST_EPOCH + 1)
    assert either.tell().only(RULE).verdict is Verdict.proved


def test_a_coordinators_own_error_proves_it():
    said = "Cannot fence producer with epoch equal to Short.MaxValue since this would overflow"
    told = [line("server.log", "10:00:00", EventKind.coordinator_inconsistent, side=Side.broker, detail=said)]
    found = only(rule("producer_epoch_exhausted"), by_logs(told))
    assert (found.verdict, found.severity) == (Verdict.proved, Severity.error)
