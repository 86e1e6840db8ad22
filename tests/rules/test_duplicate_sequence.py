"""duplicate_sequence: a repeated batch that was refused; batches out of order are not it."""

from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from tests.histories.log_facts import ERRORS, line
from tests.rules.cluster import DAY, Cluster
from tests.rules.log_told import Client, by_logs, findings, only, rule

check = rule("duplicate_sequence")


def test_a_client_was_refused_a_repetition():
    told = line("a.log", None, EventKind.failure, error=f"{ERRORS}DuplicateSequenceException", detail="duplicate")
    found = only(check, by_logs([told]))
    assert found.verdict is Verdict.likely
    assert found.remedies[0].text.startswith("Do not send the records again")


def test_out_of_order_is_another_error():
    client = Client().start("10:00:00").abortable("10:00:30", f"{ERRORS}OutOfOrderSequenceException", "out of order")
    assert not findings(check, by_logs(client.said))


def test_without_the_error_nothing_is_said():
    assert not findings(check, by_logs(Client().start("10:00:00").said))


def written_twice(cluster, *, is_commit=None, transactional=True, pause_ms=1_000, records=2):
    """A batch that stands in its partition a second time, in the same transaction."""
    log = cluster.log("orders-0")
    log.data((7, 0), [cluster.clock] * records, transactional=transactional)
    log.data((7, 0), [cluster.clock] * records, transactional=transactional)
    cluster.wait(pause_ms)
    log.producers[7].last_sequence -= records
    log.data((7, 0), [cluster.clock] * records, transactional=transactional)
    if is_commit is not None:
        log.marker((7, 0), is_commit, 0, cluster.clock)
    return cluster.tell()


def test_a_batch_that_stands_in_the_log_twice_is_told(tmp_path):
    found = written_twice(Cluster(tmp_path), is_commit=True).only("duplicate_sequence")
    assert (found.verdict, found.severity, found.first_offset) == (Verdict.likely, Severity.error, 4)
    assert "orders-0 @ 2..3" in found.summary
    assert "orders-0 @ 4..5" in found.summary


def test_it_needs_no_transaction(tmp_path):
    assert written_twice(Cluster(tmp_path), transactional=False).only("duplicate_sequence").severity is Severity.error


def test_nobody_reads_what_was_aborted(tmp_path):
    found = written_twice(Cluster(tmp_path), is_commit=False).only("duplicate_sequence")
    assert found.severity is Severity.info


def test_a_client_that_begins_at_0_anew_after_days_repeats_nothing(tmp_path):
    cluster = Cluster(tmp_path)
    log = cluster.log("orders-0")
    log.data((7, 0), [cluster.clock], transactional=False)
    cluster.wait(8 * DAY)
    log.producers.clear()
    log.data((7, 0), [cluster.clock], transactional=False)
    assert not cluster.tell().of("duplicate_sequence")


def test_offsets_that_a_coordinator_commits_have_no_sequences(tmp_path):
    cluster = Cluster(tmp_path)
    log = cluster.log("__consumer_offsets-0")
    for _ in range(2):
        log.producers.clear()
        log.data((7, 0), [cluster.clock])
    assert not cluster.tell().of("duplicate_sequence")
