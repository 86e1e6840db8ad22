"""producer_restarted_empty: an id that was in use gets a producer id far below its former one, at epoch 0."""

from pathlib import Path

import pytest

from kafkatx import diagnose
from kafkatx.terms.events import EventKind
from kafkatx.terms.verdicts import Severity, Verdict
from tests.histories.log_facts import ERRORS, line
from tests.rules.cluster import MINUTE, SECOND, Cluster
from tests.rules.log_told import Client, beside, by_logs, findings, only, rule

check = rule("producer_restarted_empty")
DAY_S = 86_400
FORMER, ANEW = (44017, 23), (12, 0)


def granted(*given: tuple[int, int], name: str | None = "ledger-0", kind: EventKind = EventKind.initialized) -> list:
    """Grants of one id, a day after each other."""
    return [
        line("server.log", at * DAY_S, kind, transactional_id=name, producer_id=producer_id, producer_epoch=epoch)
        for at, (producer_id, epoch) in enumerate(given)
    ]


@pytest.mark.parametrize("kind", [EventKind.initialized, EventKind.producer_id_set])
def test_a_producer_id_far_below_the_former_one_is_likely(kind):
    found = only(check, by_logs(granted(FORMER, ANEW, kind=kind)))
    assert (found.verdict, found.severity) == (Verdict.likely, Severity.error)
    assert (found.transactional_id, found.producer_id, found.producer_epoch) == ("ledger-0", 12, 0)
    assert "another cluster" in found.summary


def test_a_client_that_names_no_id_is_transactional_if_its_epoch_had_been_raised():
    grants = granted(FORMER, ANEW, name=None, kind=EventKind.producer_id_set)
    assert only(check, by_logs(grants)).transactional_id is None
    assert not findings(check, by_logs(granted((44017, 0), ANEW, name=None, kind=EventKind.producer_id_set)))


def test_several_ids_are_one_finding():
    found = only(check, by_logs([*granted(FORMER, ANEW), *granted((44020, 3), (13, 0), name="ledger-1")]))
    assert found.transactional_id is None
    assert [subject.transactional_id for subject in found.subjects] == ["ledger-0", "ledger-1"]


@pytest.mark.parametrize(
    "grants",
    [
        ((44017, 23), (45000, 0)),
        ((44017, 32766), (44018, 0)),
        ((4017, 23), (12, 0)),
        ((44017, 23), (12, 1)),
        ((44017, 23), (44017, 24)),
        ((12, 0), (44017, 23)),
    ],
    ids=["expired", "exhausted", "blocks of other brokers", "not the first epoch", "taken over", "the other way"],
)
def test_other_grants_are_not_it(grants):
    assert not findings(check, by_logs(granted(*grants)))


def test_a_log_that_begins_behind_the_former_grant_tells_nothing():
    assert not findings(check, by_logs(granted(ANEW)))


ROW = (
    "ledger-0::TransactionMetadata(transactionalId=ledger-0, producerId={}, producerEpoch={}, txnTimeoutMs=60000, "
    "state={}, pendingState=None, topicPartitions=Set(), txnStartTimestamp=-1, txnLastUpdateTimestamp={})\n"
)


@pytest.mark.parametrize(("again", "is_told"), [((12, 0), True), ((45_000, 0), False), ((12, 24), False)])
def test_rows_tell_it_as_well(again, is_told, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(ROW.format(*FORMER, "CompleteCommit", 1) + ROW.format(*again, "Empty", DAY_S * 1000))
    told = {one.finding.rule: one.finding for one in diagnose([page]).findings}
    assert ("producer_restarted_empty" in told) is is_told


def refused(folder: Path, *, given_ms: int) -> tuple[Cluster, Client]:
    """A producer that had been given an id so long before the first record of its coordinator's log, and is refused."""
    cluster = Cluster(folder, state_partitions=2)
    began = cluster.clock
    for number in range(1, 5):
        cluster.init(f"orders-{number}")
    client = Client().start(began - given_ms, 5_000)
    cluster.wait(MINUTE)
    client.threw(cluster.clock, "commitTransaction", f"{ERRORS}InvalidPidMappingException")
    cluster.beat("orders-1")
    return cluster, client


def test_a_coordinators_log_that_begins_later_than_its_producer_has_lost_records(tmp_path: Path) -> None:
    cluster, client = refused(tmp_path, given_ms=MINUTE)
    model = beside(cluster, client.said)
    found = only(check, model)
    assert (found.verdict, found.severity, found.transactional_id) == (Verdict.likely, Severity.error, "orders-1")
    assert "orders-1 had been given producer id 5000 epoch 0" in found.summary
    assert "probably lost" in found.summary
    assert any(one.rule == "another cluster" and not one.refuted for one in found.considered)
    assert not findings(rule("transactional_id_expired"), model)


def test_a_producer_that_was_made_later_than_the_log_begins_tells_of_no_loss(tmp_path: Path) -> None:
    cluster, client = refused(tmp_path, given_ms=-SECOND)
    assert not findings(check, beside(cluster, client.said))


def test_a_log_that_was_cleaned_at_its_begin_tells_of_no_loss(tmp_path: Path) -> None:
    cluster, client = refused(tmp_path, given_ms=MINUTE)
    for log in cluster.logs.values():
        log.keep(lambda batch: batch.base_offset > 0)
    assert not findings(check, beside(cluster, client.said))
