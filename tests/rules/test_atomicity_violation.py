"""atomicity_violation: one transaction, two outcomes; and everything that only looks so."""

from pathlib import Path

import pytest

from kafkatx.histories.transaction_partitions import Status
from kafkatx.rules.registry import judge
from kafkatx.terms.events import EventKind
from kafkatx.terms.times import clock
from kafkatx.terms.verdicts import Severity, Verdict
from tests.histories.log_facts import Line, line
from tests.rules.cluster import DAY, MINUTE, SECOND, Cluster
from tests.rules.log_told import beside

RULE = "atomicity_violation"
SERVER = "broker-1/server.log"


def decided(cluster: Cluster, is_commit: bool = True) -> None:
    """A transaction of two partitions, decided, without markers."""
    cluster.init("orders-1")
    cluster.run("orders-1", "orders-0", "payments-0")
    cluster.begin("orders-1", "orders-0", "payments-0", records=2)
    cluster.prepare("orders-1", is_commit)
    cluster.wait(2)


def skipped(cluster: Cluster) -> None:
    """The coordinator skips payments-0, completes, and the partition goes on (KAFKA-20734)."""
    decided(cluster)
    cluster.markers("orders-1", "orders-0")
    cluster.complete("orders-1")
    cluster.wait(5 * SECOND)


def test_a_skipped_marker_of_a_committed_transaction_is_likely_one(either):
    skipped(either)
    either.beat(partition="payments-0")
    told = either.tell()
    finding = told.only(RULE)
    assert (finding.verdict, finding.severity) == (Verdict.likely, Severity.error)
    assert (finding.transactional_id, finding.topic, finding.partition) == ("orders-1", "payments", 0)
    assert finding.last_offset - finding.first_offset == 1
    assert told.rules == {RULE, "read_committed_blocked", "committed_but_unreadable"}
    assert told.cause_of("read_committed_blocked") == RULE


def test_a_partition_that_an_operator_aborted_before_the_commit_is_proved(either):
    either.init("orders-1")
    either.begin("orders-1", "orders-0", "payments-0")
    known = either.ids["orders-1"]
    either.log("payments-0").marker((known.producer_id, known.epoch), False, 0, either.clock)
    either.wait(SECOND)
    either.commit("orders-1")
    either.beat()
    told = either.tell()
    finding = told.only(RULE)
    assert (finding.verdict, finding.topic) == (Verdict.proved, "payments")
    assert "ABORT" in finding.summary
    assert told.rules == {RULE}


def test_a_restored_disk_without_the_end_of_the_transaction_is_likely_one(either):
    """Data and marker are gone, and the partition went on."""
    decided(either)
    either.markers("orders-1")
    log = either.log("payments-0")
    lost = log.batches[-2:]
    either.wait(3)
    either.complete("orders-1")
    log.keep(lambda batch: batch not in lost)
    log.next_offset -= 3
    either.wait(5 * SECOND)
    either.beat(partition="payments-0")
    told = either.tell()
    finding = told.only(RULE)
    assert finding.verdict is Verdict.likely
    assert "neither its records nor its marker" in finding.summary
    check, send, cause, _ = (remedy.text for remedy in finding.remedies)
    assert "abort" not in check  # nothing is open there
    assert send.startswith("If they are lost, send again only what is missing in payments-0")
    assert cause.startswith("Find the cause, after ")


def test_the_records_are_listed_and_no_abort_is_proposed(either):
    skipped(either)
    either.beat(partition="payments-0")
    finding = either.tell().only(RULE)
    check, compare, send, release, *_ = finding.remedies
    assert "do not abort it yet" in check.text
    assert "A group past 3 has read these records" in compare.text
    assert str(check.command).endswith("describe-producers --topic payments --partition 0")
    assert "the 2 records of payments-0 @ 2..3" in send.text
    assert "Never before the records were sent again" in release.text
    assert not any(" abort " in str(remedy.command) for remedy in finding.remedies)


def left_out(cluster: Cluster, at: int) -> list[Line]:
    """The coordinator's line, and those of two brokers that broker 3 was away then."""
    line_at = line(SERVER, at, EventKind.marker_skipped, transactional_id="orders-1", detail="Set(payments-0)")
    away = [
        line(path, at + after, EventKind.connection_failed, node=3)
        for path in (SERVER, "broker-2/server.log")
        for after in (-900, -600, -300)
    ]
    return sorted([line_at, *away], key=lambda one: (one.path, one.at))


def test_a_line_that_the_marker_was_left_out_proves_it_and_is_told_once(either):
    """No second finding asks to abort what the coordinator committed, and readers wait for the same reason."""
    decided(either)
    either.wait(SECOND)
    at = either.clock
    either.markers("orders-1", "orders-0")
    either.complete("orders-1")
    either.wait(5 * SECOND)
    either.beat(partition="payments-0")
    said = judge(beside(either, left_out(either, at)))
    found = {one.rule: one for one in said.findings}
    assert "hanging_transaction" not in found
    assert (found[RULE].verdict, found["read_committed_blocked"].verdict) == (Verdict.proved, Verdict.proved)
    assert any(place.source == SERVER for place in found[RULE].places())
    primary = said.causes[said.findings.index(found[RULE])].primary
    assert said.findings[primary].rule == "broker_unreachable"
    assert not any(" abort it by hand" in remedy.text for one in said.findings for remedy in one.remedies)


def test_a_line_from_before_the_decision_is_of_another_transaction(either):
    at = either.clock
    skipped(either)
    either.beat(partition="payments-0")
    said = judge(beside(either, left_out(either, at)[:1]))
    assert next(one for one in said.findings if one.rule == RULE).verdict is Verdict.likely


def test_the_cause_lies_before_the_next_marker_and_where_a_broker_recovered_that_log(either):
    skipped(either)
    at = either.clock
    either.wait(SECOND)
    either.beat(partition="payments-0")
    again = line(SERVER, at, EventKind.unclean_start, topic="payments", partition=0)
    (found,) = (one for one in judge(beside(either, [again])).findings if one.rule == RULE)
    (cause,) = (remedy.text for remedy in found.remedies if remedy.text.startswith("Find the cause"))
    assert f"Look first at {clock(at)}" in cause
    assert any(place.source == SERVER for place in found.places())


def test_what_was_aborted_is_never_to_be_written_again(either):
    """A COMMIT stands in one partition of an aborted transaction: its readers have the records already."""
    either.init("orders-1")
    either.begin("orders-1", "orders-0", "payments-0")
    known = either.ids["orders-1"]
    either.log("payments-0").marker((known.producer_id, known.epoch), True, 0, either.clock)
    either.wait(SECOND)
    either.abort("orders-1")
    either.beat()
    finding = either.tell().only(RULE)
    assert finding.verdict is Verdict.proved
    assert "Do not send them again" in finding.remedies[0].text


def committed_twice_over(cluster: Cluster, *committed: str) -> None:
    """COMMIT markers stand in these partitions when the coordinator, its rows lost, decides ABORT at the timeout."""
    cluster.init("orders-1", MINUTE)
    cluster.begin("orders-1", "orders-0", "payments-0")
    known = cluster.ids["orders-1"]
    for partition in committed:
        cluster.log(partition).marker((known.producer_id, known.epoch), True, 0, cluster.clock)
    cluster.wait(SECOND)
    cluster.time_out("orders-1")
    cluster.beat()


def test_records_that_a_commit_marker_ended_first_are_not_lost_by_a_timeout(classic):
    committed_twice_over(classic, "orders-0", "payments-0")
    told = classic.tell()
    finding = told.only("transaction_timed_out")
    assert "never get" not in finding.summary
    assert "COMMIT" in finding.summary
    assert "orders-0" in finding.summary
    assert [remedy.text.startswith("Do not send the 2 records") for remedy in finding.remedies] == [True]
    assert finding.severity is Severity.warning
    assert any("COMMIT marker" in place.text for step in finding.steps for place in step.places)
    finding = told.only(RULE)
    assert finding.verdict is Verdict.proved
    look, cause, *_ = finding.remedies
    assert look.text.startswith("If commitTransaction returned, do nothing for the 2 records")
    assert "kafka-transactions.sh" not in cause.text
    assert "records of __transaction_state lost" in cause.text


def test_of_records_that_were_committed_in_one_partition_only_the_others_are_lost(classic):
    committed_twice_over(classic, "orders-0")
    finding = classic.tell().only("transaction_timed_out")
    assert "1 record was aborted: read_committed readers never get it" in finding.summary
    assert "ended orders-0 @ 0 before" in finding.summary
    texts = [remedy.text for remedy in finding.remedies]
    assert any(text.startswith("Send the aborted records again") for text in texts)
    assert any(text.startswith("Do not send the 1 record of orders-0 @ 0 again") for text in texts)


def test_data_behind_a_commit_marker_by_hand_are_aborted_with_the_rest(classic):
    """The application writes on behind the COMMIT and aborts: its first record is committed, its second one is not."""
    classic.init("orders-1")
    classic.begin("orders-1", "orders-0")
    known = classic.ids["orders-1"]
    classic.log("orders-0").marker((known.producer_id, known.epoch), True, 0, classic.clock)
    classic.wait(SECOND)
    classic.data("orders-1", "orders-0")
    classic.abort("orders-1")
    classic.beat()
    finding = classic.tell().only("aborted_by_client")
    assert "with orders-0 @ 2. But a COMMIT marker had ended orders-0 @ 0 before" in finding.summary
    texts = [remedy.text for remedy in finding.remedies]
    assert any("send the aborted records again" in text for text in texts)
    assert any(text.startswith("Do not send the 1 record of orders-0 @ 0 again") for text in texts)


# Look-alikes.


def test_what_is_not_completed_yet_is_stuck(either):
    decided(either)
    either.markers("orders-1", "orders-0")
    either.wait(5 * MINUTE)
    either.beat(partition="payments-0")
    told = either.tell()
    assert not told.of(RULE)
    assert told.of("stuck_prepare")


def test_markers_repeated_after_a_failover_are_harmless(either):
    decided(either)
    either.markers("orders-1")
    either.coordinator_epoch = 1
    either.wait(3 * SECOND)
    either.markers("orders-1")
    either.wait(3)
    either.complete("orders-1")
    either.run("orders-1", "orders-0", "payments-0")
    either.beat(partition="payments-0")
    assert not either.tell().rules


def test_markers_repeated_after_the_completion_are_harmless(either):
    """The first answer was lost: the new coordinator loads PrepareCommit and sends everything again, late."""
    decided(either)
    either.markers("orders-1")
    either.wait(3)
    either.complete("orders-1")
    known = either.ids["orders-1"]
    either.wait(50)
    either.log("payments-0").marker((known.producer_id, known.epoch), True, 1, either.clock)
    either.wait(50)
    either.run("orders-1", "orders-0", "payments-0", times=2)
    assert not either.tell().rules


def test_partitions_that_got_no_data_still_get_markers(either):
    either.init("orders-1")
    either.ongoing("orders-1", "orders-0", "payments-0")
    either.data("orders-1", "orders-0")
    either.commit("orders-1")
    either.beat()
    assert not either.tell().rules


def test_transactions_of_one_epoch_are_not_confused(classic):
    """The trap of the classic protocol: commits and aborts of one epoch, in changing partitions."""
    classic.init("orders-1")
    for number in range(12):
        classic.begin("orders-1", *(("orders-0", "payments-0"), ("orders-0",), ("payments-0",))[number % 3])
        classic.end("orders-1", number % 4 != 0)
    assert classic.tell().rules == {"aborted_by_client"}


def test_a_marker_that_is_missing_after_an_abort_hangs_instead(either):
    decided(either, is_commit=False)
    either.markers("orders-1", "orders-0")
    either.complete("orders-1")
    either.wait(20 * MINUTE)
    either.beat(partition="payments-0")
    told = either.tell()
    assert not told.of(RULE)
    assert told.of("hanging_transaction")


# Evidence cut short.


def test_a_copy_that_ends_before_the_completion_says_nothing(tmp_path: Path):
    cluster = Cluster(tmp_path, brokers=2)
    decided(cluster)
    follower = cluster.log("payments-0")
    follower.ends = {2: follower.next_offset}
    cluster.markers("orders-1")
    cluster.wait(3)
    cluster.complete("orders-1")
    cluster.wait(5 * MINUTE)
    cluster.beat(partition="orders-0")
    told = cluster.tell()
    assert not told.of(RULE)
    assert "ends before the transaction was complete" in told.not_checkable(RULE)[0].missing


def test_a_longer_copy_that_holds_the_marker_settles_it(tmp_path: Path):
    cluster = Cluster(tmp_path, brokers=2)
    decided(cluster)
    cluster.log("payments-0").ends[2] = cluster.log("payments-0").next_offset
    cluster.markers("orders-1")
    cluster.wait(3)
    cluster.complete("orders-1")
    cluster.run("orders-1", "orders-0")
    assert not cluster.tell().rules


def test_times_of_clients_do_not_show_that_a_log_goes_on(either):
    """A record may carry any time, tomorrow's too; the log itself may end before the completion."""
    decided(either)
    either.log("payments-0").data((-1, -1), [either.clock + DAY], transactional=False)
    either.markers("orders-1", "orders-0")
    either.complete("orders-1")
    either.wait(MINUTE)
    either.beat()
    told = either.tell()
    assert not told.of(RULE)
    assert told.not_checkable(RULE)


def test_data_of_a_later_transaction_show_that_a_log_goes_on(either):
    """An Ongoing row is written before the data it allows: such data lie behind every earlier completion."""
    skipped(either)
    either.init("late-1")
    either.begin("late-1", "payments-0")
    either.beat()
    assert either.tell().only(RULE).verdict is Verdict.likely


def test_retention_that_took_the_beginning_says_nothing(either):
    either.init("orders-1")
    either.begin("orders-1", "orders-0", "payments-0")
    either.commit("orders-1")
    either.log("payments-0").delete_before(either.log("payments-0").next_offset)
    either.wait(SECOND)
    either.beat(partition="payments-0")
    assert not either.tell().rules


def test_a_beginning_that_is_older_than_the_decision_shows_that_nothing_was_deleted(either):
    """The log starts above 0, but holds a marker from before the decision: what came later was not deleted."""
    either.init("orders-1")
    either.run("orders-1", "orders-0", "payments-0", times=2)
    either.log("payments-0").delete_before(2)
    decided_without_second_partition(either)
    either.wait(5 * SECOND)
    either.beat(partition="payments-0")
    assert either.tell().only(RULE).verdict is Verdict.likely


def decided_without_second_partition(cluster: Cluster) -> None:
    cluster.ongoing("orders-1", "orders-0", "payments-0")
    cluster.data("orders-1", "orders-0")
    cluster.end_in("orders-1", True, "orders-0")


def test_a_compacted_partition_says_nothing(either):
    either.init("orders-1")
    either.run("orders-1", "prices-0", times=3)
    decided_without_second_partition(either)
    either.run("orders-1", "orders-0", "payments-0", times=2)
    log = either.log("payments-0")
    log.keep(lambda batch: batch.base_offset not in (0, 2))
    log.first_dirty = 3
    either.wait(5 * SECOND)
    either.beat(partition="payments-0")
    assert not either.tell().of(RULE)


def test_offsets_that_are_missing_say_nothing(either):
    """No cleaner was here, yet offsets are missing: the marker may have been among them."""
    skipped(either)
    either.run("orders-1", "payments-0", times=2)
    log = either.log("payments-0")
    log.first_dirty = -1
    log.tear()
    either.beat(partition="payments-0")
    told = either.tell()
    assert not told.of(RULE)
    assert told.not_checkable(RULE)


def test_matches_that_fit_two_ways_say_nothing(tmp_path: Path):
    """Two brokers whose clocks may differ, three commits within a second, one marker lost: nobody can tell whose."""
    cluster = Cluster(tmp_path, brokers=2)
    cluster.init("orders-1")
    for _ in range(3):
        cluster.begin("orders-1", "orders-0", "payments-0")
        cluster.commit("orders-1")
    log = cluster.log("payments-0")
    markers = [batch for batch in log.batches if len(batch.data) == 78 and batch.data[22] & 0x20]
    data = [batch for batch in log.batches if batch not in markers]
    log.keep(lambda batch: batch is not markers[1] and batch not in data)
    cluster.wait(MINUTE)
    cluster.beat(partition="payments-0")
    assert Status.UNDECIDED in cluster.model().parts.rows["status"]
    assert not cluster.tell().of(RULE)


def test_a_topic_that_is_not_at_hand_says_nothing(either):
    skipped(either)
    del either.logs["payments-0"]
    either.beat()
    assert not either.tell().of(RULE)


@pytest.mark.parametrize("kept", ["data", "rows"])
def test_half_of_the_evidence_proves_nothing(either, kept):
    skipped(either)
    either.beat(partition="payments-0")
    if kept == "data":
        del either.logs["__transaction_state-0"]
    else:
        either.logs = {name: log for name, log in either.logs.items() if name.startswith("__")}
    assert not either.tell().of(RULE)


def test_rows_with_a_hole_before_the_completion_prove_no_missing_marker(either):
    """The row that lists the partitions was compacted away or replaced: the list at hand may be an old one."""
    skipped(either)
    either.beat(partition="payments-0")
    log = either.state_log("orders-1")
    decision = next(b.base_offset for b in log.batches if b.base_offset == 6)
    log.keep(lambda batch: batch.base_offset != decision)
    log.first_dirty = log.next_offset
    assert not either.tell().of(RULE)


def test_data_that_an_operator_cut_off_from_a_transaction_that_went_on_are_part_of_it(either):
    """The owner writes on in the partition, in the same transaction, and commits: only the first part is aborted."""
    either.init("orders-1", 15 * MINUTE)
    either.run("orders-1", "orders-0", "payments-0")
    either.begin("orders-1", "orders-0", "payments-0", records=3)
    either.wait(2_000)
    either.marker("orders-1", "payments-0", is_commit=False)
    either.wait(2_000)
    either.data("orders-1", "payments-0", 2)
    either.commit("orders-1")
    either.run("orders-1", "orders-0", "payments-0")
    finding = either.tell().only(RULE)
    assert (finding.verdict, finding.topic, finding.partition) == (Verdict.proved, "payments", 0)
    assert "3 records" in str(finding.facts) or finding.last_offset - finding.first_offset == 2


def test_an_abort_whose_rows_are_gone_is_no_part_of_the_next_transaction(classic):
    """The cleaner took the rows of the aborted one; what it ended was over before the next one began."""
    classic.init("orders-1")
    begun_at = classic.state_log("orders-1").next_offset
    classic.begin("orders-1", "payments-0")
    classic.abort("orders-1")
    kept = classic.state_log("orders-1").next_offset
    classic.run("orders-1", "payments-0")
    classic.state_log("orders-1").keep(lambda batch: not begun_at <= batch.base_offset < kept)
    classic.state_log("orders-1").first_dirty = kept
    assert not classic.tell().of(RULE)


def lost_marker(cluster: Cluster, later_ms: int) -> None:
    """payments-0 loses a COMMIT marker and goes on; the next transaction lists it, writes nothing there and aborts."""
    decided(cluster)
    cluster.markers("orders-1")
    cluster.wait(3)
    cluster.complete("orders-1")
    log = cluster.log("payments-0")
    log.batches.pop()
    log.next_offset -= 1
    cluster.wait(later_ms)
    cluster.begin("orders-1", "orders-0")
    cluster.ongoing("orders-1", "payments-0")
    cluster.abort("orders-1")
    cluster.beat(partition="payments-0")


def test_committed_data_that_lost_their_marker_are_not_of_the_abort_that_ended_them(classic):
    lost_marker(classic, MINUTE)
    told = classic.tell()
    finding = told.only(RULE)
    assert finding.verdict is Verdict.likely
    assert "payments-0 @ 2..3 was ended by ABORT @ 4" in finding.summary
    aborted = told.only("aborted_by_client")
    assert "orders-0" in aborted.summary
    assert "payments-0" not in aborted.summary
