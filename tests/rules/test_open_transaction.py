"""open_transaction: what is open at the end of the evidence, and when that is worth a word."""

from pathlib import Path

import pytest

from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.terms.times import clock
from kafkatx.terms.verdicts import Severity, Verdict
from tests.rules.cluster import DAY, MINUTE, SECOND, TWO_PHASE, Cluster

RULE = "open_transaction"
STATE = "__transaction_state-0"


def opened(cluster: Cluster, timeout_ms: int = MINUTE) -> None:
    cluster.init("orders-1", timeout_ms)
    cluster.run("orders-1", "orders-0")
    cluster.begin("orders-1", "orders-0", records=4)


def test_an_ongoing_row_at_the_end_is_told_with_its_age_and_what_is_left(either):
    opened(either)
    either.wait(20 * SECOND)
    either.beat()
    told = either.tell()
    finding = told.only(RULE)
    assert (finding.verdict, finding.severity) == (Verdict.proved, Severity.info)
    assert (finding.topic, finding.partition, finding.last_offset - finding.first_offset) == ("orders", 0, 3)
    assert "20.02 s" in finding.summary
    assert "60 s, 39.98 s were left" in finding.summary
    assert told.rules == {RULE}


def test_readers_who_wait_for_it_are_named_where_it_is_certain(either):
    """What it holds back is a fact of the same evidence, so nobody is told that there is nothing to do."""
    opened(either)
    since = either.ids["orders-1"].started_at
    either.init("orders-2")
    either.run("orders-2", "orders-0", times=2)
    either.beat()
    told = either.tell()
    assert told.only(RULE).remedies[0].text == (
        "Commit or abort it in the application. If that hangs, start it again under this transactional.id: its "
        f"initTransactions aborts the transaction at once. Else it lasts until {clock(since + MINUTE)}, when the "
        "coordinator aborts it. Readers of orders-0 wait for it (2 committed records hidden)"
    )
    assert told.only("read_committed_blocked").verdict is Verdict.proved


def test_consumers_who_wait_for_its_offsets_are_named(either):
    either.init("orders-1")
    either.begin("orders-1", "__consumer_offsets-0", "orders-0")
    either.beat()
    assert "Consumers that start from its offsets wait for it" in either.tell().only(RULE).remedies[0].text


def test_one_for_which_nobody_waits_needs_nothing(either):
    opened(either)
    either.beat()
    assert either.tell().only(RULE).remedies[0].text.startswith("Nothing to do, unless readers wait for it")


@pytest.mark.parametrize(
    ("age", "severity"),
    [(SECOND, Severity.info), (MINUTE + 20 * SECOND, Severity.info), (5 * MINUTE, Severity.warning)],
    ids=["young", "about to be aborted", "overdue"],
)
def test_its_age_against_its_timeout_decides_the_severity(either, age, severity):
    opened(either)
    for _ in range(age // (20 * SECOND)):
        either.wait(20 * SECOND)
        either.data("orders-1", "orders-0")
    either.beat()
    assert either.tell().only(RULE).severity is severity


def test_one_that_nobody_writes_to_any_more_was_forgotten(either):
    opened(either)
    either.wait(55 * SECOND)
    either.beat()
    finding = either.tell().only(RULE)
    assert finding.severity is Severity.warning
    assert "Commit or abort it" in finding.remedies[0].text


def test_a_two_phase_transaction_is_never_overdue(either):
    opened(either, TWO_PHASE)
    either.wait(3 * DAY)
    either.beat()
    finding = either.tell().only(RULE)
    assert finding.severity is Severity.info
    assert "no timeout" in finding.summary


def test_it_is_ended_by_the_application_and_never_by_abort(either):
    opened(either)
    (remedy,) = either.tell().only(RULE).remedies
    assert remedy.where == "application"
    assert remedy.command is None


def test_a_transaction_that_ended_is_none(either):
    opened(either)
    either.commit("orders-1")
    assert not either.tell().rules


def test_a_hanging_one_is_not_open(classic):
    opened(classic)
    known = classic.ids["orders-1"]
    classic.abort("orders-1")
    classic.late_data("orders-0", known.producer_id, known.epoch)
    classic.wait(20 * MINUTE)
    classic.beat()
    assert not classic.tell().of(RULE)


def test_a_prepared_one_is_not_open(either):
    opened(either)
    either.prepare("orders-1", True)
    either.wait(MINUTE)
    either.beat()
    assert not either.tell().of(RULE)


def test_an_open_one_behind_which_nothing_is_committed_blocks_nobody(either):
    opened(either)
    assert either.tell().rules == {RULE}


def test_a_longer_copy_of_the_state_tells_the_end(tmp_path: Path):
    cluster = Cluster(tmp_path, brokers=2)
    opened(cluster)
    cluster.log(STATE).ends[1] = cluster.log(STATE).next_offset
    cluster.commit("orders-1")
    assert not cluster.tell().rules


def test_a_stale_copy_of_the_state_does_not_say_that_ended_data_are_open(either):
    """The data partition holds the marker, so the Ongoing row is no longer the id's state."""
    opened(either)
    log = either.log(STATE)
    end = log.next_offset
    either.commit("orders-1")
    log.keep(lambda batch: batch.next_offset <= end)
    told = either.tell()
    assert not told.of(RULE)
    assert told.not_checkable(RULE)


def test_a_partition_that_an_operator_aborted_does_not_end_the_transaction(either):
    """The coordinator's log goes on beyond that marker, so the transaction is still open for it."""
    opened(either)
    known = either.ids["orders-1"]
    either.log("orders-0").marker((known.producer_id, known.epoch), False, 0, either.clock)
    either.beat()
    assert either.tell().only(RULE).transactional_id == "orders-1"


def test_a_copy_of_the_state_that_ends_long_before_the_evidence_proves_nothing(tmp_path: Path):
    """One of two brokers died; the id's partition of the state was only there."""
    cluster = Cluster(tmp_path, brokers=2, state_partitions=2)
    opened(cluster)
    mine = cluster.state_log("orders-1")
    mine.ends = {1: mine.next_offset}
    cluster.wait(10 * MINUTE)
    cluster.log("orders-0").marker((8_888, 0), True, 0, cluster.clock)
    assert cluster.tell().only(RULE).verdict is Verdict.likely


def test_a_torn_state_log_makes_it_likely(either):
    opened(either)
    either.log(STATE).tear()
    assert either.tell().only(RULE).verdict is Verdict.likely


def test_data_alone_leave_it_possible_and_say_what_is_missing(either):
    opened(either)
    del either.logs[STATE]
    told = either.tell()
    finding = told.only(RULE)
    assert (finding.verdict, finding.severity, finding.producer_id) == (Verdict.possible, Severity.info, 7000)
    assert told.not_checkable(RULE)
    assert told.not_checkable("hanging_transaction")


def _told(page):
    return document(diagnose([page]), "test")["findings"]


def test_one_whose_start_a_text_does_not_tell_is_open_since_its_row_at_least(tmp_path):
    value = "producerId:7,producerEpoch:0,state={},partitions=[a-0,a-1],txnLastUpdateTimestamp={},txnTimeoutMs=60000"
    page = tmp_path / "page.md"
    page.write_text(
        "Dumping /d/__transaction_state-0/00000000000000000000.log\n"
        + "".join(
            f"| offset: {offset} CreateTime: {at} keySize: 8 valueSize: 53 sequence: -1 headerKeys: [] "
            f"key: transaction_metadata::transactionalId={name} payload: {value.format(state, at)}\n"
            for offset, name, state, at in (
                (20, "pay1", "Ongoing", 1_795_257_365_000),
                (21, "pay2", "CompleteCommit", 1_795_257_375_000),
            )
        )
    )
    (finding,) = (one for one in _told(page) if one["rule"] == RULE)
    assert "open for at least 10 s" in finding["summary"]
    assert finding["severity"] == "info"


def test_a_transaction_whose_first_records_are_deleted_is_to_be_aborted_not_committed(tmp_path):
    """A commit would succeed, and nobody could read what lies below the log start."""
    cluster = Cluster(tmp_path)
    cluster.init("slow-1", 60 * MINUTE)
    cluster.begin("slow-1", "orders-0")
    cluster.beat(partition="orders-0")
    cluster.log("orders-0").roll()
    cluster.beat(partition="orders-0")
    cluster.log("orders-0").delete_before(2)
    cluster.beat()
    found = cluster.tell().only("open_transaction")
    assert found.severity is Severity.warning
    assert found.remedies[0].text.startswith("Abort it in the application and send its records again")
    assert not any("Commit or abort" in one.text for one in found.remedies)
    (blocked,) = cluster.tell().of("read_committed_blocked")
    assert blocked.remedies[0].text.startswith("Abort the transaction of slow-1")
