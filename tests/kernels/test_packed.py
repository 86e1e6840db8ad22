import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.kernels import packed
from kafkatx.kernels.packed import PackedRows
from kafkatx.kernels.rows import SPAN, TRANSACTION

ROW = np.dtype([("offset", "i8"), ("time", "i8"), ("epoch", "i2"), ("crc", "u4"), ("flags", "i1")], align=True)
WIDE = st.one_of(
    st.integers(-3, 3), st.integers(-(1 << 63), (1 << 63) - 1), st.integers(1 << 40, (1 << 40) + 300), st.just(-1)
)
ROWS = st.lists(
    st.tuples(
        WIDE, WIDE, st.integers(-(1 << 15), (1 << 15) - 1), st.integers(0, (1 << 32) - 1), st.integers(-128, 127)
    ),
    max_size=30,
)


@given(rows=ROWS, numbers=st.lists(st.integers(0, 29), max_size=12), stretch=st.integers(1, 9))
def test_rows_come_out_as_they_were(rows, numbers, stretch):
    made = np.array(rows, ROW)
    chosen = np.array([number for number in numbers if number < len(made)], np.int64)
    before, packed.ROWS_OF_A_BASE = packed.ROWS_OF_A_BASE, stretch
    try:
        held = PackedRows(made)
        assert len(held) == len(made)
        assert held.take().tolist() == made.tolist()
        assert held.take(chosen).tolist() == made[chosen].tolist()
    finally:
        packed.ROWS_OF_A_BASE = before


@pytest.mark.parametrize("step", [255, 256, (1 << 32) - 1, 1 << 32, (1 << 53) + 1, (1 << 62) - 1, 1 << 62])
def test_a_step_of_any_size_is_exact(step):
    made = np.zeros(3, ROW)
    made["offset"] = [-2, step - 2, step - 3]
    assert PackedRows(made).take().tolist() == made.tolist()


@given(values=st.lists(st.one_of(st.just(-1), st.integers(0, 250)), min_size=1, max_size=40))
def test_what_is_absent_does_not_widen_a_column(values):
    made = np.zeros(len(values), ROW)
    made["offset"] = [value if value < 0 else (1 << 50) + value for value in values]
    bases = 5 * 8
    assert PackedRows(made).nbytes <= bases + len(values)


def test_ordinary_rows_take_few_bytes():
    """Neighbours in a log: offsets and times go on, what they say is alike."""
    number = np.arange(50_000)
    for dtype, most in ((TRANSACTION, 40), (SPAN, 30)):
        made = np.zeros(len(number), dtype)
        for name in dtype.names:
            if dtype[name].itemsize == 8:
                made[name] = (1 << 40) + 3 * number
        assert PackedRows(made).nbytes < most * len(made) < dtype.itemsize * len(made) / 3
