"""Ids in several partitions of `__transaction_state`: each finding is about the transaction of its own id."""

from pathlib import Path

from tests.rules.cluster import MINUTE, SECOND, Cluster

IDS = [f"orders-{number}" for number in range(8)]


def cluster_of(folder: Path) -> Cluster:
    """Eight ids with a topic of their own each, spread over four state partitions, with some history."""
    cluster = Cluster(folder, state_partitions=4)
    for number, name in enumerate(IDS):
        cluster.init(name)
        cluster.run(name, f"topic{number}-0", times=1 + number % 3)
    assert len({cluster.state_log(name).partition for name in IDS}) > 2
    return cluster


def test_what_is_open_is_shown_where_its_own_id_wrote(tmp_path):
    cluster = cluster_of(tmp_path)
    for number, name in enumerate(IDS):
        cluster.begin(name, f"topic{number}-0")
    cluster.beat()
    told = cluster.tell()
    found = {finding.transactional_id: finding.topic for finding in told.of("open_transaction")}
    assert found == {name: f"topic{number}" for number, name in enumerate(IDS)}


def test_what_is_stuck_waits_for_its_own_partition(tmp_path):
    cluster = cluster_of(tmp_path)
    for number, name in enumerate(IDS):
        cluster.begin(name, f"topic{number}-0", "shared-0")
        cluster.prepare(name, True)
        cluster.markers(name, "shared-0")
        cluster.wait(SECOND)
    cluster.wait(2 * MINUTE)
    cluster.beat()
    found = {finding.transactional_id: finding.topic for finding in cluster.tell().of("stuck_prepare")}
    assert found == {name: f"topic{number}" for number, name in enumerate(IDS)}
