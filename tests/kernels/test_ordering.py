import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.histories.extremes import Extremes, extremes
from kafkatx.kernels import ordering
from kafkatx.kernels.ordering import order_of, places_among, ranks

COLUMN = st.integers(-3, 3) | st.sampled_from([-(1 << 63), (1 << 63) - 1])
ROWS = st.lists(st.tuples(COLUMN, COLUMN, COLUMN), min_size=1, max_size=40)


@given(rows=ROWS, columns=st.integers(1, 3), most=st.sampled_from([0, 1 << 16]))
def test_the_order_is_that_of_lexsort(rows, columns, most):
    given_columns = np.array(rows, np.int64).T[:columns]
    before, ordering.MOST_GROUPS = ordering.MOST_GROUPS, most
    try:
        assert order_of(*given_columns).tolist() == np.lexsort(given_columns).tolist()
        found, groups = ranks(*given_columns)
    finally:
        ordering.MOST_GROUPS = before
    assert found.max() < groups
    assert len({*zip(found.tolist(), *given_columns.tolist(), strict=True)}) == len(
        {*zip(*given_columns.tolist(), strict=True)}
    )


@given(rows=ROWS, groups=st.integers(0, 2))
def test_extremes_are_the_ends_of_each_sorted_group(rows, groups):
    values, *others = np.array(rows, np.int64).T[: groups + 1]
    by_group = {}
    for place, (value, *key) in enumerate(np.array(rows, np.int64)[:, : groups + 1].tolist()):
        by_group.setdefault(tuple(reversed(key)), []).append((value, place))
    ordered = [sorted(by_group[key]) for key in sorted(by_group)]
    assert extremes(values, *others).tolist() == [one[0][1] for one in ordered] + [one[-1][1] for one in ordered]


@given(known=st.sets(COLUMN), column=st.lists(COLUMN | st.integers(4, 9)), most=st.sampled_from([1, 1 << 16]))
def test_places_are_those_in_the_list(known, column, most):
    before, ordering.MOST_GROUPS = ordering.MOST_GROUPS, most
    try:
        found = places_among(np.array(sorted(known), np.int64), np.array(column, np.int64)).tolist()
    finally:
        ordering.MOST_GROUPS = before
    assert found == [sorted(known).index(value) if value in known else -1 for value in column]


@given(rows=ROWS, piece=st.integers(1, 9))
def test_extremes_of_pieces_are_those_of_the_whole(rows, piece):
    table = np.zeros(len(rows), [("value", "i8"), ("one", "i8"), ("other", "i8"), ("place", "i8")])
    table["value"], table["one"], table["other"] = np.array(rows, np.int64).T[:3]
    table["place"] = np.arange(len(rows))
    found = Extremes(("value", "one", "other"), ("other",))
    for first in range(0, len(rows), piece):
        found.add(table[first : first + piece])
    of_groups, of_all = extremes(table["value"], table["one"], table["other"]), extremes(table["other"])
    assert found.rows()["place"].tolist() == sorted({*of_groups.tolist(), *of_all.tolist()})
