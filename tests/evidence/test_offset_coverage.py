import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.evidence.offset_coverage import MOST_RANGES, FileReach, Holes, left_over, without
from tests.work import lines_run


def fed(rows, explained_below=0, begin=-1, cuts=()):
    """Holes between (first, last) rows, fed in one window or cut into several."""
    holes = Holes(explained_below, begin)
    for window in np.split(np.array(rows, np.int64).reshape(-1, 2), sorted(cuts)):
        if len(window):
            holes.feed(window[:, 0], window[:, 1], lambda rows=window: np.ones(len(rows), bool))
    return holes


def test_offsets_missing_between_rows_are_a_hole():
    assert fed([(0, 4), (5, 5), (8, 9)]).ranges == [(6, 8)]


def test_offsets_missing_between_the_lowest_name_and_the_first_row_are_a_hole():
    assert fed([(3, 4)], begin=0).ranges == [(0, 3)]
    assert fed([(3, 4)]).ranges == []


def test_holes_below_the_first_dirty_offset_are_the_cleaners():
    assert fed([(0, 0), (5, 5), (9, 9)], explained_below=5).ranges == [(6, 9)]
    assert fed([(0, 0), (5, 5)], explained_below=3).ranges == [(3, 5)]


def test_an_old_message_may_begin_below_the_offset_that_it_shows():
    holes = Holes(0, -1)
    holes.feed(np.array([0, 9]), np.array([0, 9]), lambda: np.array([True, False]))
    assert (holes.ranges, holes.end) == ([], 10)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=20), st.data())
def test_windows_may_end_anywhere(steps, data):
    rows, end = [], 0
    for gap, length in steps:
        rows.append((end + gap, end + gap + length))
        end = rows[-1][1] + 1
    cuts = data.draw(st.sets(st.integers(0, len(rows))))
    assert fed(rows, begin=0, cuts=cuts) == fed(rows, begin=0)


def test_many_holes_are_kept_as_a_bounded_number_whose_last_reaches_to_the_end():
    rows = [(10 * number, 10 * number) for number in range(3 * MOST_RANGES)]
    ranges = fed(rows, cuts=range(0, len(rows), 700)).ranges
    assert len(ranges) == MOST_RANGES
    assert ranges[-1][1] == rows[-1][0]


def test_a_file_loses_what_damage_took_and_what_lay_behind_its_break():
    reach = FileReach(0, 10)
    reach.note(10, 20, 0)
    reach.note(20, 25, 0)
    reach.note(30, 40, 1)
    reach.break_off(50)
    assert (reach.read, reach.lost) == ([(10, 25), (30, 40)], [(25, 30), (40, 50)])


def test_a_file_that_breaks_off_without_a_known_limit_lost_one_offset_at_least():
    reach = FileReach(0, 7)
    reach.break_off(None)
    assert (reach.read, reach.lost) == ([], [(7, 8)])


def test_batches_whose_records_are_none_are_lost_though_their_headers_are_whole():
    reach = FileReach(0, 0)
    reach.note(0, 5, 0)
    reach.note(5, 9, 0, [(6, 8)])
    reach.note(9, 12, 0)
    assert (reach.read, reach.lost) == ([(0, 6), (8, 12)], [(6, 8)])


def test_what_another_copy_has_read_is_not_lost():
    assert left_over([(5, 10)], [(0, 20)]) == []
    assert left_over([(5, 10)], [(0, 7), (7, 10)]) == []
    assert left_over([(5, 10)], [(0, 7), (8, 20)]) == [(7, 10)]
    assert left_over([(5, 10), (30, 31)], []) == [(5, 10), (30, 31)]


def one_by_one(lost, read):
    """What is left of lost ranges above the stretch of offsets that were read from their begin on."""
    left = []
    for begin, end in sorted(lost):
        at = begin
        while any(first <= at < behind for first, behind in read):
            at += 1
        left += [(at, end)] if at < end else []
    return left


RANGES = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 6)).map(lambda one: (one[0], sum(one))), max_size=12)


@given(RANGES, RANGES)
def test_what_is_left_over_is_what_goes_on_behind_what_was_read(lost, read):
    assert left_over(lost, read) == one_by_one(lost, read)


def test_four_times_as_many_losses_in_four_times_as_many_files_are_four_times_the_work():
    few, many = ([(5, 6)] * count for count in (100, 400))
    assert lines_run(lambda: left_over(many, many)) < 5 * lines_run(lambda: left_over(few, few))


def test_what_a_text_left_out_is_lost_and_was_not_read():
    reach = FileReach(0, 0)
    reach.note(0, 20, 0)
    reach.leave_out([(12, 14), (4, 6), (18, 25), (7, 7)])
    assert reach.read == [(0, 4), (6, 12), (14, 18)]
    assert reach.lost == [(4, 6), (12, 14), (18, 25)]


def test_ranges_without_others():
    assert list(without([(0, 3), (5, 9)], [(1, 2), (3, 6), (8, 8), (20, 30)])) == [(0, 1), (2, 3), (6, 8), (8, 9)]
