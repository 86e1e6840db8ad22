"""Markers matched from both ends, whatever lies between those of a producer, against each group taken for itself."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.histories.alignment import from_either_end
from kafkatx.histories.hiding_entries import hiding_entries
from kafkatx.histories.plain_data import _asked_for
from kafkatx.kernels.matching import fits, is_passed
from kafkatx.kernels.rows import SPAN, TRANSACTION, TRANSACTION_PARTITION
from kafkatx.segments.entries import ABORTED

COMMITTED, COMMIT, ABORT = 2, 1, 0
MANY = 700


def transactions(producers, decided):
    """Committed transactions, each completed 10 ms behind its decision."""
    t = np.zeros(len(producers), TRANSACTION)
    t["producer_id"] = t["completed_producer_id"] = producers
    t["decision"], t["decided_at"], t["completion_timestamp"] = COMMITTED, decided, np.array(decided) + 10
    return t


def spans_of(producers, written, partitions=0):
    """Spans that a COMMIT marker ended, in the order of their markers."""
    spans = np.zeros(len(producers), SPAN)
    spans["producer_id"], spans["partition_code"], spans["marker_timestamp"] = producers, partitions, written
    spans["marker_offset"], spans["marker_kind"] = 2 * np.arange(len(producers)) + 1, COMMIT
    return spans


def rows_of(t, partitions=0):
    """A participation of each transaction."""
    rows = np.zeros(len(t), TRANSACTION_PARTITION)
    rows["transaction"], rows["partition_code"] = np.arange(len(t)), partitions
    return rows


def one_way(t, rows, spans, step):
    """The marker of each row by groups: the first one left that fits, in the order of a direction."""
    found = np.full(len(rows), -1, np.int32)
    place = np.argsort(spans["marker_offset"], kind="stable")[::step]
    for group in {(int(t["producer_id"][row["transaction"]]), int(row["partition_code"])) for row in rows}:
        left = [
            number
            for number in range(len(rows))[::step]
            if (int(t["producer_id"][rows["transaction"][number]]), int(rows["partition_code"][number])) == group
        ]
        for span in place.tolist():
            if (int(spans["producer_id"][span]), int(spans["partition_code"][span])) != group:
                continue
            for at, number in enumerate(left):
                row = int(rows["transaction"][number])
                if fits.plain(t, row, spans, span, 0):
                    found[number], left = span, left[at + 1 :]
                    break
                if is_passed.plain(t, row, spans, span, 0, step):
                    break
    return found.tolist()


SIDES = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 1), st.integers(0, 60)), max_size=14)


@given(SIDES, SIDES, st.randoms(use_true_random=False))
def test_each_direction_gives_what_its_groups_give(decided, written, chance):
    decided, written = sorted(decided, key=lambda one: one[2]), sorted(written, key=lambda one: one[2])
    t = transactions([one[0] for one in decided], [one[2] for one in decided])
    rows = rows_of(t, [one[1] for one in decided])
    spans = spans_of([one[0] for one in written], [one[2] for one in written], [one[1] for one in written])
    shuffled = spans[chance.sample(range(len(spans)), len(spans))]
    for some in (spans, shuffled):
        forward, backward = from_either_end(t, rows, some, 0)
        assert forward.tolist() == one_way(t, rows, some, 1)
        assert backward.tolist() == one_way(t, rows, some, -1)


def test_any_number_of_producers_is_matched(engine):
    producers = np.tile(np.arange(MANY), 2)
    t, spans = transactions(producers, np.arange(2 * MANY)), spans_of(producers, np.arange(2 * MANY))
    forward, backward = from_either_end(t, rows_of(t), spans, 0)
    assert forward.tolist() == backward.tolist() == [*range(2 * MANY)]


def test_the_first_and_last_markers_of_each_leader_are_asked_for(engine):
    chance = np.random.default_rng(3)
    spans = spans_of(np.zeros(300), 0)
    spans["marker_timestamp"], spans["leader_epoch"] = chance.integers(0, 40, 300), np.arange(300) // 60 % 4
    spans["flags"], spans["first_offset"] = 0, 2 * np.arange(300)
    owner = np.arange(300, dtype=np.int32)
    asked, _ = _asked_for(spans, owner)
    for leader in range(4):
        of_leader = np.flatnonzero(spans["leader_epoch"] == leader)
        times = spans["marker_timestamp"][of_leader]
        oldest, newest = of_leader[times.argmin()], of_leader[len(times) - 1 - times[::-1].argmax()]
        assert asked[[of_leader[0], of_leader[-1], oldest, newest]].all()


def test_entries_that_a_marker_says_too_are_none_over_committed_data(engine):
    spans = spans_of([1, 2, 1, 2], [10, 20, 30, 40])
    spans["first_offset"], spans["last_offset"], spans["records"] = (
        spans["marker_offset"] - 1,
        spans["marker_offset"] - 1,
        1,
    )
    spans["marker_kind"] = [COMMIT, ABORT, ABORT, COMMIT]
    said = [(0, 2, 2, 3, 4), (0, 1, 4, 5, 6)]
    for entries in (said, said[::-1]):
        assert not len(hiding_entries([(0, 99, np.array(entries, ABORTED))], spans))
    over = (0, 2, 6, 7, 8)
    assert hiding_entries([(0, 99, np.array([*said, over], ABORTED))], spans)["first_offset"].tolist() == [6]
