"""Data without rows of the coordinator, beside its client's log: whose they are, and what they are held against."""

from pathlib import Path

import pytest

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.histories.frameworks import framework_of
from kafkatx.terms.catalogue.frameworks import FLINK
from kafkatx.terms.events import EventKind as Kind
from kafkatx.terms.verdicts import Verdict
from tests.histories.log_facts import facts, line, settings
from tests.rules.cluster import SECOND, START, Cluster
from tests.rules.log_told import CLIENT, Client, beside, findings, only, rule

TIMEOUT_MS = 6 * SECOND
STATE = "__transaction_state-0"
BROKER = "broker-1/server.log"
BLOCK = settings(CLIENT, "producer", {"transactional.id": "orders-1", "transaction.timeout.ms": str(TIMEOUT_MS)})


def told(folder: Path, lasted: int, *, v2: bool = True, blocks: bool = True, own_abort: bool = False) -> CaptureModel:
    """Data that was aborted so long after its begin, its rows lost, and the log of its client."""
    cluster = Cluster(folder, v2=v2)
    cluster.init("orders-1", TIMEOUT_MS)
    client = Client(release="4.1.0").start(START, cluster.ids["orders-1"].producer_id, 0)
    if not v2:
        cluster.run("orders-1", "orders-0")
    cluster.wait(SECOND)
    cluster.begin("orders-1", "orders-0")
    cluster.wait(lasted)
    if own_abort:
        client.aborts(cluster.clock)
    cluster.end("orders-1", False, by_coordinator=not own_abort)
    del cluster.logs[STATE]
    return beside(cluster, facts(client.said, blocks=[BLOCK] if blocks else []))


def test_it_is_named_by_its_clients_log_and_held_against_the_timeout_there(tmp_path: Path) -> None:
    found = only(rule("transaction_timed_out"), told(tmp_path, TIMEOUT_MS + 200))
    assert (found.transactional_id, found.verdict) == ("orders-1", Verdict.possible)
    assert "held against its timeout, 6 s" in found.considered[0].because


def test_without_settings_it_is_held_against_the_default(tmp_path: Path) -> None:
    found = only(rule("transaction_timed_out"), told(tmp_path, 61 * SECOND, blocks=False))
    assert "held against the default timeout, 60 s" in found.considered[0].because


@pytest.mark.parametrize("v2", [True, False], ids=["protocol unknown", "classic"])
def test_a_raised_epoch_rules_the_client_out_only_where_a_commit_shows_the_classic_protocol(
    tmp_path: Path, v2: bool
) -> None:
    found = only(rule("transaction_timed_out"), told(tmp_path, TIMEOUT_MS + 200, v2=v2))
    (own,) = [other for other in found.considered if other.rule == "aborted_by_client"]
    assert own.refuted is not v2
    assert any("classic protocol" in (step.because or "") for step in found.steps) is not v2


def test_an_abort_that_its_clients_log_shows_is_not_told_to_have_kept_the_epoch(tmp_path: Path) -> None:
    model = told(tmp_path, SECOND, own_abort=True)
    found = only(rule("aborted_by_client"), model)
    assert (found.transactional_id, found.verdict) == ("orders-1", Verdict.likely)
    assert any("next epoch" in (step.because or "") for step in found.steps)
    assert not any(other.refuted for other in found.considered)
    assert not findings(rule("transaction_timed_out"), model)


def timed_out(folder: Path, *said: tuple[int, Kind, int]) -> CaptureModel:
    """Data in two partitions that the coordinator aborted, and lines of brokers: milliseconds later, kind, epoch."""
    cluster = Cluster(folder, v2=False)
    cluster.init("orders-1", TIMEOUT_MS)
    cluster.run("orders-1", "orders-0", "orders-1")
    cluster.begin("orders-1", "orders-0", "orders-1")
    cluster.wait(TIMEOUT_MS)
    of_id = {"transactional_id": "orders-1", "producer_id": cluster.ids["orders-1"].producer_id}
    at = cluster.clock
    cluster.end("orders-1", False, by_coordinator=True)
    del cluster.logs[STATE]
    lines = [line(BROKER, at + ms, kind, **of_id, producer_epoch=epoch) for ms, kind, epoch in said]
    return beside(cluster, facts(lines))


def test_one_transaction_in_two_partitions_has_one_end(tmp_path: Path) -> None:
    model = timed_out(tmp_path, (1, Kind.timeout_rollback, -1), (2 * SECOND, Kind.initialized, 2))
    found = only(rule("transaction_timed_out"), model)
    assert (found.verdict, found.count) == (Verdict.proved, 1)
    assert not findings(rule("fenced_by_new_instance"), model)


@pytest.mark.parametrize(("later", "verdict"), [(100, Verdict.likely), (6 * SECOND, Verdict.possible)])
def test_who_was_given_the_id_later_than_it_asks_again_may_have_found_nothing_open(
    tmp_path: Path, later: int, verdict: Verdict
) -> None:
    found = only(rule("fenced_by_new_instance"), timed_out(tmp_path, (later, Kind.initialized, 2)))
    assert found.verdict is verdict
    assert [one.rule for one in found.considered if not one.refuted] == ["transaction_timed_out"]


def test_ids_that_only_brokers_lines_name_show_a_framework(tmp_path: Path) -> None:
    """Flink counts its ids on: a new instance of one is its recovery."""
    lines = [
        line(BROKER, START, Kind.initialized, transactional_id=f"sink-{subtask}-{counter}", producer_id=100 + counter)
        for subtask in range(2)
        for counter in range(1, 7)
    ]
    found = framework_of(beside(Cluster(tmp_path), facts(lines)), "sink-0-3")
    assert found is not None
    assert found.name in FLINK
