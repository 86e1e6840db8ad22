"""transaction_timed_out: P4, P4b, P9, P9b, P10 and what looks like them."""

from dataclasses import replace
from pathlib import Path

import pytest

from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.answer import totals
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from tests.evidence import fixtures
from tests.histories.log_facts import FENCED, line
from tests.rules.cluster import (
    DAY,
    MINUTE,
    SECOND,
    START,
    TWO_PHASE,
    Cluster,
    CompleteAbort,
    Empty,
    PrepareAbort,
)
from tests.rules.log_told import CLIENT, Client, beside, only, rule

RULE = "transaction_timed_out"
STATE = "__transaction_state-0"


def timed_out(cluster: Cluster, timeout_ms: int = MINUTE, over_ms: int = 5 * SECOND) -> None:
    cluster.init("orders-1", timeout_ms)
    cluster.run("orders-1", "orders-0")
    cluster.begin("orders-1", "orders-0", "payments-0", records=2)
    cluster.time_out("orders-1", over_ms)


def by_rows(cluster: Cluster) -> Verdict:
    """How sure rows are that end there: under transactions v2 a client's own abort past its timeout leaves the same."""
    return Verdict.likely if cluster.v2 else Verdict.proved


def old_release(folder: Path) -> Cluster:
    """0.11.0.0 or 0.11.0.1: no cluster.id on disk, and a timeout keeps the epoch (KAFKA-6119)."""
    return Cluster(folder, identified=False, raises_epoch=False)


def test_an_abort_beyond_the_timeout_by_the_coordinators_clock_is_its_own(either):
    timed_out(either)
    either.beat()
    told = either.tell()
    finding = told.only(RULE)
    assert (finding.verdict, finding.severity, finding.count) == (by_rows(either), Severity.error, 1)
    assert "4 records" in finding.summary
    assert told.rules == {RULE}
    left_open = {considered.rule for considered in finding.considered if not considered.refuted}
    assert left_open == ({"aborted_by_client"} if either.v2 else set())
    assert {considered.rule for considered in finding.considered} - left_open == {"fenced_by_new_instance"}


def test_a_later_commit_of_the_id_makes_it_a_warning(either):
    timed_out(either)
    either.wait(30 * SECOND)
    either.init("orders-1")
    either.run("orders-1", "orders-0")
    finding = either.tell().only(RULE)
    assert (finding.verdict, finding.severity) == (Verdict.proved, Severity.warning)


def test_timeouts_of_one_id_are_one_finding(either):
    either.init("orders-1")
    for _ in range(4):
        either.begin("orders-1", "orders-0")
        either.time_out("orders-1")
        either.wait(30 * SECOND)
        either.init("orders-1")
    finding = either.tell().only(RULE)
    assert (finding.count, len(finding.subjects)) == (4, 3)
    assert finding.since < finding.until


def test_the_double_bump_of_4_0_0_is_a_timeout_too(tmp_path: Path):
    cluster = Cluster(tmp_path, v2=True, double_bump=True)
    timed_out(cluster)
    cluster.wait(30 * SECOND)
    cluster.init("orders-1")
    told = cluster.tell()
    assert (told.rules, told.only(RULE).verdict) == ({RULE}, Verdict.proved)


def test_a_classic_client_on_a_v2_broker_times_out_like_any_other(v2):
    v2.init("orders-1", v2=False)
    v2.begin("orders-1", "orders-0")
    v2.time_out("orders-1")
    assert v2.tell().only(RULE).verdict is Verdict.proved


def test_a_bump_at_the_same_epoch_is_the_old_clients_own_and_no_retry_of_a_fence(v2):
    """P9b: a 4.x broker grants an old client that timed out its own bump without a further step (kafka-python on
    4.3.1).
    """
    v2.init("orders-1", v2=False)
    v2.begin("orders-1", "orders-0")
    v2.time_out("orders-1")
    v2.wait(100)
    v2.store("orders-1", replace(v2.ids["orders-1"], state=Empty, partitions=(), started_at=-1, version=0))
    v2.run("orders-1", "orders-0")
    told = v2.tell()
    assert (told.rules, told.only(RULE).verdict) == ({RULE}, Verdict.proved)


def test_a_restart_at_once_leaves_a_fence_possible(either):
    """Recorded with 0.11, 3.9 and 4.3: a takeover before the coordinator looked leaves the same rows."""
    timed_out(either)
    either.wait(100)
    either.init("orders-1")
    finding = either.tell().only(RULE)
    assert finding.verdict is Verdict.possible
    assert (finding.considered[0].rule, finding.considered[0].refuted) == ("fenced_by_new_instance", False)
    assert "server.log" in str(finding.considered[0].decided_by)


def test_a_restart_after_seconds_leaves_no_doubt(either):
    timed_out(either)
    either.wait(3 * SECOND)
    either.init("orders-1")
    assert either.tell().only(RULE).verdict is Verdict.proved


def test_a_coordinator_that_looks_minutes_late_was_away(either):
    timed_out(either, over_ms=5 * MINUTE)
    assert either.tell().only(RULE).verdict is Verdict.likely


def test_an_abort_just_beyond_the_timeout_by_another_coordinators_clock_is_nobodys(v2):
    """Two clocks: one second says nothing, and an end of unknown author is no finding but a gap in the knowledge."""
    v2.brokers = 3
    v2.init("orders-1")
    v2.begin("orders-1", "orders-0")
    v2.coordinator_epoch = 1
    v2.time_out("orders-1", over_ms=SECOND)
    told = v2.tell()
    assert not told.rules
    assert told.not_checkable("aborted_by_client")


def test_an_abort_far_beyond_the_timeout_by_another_coordinators_clock_is_a_timeout(either):
    either.init("orders-1")
    either.begin("orders-1", "orders-0")
    either.coordinator_epoch = 1
    either.time_out("orders-1", over_ms=8 * SECOND)
    assert either.tell().rules == {RULE}


def test_a_fence_before_the_timeout_is_none(either):
    either.init("orders-1")
    either.begin("orders-1", "orders-0")
    either.wait(MINUTE - SECOND)
    either.init("orders-1")
    assert either.tell().rules == {"fenced_by_new_instance"}


def test_a_client_that_aborts_late_at_its_own_epoch_is_none(classic):
    classic.init("orders-1")
    classic.begin("orders-1", "orders-0")
    classic.wait(MINUTE + 5 * SECOND)
    classic.abort("orders-1")
    told = classic.tell()
    assert told.rules == {"aborted_by_client"}
    assert "beyond the timeout" in told.only("aborted_by_client").considered[0].because


def test_a_v2_producer_that_goes_on_without_initialising_aborted_late_itself(v2):
    v2.init("orders-1")
    v2.begin("orders-1", "orders-0")
    v2.wait(MINUTE + 5 * SECOND)
    v2.abort("orders-1")
    v2.run("orders-1", "orders-0")
    assert v2.tell().rules == {"aborted_by_client"}


def test_a_commit_beyond_the_timeout_is_a_commit(either):
    either.init("orders-1")
    either.begin("orders-1", "orders-0")
    either.wait(MINUTE + 5 * SECOND)
    either.commit("orders-1")
    either.run("orders-1", "orders-0")
    assert not either.tell().rules


def test_a_two_phase_transaction_never_times_out(either):
    either.init("sink-1", timeout_ms=TWO_PHASE)
    either.begin("sink-1", "orders-0")
    either.wait(20 * DAY)
    either.abort("sink-1")
    either.run("sink-1", "orders-0")
    assert either.tell().rules == {"aborted_by_client"}


def test_a_release_that_is_told_and_raises_the_epoch_leaves_only_the_client(tmp_path: Path):
    cluster = old_release(tmp_path)
    timed_out(cluster)
    cluster.beat()
    found = diagnose(cluster.write(), release=(1, 0, 0)).findings
    assert [(each.finding.rule, each.finding.verdict) for each in found] == [("aborted_by_client", Verdict.proved)]


def test_0_11_0_1_leaves_both_readings_possible(tmp_path: Path):
    cluster = old_release(tmp_path)
    timed_out(cluster)
    told = cluster.tell()
    assert told.rules == {RULE, "aborted_by_client"}
    assert {told.only(rule).verdict for rule in told.rules} == {Verdict.possible}
    assert {told.only(rule).severity for rule in told.rules} <= {Severity.warning, Severity.info}


def test_an_old_cluster_that_raised_an_epoch_on_a_timeout_is_none_of_those_releases(tmp_path: Path):
    cluster = Cluster(tmp_path, identified=False)
    cluster.init("other-1")
    cluster.begin("other-1", "orders-1")
    cluster.time_out("other-1")
    cluster.init("orders-1")
    cluster.begin("orders-1", "orders-0")
    cluster.wait(MINUTE + 5 * SECOND)
    cluster.abort("orders-1")
    told = cluster.tell()
    assert told.only(RULE).transactional_id == "other-1"
    assert (told.only("aborted_by_client").transactional_id, told.only("aborted_by_client").verdict) == (
        "orders-1",
        Verdict.proved,
    )


def test_the_proposed_timeout_comes_from_the_longest_transaction(either):
    timed_out(either, timeout_ms=MINUTE, over_ms=5 * SECOND)
    _, remedy = either.tell().only(RULE).remedies
    assert (remedy.config, remedy.current, remedy.proposed) == ("transaction.timeout.ms", "60000", "150000")
    assert "65 s" in str(remedy.derived_from)
    assert remedy.cost


def test_the_proposed_timeout_stays_below_what_brokers_allow(either):
    timed_out(either, timeout_ms=10 * MINUTE, over_ms=5 * SECOND)
    _, remedy = either.tell().only(RULE).remedies
    assert (remedy.current, remedy.proposed) == ("600000", "900000")


@pytest.mark.parametrize("minutes", [15, 60])
def test_a_timeout_at_its_limit_is_raised_only_with_the_limit(either, minutes):
    timed_out(either, timeout_ms=minutes * MINUTE)
    again, timeout, limit = either.tell().only(RULE).remedies
    assert again.text.startswith("Send the aborted records again")
    assert (timeout.config, timeout.current) == ("transaction.timeout.ms", str(minutes * MINUTE))
    assert limit.config == "transaction.max.timeout.ms"
    assert int(str(limit.proposed)) >= int(str(timeout.proposed)) > minutes * MINUTE


def test_rows_that_end_with_the_decision_tell_the_timeout_all_the_same(either):
    timed_out(either)
    either.log(STATE).keep(lambda batch: batch.next_offset < either.log(STATE).next_offset)
    assert either.tell().only(RULE).verdict is by_rows(either)


def test_compaction_that_took_the_beginning_proves_nothing(either):
    """Only CompleteAbort is left: neither the protocol nor the epoch of the transaction is known."""
    timed_out(either)
    log = either.log(STATE)
    log.keep(lambda batch: batch.next_offset == log.next_offset)
    log.first_dirty = log.next_offset
    told = either.tell()
    assert not told.of(RULE)
    assert told.not_checkable("aborted_by_client")


def test_an_id_that_is_only_seen_from_its_decision_on_times_out_by_the_rows_own_start(classic):
    timed_out(classic)
    log = classic.log(STATE)
    log.keep(lambda batch: batch.next_offset >= log.next_offset - 1)
    finding = classic.tell().only(RULE)
    assert finding.producer_epoch is None or finding.producer_epoch == 0


def test_without_the_coordinators_log_a_timeout_is_never_proved(either):
    timed_out(either)
    either.wait(30 * SECOND)
    either.init("orders-1")
    either.run("orders-1", "orders-0")
    del either.logs[STATE]
    told = either.tell()
    assert all(finding.verdict < Verdict.proved for finding in told.of(RULE))
    assert told.of(RULE) or told.not_checkable("aborted_by_client")


def test_an_aborted_transaction_of_no_partition_is_the_clients(v2):
    """P11: under transactions v2 an abort before any write has rows of its own; their start is their update."""
    v2.init("orders-1")
    v2.run("orders-1", "orders-0")
    v2.abort("orders-1")
    v2.run("orders-1", "orders-0")
    known = v2.ids["orders-1"]
    assert known.state not in (PrepareAbort, CompleteAbort)
    assert v2.tell().rules == {"aborted_by_client"}


def test_what_may_have_been_a_timeout_makes_no_other_timeout_less_sure(classic: Cluster) -> None:
    """A new instance right after the timeout may have come before the coordinator looked: a finding of its own."""
    classic.init("orders-1")
    classic.begin("orders-1", "orders-0")
    classic.time_out("orders-1")
    alone = classic.tell().only(RULE)
    classic.wait(MINUTE)
    for _ in range(2):
        classic.init("orders-1")
        classic.begin("orders-1", "orders-0")
        classic.wait(MINUTE + 200)
    classic.init("orders-1")
    sure, possible = classic.tell().of(RULE)
    assert (alone.verdict, sure.verdict, sure.count) == (Verdict.proved, Verdict.proved, 1)
    assert (possible.verdict, possible.count) == (Verdict.possible, 2)


@pytest.fixture(scope="module")
def of_flink():
    """A recorded job whose transaction timeout (4 s) is shorter than its checkpoint interval (9 s)."""
    return diagnose([fixtures() / "f-flink-sink"])


def test_records_of_a_completed_checkpoint_that_flink_could_not_commit_are_told_lost(of_flink):
    found = [one.finding for one in of_flink.findings if "of a completed checkpoint lost" in one.finding.title]
    assert {one.transactional_id for one in found} == {"hourly-sink-0-1", "hourly-sink-1-1"}
    for one in found:
        assert one.severity is Severity.error
        assert one.remedies[0].text.startswith("Replay the 11 records of hourly-0 @ ")
        assert {place.line for place in one.places()} & {104, 107, 230, 233}


def test_what_a_checkpoint_ends_is_not_held_up_by_its_work(of_flink):
    found = [one.finding for one in of_flink.findings if one.finding.rule == RULE]
    assert len(found) == 6
    for one in found:
        (longer,) = (remedy for remedy in one.remedies if remedy.config)
        assert "above checkpoint interval + longest checkpoint + longest restart" in longer.text
        assert "delivery.timeout.ms" not in str(longer.derived_from)


def test_ids_that_one_change_mends_have_one_root_cause(of_flink):
    assert totals(of_flink).startswith("1 root cause;")


@pytest.fixture(scope="module")
def of_streams():
    """A recorded process that stood still for longer than its timeout, and one that was killed in its transaction."""
    return [one.finding for one in diagnose([fixtures() / "f-streams-frozen"]).findings if one.finding.rule == RULE]


def test_a_process_that_ended_in_its_transaction_needs_no_other_timeout(of_streams):
    (killed,) = (one for one in of_streams if "totals" in str(one.transactional_id))
    assert killed.remedies[0].text.startswith("Find out why its process ended in the transaction")
    assert "Its log breaks off in it" in killed.summary
    assert not any(remedy.config for remedy in killed.remedies)
    assert "another one went on" not in killed.remedies[0].text  # it was started; it went on behind the abort


def test_a_process_that_stood_still_needs_no_other_timeout_either(of_streams):
    """Who takes the tasks over waits for the timeout: a longer one only makes that wait longer."""
    frozen = [one for one in of_streams if "sessions" in str(one.transactional_id)]
    assert len(frozen) == 2
    for one in frozen:
        assert one.remedies[0].text.startswith("No setting to change: its process stood still for ")
        assert not any(remedy.config for remedy in one.remedies)
        assert one.title == "transaction timed out: its process stood still"
        (step,) = (step for step in one.steps if "stood still" in step.text)
        assert "removed" in step.places[0].text


def test_what_a_framework_writes_again_is_no_error_and_its_ids_are_asked_the_same(of_streams):
    assert {one.severity for one in of_streams} == {Severity.warning}
    frozen = [one for one in of_streams if "sessions" in str(one.transactional_id)]
    assert len({one.remedies[0].text.partition(". ")[2] for one in frozen}) == 1


def test_a_later_commit_is_cited_by_its_own_row(of_streams):
    (step,) = (step for one in of_streams for step in one.steps if step.text == "The id committed again later")
    assert [place.text.split(",")[0] for place in step.places] == ["PrepareCommit"]


def late(cluster: Cluster, after_ms: int, *met) -> list:
    """Lines of a client whose commit comes that long after the start of its transaction, and finds it timed out."""
    cluster.init("orders-1", 5 * SECOND)
    client = Client().start(START, cluster.ids["orders-1"].producer_id, cluster.ids["orders-1"].epoch)
    cluster.begin("orders-1", "orders-0")
    began = cluster.clock - 5
    cluster.time_out("orders-1", SECOND)
    cluster.wait(MINUTE)
    cluster.beat()
    client.threw(began + after_ms, "commitTransaction", FENCED, "There is a newer producer")
    lines = [line(CLIENT, began + SECOND, kind, transactional_id="orders-1", node=1) for kind in met]
    return [*client.said, *lines]


def test_a_commit_that_was_called_late_tells_how_long_the_application_took(tmp_path):
    """No request was repeated, so how long requests may be repeated decides nothing."""
    cluster = Cluster(tmp_path)
    found = only(rule(RULE), beside(cluster, late(cluster, 8 * SECOND)))
    (longer,) = (one for one in found.remedies if one.config)
    assert longer.proposed == "30000"
    assert longer.derived_from.startswith("commitTransaction was called 8 s after the start; 1.5 times that")
    said = "The application called commitTransaction 8 s after the start"
    assert any(step.text.startswith(said) for step in found.steps)


def test_a_late_commit_whose_client_met_trouble_is_nobodys_delay(tmp_path):
    cluster = Cluster(tmp_path)
    found = only(rule(RULE), beside(cluster, late(cluster, 8 * SECOND, EventKind.request_timed_out)))
    (longer,) = (one for one in found.remedies if one.config)
    assert "commitTransaction was called" not in longer.derived_from
    assert int(longer.proposed) > 30_000


ENDED_ID = "totals-68d70a67-44a0-48f7-ac4a-de50968a4a14-1"
LATER = "2026-11-21 11:44:36.100"


@pytest.mark.parametrize(
    "said",
    [
        ("502e4fa3-cc32-4280-be3a-55f0304eda69", "another-program", ""),
        ("", "", f"{LATER} [main] ERROR com.example.Worker - Error while committing transaction\n"
                 "org.apache.kafka.common.errors.ProducerFencedException: Producer attempted an operation with an old "
                 "epoch. Either there is a newer producer with the same transactionalId, or it has been expired.\n"),
        ("", "", f"{LATER} [main] INFO  org.apache.kafka.clients.producer.KafkaProducer - [Producer clientId=totals-"
                 f"68d70a67-44a0-48f7-ac4a-de50968a4a14-StreamThread-1-producer, transactionalId={ENDED_ID}] "
                 "Closing the Kafka producer with timeoutMillis = 10000 ms.\n"),
    ],
    ids=["another producer is made", "a line that names nobody comes later", "a line of the client comes later"],
)  # fmt: skip
def test_a_process_that_may_go_on_has_not_ended(tmp_path: Path, said: tuple[str, str, str]):
    case, (old, new, later) = fixtures() / "f-streams-frozen", said
    for path in (case / "logs").rglob("*.log"):
        text = path.read_text()
        if path.name == "client-totals.log":
            text = (text.replace("totals-" + old, new) if old else text) + later
        (tmp_path / path.name).write_text(text)
    found = [one.finding for one in diagnose([case / "broker-1", tmp_path]).findings if one.finding.rule == RULE]
    (of_id,) = (one for one in found if one.transactional_id == ENDED_ID)
    assert of_id.verdict is Verdict.proved
    assert "breaks off" not in of_id.summary
    assert any(remedy.config == "producer.transaction.timeout.ms" for remedy in of_id.remedies)


def test_a_second_producer_of_a_process_is_no_new_process():
    """Clients before 2.6 name no id where they fail: 5.5 s after its start the first one goes on."""
    found = [one.finding for one in diagnose([fixtures() / "k27-client-versions"]).findings if one.finding.rule == RULE]
    assert {str(one.transactional_id) for one in found} == {f"slow-{n}" for n in ("0-11", "1-1", "2-4", "2-7", "3-3")}
    assert not any("breaks off" in one.summary for one in found)
    assert all(any(remedy.config == "transaction.timeout.ms" for remedy in one.remedies) for one in found)
