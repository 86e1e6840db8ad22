import pytest
from construct import Int8sb, Int16sb, Int32sb, Int32ub, Int64sb
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.formats.layout import Layout, Malformed
from kafkatx.formats.primitives import UVarint, Varlong
from kafkatx.kernels import bytes as kernels
from kafkatx.kernels.bytes import BAD_VARINT, int16_at, int32_at, int64_at, uvarint_at, varint_at
from kafkatx.kernels.engine import kernel
from tests.building import BOTH_ENGINES

FIXED = [
    (kernels.int8_at, Int8sb),
    (kernels.int16_at, Int16sb),
    (kernels.int32_at, Int32sb),
    (kernels.uint32_at, Int32ub),
    (kernels.int64_at, Int64sb),
]
VARINT, UNSIGNED = Layout.of(Varlong), Layout.of(UVarint)
GROUPS = st.lists(st.sampled_from([0, 1, 2, 0x7E, 0x7F, 0x80, 0x81, 0xFE, 0xFF]), max_size=12).map(bytes)


@pytest.mark.parametrize(("kernel", "declared"), FIXED, ids=lambda value: getattr(value, "__name__", ""))
@BOTH_ENGINES
@given(data=st.binary(min_size=10, max_size=10), at=st.integers(0, 2))
def test_integers_are_those_of_the_declaration(engine, kernel, declared, data, at):
    assert kernel(kernel.view(data), at) == Layout.of(declared).parse_at(data, at)[0]


@pytest.mark.parametrize(("kernel", "declared"), FIXED, ids=lambda value: getattr(value, "__name__", ""))
def test_the_borders_of_integers_keep_their_sign(engine, kernel, declared):
    size = declared.sizeof()
    for data in (bytes(size), b"\xff" * size, b"\x80" + bytes(size - 1), b"\x7f" + b"\xff" * (size - 1)):
        assert kernel(kernel.view(data), 0) == declared.parse(data)


@kernel
def is_minus_one(data, at):
    return int64_at(data, at) == -1, int32_at(data, at) == -1, int16_at(data, at) == -1


@BOTH_ENGINES
@given(data=st.binary(min_size=8, max_size=8) | st.just(b"\xff" * 8))
def test_an_integer_is_what_it_is_to_who_compares_it(engine, data):
    """A compiler that takes an overflow for impossible answers a comparison from what it concludes."""
    expected = tuple(int.from_bytes(data[:size], "big", signed=True) == -1 for size in (8, 4, 2))
    assert is_minus_one(is_minus_one.view(data), 0) == expected


@BOTH_ENGINES
@given(value=st.integers(-(2**63), 2**63 - 1), before=st.integers(0, 3))
def test_every_varlong_is_read_as_it_is_built(engine, value, before):
    data = bytes(before) + VARINT.written(value) + b"\xff"
    assert varint_at(varint_at.view(data), before, len(data)) == (value, len(data) - 1)


@BOTH_ENGINES
@given(value=st.integers(0, 2**32 - 1))
def test_every_uvarint_is_read_as_it_is_built(engine, value):
    data = UNSIGNED.written(value)
    assert uvarint_at(uvarint_at.view(data + b"\x01"), 0, len(data)) == (value, len(data))


@BOTH_ENGINES
@given(data=GROUPS, end=st.integers(0, 12))
def test_what_the_declaration_refuses_is_no_uvarint(engine, data, end):
    end = min(end, len(data))
    value, behind = uvarint_at(uvarint_at.view(data), 0, end)
    try:
        assert (value, behind) == UNSIGNED.parse_at(data[:end])
    except Malformed:
        assert value == -1
    assert behind <= end


@BOTH_ENGINES
@given(data=GROUPS, end=st.integers(0, 12))
def test_a_varint_never_reads_behind_its_end(engine, data, end):
    end = min(end, len(data))
    value, behind = varint_at(varint_at.view(data), 0, end)
    assert behind <= end
    try:
        assert (value, behind) == VARINT.parse_at(data[:end])
    except Malformed:
        assert value == BAD_VARINT or behind == 10
