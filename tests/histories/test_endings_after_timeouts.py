"""Who ended a transaction whose timeout was over: what coordinators and producers of 2.4 and 4.1 were seen to leave."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from kafkatx.local.diagnosis import diagnose
from kafkatx.terms.verdicts import Verdict
from tests.rules.cluster import MINUTE, SECOND, Cluster

TIMED_OUT, CLIENT, FENCED = "transaction_timed_out", "aborted_by_client", "fenced_by_new_instance"


@pytest.fixture
def v2(tmp_path: Path) -> Cluster:
    return Cluster(tmp_path, v2=True)


@pytest.fixture
def classic(tmp_path: Path) -> Cluster:
    return Cluster(tmp_path)


def begun(cluster: Cluster) -> None:
    """A transaction of a producer with a timeout of ten seconds, open."""
    cluster.init("orders-1", timeout_ms=10 * SECOND)
    cluster.run("orders-1", "orders-0")
    cluster.begin("orders-1", "orders-0")


def test_a_v2_producer_that_goes_on_much_later_was_possibly_timed_out(v2):
    """Its own abort comes after the coordinator's, succeeds, and tells it the new epoch; or it came before.

    Recorded with 4.3.1, where the coordinator had not looked: the same rows.
    """
    begun(v2)
    v2.time_out("orders-1", over_ms=SECOND)
    v2.wait(4 * SECOND)
    v2.run("orders-1", "orders-0")
    v2.beat()
    told = v2.tell()
    assert told.rules == {TIMED_OUT}
    finding = told.only(TIMED_OUT)
    assert finding.verdict is Verdict.possible
    assert "fenced" not in " ".join(step.text for step in finding.steps)
    assert [entry.rule for entry in finding.considered] == [CLIENT]


def test_a_v2_producer_that_goes_on_at_once_aborted_late_itself(v2):
    begun(v2)
    v2.wait(12 * SECOND)
    v2.abort("orders-1")
    v2.run("orders-1", "orders-0")
    v2.beat()
    assert v2.tell().rules == {CLIENT}


def test_a_v2_transaction_that_outlived_the_coordinators_look_was_timed_out(v2):
    begun(v2)
    v2.wait(3 * MINUTE)
    v2.abort("orders-1")
    v2.run("orders-1", "orders-0")
    v2.beat()
    told = v2.tell()
    assert told.rules == {TIMED_OUT}
    assert told.only(TIMED_OUT).verdict is Verdict.likely


def moved(cluster: Cluster) -> None:
    """The open transaction's coordinator moves and aborts it one and a half seconds after the timeout."""
    begun(cluster)
    cluster.coordinator_epoch += 1
    cluster.time_out("orders-1", over_ms=1_500)
    cluster.wait(30 * SECOND)


def test_a_timeout_by_a_coordinator_on_another_broker_is_likely_one(tmp_path):
    cluster = Cluster(tmp_path, brokers=3)
    moved(cluster)
    cluster.init("orders-1", timeout_ms=10 * SECOND)
    cluster.run("orders-1", "orders-0")
    cluster.beat()
    told = cluster.tell()
    assert told.rules == {TIMED_OUT}
    assert told.only(TIMED_OUT).verdict is Verdict.likely


def test_a_timeout_after_a_restart_of_the_only_broker_is_proved(classic):
    moved(classic)
    classic.beat()
    assert classic.tell().only(TIMED_OUT).verdict is Verdict.proved


def test_a_start_at_once_near_the_timeout_leaves_the_author_open(tmp_path):
    """The clocks of two coordinators may differ by more than what lies between timeout and abort."""
    cluster = Cluster(tmp_path, brokers=3)
    begun(cluster)
    cluster.coordinator_epoch += 1
    cluster.time_out("orders-1", over_ms=500)
    cluster.wait(100)
    cluster.empty("orders-1")
    cluster.beat()
    assert not {TIMED_OUT, FENCED, CLIENT} & cluster.tell().rules


def test_beyond_the_timeout_transactions_v2_prove_no_author(v2):
    """A client that gave up and aborted by itself before the coordinator looked leaves the same rows."""
    begun(v2)
    v2.wait(11 * SECOND)
    v2.abort("orders-1")
    v2.wait(30 * SECOND)
    v2.beat()
    found = v2.tell().only(TIMED_OUT)
    assert found.verdict is Verdict.possible
    assert "aborted_by_client" in {other.rule for other in found.considered}


def test_a_coordinator_with_a_clock_far_ahead_proves_no_timeout(tmp_path):
    cluster = Cluster(tmp_path, brokers=3)
    begun(cluster)
    cluster.wait(8 * SECOND)
    cluster.coordinator_epoch += 1
    cluster.wait(90 * SECOND)
    cluster.end("orders-1", False, by_coordinator=True)
    cluster.wait(3 * SECOND)
    cluster.empty("orders-1")
    cluster.beat()
    assert cluster.tell().only(TIMED_OUT).verdict is Verdict.likely


def coordinators_line(time: int, text: str) -> str:
    """A line of the coordinator's log, in UTC."""
    logger = "kafka.coordinator.transaction.TransactionCoordinator"
    at = datetime.fromtimestamp(time / 1000, UTC)
    return f"[{at:%Y-%m-%d %H:%M:%S},{time % 1000:03d}] INFO [TransactionCoordinator id=1] {text} ({logger})\n"


@pytest.mark.parametrize("has_rollback", [True, False])
def test_the_coordinators_log_decides_beyond_the_timeout(v2, tmp_path, has_rollback):
    """It tells each of its own aborts: where it covers the time without one, the client gave up, or a line was lost."""
    granted = "Initialized transactionalId {} with producerId 7000 and producer epoch {} on partition {}"
    lines = [coordinators_line(v2.clock - SECOND, granted.format("other-1", 0, "__transaction_state-0"))]
    begun(v2)
    v2.wait(11 * SECOND)
    if has_rollback:
        rollback = "Completed rollback of ongoing transaction for transactionalId orders-1 due to timeout"
        lines.append(coordinators_line(v2.clock + 1, rollback))
    v2.abort("orders-1")
    v2.wait(30 * SECOND)
    v2.init("orders-1", timeout_ms=10 * SECOND)
    lines.append(coordinators_line(v2.clock, granted.format("orders-1", 2, "__transaction_state-0")))
    v2.wait(30 * SECOND)
    v2.beat()
    lines.append(coordinators_line(v2.clock, granted.format("beat-9", 0, "__transaction_state-0")))
    (tmp_path / "server.log").write_text("".join(lines))
    found = {one.finding.rule: one.finding for one in diagnose([*v2.write(), tmp_path / "server.log"]).findings}
    assert found.keys() & {TIMED_OUT, CLIENT} == {TIMED_OUT if has_rollback else CLIENT}
    assert found[TIMED_OUT if has_rollback else CLIENT].verdict is (
        Verdict.proved if has_rollback else Verdict.possible
    )
