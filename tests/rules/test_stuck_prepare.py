"""stuck_prepare: decided, and not through."""

from pathlib import Path

import pytest

from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from tests.histories.log_facts import ERRORS, line
from tests.rules.cluster import DAY, MINUTE, SECOND, Cluster
from tests.rules.log_told import by_logs, findings, only, rule

RULE = "stuck_prepare"
STATE = "__transaction_state-0"


def prepared(cluster: Cluster, *marked: str, is_commit: bool = True) -> None:
    """A decided transaction of two partitions; the markers named were written."""
    cluster.init("orders-1")
    cluster.run("orders-1", "orders-0", "payments-0")
    cluster.begin("orders-1", "orders-0", "payments-0")
    cluster.prepare("orders-1", is_commit)
    cluster.wait(5)
    if marked:
        cluster.markers("orders-1", *marked)


@pytest.mark.parametrize("is_commit", [True, False])
def test_a_partition_that_goes_on_without_its_marker_proves_it(either, is_commit):
    prepared(either, "orders-0", is_commit=is_commit)
    either.wait(2 * MINUTE)
    either.beat(partition="payments-0")
    told = either.tell()
    finding = told.only(RULE)
    assert (finding.verdict, finding.severity) == (Verdict.proved, Severity.error)
    assert (finding.transactional_id, finding.topic, finding.partition) == ("orders-1", "payments", 0)
    assert finding.title.startswith("stuck in PrepareCommit" if is_commit else "stuck in PrepareAbort")
    assert all(other.refuted for other in finding.considered)
    assert not told.of("hanging_transaction")
    assert not told.of("open_transaction")


def test_half_a_minute_is_a_warning(either):
    prepared(either, "orders-0")
    either.wait(30 * SECOND)
    either.beat(partition="payments-0")
    finding = either.tell().only(RULE)
    assert (finding.verdict, finding.severity) == (Verdict.likely, Severity.warning)
    assert "probably still waits for markers in payments-0" in finding.summary
    assert [other.rule for other in finding.considered if not other.refuted] == [
        "a transaction that has completed since"
    ]


def test_what_is_in_flight_is_none(either):
    prepared(either, "orders-0")
    either.wait(9 * SECOND)
    either.beat()
    assert not either.tell().of(RULE)


def test_one_that_completed_is_none(either):
    prepared(either, "orders-0", "payments-0")
    either.complete("orders-1")
    either.wait(DAY)
    either.beat()
    assert not either.tell().rules


def test_a_completion_in_another_copy_of_the_state_counts(tmp_path: Path):
    cluster = Cluster(tmp_path, brokers=2)
    prepared(cluster, "orders-0", "payments-0")
    cluster.log(STATE).ends[1] = cluster.log(STATE).next_offset
    cluster.complete("orders-1")
    cluster.wait(MINUTE)
    cluster.beat()
    assert not cluster.tell().rules


def test_the_copy_of_a_dead_broker_ends_before_the_decision_and_makes_it_likely(tmp_path: Path):
    cluster = Cluster(tmp_path, brokers=2)
    cluster.init("orders-1")
    cluster.run("orders-1", "orders-0", "payments-0")
    cluster.begin("orders-1", "orders-0", "payments-0")
    dead = cluster.log("payments-0")
    dead.ends = {2: dead.next_offset}
    cluster.prepare("orders-1", True)
    cluster.markers("orders-1", "orders-0")
    cluster.wait(5 * MINUTE)
    cluster.beat()
    told = cluster.tell()
    finding = told.only(RULE)
    assert (finding.verdict, finding.severity, finding.topic) == (Verdict.likely, Severity.error, "payments")
    assert not told.of("hanging_transaction")


def test_a_partition_that_is_not_at_hand_makes_it_likely(either):
    prepared(either, "orders-0")
    del either.logs["payments-0"]
    either.wait(5 * MINUTE)
    either.beat()
    assert either.tell().only(RULE).verdict is Verdict.likely


def test_times_of_clients_do_not_show_that_a_partition_went_on(either):
    """A record may carry any time: only what a broker wrote says that the partition lived."""
    prepared(either, "orders-0")
    either.log("payments-0").data((-1, -1), [either.clock + DAY], transactional=False)
    either.wait(5 * MINUTE)
    either.beat()
    assert either.tell().only(RULE).verdict is Verdict.likely


def test_all_markers_and_no_completion_is_the_coordinators_own_trouble(either):
    prepared(either, "orders-0", "payments-0")
    either.wait(5 * MINUTE)
    either.beat()
    finding = either.tell().only(RULE)
    assert finding.verdict is Verdict.likely
    assert "completion" in finding.summary
    assert "__transaction_state" in finding.remedies[0].text


def test_a_marker_without_data_that_a_new_coordinator_repeats_is_no_missing_one(either):
    either.init("orders-1")
    for is_last in (False, True):
        either.ongoing("orders-1", "orders-0", "payments-0")
        either.data("orders-1", "orders-0")
        either.prepare("orders-1", True)
        either.wait(1)
        either.markers("orders-1")
        either.coordinator_epoch += 1
        either.wait(1)
        either.markers("orders-1")
        either.wait(1)
        if not is_last:
            either.complete("orders-1")
        either.wait(50)
    either.wait(5 * MINUTE)
    either.beat()
    assert "waits for its completion record" in either.tell().only(RULE).summary


def test_a_torn_state_log_leaves_it_possible_and_no_error(either):
    prepared(either, "orders-0")
    either.wait(5 * MINUTE)
    either.beat()
    either.log(STATE).tear()
    finding = either.tell().only(RULE)
    assert (finding.verdict, finding.severity) == (Verdict.possible, Severity.warning)


def test_nothing_is_to_be_aborted_by_hand(either):
    prepared(either, "orders-0")
    either.wait(5 * MINUTE)
    either.beat()
    remedy, send_again = either.tell().only(RULE).remedies
    assert remedy.command is None
    assert "payments-0" in remedy.text
    assert "Do not abort by hand" in remedy.text
    assert send_again.text.startswith("Do not send the records of the transaction decided at ")


def test_what_was_skipped_and_completed_is_no_longer_stuck(either):
    """KAFKA-20734: the coordinator gives up on the partition and completes; that is an atomicity violation."""
    prepared(either, "orders-0")
    either.wait(8 * SECOND)
    either.complete("orders-1")
    either.wait(5 * MINUTE)
    either.beat(partition="payments-0")
    told = either.tell()
    assert not told.of(RULE)
    assert told.of("atomicity_violation")


def test_without_the_coordinators_log_nothing_is_prepared(either):
    prepared(either, "orders-0")
    either.wait(5 * MINUTE)
    either.beat()
    del either.logs[STATE]
    assert not either.tell().of(RULE)


def refused(error: str, *seconds: float, kind: EventKind = EventKind.marker_retry, partition: int = 1) -> list:
    """The coordinator's lines about a marker that the leader of a partition refused."""
    return [
        line("server.log", int(at * SECOND), kind, transactional_id="sdx", topic="tiny", partition=partition,
             error=f"{ERRORS}{error}")
        for at in seconds
    ]  # fmt: skip


@pytest.mark.parametrize(
    "told",
    [
        refused("NotEnoughReplicasException", 1, 1.001),
        refused("NotLeaderOrFollowerException", 1, 20),
        refused("InvalidProducerEpochException", 1, kind=EventKind.marker_given_up),
    ],
    ids=["too few replicas", "for long", "given up"],
)
def test_a_marker_that_is_refused_without_end_or_given_up_is_likely(told):
    found = only(rule(RULE), by_logs(told))
    assert (found.verdict, found.severity, found.transactional_id) == (Verdict.likely, Severity.error, "sdx")
    assert (found.topic, found.partition) == ("tiny", 1)


@pytest.mark.parametrize(
    "told",
    [
        refused("NotLeaderOrFollowerException", 1, 1.2),
        refused("NotEnoughReplicasException", 1),
        refused("TransactionCoordinatorFencedException", 1, kind=EventKind.marker_given_up),
        [
            *refused("NotEnoughReplicasException", 1, 2),
            line("server.log", 5 * SECOND, EventKind.initialized, transactional_id="sdx", producer_id=7,
                 producer_epoch=3),
        ],
    ],
    ids=["a change of leaders", "once", "another coordinator", "completed since"],
)  # fmt: skip
def test_a_marker_that_is_written_in_the_end_is_none(told):
    assert not findings(rule(RULE), by_logs(told))
