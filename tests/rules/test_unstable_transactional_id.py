"""unstable_transactional_id: ids that are new at every start, and the many that only look random."""

import uuid
from collections.abc import Callable
from itertools import pairwise

import pytest

from kafkatx.terms.catalogue.random_ids import skeleton_of
from kafkatx.terms.verdicts import Severity, Verdict
from tests.rules.cluster import MINUTE, SECOND, Cluster

RULE = "unstable_transactional_id"


def random_uuid(number: int) -> str:
    return str(uuid.UUID(int=number * 0x9E3779B97F4A7C15F39CC0605CEDC834 & (1 << 128) - 1))


def runs(cluster: Cluster, name_of: Callable[[int], str], count: int, *partitions: str) -> None:
    """One run of the application after the other, each under its own id."""
    for number in range(1, count + 1):
        cluster.init(name_of(number))
        cluster.run(name_of(number), *(partitions or ("orders-0",)), times=3)
        cluster.wait(MINUTE)


SHAPES = {
    "uuid": lambda n: f"orders-{random_uuid(n)}",
    "hex": lambda n: f"orders-{n * 0x1B3F5A7C + 0xA0000000:08x}f1",
    "time": lambda n: f"orders-{1_700_000_000_000 + n * 977}",
    "pod": lambda n: f"orders-{'bcdfghjklm'[n:]}{'7d4f8b9c6'[:n]}-{'xk2pq' if n % 2 else 'z4vw9'}",
}


@pytest.mark.parametrize("shape", ["uuid", "hex", "time"])
def test_a_new_id_at_every_start_is_told(either, shape):
    runs(either, SHAPES[shape], 5)
    told = either.tell()
    finding = told.only(RULE)
    assert (finding.verdict, finding.severity, finding.count) == (Verdict.likely, Severity.warning, 5)
    assert f"<{shape if shape != 'time' else 'number'}>" in finding.summary
    assert told.rules == {RULE}


def test_pods_of_a_deployment_are_told(either):
    names = [
        "orders-7d4f8b9c6d-xk2pq",
        "orders-7d4f8b9c6d-z4vw9",
        "orders-5c8d9f7b44-bn7tm",
        "orders-5c8d9f7b44-qqwr8",
        "orders-66b9cd8f57-l2xzk",
    ]
    runs(either, lambda n: names[n - 1], 5)
    assert "<pod>" in either.tell().only(RULE).summary


def test_three_starts_are_possible_only(either):
    runs(either, SHAPES["uuid"], 3)
    finding = either.tell().only(RULE)
    assert finding.verdict is Verdict.possible


def test_two_starts_are_nothing(either):
    runs(either, SHAPES["uuid"], 2)
    assert not either.tell().rules


def test_a_commit_after_the_successors_is_harm_and_is_shown(either):
    names = [SHAPES["uuid"](n) for n in range(1, 4)]
    for old, new in pairwise(names):
        if old not in either.ids:
            either.init(old)
        either.begin(old, "orders-0")
        either.wait(SECOND)
        either.init(new)
        either.run(new, "orders-0")
        either.commit(old)
        either.wait(SECOND)
    finding = either.tell().only(RULE)
    assert finding.verdict is Verdict.likely
    assert "committed at" in finding.steps[-1].text


def test_what_is_open_of_an_old_run_is_caused_by_it(either):
    runs(either, SHAPES["uuid"], 5)
    last = SHAPES["uuid"](6)
    either.init(last)
    either.run(last, "orders-0")
    either.begin(last, "orders-0")
    either.wait(SECOND)
    either.beat()
    assert either.tell().of("open_transaction")


def test_a_stable_id_is_proposed_and_no_random_one(either):
    runs(either, SHAPES["uuid"], 5)
    (remedy,) = either.tell().only(RULE).remedies
    assert (remedy.config, remedy.current) == ("transactional.id", SHAPES["uuid"](5))
    assert remedy.proposed == "orders-<ordinal>"


# Look-alikes.


def test_a_pool_of_random_ids_side_by_side_is_none(either):
    names = [SHAPES["uuid"](n) for n in range(1, 7)]
    for name in names:
        either.init(name)
    for _ in range(4):
        for name in names:
            either.run(name, "orders-0")
    assert not either.tell().rules


def test_random_ids_on_partitions_of_their_own_are_none(either):
    for number in range(1, 7):
        either.init(SHAPES["uuid"](number))
        either.run(SHAPES["uuid"](number), f"orders-{number}")
        either.wait(MINUTE)
    assert not either.tell().rules


def test_transactions_with_group_offsets_are_fenced_by_the_groups_generation(either):
    runs(either, SHAPES["uuid"], 5, "orders-0", "__consumer_offsets-7")
    assert not either.tell().rules


FRAMEWORKS = {
    "streams, exactly_once_v2": lambda n: f"totals-{random_uuid(n)}-1",
    "streams, exactly_once": lambda n: f"totals-0_{n}",
    "flink": lambda n: f"sink-0-{n}",
    "connect": lambda n: f"connect-cluster-files-{n}",
    "spring": lambda n: f"shop-tx-{n}",
    "stateful set": lambda n: f"orders-{n}",
}


@pytest.mark.parametrize("shape", FRAMEWORKS.values(), ids=FRAMEWORKS)
def test_ids_that_frameworks_make_are_none(either, shape):
    runs(either, shape, 6)
    assert not either.tell().rules


def test_one_id_that_is_used_at_every_start_is_none(either):
    name = SHAPES["uuid"](1)
    for _ in range(5):
        either.init(name)
        either.run(name, "orders-0")
        either.wait(MINUTE)
    assert not either.tell().rules


@pytest.mark.parametrize(
    ("name", "skeleton"),
    [
        ("orders-" + random_uuid(3), "orders-<uuid>"),
        ("orders-20261121", "orders-<number>"),
        ("orders-deadbeef01", "orders-<hex>"),
        ("orders-7d4f8b9c6d-xk2pq", "orders<pod>"),
        ("orders-facade", None),
        ("orders-deadbeef", None),
        ("orders-12345", None),
        ("orders-eu-west-1", None),
        ("app-" + random_uuid(3) + "-2", None),
    ],
)
def test_only_what_looks_random_is_left_out_of_the_skeleton(name, skeleton):
    assert skeleton_of(name) == skeleton


def test_rows_that_are_missing_leave_it_unsaid(either):
    runs(either, SHAPES["uuid"], 5)
    del either.logs["__transaction_state-0"]
    assert not either.tell().of(RULE)
