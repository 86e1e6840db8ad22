"""committed_but_unreadable: which committed records readers are not given, and for which reason."""

from dataclasses import replace
from pathlib import Path

import pytest

from kafkatx.findings.finding import Finding
from kafkatx.local.diagnosis import diagnose
from kafkatx.rules.committed_but_unreadable import lists_them
from kafkatx.stages.parquet_parts import DEFAULT_SIZES
from kafkatx.terms.times import clock, iso
from kafkatx.terms.verdicts import Severity, Verdict
from tests.exports import exported
from tests.rules.cluster import DAY, HOUR, MINUTE, SECOND, Cluster, Told

RULE = "committed_but_unreadable"
BLOCKED = "read_committed_blocked"
STATE = "__transaction_state-0"


def waiting(cluster: Cluster, age_ms: int = 2 * MINUTE, partition: str = "orders-0") -> None:
    """An open transaction of that age, and committed records of another producer before and behind it."""
    cluster.init("slow-1", HOUR)
    cluster.init("sink-1")
    cluster.run("sink-1", partition)
    cluster.begin("slow-1", partition, records=2)
    cluster.run("sink-1", partition, times=2)
    cluster.wait(age_ms)
    cluster.beat()


# Above the last stable offset.


def test_committed_records_behind_an_open_transaction_are_named(either):
    waiting(either)
    told = either.tell()
    found = told.only(RULE)
    assert (found.verdict, found.severity) == (Verdict.proved, Severity.warning)
    assert (found.transactional_id, found.topic, found.partition) == ("sink-1", "orders", 0)
    assert (found.first_offset, found.last_offset) == (4, 6)
    assert found.summary.startswith("2 committed records of sink-1 in orders-0 @ 4..6 were still hidden")
    assert "last stable offset, 2, which the transaction of slow-1 holds" in found.summary
    assert told.cause_of(RULE) == BLOCKED
    assert told.cause_of(BLOCKED) == "open_transaction"


def test_nobody_is_told_to_send_them_again_or_to_abort(either):
    waiting(either)
    remedies = either.tell().only(RULE).remedies
    assert remedies[0].text.startswith("Do not send the records of sink-1 again")
    assert not any(remedy.command for remedy in remedies)


def test_records_of_several_producers_are_one_finding_without_one_id(either):
    waiting(either)
    either.beat("sink-2", "orders-0")
    found = either.tell().only(RULE)
    assert found.transactional_id is None
    assert {subject.transactional_id for subject in found.subjects} == {"sink-1", "sink-2"}
    assert "3 committed records of sink-1, sink-2" in found.summary


def test_of_many_producers_the_largest_are_named_and_the_rest_counted(either):
    waiting(either)
    for number in range(7):
        either.init(f"many-{number}")
        either.begin(f"many-{number}", "orders-0", records=number + 1)
        either.commit(f"many-{number}")
    found = either.tell().only(RULE)
    assert [subject.transactional_id for subject in found.subjects] == [f"many-{number}" for number in range(2, 7)]
    assert "And records of 3 other producers" in [step.text for step in found.steps]


def test_an_ordinary_transaction_hides_nothing_worth_a_word(either):
    waiting(either, age_ms=SECOND)
    told = either.tell()
    assert told.only(BLOCKED).severity is Severity.info
    assert not told.of(RULE)


def test_aborted_records_and_such_outside_transactions_are_none(either):
    either.init("slow-1", HOUR)
    either.begin("slow-1", "orders-0")
    either.plain("orders-0", 5)
    either.init("sink-1")
    either.begin("sink-1", "orders-0")
    either.abort("sink-1")
    either.wait(2 * MINUTE)
    either.beat()
    told = either.tell()
    assert told.of(BLOCKED)
    assert not told.of(RULE)


def test_offsets_of_groups_are_not_told_here(either):
    waiting(either, partition="__consumer_offsets-0")
    assert not either.tell().of(RULE)


def test_behind_a_lost_marker_the_advice_is_that_of_the_readers(either):
    either.init("slow-1")
    either.begin("slow-1", "orders-0", "payments-0")
    either.end_in("slow-1", True, "orders-0")
    either.beat("sink-1", "payments-0")
    either.wait(2 * MINUTE)
    either.beat(partition="payments-0")
    told = either.tell()
    assert "for the readers of payments-0" in told.only(RULE).remedies[1].text
    assert told.cause_of(BLOCKED) == "atomicity_violation"
    assert told.only(RULE).verdict <= told.only(BLOCKED).verdict


# Above it, evidence cut short.


def test_without_rows_the_records_are_still_told_and_nobody_is_named(either):
    waiting(either)
    del either.logs[STATE]
    found = either.tell().only(RULE)
    assert (found.verdict, found.transactional_id) == (Verdict.likely, None)
    assert "producer id" in found.summary


def test_a_torn_log_leaves_it_possible(either):
    waiting(either)
    either.log("orders-0").tear()
    assert either.tell().only(RULE).verdict is Verdict.possible


def test_a_copy_of_one_of_two_brokers_without_the_rows_is_likely(tmp_path: Path):
    cluster = Cluster(tmp_path, brokers=2)
    waiting(cluster)
    cluster.log(STATE).ends = {1: None}
    assert cluster.tell().only(RULE).verdict is Verdict.proved
    assert cluster.tell(2).only(RULE).verdict is Verdict.likely


# Below the log start.


def cut_off(cluster: Cluster, partition: str = "orders-0", moved: bool = True) -> None:
    """A transaction that is still open when a segment begins, at whose offset the log starts when it is committed."""
    cluster.init("export-1", HOUR)
    cluster.begin("export-1", partition, records=2)
    cluster.beat("other-1", partition)
    log = cluster.log(partition)
    log.roll()
    cluster.beat("other-1", partition)
    if moved:
        log.delete_before(4)
    else:
        log.keep(lambda batch: batch.base_offset >= 4)
    cluster.wait(SECOND)
    cluster.commit("export-1")
    cluster.beat()


def test_a_log_that_begins_inside_a_committed_transaction_is_told(either):
    cut_off(either)
    found = either.tell().only(RULE)
    assert (found.verdict, found.severity) == (Verdict.proved, Severity.info)
    assert (found.transactional_id, found.topic, found.partition) == ("export-1", "orders", 0)
    assert (found.first_offset, found.last_offset) == (0, 3)
    assert "before or after its commit is not shown" in found.summary
    assert any(not other.refuted and "readers got them" in other.rule for other in found.considered)


def test_it_has_nothing_to_do_with_readers_that_wait_in_the_same_partition(either):
    cut_off(either)
    waiting(either)
    told = either.tell()
    causes = {
        one.finding.transactional_id: one.caused_by for one in told.diagnosis.findings if one.finding.rule == RULE
    }
    assert causes["export-1"] is None
    assert causes["sink-1"] is not None


BY_LEADER, BY_RETENTION = "client delete records request", "segment deletion"


def moved(
    cluster: Cluster, at: int, line: str = "[UnifiedLog partition=orders-0, dir=/data]", why: str = BY_LEADER
) -> Told:
    """What the disk and a broker's log tell, in which the log start moved at that time."""
    said = f"[{iso(at)}] INFO {line} Incremented log start offset to 4 due to {why} (kafka.log.UnifiedLog)"
    log = cluster.folder / "server.log"
    log.write_text(said + "\n")
    return Told(diagnose([*cluster.write(), log]))


@pytest.mark.parametrize("why", [BY_LEADER, "leader offset increment"])
def test_a_start_that_the_leader_moved_before_the_commit_means_that_nobody_read_them(either, why):
    cut_off(either)
    committed = either.tell().only(RULE).since
    found = moved(either, committed - 2_500, why=why).only(RULE)
    assert (found.verdict, found.severity) == (Verdict.proved, Severity.error)
    assert f"deleted at {clock(committed - 2_500)}, before the commit at {clock(committed)}:" in found.summary
    assert found.title == "committed records deleted before anybody could read them"
    assert "export-1 wrote to orders-0 below offset 4 again" in found.remedies[0].text
    assert not [other for other in found.considered if not other.refuted]


@pytest.mark.parametrize(("earlier", "why"), [(2_500, BY_RETENTION), (500, BY_LEADER)])
def test_a_replica_that_deleted_before_the_commit_does_not_speak_for_the_others(either, earlier, why):
    """Retention is each replica's own, and how many there are no lone directory tells; nor whose clock a marker has."""
    cut_off(either)
    found = moved(either, either.tell().only(RULE).since - earlier, why=why).only(RULE)
    assert (found.verdict, found.severity) == (Verdict.proved, Severity.warning)
    assert "nobody" not in found.title + found.summary
    assert "ever got them" not in found.summary
    assert found.remedies[0].text.startswith("First look whether the partition has another replica")
    assert ["another replica" in other.rule for other in found.considered if not other.refuted] == [True]


@pytest.mark.parametrize(
    "line", ["[UnifiedLog partition=orders-0, dir=/data]", "[UnifiedLog partition=other-0, dir=/d]"]
)
def test_a_start_that_moved_later_or_elsewhere_leaves_that_open(either, line):
    cut_off(either)
    found = moved(either, either.tell().only(RULE).since + 500, line).only(RULE)
    assert (found.severity, found.facts["is_unseen"]) == (Severity.info, False)


BY_TIME = "Deleting segment LogSegment(baseOffset=0, size=479, lastModifiedTime=9, largestRecordTimestamp=7) due to log retention time 604800000ms breach based on the largest record timestamp in the segment"  # noqa: E501
BY_SIZE = "Deleting segment LogSegment(baseOffset=0, size=479, lastModifiedTime=9, largestRecordTimestamp=Some(7)) due to retention size 2000 breach. Log size after deletion will be 6530."  # noqa: E501
REGISTERED = "[Controller 1] Created partition orders-0 with topic ID Tg and PartitionRegistration(replicas=[{}], isr=[1], removingReplicas=[], addingReplicas=[], leader=1, leaderRecoveryState=RECOVERED, leaderEpoch=0, partitionEpoch=0). (org.apache.kafka.controller.ReplicationControlManager)"  # noqa: E501
ELSEWHERE = REGISTERED.replace("orders", "other").format("1")
MORE = "[QuorumController id=1] Replayed partition assignment change PartitionChangeRecord(partitionId=0, topicId=Tg, isr=null, leader=-2, replicas=[1, 2], removingReplicas=null, addingReplicas=null) for topic orders (org.apache.kafka.controller.ReplicationControlManager)"  # noqa: E501
LOG = "[UnifiedLog partition=orders-0, dir=/data]"


def by_retention(cluster: Cluster, at: int, *registered: str, deleting: str = BY_SIZE) -> Told:
    """What the disk, and the logs of a broker that is a controller too, tell of a log start that retention moved."""
    cut_off(cluster)
    lines = [f"[{iso(at - 60_000)}] INFO {line}" for line in registered]
    lines.append(f"[{iso(at)}] INFO {LOG} {deleting} (kafka.log.UnifiedLog)")
    lines.append(
        f"[{iso(at + 1)}] INFO {LOG} Incremented log start offset to 4 due to {BY_RETENTION} (kafka.log.UnifiedLog)"
    )
    paths = cluster.write()
    (log := cluster.folder / "server.log").write_text("\n".join(lines) + "\n")
    return Told(diagnose([*paths, log]))


def committed_at(folder) -> int:
    """When the commit of `cut_off` comes, which is the same in each cluster."""
    cut_off(cluster := Cluster(folder))
    return cluster.tell().only(RULE).since


def test_what_the_only_replica_deleted_before_the_commit_nobody_has(tmp_path):
    committed = committed_at(tmp_path / "when")
    found = by_retention(Cluster(tmp_path / "told"), committed - 400, REGISTERED.format("1")).only(RULE)
    assert (found.verdict, found.severity) == (Verdict.proved, Severity.error)
    assert not [other for other in found.considered if not other.refuted]
    assert found.remedies[0].text.startswith("Send what the transactions of export-1")
    assert (found.remedies[-1].config, found.remedies[-1].current) == ("retention.bytes", "2000")


@pytest.mark.parametrize(
    "registered",
    [
        (),
        (REGISTERED.format("1,2,3"),),
        (REGISTERED.format("1"), MORE),
        (REGISTERED.replace("orders", "other").format("1"),),
    ],
    ids=["nobody tells", "three", "more were added", "another topic"],
)
def test_a_partition_that_may_have_more_replicas_leaves_that_open(tmp_path, registered):
    committed = committed_at(tmp_path / "when")
    found = by_retention(Cluster(tmp_path / "told"), committed - 400, *registered).only(RULE)
    assert found.severity is Severity.warning
    assert any("another replica" in other.rule for other in found.considered if not other.refuted)
    assert "kafka-topics.sh" in (found.remedies[0].command or "")


def test_what_was_deleted_after_its_commit_by_its_own_timestamps_asks_for_no_longer_retention(tmp_path):
    """Deleted 18 s after the commit under a retention of 7 d: the timestamps must be older than that."""
    committed = committed_at(tmp_path / "when")
    found = by_retention(Cluster(tmp_path / "told"), committed + 18_000, REGISTERED.format("1"), deleting=BY_TIME).only(
        RULE
    )
    assert "18 s after the commit" in found.summary
    assert "still open" not in found.summary
    assert found.remedies[-1].config == "message.timestamp.type"
    assert not any("broker's log" in (other.decided_by or "") for other in found.considered)


def test_what_retention_deletes_after_the_commit_is_every_days(either):
    either.init("sink-1")
    either.run("sink-1", "orders-0", times=3)
    either.log("orders-0").roll()
    either.run("sink-1", "orders-0", times=3)
    either.log("orders-0").delete_before(6)
    either.wait(DAY)
    either.beat()
    assert not either.tell().rules


@pytest.mark.parametrize(("later", "is_told"), [(4 * MINUTE, True), (HOUR, False)])
def test_readers_that_had_time_between_the_commit_and_the_deletion_need_no_word(either, later, is_told):
    """The log of a busy partition begins inside some transaction at any moment: a segment begins in the midst of it."""
    cut_off(either)
    either.wait(later)
    either.beat()
    told = either.tell()
    assert bool(told.of(RULE)) is is_told
    assert not told.not_checkable(RULE)


def test_an_aborted_transaction_that_was_deleted_in_part_is_none(either):
    either.init("export-1", HOUR)
    either.begin("export-1", "orders-0", records=2)
    either.log("orders-0").roll()
    either.beat(partition="orders-0")
    either.log("orders-0").delete_before(2)
    either.abort("export-1")
    either.beat()
    assert not either.tell().of(RULE)


def test_evidence_that_begins_later_than_the_log_proves_no_deletion(either):
    """Earlier segments that nobody handed over look like deleted ones: no file of the broker says that they are."""
    cut_off(either, moved=False)
    told = either.tell()
    assert not told.of(RULE)
    (entry,) = told.not_checkable(RULE)
    assert "leader-epoch-checkpoint" in entry.missing


def test_a_marker_alone_behind_a_deleted_start_can_not_be_judged_without_the_snapshot(either):
    cut_off(either)
    either.log("orders-0").rolled.clear()
    told = either.tell()
    assert not told.of(RULE)
    (entry,) = told.not_checkable(RULE)
    assert (entry.scope, "producer snapshot" in entry.missing) == ("committed records of export-1 in orders-0", True)


def test_another_replica_may_still_have_what_this_one_deleted(tmp_path: Path):
    cluster = Cluster(tmp_path, brokers=2)
    cut_off(cluster)
    cluster.log("orders-0").ends = {1: None}
    found = cluster.tell(1, 2).only(RULE)
    assert found.severity is Severity.info
    assert "no reader gets them from this log" in found.summary
    assert any("another replica" in other.rule and not other.refuted for other in found.considered)


# Under an entry of the index of aborted transactions.


def listed(cluster: Cluster, first: int = 2, last: int = 3) -> int:
    """Three committed transactions of two offsets each, and an entry of the index over some of them."""
    cluster.init("sink-1")
    cluster.run("sink-1", "orders-0", times=3)
    producer_id = cluster.ids["sink-1"].producer_id
    cluster.log("orders-0").list_aborted(producer_id, first, last)
    cluster.beat()
    return producer_id


def test_an_entry_over_committed_records_hides_them(either):
    producer_id = listed(either)
    found = either.tell().only(RULE)
    assert (found.verdict, found.severity) == (Verdict.proved, Severity.error)
    assert (found.transactional_id, found.producer_id) == ("sink-1", producer_id)
    assert (found.first_offset, found.last_offset) == (2, 2)
    assert f"00000000000000000000.txnindex lists producer id {producer_id} as aborted from 2 to 3" in found.summary


def test_an_entry_that_begins_too_early_hides_what_was_committed_before(either):
    either.init("sink-1")
    either.run("sink-1", "orders-0")
    either.begin("sink-1", "orders-0")
    either.abort("sink-1")
    log = either.log("orders-0")
    log.aborted.clear()
    log.list_aborted(either.ids["sink-1"].producer_id, 0, 3)
    either.beat()
    found = either.tell().only(RULE)
    assert (found.first_offset, found.last_offset) == (0, 0)


def test_entries_of_aborted_transactions_between_committed_ones_are_right(either):
    either.init("sink-1")
    for _ in range(3):
        either.run("sink-1", "orders-0")
        either.begin("sink-1", "orders-0", records=2)
        either.abort("sink-1")
    either.beat()
    assert not either.tell().of(RULE)


@pytest.mark.parametrize(
    ("first", "last"), [(3, 3), (1, 1), (40, 41)], ids=["its own marker", "a marker before", "behind the log"]
)
def test_an_entry_without_committed_records_hides_nothing(either, first, last):
    """2.0 to 2.6 list a marker that ended nothing; an index that was copied later is ahead of its log."""
    listed(either, first, last)
    assert not either.tell().of(RULE)


def test_an_entry_of_another_producer_hides_nothing(either):
    either.init("sink-1")
    either.run("sink-1", "orders-0", times=3)
    either.log("orders-0").list_aborted(99, 2, 3)
    either.beat()
    assert not either.tell().of(RULE)


def test_copies_that_contradict_each_other_prove_nothing_by_their_index(tmp_path: Path):
    cluster = Cluster(tmp_path, brokers=2)
    listed(cluster)
    first, second = cluster.write()
    other = Cluster(tmp_path / "other", brokers=2)
    other.next_producer_id = 9_000
    other.init("sink-9")
    other.run("sink-9", "orders-0", times=3)
    _, diverged = other.write()
    path = "orders-0/00000000000000000000.log"
    (second / path).write_bytes((diverged / path).read_bytes())
    assert not Told(diagnose([first, second])).of(RULE)


def test_without_the_index_nothing_is_told(either):
    listed(either)
    either.log("orders-0").aborted.clear()
    assert not either.tell().of(RULE)


def test_an_export_tells_the_same(either, tmp_path):
    """The index, and what says that the log was deleted, travel with the facts."""
    listed(either)
    cut_off(either, "payments-0")
    target = exported(either.write(), tmp_path / "export", DEFAULT_SIZES)
    told = {(one.finding.facts.get("index"), one.finding.summary) for one in either.tell().diagnosis.findings}
    again = Told(diagnose([target]))
    assert len(again.of(RULE)) == 2
    assert {(one.finding.facts.get("index"), one.finding.summary) for one in again.diagnosis.findings} == told


def test_a_damaged_index_of_the_same_partition_is_its_cause(either):
    listed(either)
    effect = either.tell().only(RULE)
    cause = Finding("damaged_index", Verdict.likely, Severity.error, "t", "s", topic="orders", partition=0)
    model = either.model()
    assert lists_them(model, cause, effect)
    assert not lists_them(model, replace(cause, partition=1), effect)
    assert not lists_them(model, replace(cause, facts={"is_snapshot": True}), effect)


def test_a_text_of_the_same_log_says_nothing_against_its_log_start(classic, tmp_path):
    """DeleteRecords moved the log start into a segment: its file still holds what lies below, and so does its text."""
    cut_off(classic)
    log = classic.log("orders-0")
    (broker,) = classic.write()
    segment = next((broker / "orders-0").glob("*.log"))
    page = tmp_path / "orders.txt"
    page.write_text(
        f"Dumping /var/lib/kafka/data/orders-0/{0:020d}.log\nLog starting offset: 0\n"
        f"baseOffset: 0 lastOffset: {log.log_start - 1} count: {log.log_start} baseSequence: -1 lastSequence: -1 "
        "producerId: -1 producerEpoch: -1 partitionLeaderEpoch: 0 isTransactional: false isControl: false position: 0 "
        "CreateTime: 1700000000000 size: 100 magic: 2 compresscodec: none crc: 1 isvalid: true\n"
    )
    alone, beside = (diagnose(given).findings for given in ([broker], [broker, page]))
    assert segment.exists()
    assert [one.finding.rule for one in beside] == [one.finding.rule for one in alone] == [RULE]
