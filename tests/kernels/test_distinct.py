"""Distinct values: those of numpy, of any kind and shape of array."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.kernels.distinct import LARGE, distinct, distinct_of_both, distinct_rows, in_both

KINDS = st.sampled_from([np.int8, np.int64, np.uint16, np.bool_, np.float64, "U3", "S2"])
ARRAYS = st.builds(lambda values, kind: np.array(values, np.int8).astype(kind), st.lists(st.integers(0, 9)), KINDS)


def same(one, other):
    assert one.dtype == other.dtype
    assert one.tolist() == other.tolist()


@given(ARRAYS)
def test_values_are_those_of_numpy(values):
    same(distinct(values), np.unique(values))


@given(st.lists(st.integers(-3, 9)), st.lists(st.integers(-3, 9)))
def test_values_of_two_are_those_of_numpy(one, other):
    one, other = np.array(one, np.int64), np.array(other, np.int64)
    same(distinct_of_both(one, other), np.union1d(one, other))
    same(in_both(one, other), np.intersect1d(one, other))


@pytest.mark.parametrize(
    "values",
    [
        np.arange(12, dtype=np.int16).reshape(3, 4) % 5, np.array([(1, 2), (0, 7), (1, 2)], [("a", "i8"), ("b", "i8")]),
        np.zeros(0, [("a", "i8"), ("b", "i8")]),
        np.arange(LARGE + 1)[::-1] % 11, [], [3, 1, 3],
    ],
    ids=["of two dimensions", "rows", "no rows", "many", "none", "a list"],
)  # fmt: skip
def test_arrays_of_other_shapes(values):
    same(distinct(values), np.unique(values))


def test_rows_are_those_of_numpy():
    rows = np.array([[3, 1], [1, 2], [3, 1], [1, 0]])
    same(distinct_rows(rows), np.unique(rows, axis=0))


def test_what_is_given_is_not_changed():
    values = np.array([3, 1, 2])
    distinct(values)
    assert values.tolist() == [3, 1, 2]


def test_little_ones_load_no_masked_arrays():
    code = (
        "import sys, numpy; from kafkatx.kernels.distinct import distinct;"
        "distinct(numpy.arange(9)); print('numpy.ma' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
