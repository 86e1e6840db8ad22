import io

import pytest
from construct import Int8ub, Int16ub

from kafkatx.formats.layout import Layout, Malformed, sized, take

PAIR = Layout("first" / Int8ub, "second" / Int16ub)


def test_a_layout_knows_its_size_and_where_its_fields_are():
    assert PAIR.sizeof() == 3
    assert (PAIR.offset_of("first"), PAIR.offset_of("second")) == (0, 1)
    with pytest.raises(KeyError):
        PAIR.offset_of("third")


def test_layouts_nest():
    outer = Layout("head" / Int8ub, "pair" / PAIR)
    assert outer.parse(b"\x09\x01\x00\x02").pair.second == 2
    assert outer.build({"head": 9, "pair": {"first": 1, "second": 2}}) == b"\x09\x01\x00\x02"


def test_entries_of_a_file_end_before_a_part_of_one():
    assert [entry.second for entry in PAIR.each(b"\x01\x00\x02\x01\x00\x03\x01")] == [2, 3]
    assert list(PAIR.each(b"\x01\x02")) == []


@pytest.mark.parametrize("data", [b"", b"\x01", b"\x01\x02\x03\x04"])
def test_too_few_and_too_many_bytes_are_malformed(data):
    with pytest.raises(Malformed):
        PAIR.parse(data)


def test_parsing_at_a_position_tells_the_position_behind():
    fields, end = PAIR.parse_at(b"xx\x01\x00\x02yy", 2)
    assert (fields.second, end) == (2, 5)


def test_a_body_must_fill_its_length_exactly():
    body = sized(Int8ub, PAIR)
    assert body.parse(b"\x03\x01\x00\x02").second == 2
    assert body.build({"first": 1, "second": 2}) == b"\x03\x01\x00\x02"
    for data in (b"\x02\x01\x00\x02", b"\x04\x01\x00\x02\x00"):
        with pytest.raises(Malformed):
            body.parse(data)


def test_a_value_that_its_field_cannot_hold_is_malformed():
    with pytest.raises(Malformed):
        PAIR.build({"first": 256, "second": 0})


def test_taking_a_negative_number_of_bytes_is_malformed():
    with pytest.raises(Malformed):
        take(io.BytesIO(b"abc"), -1)
