"""Which transactions of a coordinator are held: each that differs in anything from plain ones, and what is asked."""

from typing import Any

import numpy as np
import pytest

from kafkatx.histories.plain_rows import AskedFor, counted_groups, counted_rows, held_rows, listed_partitions
from kafkatx.kernels.growing import Array
from kafkatx.kernels.rows import TRANSACTION
from kafkatx.kernels.transactions import COMPLETE_COMMIT, ONGOING, PREPARE_ABORT, PREPARE_COMMIT

MANY = 40
MIDDLE = MANY // 2
TIMES = (
    "started_at", "decided_at", "begin_timestamp", "decision_timestamp", "completion_timestamp", "next_timestamp",
)  # fmt: skip


@pytest.fixture(autouse=True)
def both_engines(engine: str) -> None:
    """All of this holds whether the kernel is compiled or not."""


def plain(many: int = MANY, id_code: int = 0, step_ms: int = 1_000) -> Array:
    """So many transactions of one id, each like the one before it."""
    t = np.zeros(many, TRANSACTION)
    at = 1_700_000_000_000 + step_ms * np.arange(many)
    t["started_at"] = t["begin_timestamp"] = t["grown_at"] = at
    t["decided_at"] = t["decision_timestamp"] = at + 50
    t["completion_timestamp"], t["next_timestamp"] = at + 100, at + 1_000
    for place, name in enumerate(("begin_offset", "decision_offset", "completion_offset", "next_offset")):
        t[name] = 3 * np.arange(many) + place
    for name in ("producer_id", "completed_producer_id", "next_producer_id"):
        t[name] = 1_000 + id_code
    t["timeout_ms"] = t["next_timeout_ms"] = 60_000
    t["decision"], t["next_state"], t["id_code"] = PREPARE_COMMIT, ONGOING, id_code
    return t


def held(t: Array, rows: Any = (), producers: Any = ()) -> list[int]:
    """Numbers of those that are held, where data ask for these."""
    asked = np.isin(np.arange(len(t)), np.array(rows, np.int64))
    return np.flatnonzero(held_rows(t, AskedFor(asked, np.array(producers, np.int64)))).tolist()


def test_of_plain_ones_the_first_and_the_last_of_each_id_are_held() -> None:
    assert held(plain()) == [0, MANY - 1]
    assert held(np.concatenate((plain(), plain(id_code=1)))) == [0, MANY - 1, MANY, 2 * MANY - 1]
    assert held(plain(0)) == []


NOT_PLAIN = {
    "decision": [-1, PREPARE_ABORT],
    "next_state": [-2, -1, COMPLETE_COMMIT],
    "flags": [1],
    "begin_offset": [-1],
    "completion_offset": [-1],
    "started_at": [-1],
    "begin_timestamp": [-1],
    "decision_timestamp": [-1],
    "completion_timestamp": [-1],
    "producer_epoch": [-1, 2],
    "partitions_code": [-1],
    "timeout_ms": [-1, 30_000, 49],
    "next_timeout_ms": [30_000],
    "producer_id": [7],
    "completed_producer_id": [7, -1],
    "next_producer_id": [7],
    "decision_epoch": [-1, 1, 2],
    "completion_epoch": [1],
    "next_epoch": [1],
    "begin_leader_epoch": [3],
    "decision_leader_epoch": [3],
}
"""Columns, with values that a plain one of these does not have."""


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in NOT_PLAIN.items() for value in values])
def test_what_is_not_plain_is_held_whether_one_is_so_or_all_are(name: str, value: int) -> None:
    one, each = plain(), plain()
    one[name][MIDDLE] = value
    each[name] = value
    assert {MIDDLE - 1, MIDDLE} <= set(held(one))
    assert held(each) == list(range(MANY))


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("started_at", "decided_at"),
        ("begin_timestamp", "decision_timestamp"),
        ("decision_timestamp", "completion_timestamp"),
        ("completion_timestamp", "next_timestamp"),
    ],
)
def test_those_whose_times_are_out_of_order_are_held(earlier: str, later: str) -> None:
    t = plain()
    t[later] = t[earlier] - 1
    assert held(t) == list(range(MANY))


def test_without_a_time_of_the_row_all_are_held() -> None:
    t = plain()
    t["producer_epoch"] = t["decision_epoch"] = t["completion_epoch"] = t["next_epoch"] = -1
    assert held(t) == list(range(MANY))


CHANGES = {
    "producer id": ("producer_id", "completed_producer_id", "next_producer_id"),
    "timeout": ("timeout_ms", "next_timeout_ms"),
    "coordinator": ("begin_leader_epoch", "decision_leader_epoch"),
    "protocol of the start": ("begin_version",),
    "protocol of the decision": ("decision_version",),
    "epoch raised by the end": ("decision_epoch", "completion_epoch", "next_epoch"),
}
"""Columns that change together from one transaction to the next; both are plain."""


@pytest.mark.parametrize("names", CHANGES.values(), ids=CHANGES)
def test_both_sides_of_a_change_are_held(names: tuple[str, ...]) -> None:
    t = plain()
    for name in names:
        t[name][MIDDLE:] += 1
    assert held(t) == [0, MIDDLE - 1, MIDDLE, MANY - 1]


@pytest.mark.parametrize("name", TIMES)
def test_both_sides_of_a_time_that_goes_back_are_held(name: str) -> None:
    t = plain(step_ms=10)
    t[name][MIDDLE:] -= 30
    assert held(t) == [0, MIDDLE - 1, MIDDLE, MANY - 1]


def test_both_sides_of_missing_rows_are_held() -> None:
    t = np.delete(plain(), [MIDDLE, MIDDLE + 1])
    assert held(t) == [0, MIDDLE - 1, MIDDLE, MANY - 3]


def test_one_that_took_longer_than_its_timeout_is_held_though_another_took_as_long() -> None:
    t = plain()
    t["decided_at"][MIDDLE:] += 60_000
    assert held(t) == [0, *range(MIDDLE - 1, MANY)]


def test_one_that_waited_for_its_markers_is_held_and_all_of_an_id_that_often_does() -> None:
    t = plain()
    t["completion_timestamp"][MIDDLE] = t["next_timestamp"][MIDDLE] = t["decision_timestamp"][MIDDLE] + 1_001
    assert {MIDDLE - 1, MIDDLE} <= set(held(t))
    assert len(held(t)) < MANY
    t["completion_timestamp"][::10] = t["next_timestamp"][::10] = t["decision_timestamp"][::10] + 1_001
    assert held(t) == list(range(MANY))


def test_the_longest_and_the_shortest_of_each_id_are_held() -> None:
    t = np.concatenate((plain(), plain(id_code=1)))
    longest, shortest = [5, MANY + 9], [7, MANY + 3]
    t["decided_at"][longest] += 4
    t["decided_at"][shortest] -= 4
    assert held(t) == sorted([0, MANY - 1, MANY, 2 * MANY - 1, *longest, *shortest])


def test_the_first_and_the_last_decision_of_each_coordinator_and_the_ends_of_each_time_are_held() -> None:
    chance = np.random.default_rng(5)
    t = np.concatenate([plain(id_code=code) for code in range(6)])
    t["begin_leader_epoch"] = t["decision_leader_epoch"] = np.arange(len(t)) % MANY // (MANY // 4)
    for name in TIMES:
        t[name] += chance.integers(0, 10, len(t))
    found = np.isin(np.arange(len(t)), held(t))
    assert not found.all()
    for leader in range(4):
        ends = t["decided_at"][t["decision_leader_epoch"] == leader]
        assert {ends.min(), ends.max()} <= set(t["decided_at"][found & (t["decision_leader_epoch"] == leader)].tolist())
    for name in TIMES:
        assert {t[name].min(), t[name].max()} <= set(t[name][found].tolist())


def test_what_data_ask_for_is_held() -> None:
    t = np.concatenate((plain(), plain(id_code=1)))
    assert held(t, rows=[MIDDLE]) == [0, MIDDLE, MANY - 1, MANY, 2 * MANY - 1]
    assert held(t, producers=[1_001]) == [0, *range(MANY - 1, 2 * MANY)]


def test_what_is_counted_and_listed() -> None:
    chance = np.random.default_rng(2)
    t = np.concatenate([plain(id_code=code) for code in range(3)])
    t["partitions_code"], is_held = chance.integers(0, 2, len(t)), chance.integers(0, 4, len(t)) == 0
    groups = counted_groups(t, is_held)
    of_id = [(t["id_code"] == code) & ~is_held for code in range(3)]
    found = counted_rows(groups, np.array([False, True, False]))
    assert found[["id_code", "producer_id"]].tolist() == [(code, 1_000 + code) for code in range(3)]
    assert found["transactions"].tolist() == [int(rows.sum()) for rows in of_id]
    assert found["with_data"].tolist() == [int(t["partitions_code"][rows].sum()) for rows in of_id]
    assert listed_partitions(groups, [(4,), (4, 9)]).tolist() == [(code, name) for code in range(3) for name in (4, 9)]


def test_any_number_of_groups_is_counted() -> None:
    t = np.concatenate([plain(2, id_code=code) for code in range(1_000)])
    found = counted_rows(counted_groups(t, np.zeros(len(t), bool)), np.ones(1, bool))
    assert found.tolist() == [(1_000 + code, 2, 2, code) for code in range(1_000)]
