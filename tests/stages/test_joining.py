"""Data joined to the coordinator's intervals partition by partition is what a join of the whole capture gives."""

import copy

import numpy as np
import pytest

from kafkatx.evidence.plans import partition_plans
from kafkatx.histories.transaction_partitions import Status, transaction_partitions
from kafkatx.kernels.rows import TRANSACTION
from kafkatx.stages.joining import Intervals, handed, intervals, joined, tolerance_ms, whole
from kafkatx.stages.models import open_captures
from kafkatx.stages.naming import common_names, rename
from kafkatx.stages.partitions import PartitionStory, fold
from tests.evidence import broker_folders, fixture_cases

CASES = [case for case in fixture_cases() if broker_folders(case)]


def in_parts(partitions: list[PartitionStory], chance: np.random.Generator | None = None):
    """Join each partition of data by itself, with the intervals in any order."""
    given: dict[tuple[str, int], list[Intervals]] = {}
    for part in partitions:
        if part.history is not None:
            for key, found in intervals(part):
                given.setdefault(key, []).append(found)
    of_data = [part for part in partitions if part.key in given and part.spans is not None]
    if chance is not None:
        for found in given.values():
            chance.shuffle(found)
    return [joined(part, handed(given[part.key])) for part in of_data]


def named(partitions: list[PartitionStory]):
    names = common_names(partitions)
    rename(partitions, names)
    return names.labels


def both(partitions: list[PartitionStory]):
    parts = in_parts(copy.deepcopy(partitions), np.random.default_rng(7))
    labels = named(partitions)
    histories = [part.history.transactions for part in partitions if part.history is not None]
    folded = [part.spans.spans for part in partitions if part.spans is not None]
    transactions = np.concatenate(histories) if histories else np.zeros(0, TRANSACTION)
    at_hand = np.zeros(len(labels.topic_partitions) + 1, bool)
    at_hand[[part.log_extent.partition_code for part in partitions if part.log_extent is not None]] = True
    tolerance = tolerance_ms(partitions[0].brokers)
    spans = np.concatenate(folded)
    in_one = transaction_partitions(transactions, spans, labels.partition_lists, at_hand, tolerance)
    return whole(parts, partitions, labels)(transactions, spans), in_one


def assert_alike(partitions: list[PartitionStory]):
    found, wanted = both(partitions)
    assert found.rows.tolist() == wanted.rows.tolist()
    assert found.owner.tolist() == wanted.owner.tolist()
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_recorded_capture(case):
    for capture in open_captures(broker_folders(case)):
        partitions = [fold(plan) for plan in partition_plans(capture)]
        if any(part.spans is not None for part in partitions):
            assert_alike(partitions)


def test_intervals_are_handed_out_in_pieces(monkeypatch):
    from kafkatx.stages import joining

    monkeypatch.setattr(joining, "MOST_AT_ONCE", 3)
    case = next(case for case in CASES if case.name == "k39-healthy")
    for capture in open_captures(broker_folders(case)):
        found = assert_alike([fold(plan) for plan in partition_plans(capture)])
        assert len(found.rows) > 3


def test_a_part_that_got_lost_is_no_partition_without_data():
    case = next(case for case in CASES if case.name == "k39-healthy")
    (capture,) = open_captures(broker_folders(case))
    partitions = [fold(plan) for plan in partition_plans(capture)]
    parts = in_parts(copy.deepcopy(partitions))
    labels = named(partitions)
    transactions = np.concatenate([part.history.transactions for part in partitions if part.history is not None])
    spans = np.concatenate([part.spans.spans for part in partitions if part.spans is not None])
    with pytest.raises(RuntimeError, match="no partition was joined"):
        whole(parts[1:], partitions, labels)(transactions, spans)


def test_a_partition_that_is_not_at_hand_is_elsewhere():
    case = next(case for case in CASES if case.name == "k39-healthy")
    for capture in open_captures(broker_folders(case)):
        kept = [plan for plan in partition_plans(capture) if plan.is_state_log or plan.topic != "orders"]
        found = assert_alike([fold(plan) for plan in kept])
        assert Status.ELSEWHERE in found.rows["status"]
