"""sequence_gap: refusals out of order; what another error left before, and a leader without state, are not it."""

import pytest

from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.verdicts import Severity, Verdict
from tests.histories.log_facts import ERRORS, line
from tests.rules.cluster import Cluster
from tests.rules.log_told import Client, by_logs, findings, only, rule

check = rule("sequence_gap")
OUT_OF_ORDER = f"{ERRORS}OutOfOrderSequenceException"


def refused(count, **columns):
    said = {"side": Side.broker, "producer_id": 9, "topic": "a", "partition": 1, "number": 0, **columns}
    return [line("server.log", f"10:00:{at:02}", EventKind.sequence_refused, **said) for at in range(count)]


def test_a_refusal_of_the_leader_may_heal():
    found = only(check, by_logs(refused(1)))
    assert (found.verdict, found.severity, found.producer_id) == (Verdict.likely, Severity.info, 9)


def test_the_sequence_that_was_due_is_told_beside_the_one_that_came():
    found = only(check, by_logs(refused(1, number=220_417, detail="220413")))
    assert "producer id 9 as out of order: sequence 220417 came, 220414 was due." in found.summary
    found = only(check, by_logs(refused(2, number=1, detail="2147483647")))
    assert "as out of order, the first of them: sequence 1 came, 0 was due." in found.summary
    assert "due" not in only(check, by_logs(refused(1, number=5))).summary


@pytest.mark.parametrize(
    ("came", "last", "is_below"),
    [(17, 49, True), (0, 49, True), (51, 49, False), (0, 2**31 - 3, False), (2**31 - 5, 3, True)],
)
def test_no_batch_is_missing_before_one_that_the_leader_is_beyond(came, last, is_below):
    found = only(check, by_logs(refused(1, number=came, detail=str(last))))
    assert ("No batch is missing before it" in found.summary) is is_below
    assert ("A batch before them is" in found.summary) is not is_below
    assert ("heals by itself" in found.summary) is not is_below
    assert ("producer_id_collision" in {one.rule for one in found.considered}) is is_below
    assert ("unresolved_sequence" in {one.rule for one in found.considered}) is not is_below


@pytest.mark.parametrize(("base", "is_below"), [(0, True), (12, False)])
def test_the_first_batch_of_a_client_misses_none_before_it(base, is_below):
    said = f"ProduceRequest for new [0] with 1 message(s) failed (PID{{Id:8000,Epoch:0}}, base seq {base}, idemp state"
    client = Client().start("10:00:00").abortable("10:00:30", OUT_OF_ORDER, said)
    found = only(check, by_logs(client.said))
    assert ("No batch is missing before it" in found.summary) is is_below


def test_what_may_have_healed_asks_first_whether_the_producer_failed():
    found = only(check, by_logs(refused(1)))
    assert "heals by itself" in found.summary
    assert found.remedies[0].text.startswith("See first whether this producer failed")
    assert "heals" not in only(check, by_logs(refused(4))).summary


def test_refusals_that_go_on_do_not():
    assert only(check, by_logs(refused(4))).severity is Severity.warning


def test_a_call_that_ended_with_it_is_told():
    client = Client().start("10:00:00").abortable("10:00:30", OUT_OF_ORDER, "out of order sequence number")
    assert only(check, by_logs(client.said)).verdict is Verdict.likely


def test_after_another_failure_it_is_perhaps_its_effect():
    client = Client().start("10:00:00").abortable("10:00:20", f"{ERRORS}RecordTooLargeException", "too large")
    client.abortable("10:00:30", OUT_OF_ORDER, "out of order sequence number")
    assert only(check, by_logs(client.said)).verdict is Verdict.possible


def test_a_leader_without_state_is_another_mechanism():
    said = "Expected sequence 0 for transactions v2 idempotent producer with no existing state."
    assert not findings(check, by_logs(refused(1, detail=said)))


def retried(at, error):
    said = {"client_id": "app", "topic": "a", "partition": 1, "error": error}
    return line("app.log", at, EventKind.produce_retry, side=Side.client, **said)


def expired(at):
    said = {"client_id": "app", "topic": "a", "partition": 1, "number": 120_000, "error": f"{ERRORS}TimeoutException"}
    detail = "Expiring 17 record(s) for a-1:120000 ms has passed since batch creation"
    return line("app.log", at, EventKind.batch_expired, side=Side.client, detail=detail, **said)


def test_a_batch_that_was_out_of_order_until_its_time_was_over_is_told():
    lines = [retried(f"10:00:{at:02}", "OUT_OF_ORDER_SEQUENCE_NUMBER") for at in range(3)]
    found = only(check, by_logs([*lines, expired("10:02:00")]))
    assert (found.verdict, found.severity) == (Verdict.likely, Severity.warning)


def test_a_batch_that_was_in_order_again_before_its_time_was_over_is_not():
    lines = [retried("10:00:00", "OUT_OF_ORDER_SEQUENCE_NUMBER"), retried("10:00:01", "NOT_ENOUGH_REPLICAS")]
    assert not findings(check, by_logs([*lines, expired("10:02:00")]))


def log_of(cluster, sequences, *, producer=7, partition="orders-0"):
    """Write batches of two records that end with these sequences."""
    log = cluster.log(partition)
    for sequence in sequences:
        if producer in log.producers:
            log.producers[producer].last_sequence = sequence - 2
        log.data((producer, 0), [cluster.clock] * 2, transactional=False)
        cluster.wait(1_000)
    return log


def test_sequences_that_are_missing_in_a_partition_are_told(tmp_path):
    cluster = Cluster(tmp_path)
    log_of(cluster, [1, 3, 13])
    found = cluster.tell().only("sequence_gap")
    assert (found.verdict, found.severity, found.facts["left_out"]) == (Verdict.likely, Severity.warning, 8)
    assert (found.topic, found.first_offset, found.producer_id) == ("orders", 4, 7)


def test_a_new_leader_in_between_makes_it_a_loss(tmp_path):
    cluster = Cluster(tmp_path)
    log_of(cluster, [1, 3]).leader_epoch = 1
    log_of(cluster, [13])
    assert cluster.tell().only("sequence_gap").severity is Severity.error


def test_sequences_that_go_on_are_no_gap(tmp_path):
    cluster = Cluster(tmp_path)
    log_of(cluster, [1, 3, 5])
    assert not cluster.tell().of("sequence_gap")


def test_offsets_that_the_cleaner_took_are_no_gap(tmp_path):
    cluster = Cluster(tmp_path)
    log = log_of(cluster, [1, 3, 5])
    del log.batches[1]
    assert not cluster.tell().of("sequence_gap")


def test_a_client_that_is_dead_by_it_is_an_error():
    for kind, severity in ((EventKind.failure, Severity.warning), (EventKind.to_fatal, Severity.error)):
        lines = [line("app.log", "10:00:01", kind, error=OUT_OF_ORDER, transactional_id="pay-1")]
        assert only(check, by_logs(lines)).severity is severity
