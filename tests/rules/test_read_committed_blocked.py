"""read_committed_blocked: who waits, behind whom, and how bad that is."""

from pathlib import Path

import pytest

from kafkatx.terms.verdicts import Severity, Verdict
from tests.rules.cluster import DAY, HOUR, MINUTE, SECOND, TWO_PHASE, Cluster

RULE = "read_committed_blocked"
STATE = "__transaction_state-0"


def blocked(cluster: Cluster, age_ms: int, timeout_ms: int = HOUR) -> None:
    """An open transaction of that age, and another producer's committed records behind it."""
    cluster.init("orders-1", timeout_ms)
    cluster.run("orders-1", "orders-0")
    cluster.begin("orders-1", "orders-0", records=2)
    cluster.beat(partition="orders-0")
    cluster.wait(age_ms)
    cluster.beat(partition="orders-0")


def test_committed_records_behind_an_open_transaction_wait(either):
    blocked(either, 2 * MINUTE)
    told = either.tell()
    finding = told.only(RULE)
    assert (finding.verdict, finding.severity) == (Verdict.proved, Severity.warning)
    assert (finding.transactional_id, finding.topic, finding.partition) == ("orders-1", "orders", 0)
    assert finding.first_offset == 2
    assert "2 committed records" in finding.summary
    assert told.cause_of(RULE) == "open_transaction"


@pytest.mark.parametrize(
    ("age", "timeout", "severity"),
    [
        (SECOND, HOUR, Severity.info),
        (10 * SECOND, 5 * SECOND, Severity.warning),
        (2 * MINUTE, HOUR, Severity.warning),
        (20 * MINUTE, HOUR, Severity.error),
    ],
    ids=["young", "over its own timeout", "minutes", "over the longest timeout"],
)
def test_the_age_of_what_holds_them_decides_the_severity(either, age, timeout, severity):
    blocked(either, age, timeout)
    assert either.tell().only(RULE).severity is severity


def test_records_outside_transactions_wait_too(either):
    either.init("orders-1", HOUR)
    either.begin("orders-1", "orders-0")
    either.plain("orders-0", 5)
    either.wait(2 * MINUTE)
    either.beat()
    assert "5 records outside transactions" in either.tell().only(RULE).steps[-1].text


def test_nothing_committed_behind_it_is_no_blocking(either):
    either.init("orders-1", HOUR)
    either.begin("orders-1", "orders-0")
    either.init("other-1")
    either.begin("other-1", "orders-0")
    either.abort("other-1")
    either.wait(2 * MINUTE)
    either.beat()
    assert not either.tell().of(RULE)


def test_committed_records_before_it_were_delivered(either):
    either.plain("orders-0", 5)
    either.init("orders-1", HOUR)
    either.run("orders-1", "orders-0", times=3)
    either.begin("orders-1", "orders-0")
    either.wait(2 * MINUTE)
    either.beat()
    assert not either.tell().of(RULE)


def test_a_marker_at_the_end_of_an_idle_topic_blocks_nobody(either):
    """A consumer's lag of one on such a topic is the marker's own offset."""
    either.init("orders-1")
    either.run("orders-1", "orders-0")
    either.wait(DAY)
    either.beat()
    assert not either.tell().rules


def test_group_offsets_that_wait_are_not_told_by_partition(either):
    either.init("orders-1", HOUR)
    either.begin("orders-1", "__consumer_offsets-0")
    either.beat(partition="__consumer_offsets-0")
    either.wait(2 * MINUTE)
    either.beat()
    assert not either.tell().of(RULE)


def test_a_hanging_transaction_blocks_as_an_error_at_once(classic):
    classic.init("orders-1")
    classic.run("orders-1", "orders-0")
    classic.begin("orders-1", "orders-0")
    known = classic.ids["orders-1"]
    classic.abort("orders-1")
    classic.late_data("orders-0", known.producer_id, known.epoch)
    classic.wait(30 * SECOND)
    classic.beat(partition="orders-0")
    told = classic.tell()
    assert told.only(RULE).severity is Severity.error
    assert told.cause_of(RULE) == "hanging_transaction"
    assert "only where both checks" in told.only(RULE).remedies[0].text


def test_of_a_two_phase_transaction_nobody_is_told_to_wait_for_a_timeout(either):
    """KIP-939: its coordinator never aborts it, and what was prepared is not to be undone."""
    blocked(either, 2 * DAY, TWO_PHASE)
    told = either.tell()
    assert told.only("open_transaction").severity is Severity.info
    first = told.only(RULE).remedies[0]
    assert (first.where, told.only(RULE).facts["holder"]) == ("application", "two_phase")
    assert "the coordinator never aborts it" in first.text
    assert "keepPreparedTxn" in first.text
    assert not any("timeout" in remedy.text for remedy in told.only(RULE).remedies)


def test_a_stuck_one_blocks_as_an_error(either):
    either.init("orders-1")
    either.begin("orders-1", "orders-0")
    either.prepare("orders-1", True)
    either.wait(2 * MINUTE)
    either.beat(partition="orders-0")
    told = either.tell()
    assert told.only(RULE).severity is Severity.error
    assert told.cause_of(RULE) == "stuck_prepare"
    assert "do not abort it by hand" in told.only(RULE).remedies[0].text


def test_the_deleted_beginning_of_an_open_transaction_still_holds_the_offset(either):
    """Retention takes the beginning of an open transaction too; the snapshot knows that it is open."""
    either.init("orders-1", HOUR)
    either.begin("orders-1", "orders-0")
    either.beat(partition="orders-0")
    either.log("orders-0").delete_before(1)
    either.wait(2 * MINUTE)
    either.beat(partition="orders-0")
    finding = either.tell().only(RULE)
    assert (finding.transactional_id, finding.first_offset) == ("orders-1", 0)
    assert "blocked at offset 1 " in finding.summary


# Evidence cut short.


@pytest.mark.parametrize(
    ("age", "verdict", "severity"),
    [
        (SECOND, Verdict.possible, Severity.info),
        (2 * MINUTE, Verdict.likely, Severity.warning),
        (20 * MINUTE, Verdict.likely, Severity.error),
    ],
)
def test_data_alone_still_show_who_waits_by_age(either, age, verdict, severity):
    """Where no row tells of it, a transaction that had only begun is as open as one of any log in use."""
    blocked(either, age)
    del either.logs[STATE]
    finding = either.tell().only(RULE)
    assert (finding.verdict, finding.severity) == (verdict, severity)
    assert finding.transactional_id is None


def test_a_torn_log_leaves_it_possible_and_no_error(either):
    """The marker may stand in what can't be read."""
    blocked(either, 20 * MINUTE)
    either.log("orders-0").tear()
    finding = either.tell().only(RULE)
    assert (finding.verdict, finding.severity) == (Verdict.possible, Severity.warning)


def test_a_copy_of_one_of_two_brokers_without_the_rows_is_likely(tmp_path: Path):
    cluster = Cluster(tmp_path, brokers=2)
    blocked(cluster, 2 * MINUTE)
    cluster.log(STATE).ends = {1: None}
    assert cluster.tell().only(RULE).verdict is Verdict.proved
    assert cluster.tell(2).only(RULE).verdict is Verdict.likely


def test_reading_uncommitted_is_offered_with_its_risk(either):
    blocked(either, 2 * MINUTE)
    risky = either.tell().only(RULE).remedies[-1]
    assert (risky.config, risky.current, risky.proposed) == ("isolation.level", "read_committed", "read_uncommitted")
    assert "aborted" in str(risky.cost)
    assert not any(remedy.command for remedy in either.tell().only(RULE).remedies)


def test_an_old_high_watermark_is_told_and_not_used(either):
    blocked(either, 2 * MINUTE)
    either.log("orders-0").high_watermark = 3
    finding = either.tell().only(RULE)
    assert "3" in finding.considered[0].because
    assert "2 committed records" in finding.summary


def test_a_copy_that_was_taken_before_the_transaction_ended_leaves_it_possible(either):
    """Partitions of a running broker are copied one after the other, `__transaction_state` perhaps as the last."""
    blocked(either, 2 * MINUTE)
    log = either.log("orders-0")
    copied = list(log.batches)
    either.commit("orders-1")
    either.beat(partition="audit-0")
    log.batches, log.next_offset = copied, copied[-1].next_offset
    finding = either.tell().only(RULE)
    assert (finding.verdict, finding.severity) == (Verdict.possible, Severity.warning)
    assert any("ends before the coordinator" in other.because for other in finding.considered)


def test_a_complete_transaction_whose_marker_lies_where_offsets_are_missing_holds_nobody_up(either):
    """The coordinator completes a transaction when its partitions have their markers: it will be where nothing is."""
    either.init("orders-1")
    either.run("orders-1", "orders-0", times=2)
    either.beat(partition="orders-0")
    log = either.log("orders-0")
    log.keep(lambda batch: batch.base_offset != 3)
    told = either.tell()
    assert not told.of(RULE)
    assert not told.of("committed_but_unreadable")
    assert told.not_checkable("atomicity_violation")
