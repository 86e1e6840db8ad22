"""Data without rows of the coordinator, beside its client's log: whose they are, and what they are held against."""

from pathlib import Path

import pytest

from kafkatx.histories.capture_model import CaptureModel
from kafkatx.terms.verdicts import Verdict
from tests.histories.log_facts import facts, settings
from tests.rules.cluster import SECOND, START, Cluster
from tests.rules.log_told import CLIENT, Client, beside, findings, only, rule

TIMEOUT_MS = 6 * SECOND
STATE = "__transaction_state-0"
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
