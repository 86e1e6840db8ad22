"""Which entries of an index of aborted transactions lie over committed data, against a plain count over all pairs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.histories.hiding_entries import hiding_entries
from kafkatx.kernels.rows import SPAN
from kafkatx.kernels.spans import BEFORE_LOG, LOST_END, OVER_GAP
from kafkatx.segments.entries import ABORTED

COMMIT, ABORT = 1, 0


def spans(*rows):
    """Spans of (producer id, first and last offset, kind of the marker behind it, flags)."""
    made = np.zeros(len(rows), SPAN)
    for row, (producer_id, first, last, kind, *flags) in zip(made, rows, strict=True):
        row["producer_id"], row["first_offset"], row["last_offset"] = producer_id, first, last
        row["marker_kind"], row["marker_offset"], row["flags"] = kind, last + 1, sum(flags)
        row["records"] = last - first + 1
    return made


def index(*rows):
    """Entries of (producer id, first and last offset)."""
    return np.array([(0, producer_id, first, last, last + 1) for producer_id, first, last in rows], ABORTED)


def found(indexes, of_log):
    return [tuple(row)[:3] for row in hiding_entries(indexes, of_log).tolist()]


def test_only_entries_over_committed_data_of_their_producer_are_found():
    log = spans((1, 0, 3, COMMIT), (2, 5, 6, COMMIT), (1, 8, 9, ABORT), (1, 11, 12, COMMIT))
    right, wrong, other = (1, 8, 10), (1, 3, 10), (2, 8, 10)
    assert found([(0, 99, index(right, other))], log) == []
    assert found([(0, 99, index(right, wrong))], log) == [wrong]


@pytest.mark.parametrize("flag", [BEFORE_LOG, OVER_GAP, LOST_END])
def test_data_that_are_not_all_at_hand_prove_nothing_about_an_index(flag):
    assert found([(0, 99, index((1, 0, 5)))], spans((1, 0, 3, COMMIT, flag))) == []


def test_an_index_is_not_asked_about_later_segments():
    log = spans((1, 10, 11, COMMIT))
    assert found([(0, 10, index((1, 0, 20)))], log) == []
    assert found([(10, 20, index((1, 0, 20)))], log) == [(1, 0, 20)]


def test_copies_of_an_index_count_once():
    listed = (0, 99, index((1, 0, 5)))
    assert found([listed, listed], spans((1, 0, 3, COMMIT))) == [(1, 0, 5)]


RANGES = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 30), st.integers(0, 6)), max_size=12)


@given(RANGES, st.lists(st.sampled_from([COMMIT, ABORT]), min_size=12, max_size=12))
def test_it_finds_what_a_look_at_all_pairs_finds(listed, kinds):
    log = spans(*((at % 3 + 1, 10 * (at // 3) + at % 3, 10 * (at // 3) + at % 3 + 4, kinds[at]) for at in range(12)))
    entries = sorted({(producer_id, first, first + more) for producer_id, first, more in listed})
    wanted = [
        (producer_id, first, last)
        for producer_id, first, last in entries
        for span in log
        if span["marker_kind"] == COMMIT and span["producer_id"] == producer_id
        if span["first_offset"] <= last and span["last_offset"] >= first
    ]
    assert found([(0, 99, index(*entries))], log) == sorted(set(wanted))
