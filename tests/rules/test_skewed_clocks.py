"""Brokers whose clocks differ: a leader's markers lie before their decisions or behind their completions."""

from pathlib import Path

import pytest

from kafkatx.histories.transaction_partitions import Status
from kafkatx.terms.topics import partition_for
from kafkatx.terms.verdicts import Verdict
from tests.rules.cluster import MINUTE, SECOND, Cluster

AHEAD = [90 * SECOND, -90 * SECOND, 150, -40]
PAUSES = (700, 2_300, 1_900, 40, 5_100, 900, 3_700, 11_000)


def commit(cluster: Cluster, ahead: int, *marked: str, name: str = "orders-1") -> None:
    """Commit the open transaction; the leader of its partitions has a clock of its own. `marked`: in these alone."""
    cluster.prepare(name, True)
    known = cluster.ids[name]
    cluster.wait(2)
    for partition in marked or known.partitions:
        at = cluster.clock + ahead
        cluster.log(partition).marker((known.producer_id, known.epoch), True, cluster.coordinator_epoch, at)
    cluster.wait(2)
    cluster.complete(name)


def run(cluster: Cluster, ahead: int, pauses: tuple[int, ...] = PAUSES) -> None:
    for pause in pauses:
        cluster.begin("orders-1", "orders-0", "payments-0")
        commit(cluster, ahead)
        cluster.wait(pause)


@pytest.mark.parametrize("ahead", AHEAD)
def test_a_leader_whose_clock_is_off_loses_no_marker(either, ahead):
    either.init("orders-1")
    run(either, ahead)
    model = either.model()
    assert (model.parts.rows["status"] == Status.MARKED).all()
    assert (model.parts.owner >= 0).all()
    assert not either.tell().rules


@pytest.mark.parametrize("ahead", AHEAD)
def test_a_marker_that_is_lost_is_still_missed(either, ahead):
    either.init("orders-1")
    run(either, ahead)
    either.begin("orders-1", "orders-0", "payments-0")
    commit(either, ahead, "orders-0")
    either.wait(MINUTE)
    either.init("orders-1")
    run(either, ahead)
    found = either.tell().only("atomicity_violation")
    assert (found.topic, found.partition) == ("payments", 0)


def test_a_failover_to_a_leader_that_is_ahead_changes_the_clock_only(either):
    either.init("orders-1")
    run(either, 0)
    for name in ("orders-0", "payments-0"):
        either.log(name).leader_epoch += 1
    run(either, 90 * SECOND)
    for name in ("orders-0", "payments-0"):
        either.log(name).leader_epoch += 1
    run(either, 0)
    assert not either.tell().rules


def test_two_transactions_can_t_tell_a_clock_and_accuse_nobody(classic):
    """Of one epoch each marker fits each decision; none that fits is left, so nothing is known to be missing."""
    classic.init("orders-1")
    run(classic, 0, (SECOND,))
    classic.log("orders-0").leader_epoch += 1
    classic.log("payments-0").leader_epoch += 1
    run(classic, 90 * SECOND, (SECOND, 2 * SECOND))
    assert "atomicity_violation" not in classic.tell().rules


def test_a_log_of_a_leader_that_is_ahead_ends_no_later_for_it(either):
    """Its last marker has a time behind the completion that is missing its own, and was written before it."""
    either.init("orders-1")
    run(either, 90 * SECOND)
    either.begin("orders-1", "orders-0", "payments-0")
    commit(either, 90 * SECOND, "orders-0")
    either.wait(5 * MINUTE)
    either.init("other-7")
    either.run("other-7", "audit-0")
    told = either.tell()
    assert not told.of("atomicity_violation")
    assert any("later copy" in entry.missing for entry in told.not_checkable("atomicity_violation"))


def test_a_log_of_a_leader_that_is_behind_begins_no_earlier_for_it(classic):
    """What retention left is from before the decision by a clock that is behind."""
    classic.init("orders-1")
    run(classic, -90 * SECOND)
    data = classic.log("payments-0")
    data.delete_before(data.batches[-8].base_offset)
    assert not classic.tell().of("atomicity_violation")


def test_the_only_disk_of_a_cluster_is_not_the_only_clock(tmp_path: Path):
    """Markers that another clock wrote show that there are others: the coordinator may have moved among them."""
    cluster = Cluster(tmp_path)
    cluster.init("orders-1")
    run(cluster, 150)
    cluster.init("slow-1", timeout_ms=10 * SECOND)
    cluster.begin("slow-1", "audit-0")
    cluster.coordinator_epoch += 1
    cluster.time_out("slow-1", over_ms=20 * SECOND)
    cluster.beat()
    assert cluster.tell().only("transaction_timed_out").verdict is Verdict.likely


def test_quick_commits_of_a_log_whose_beginning_was_deleted_are_those_of_its_end(tmp_path: Path):
    """Within what two clocks may differ by, each marker at hand fits each of them; by the times as they are, one."""
    cluster = Cluster(tmp_path, brokers=2)
    cluster.init("orders-1")
    for pause in (40, 70, 55, 90, 62, 48, 81, 57, 66, 74, 43, 59):
        cluster.begin("orders-1", "payments-0")
        cluster.wait(5)
        commit(cluster, 0)
        cluster.wait(pause)
    data = cluster.log("payments-0")
    data.delete_before(data.batches[-12].base_offset)
    cluster.wait(MINUTE)
    cluster.beat(partition="payments-0")
    rows = cluster.model().parts.rows
    rows = rows[rows["marker"] >= 0]
    assert rows["transaction"].tolist() == [6, 7, 8, 9, 10, 11, 12]
    assert not cluster.tell().rules


@pytest.mark.parametrize("kept", [2, 4])
def test_few_markers_that_fit_several_of_them_are_nobody_s(tmp_path: Path, kept: int):
    """The first and the last transactions both could have them: neither lacks its own for sure."""
    cluster = Cluster(tmp_path, brokers=2)
    cluster.init("orders-1")
    run(cluster, 0, (40,) * 12)
    data = cluster.log("payments-0")
    data.delete_before(data.batches[-2 * kept].base_offset)
    cluster.wait(MINUTE)
    cluster.beat(partition="payments-0")
    assert not cluster.tell().of("atomicity_violation")


def test_a_few_commits_that_another_clock_would_fit_tell_no_clock(classic):
    """The rows end after three, the log begins behind them, and their producer went on at the same intervals."""
    classic.init("orders-1")
    run(classic, 0, (400, 500, 600, 3_000))
    rows, data = classic.state_log("orders-1"), classic.log("payments-0")
    told, deleted = rows.batches[-1], data.batches[-1]
    run(classic, 0, (400, 500, 600, 1_410, 830, 2_570))
    rows.keep(lambda batch: batch.base_offset <= told.base_offset)
    data.delete_before(deleted.base_offset + 1)
    model = classic.model()
    (payments,) = (one.partition_code for one in model.log_extents.values() if one.topic == "payments")
    assert not (model.parts.owner[model.spans_of(payments)] >= 0).any()


def test_a_marker_a_moment_before_its_decision_is_the_one_though_it_says_what_was_said_before(classic):
    """Two brokers' clocks on one disk: nothing was written to the partition, and its marker before ended the same."""
    classic.init("orders-1")
    run(classic, 0)
    classic.ongoing("orders-1", "orders-0", "payments-0")
    classic.wait(5)
    classic.data("orders-1", "orders-0")
    commit(classic, -3)
    classic.wait(MINUTE)
    run(classic, 0)
    assert not classic.tell().of("atomicity_violation")


def test_data_behind_a_copy_of_the_rows_do_not_hang_though_the_brokers_are_ahead(classic):
    """The partition was copied last. By the producer's clock what it wrote since is older than the newest row."""
    classic.init("orders-1")
    for pause in PAUSES:
        classic.ongoing("orders-1", "orders-0")
        classic.wait(2)
        classic.data("orders-1", "orders-0", at=classic.clock - 90 * SECOND)
        commit(classic, 0)
        classic.wait(pause)
    rows = len(classic.state_log("orders-1").batches)
    classic.ongoing("orders-1", "orders-0")
    classic.wait(2)
    classic.data("orders-1", "orders-0", at=classic.clock - 90 * SECOND)
    log = classic.state_log("orders-1")
    last = log.batches[rows - 1]
    log.keep(lambda batch: batch.base_offset <= last.base_offset)
    log.high_watermark = last.base_offset + 1
    assert not classic.tell().of("hanging_transaction")


def test_a_coordinator_that_moved_to_another_clock_is_not_judged_by_the_one_before(either):
    """All before came from brokers 90 s ahead. The copy of the partition ends before what the new one committed."""
    either.init("orders-1")
    either.wait(90 * SECOND)
    run(either, 0)
    either.wait(-90 * SECOND)
    either.coordinator_epoch += 1
    either.begin("orders-1", "orders-0", "payments-0")
    commit(either, 0, "orders-0")
    assert not either.tell().of("atomicity_violation")


def test_of_fewer_markers_than_commits_one_is_said_to_be_missing_though_nobody_knows_whose(tmp_path: Path):
    cluster = Cluster(tmp_path, brokers=2)
    cluster.init("orders-1")
    run(cluster, 0, (40, 55))
    cluster.begin("orders-1", "orders-0", "payments-0")
    commit(cluster, 0, "orders-0")
    data = cluster.log("payments-0")
    data.keep(lambda batch: batch.base_offset < data.batches[-1].base_offset)
    cluster.wait(MINUTE)
    cluster.beat(partition="payments-0")
    told = cluster.tell()
    assert not told.of("atomicity_violation")
    (entry,) = told.not_checkable("atomicity_violation")
    assert (entry.scope, "clocks" in entry.missing) == ("the transaction of orders-1 in payments-0", True)


def test_a_producer_whose_clock_is_behind_is_not_told_to_have_taken_so_long(classic):
    """The cleaner left the last row alone. By two clocks the transaction that a new instance ended took 90 s more."""
    classic.state_partitions = 2
    beat = next(
        name for name in ("beat-0", "beat-1", "beat-2") if partition_for(name, 2) != partition_for("orders-1", 2)
    )
    classic.init(beat)
    classic.ongoing(beat, "orders-0")
    classic.data(beat, "orders-0", at=classic.clock - 90 * SECOND)
    classic.commit(beat)
    classic.init("orders-1")
    for ends in (True, False, True, True):
        classic.ongoing("orders-1", "orders-0")
        classic.data("orders-1", "orders-0", at=classic.clock - 90 * SECOND)
        classic.wait(300)
        if ends:
            classic.commit("orders-1")
        else:
            classic.init("orders-1")
        classic.wait(SECOND)
    rows = classic.state_log("orders-1")
    last = rows.batches[-1]
    rows.first_dirty = last.base_offset
    rows.keep(lambda batch: batch is last)
    assert "transaction_timed_out" not in classic.tell().rules


@pytest.mark.parametrize("ahead", [-200, 1_500])
def test_two_transactions_of_one_disk_are_told_within_what_brokers_differ_by(classic, ahead):
    """One data directory holds what several leaders wrote: an operator's abort among their markers is still seen."""
    classic.init("orders-1")
    classic.begin("orders-1", "orders-0", "payments-0")
    commit(classic, ahead)
    classic.wait(10 * SECOND)
    classic.begin("orders-1", "orders-0", "payments-0")
    classic.wait(10 * SECOND)
    known = classic.ids["orders-1"]
    classic.log("payments-0").marker((known.producer_id, known.epoch), False, 0, classic.clock + ahead)
    classic.wait(5 * SECOND)
    commit(classic, ahead)
    classic.beat()
    finding = classic.tell().only("atomicity_violation")
    assert (finding.topic, finding.verdict) == ("payments", Verdict.proved)


def test_data_that_were_perhaps_committed_are_not_to_be_sent_again(tmp_path: Path):
    """A decision and its completion are lost in a power cut; clocks leave open which of two COMMITs they were of."""
    cluster = Cluster(tmp_path, brokers=2)
    cluster.init("orders-1")
    cluster.run("orders-1", "orders-0")
    cluster.wait(400)
    cluster.begin("orders-1", "orders-0")
    log, open_one = cluster.state_log("orders-1"), cluster.ids["orders-1"]
    end = log.next_offset
    cluster.commit("orders-1")
    log.keep(lambda batch: batch.base_offset < end)
    log.next_offset, cluster.ids["orders-1"] = end, open_one
    cluster.time_out("orders-1")
    cluster.beat()
    told = cluster.tell()
    finding = told.only("transaction_timed_out")
    (first, *_) = (remedy.text for remedy in finding.remedies)
    assert first.startswith("Look first whether readers have orders-0 @ ")
    assert not any("Send the aborted records again" in remedy.text for remedy in finding.remedies)
    (gap,) = told.not_checkable("atomicity_violation")
    assert "which of its COMMIT markers there has no decision" in gap.missing


def test_a_commit_without_its_decision_is_seen_though_its_leader_dates_it_before_the_transaction(classic):
    classic.init("orders-1")
    classic.begin("orders-1", "orders-0")
    commit(classic, -100)
    classic.wait(3 * SECOND)
    classic.begin("orders-1", "orders-0")
    log, open_one = classic.state_log("orders-1"), classic.ids["orders-1"]
    end = log.next_offset
    commit(classic, -100)
    log.keep(lambda batch: batch.base_offset < end)
    log.next_offset, classic.ids["orders-1"] = end, open_one
    classic.time_out("orders-1")
    classic.beat()
    assert classic.tell().only("atomicity_violation").verdict >= Verdict.likely


def test_an_abort_that_nobody_decided_is_no_reason_to_ask_no_clock(classic):
    classic.init("orders-1")
    for pause in (700, 2_300, 1_900):
        classic.begin("orders-1", "orders-0", "payments-0")
        commit(classic, -3 * SECOND)
        classic.wait(pause)
    classic.begin("orders-1", "orders-0", "payments-0")
    classic.wait(10 * SECOND)
    known = classic.ids["orders-1"]
    classic.log("payments-0").marker((known.producer_id, known.epoch), False, 0, classic.clock - 3 * SECOND)
    classic.wait(7 * SECOND)
    commit(classic, -3 * SECOND)
    classic.beat()
    assert classic.tell().only("atomicity_violation").topic == "payments"
