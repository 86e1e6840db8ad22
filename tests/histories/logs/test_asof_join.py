"""Neighbours in time among those of one key, against the definition."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.histories.logs.asof_join import asof_join, nearest

PLACES = st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 9)), max_size=12)
"""Keys with times; few of each, so that keys meet and times tie."""


def columns(places: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    keys, times = zip(*places, strict=True) if places else ((), ())
    return np.array(keys, np.int64), np.array(times, np.int64)


@given(known=PLACES, asked=PLACES)
def test_neighbours_are_the_last_not_after_and_the_first_after(known, asked):
    (keys, times), (wanted, limits) = columns(known), columns(asked)
    before, after = asof_join(keys, wanted, times, limits)
    for number, (key, limit) in enumerate(asked):
        same = [place for place, (one, _) in enumerate(known) if one == key >= 0]
        assert before[number] == max(((times[at], at) for at in same if times[at] <= limit), default=(0, -1))[1]
        assert after[number] == min(((times[at], at) for at in same if times[at] > limit), default=(0, -1))[1]


@given(known=PLACES, asked=PLACES)
def test_the_nearest_is_the_nearer_neighbour_and_the_earlier_of_two_as_near(known, asked):
    (keys, times), (wanted, limits) = columns(known), columns(asked)
    before, after = asof_join(keys, wanted, times, limits)
    for number, found in enumerate(nearest(keys, wanted, times, limits).tolist()):
        near = [at for at in (int(before[number]), int(after[number])) if at >= 0]
        assert found == min(near, key=lambda at: abs(int(times[at]) - int(limits[number])), default=-1)


def test_keys_below_zero_are_nobodys():
    assert asof_join(np.array([-1]), np.array([-1]), np.array([5]), np.array([5]))[0].tolist() == [-1]
