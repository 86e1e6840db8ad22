"""Situations that recordings of real clusters showed and that more than one rule must read right."""

from tests.rules.cluster import MINUTE, SECOND, Cluster

GENERATIONS = ("7d9c5b6f4d", "7d9c5b6f4d", "6c8b7d9f55", "59bb8c77c4")
PODS = ("8s962", "vb9s7", "k2chf", "ptkqw", "fxkb6", "jrlh7", "qh78d", "gzzsg")


def replicas(cluster: Cluster, generations: int, *partitions: str) -> list[str]:
    """Two pods at a time, each with an id and a partition of its own, replaced by two others again and again."""
    names = []
    for generation in range(generations):
        pods = [f"svc-{GENERATIONS[generation]}-{PODS[2 * generation + replica]}" for replica in (0, 1)]
        for pod in pods:
            cluster.init(pod)
        for _ in range(2):
            for pod, partition in zip(pods, partitions, strict=True):
                cluster.run(pod, partition)
        names += pods
        cluster.wait(MINUTE)
    return names


def test_generations_of_pods_on_partitions_of_their_own_are_an_unstable_id(either):
    names = replicas(either, 4, "orders-0", "orders-1")
    finding = either.tell().only("unstable_transactional_id")
    assert finding.count == len(names)
    assert "committed" not in finding.steps[-1].text


def test_generations_of_pods_on_one_partition_are_an_unstable_id(either):
    replicas(either, 4, "orders-0", "orders-0")
    assert either.tell().only("unstable_transactional_id").count == 8


def test_two_generations_of_pods_are_no_unstable_id(either):
    replicas(either, 2, "orders-0", "orders-1")
    assert not either.tell().rules


def test_instances_started_together_that_commit_once_in_turn_are_no_unstable_id(either):
    names = [f"etl-{number}-1763719999{number}11" for number in range(5)]
    names = [name.replace(f"etl-{number}-", "etl-") for number, name in enumerate(names)]
    for name in names:
        either.init(name)
    for name in names:
        either.run(name, "orders-0")
        either.wait(SECOND)
    assert not either.tell().rules


def test_a_topic_made_again_says_nothing_of_the_transactions_before(either):
    either.init("orders-1")
    either.run("orders-1", "orders-0", "payments-0", times=3)
    del either.logs["payments-0"]
    either.wait(10 * SECOND)
    either.run("orders-1", "orders-0", "payments-0", times=2)
    either.beat()
    told = either.tell()
    assert not told.rules
    assert told.not_checkable("atomicity_violation")


def test_a_log_that_reaches_back_and_lacks_a_committed_end_is_an_atomicity_violation(either):
    either.init("orders-1")
    either.run("orders-1", "orders-0", "payments-0")
    either.wait(SECOND)
    kept = len(either.log("payments-0").batches)
    either.run("orders-1", "orders-0", "payments-0")
    log = either.log("payments-0")
    log.next_offset = log.next_offset - 2
    del log.batches[kept:]
    either.wait(10 * SECOND)
    either.beat(partition="payments-0")
    assert either.tell().only("atomicity_violation").partition == 0


def behind_its_marker(cluster: Cluster) -> None:
    """A transaction that ended, and data behind its marker."""
    cluster.init("orders-1")
    cluster.beat()
    cluster.run("orders-1", "orders-0", "payments-0")
    cluster.wait(SECOND)
    cluster.data("orders-1", "orders-0")


def test_records_that_may_be_younger_than_the_coordinators_log_hang_for_nobody_to_say(either):
    """A live copy: the next transaction's row came after the state log was copied, its data before theirs were."""
    behind_its_marker(either)
    either.wait(40)
    either.beat()
    told = either.tell()
    assert not told.of("hanging_transaction")
    assert told.not_checkable("hanging_transaction")


def test_records_before_a_marker_that_the_coordinators_log_passes_do_hang(either):
    behind_its_marker(either)
    either.wait(40)
    either.beat(partition="orders-0")
    either.beat()
    assert either.tell().of("hanging_transaction")


def test_records_of_a_transaction_that_ended_elsewhere_behind_the_last_row_do_not_hang(v2):
    """The marker in the other partition carries an epoch of which the coordinator's log has no row yet."""
    behind_its_marker(v2)
    known = v2.ids["orders-1"]
    v2.data("orders-1", "payments-0")
    v2.log("payments-0").marker((known.producer_id, known.epoch + 1), True, 0, v2.clock)
    v2.wait(5 * SECOND)
    v2.beat()
    assert not v2.tell().of("hanging_transaction")


def test_records_from_before_the_decision_of_their_ids_last_transaction_hang(either):
    """A partition that was never registered: the transaction ends elsewhere, and nothing else happens after it."""
    either.init("orders-1")
    either.begin("orders-1", "orders-0")
    either.data("orders-1", "payments-0")
    either.wait(3)
    either.commit("orders-1")
    assert either.tell().only("hanging_transaction").topic == "payments"
