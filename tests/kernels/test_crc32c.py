import google_crc32c
import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.kernels import crc32c_instructions
from kafkatx.kernels.crc32c import crc32c
from kafkatx.kernels.crc32c_instructions import FORMS, chosen, features_of_numba, function_by
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


HERE = features_of_numba()
RUNS_HERE = [function_by(form) for form in FORMS if form.features <= HERE]


@pytest.fixture(scope="module", params=[*RUNS_HERE, crc32c.function], ids=lambda function: function.__name__)
def compiled(request):
    """Each form that this machine runs, and the one by tables."""
    return numba.njit(request.param)


@pytest.mark.parametrize("start", range(8))
def test_each_form_gives_what_the_wheel_gives_at_each_length_and_address(compiled, start):
    data = np.random.default_rng(start).integers(0, 256, 1600, np.uint8)
    for end in range(start, len(data)):
        assert compiled(data, start, end, 0) == google_crc32c.value(data[start:end].tobytes())


def test_each_form_goes_on_from_any_state_and_reads_nothing_beside_its_range(compiled):
    data = np.random.default_rng(5).integers(0, 256, 70_000, np.uint8)
    other = data.copy()
    other[:100] ^= 255
    other[60_000:] ^= 255
    for middle in (100, 101, 356, 357, 4096, 59_999, 60_000):
        whole = compiled(data, middle, 60_000, compiled(data, 100, middle, 0))
        assert whole == google_crc32c.value(data[100:60_000].tobytes())
        assert whole == compiled(other, middle, 60_000, compiled(other, 100, middle, 0))


@pytest.mark.parametrize(
    ("features", "name"),
    [
        ({"sse4.2", "pclmul", "vpclmulqdq", "avx2", "avx512f"}, "folded_by_512"),
        ({"sse4.2", "pclmul", "vpclmulqdq", "avx2"}, "folded_by_256"),
        ({"sse4.2", "pclmul", "avx2", "avx512f"}, "folded_by_128"),
        ({"sse4.2"}, "by_sse42"),
        ({"crc", "neon"}, "by_armv8"),
        ({"crc32", "sse2"}, None),
        (set(), None),
    ],
)
def test_the_form_is_chosen_by_what_the_processor_has(features, name):
    form = chosen(features)
    assert (form and form.name) == name


def test_a_form_that_is_wrong_on_a_machine_is_not_used(monkeypatch):
    def wrong(form):
        def crc32c_wrong(data, start, end, crc):
            return end - start

        return crc32c_wrong

    monkeypatch.setattr(crc32c_instructions, "function_by", wrong)
    fresh = type(crc32c)(crc32c.function, crc32c.plain, crc32c._faster)
    assert fresh.compiled(np.frombuffer(b"123456789", np.uint8), 0, 9, 0) == 0xE3069283
