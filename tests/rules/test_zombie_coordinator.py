"""zombie_coordinator: the leader's line proves that the fence worked; other refusals of epochs are not it."""

from kafkatx.terms.events import EventKind, Side
from kafkatx.terms.verdicts import Severity, Verdict
from tests.histories.log_facts import line
from tests.rules.cluster import Cluster
from tests.rules.log_told import by_logs, findings, only, rule

check = rule("zombie_coordinator")


def refused(kind=EventKind.zombie_coordinator, **columns):
    said = {"side": Side.broker, "producer_id": 9, "topic": "a", "partition": 1, **columns}
    return [line("server.log", "10:00:00", kind, **said)]


def test_the_line_proves_that_the_marker_was_refused():
    found = only(check, by_logs(refused(producer_epoch=3, other_epoch=5)))
    assert (found.verdict, found.severity, found.producer_id) == (Verdict.proved, Severity.info, 9)
    assert found.steps[0].text == "The marker carried coordinator epoch 3, the leader had seen 5"


def test_a_line_without_epochs_is_enough():
    assert len(only(check, by_logs(refused())).steps) == 1


def test_an_old_producer_epoch_is_another_refusal():
    assert not findings(check, by_logs(refused(EventKind.stale_epoch, producer_epoch=3, other_epoch=5)))


def marked_by(cluster, *epochs, is_commit=False, producer_epoch=0):
    """Transactions of one producer, each ended by a marker with the next of these coordinator epochs."""
    log = cluster.log("orders-0")
    for epoch in epochs:
        log.data((7, 0), [cluster.clock])
        cluster.wait(1_000)
        log.marker((7, producer_epoch), is_commit, epoch, cluster.clock)
    return cluster.tell()


def test_a_marker_with_a_lower_coordinator_epoch_than_before_is_told(tmp_path):
    found = marked_by(Cluster(tmp_path), 7, 5).only("zombie_coordinator")
    assert (found.verdict, found.severity, found.producer_id) == (Verdict.likely, Severity.error, 7)
    assert (found.facts["old"], found.facts["new"]) == (5, 7)


def test_a_commit_of_a_former_coordinator_is_less_bad(tmp_path):
    assert marked_by(Cluster(tmp_path), 7, 5, is_commit=True).only("zombie_coordinator").severity is Severity.warning


def test_coordinator_epochs_that_rise_or_stay_are_ordinary(tmp_path):
    assert not marked_by(Cluster(tmp_path), 5, 5, 7).of("zombie_coordinator")


def test_an_operators_abort_is_none(tmp_path):
    assert not marked_by(Cluster(tmp_path), 7, 0).of("zombie_coordinator")


def test_markers_of_different_producers_are_not_compared(tmp_path):
    cluster = Cluster(tmp_path)
    log = cluster.log("orders-0")
    for producer, epoch in ((7, 5), (8, 3)):
        log.data((producer, 0), [cluster.clock])
        log.marker((producer, 0), True, epoch, cluster.clock)
    assert not cluster.tell().of("zombie_coordinator")


def test_a_producer_id_that_was_given_out_anew_is_none(tmp_path):
    cluster = Cluster(tmp_path)
    log = cluster.log("orders-0")
    for producer_epoch, epoch in ((4, 7), (0, 1)):
        log.data((7, producer_epoch), [cluster.clock])
        log.marker((7, producer_epoch), True, epoch, cluster.clock)
    assert not cluster.tell().of("zombie_coordinator")
