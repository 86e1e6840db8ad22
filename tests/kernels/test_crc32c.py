import google_crc32c
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.kernels.crc32c import crc32c
from tests.building import BOTH_ENGINES


def test_the_check_value_of_the_polynomial(engine):
    assert crc32c(crc32c.view(b"123456789"), 0, 9, 0) == 0xE3069283


@BOTH_ENGINES
@given(data=st.binary(max_size=100), first=st.integers(0, 20), cut=st.integers(0, 100))
def test_any_range_in_any_pieces_is_that_of_the_wheel(engine, data, first, cut):
    view, first = crc32c.view(data), min(first, len(data))
    middle = min(max(first, cut), len(data))
    whole = crc32c(view, first, len(data), 0)
    assert whole == google_crc32c.value(data[first:])
    assert crc32c(view, middle, len(data), crc32c(view, first, middle, 0)) == whole
