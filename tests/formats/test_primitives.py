from contextlib import suppress

import pytest
from construct import Int8ub
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.formats.layout import Layout, Malformed
from kafkatx.formats.primitives import (
    Bytes,
    CompactBytes,
    CompactString,
    String,
    TaggedField,
    TaggedFields,
    UVarint,
    Varint,
    VarintBytes,
    VarintString,
    Varlong,
    array_of,
    compact_array_of,
    tagged_value,
    varint_array_of,
)
from kafkatx.formats.uuid_text import is_uuid, text_of_uuid

NULLABLE = {
    "string": (String, b"\xff\xff", b"\x00\x00", ""),
    "bytes": (Bytes, b"\xff\xff\xff\xff", b"\x00\x00\x00\x00", b""),
    "compact string": (CompactString, b"\x00", b"\x01", ""),
    "compact bytes": (CompactBytes, b"\x00", b"\x01", b""),
    "varint bytes": (VarintBytes, b"\x01", b"\x00", b""),
    "array": (array_of(Varint), b"\xff\xff\xff\xff", b"\x00\x00\x00\x00", ()),
    "compact array": (compact_array_of(Varint), b"\x00", b"\x01", ()),
}


@pytest.mark.parametrize(
    ("kind", "value", "data"),
    [
        (UVarint, 0, "00"),
        (UVarint, 127, "7f"),
        (UVarint, 128, "8001"),
        (UVarint, 300, "ac02"),
        (UVarint, 2**32 - 1, "ffffffff0f"),
        (Varint, -1, "01"),
        (Varint, 1, "02"),
        (Varint, -64, "7f"),
        (Varint, 64, "8001"),
        (Varint, 2**31 - 1, "feffffff0f"),
        (Varint, -(2**31), "ffffffff0f"),
        (Varlong, 2**63 - 1, "feffffffffffffffff01"),
        (Varlong, -(2**63), "ffffffffffffffffff01"),
        (String, "t", "000174"),
        (CompactString, "t", "0274"),
    ],
)
def test_known_values_have_known_bytes(kind, value, data):
    assert Layout.of(kind).written(value).hex() == data
    assert Layout.of(kind).parse(bytes.fromhex(data)) == value


@pytest.mark.parametrize("name", NULLABLE)
def test_null_and_empty_are_different_bytes_and_different_values(name):
    kind, null, empty, empty_value = NULLABLE[name]
    layout = Layout.of(kind)
    assert layout.parse(null) is None
    assert layout.parse(empty) == empty_value
    assert (layout.written(None), layout.written(empty_value)) == (null, empty)


@pytest.mark.parametrize("data", ["", "80", "8080808080", "808080808001", "ffffffff1f"])
def test_a_varint_that_does_not_end_or_has_too_many_bits_is_malformed(data):
    for kind in (UVarint, Varint):
        with pytest.raises(Malformed):
            Layout.of(kind).parse(bytes.fromhex(data))


@pytest.mark.parametrize("data", ["80" * 10 + "01", "ff" * 9 + "03"])
def test_a_varlong_of_more_than_64_bits_is_malformed(data):
    with pytest.raises(Malformed):
        Layout.of(Varlong).parse(bytes.fromhex(data))


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (String, "fffe"),
        (String, "000561"),
        (Bytes, "fffffffe"),
        (Bytes, "7fffffff00"),
        (CompactString, "0361"),
        (VarintBytes, "03"),
        (array_of(Varint), "fffffffe"),
        (array_of(Varint), "7fffffff00"),
        (compact_array_of(Varint), "ffffffff0f00"),
        (TaggedFields, "0100"),
        (TaggedFields, "01000500"),
    ],
)
def test_lengths_that_are_illegal_or_larger_than_the_data_are_malformed(kind, data):
    with pytest.raises(Malformed):
        Layout.of(kind).parse(bytes.fromhex(data))


def test_header_keys_and_header_lists_are_never_null():
    for kind in (VarintString, varint_array_of(Varint)):
        with pytest.raises(Malformed):
            Layout.of(kind).parse(b"\x01")
        with pytest.raises(Malformed):
            Layout.of(kind).written(None)


@pytest.mark.parametrize(("kind", "value"), [(UVarint, -1), (UVarint, 2**32), (Varint, 2**31), (String, "a" * 32768)])
def test_a_value_too_large_for_its_field_is_not_built(kind, value):
    with pytest.raises(Malformed):
        Layout.of(kind).written(value)


def test_bytes_left_over_are_malformed():
    with pytest.raises(Malformed, match="1 bytes left over"):
        Layout.of(String).parse(b"\x00\x01tX")


def test_bytes_that_are_no_utf8_are_written_back_as_they_were():
    data = b"\x00\x03a\xff\xc3"
    assert Layout.of(String).written(Layout.of(String).parse(data)) == data


def test_of_a_repeated_tag_the_last_counts_and_one_of_another_size_is_unknown():
    fields = (TaggedField(3, b"\x01\x80"), TaggedField(3, b"\x05"), TaggedField(3, b"\x06"), TaggedField(3, b""))
    assert tagged_value(fields, 3, Int8ub) == 6
    assert tagged_value(fields, 4, Int8ub) is None


@pytest.mark.parametrize(
    "text", ["", "short", "AAAAAAAAAAAAAAAAAAAAA!", "AAAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAB"]
)
def test_a_text_that_is_no_uuid_of_kafka_is_refused(text):
    assert not is_uuid(text)


@given(st.integers(-(2**31), 2**31 - 1))
def test_every_varint_comes_back(value):
    assert Layout.of(Varint).parse(Layout.of(Varint).written(value)) == value


@given(st.integers(-(2**63), 2**63 - 1))
def test_every_varlong_comes_back(value):
    assert Layout.of(Varlong).parse(Layout.of(Varlong).written(value)) == value


@given(st.none() | st.text(max_size=300))
def test_every_text_comes_back(value):
    for kind in (String, CompactString):
        assert Layout.of(kind).parse(Layout.of(kind).written(value)) == value


@given(st.none() | st.lists(st.binary(max_size=40), max_size=200).map(tuple))
def test_every_array_comes_back(value):
    for kind in (array_of(Bytes), compact_array_of(CompactBytes)):
        assert Layout.of(kind).parse(Layout.of(kind).written(value)) == value


@given(st.lists(st.builds(TaggedField, st.integers(0, 2**32 - 1), st.binary(max_size=20)), max_size=8).map(tuple))
def test_tagged_fields_come_back_in_their_order(value):
    assert Layout.of(TaggedFields).parse(Layout.of(TaggedFields).written(value)) == value


@given(st.binary(min_size=16, max_size=16))
def test_every_uuid_has_22_characters(data):
    text = text_of_uuid(data)
    assert len(text) == 22
    assert is_uuid(text)


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_malformed_and_nothing_else(data):
    for kind in (Varint, String, CompactString, VarintBytes, TaggedFields, array_of(String)):
        with suppress(Malformed):
            Layout.of(kind).parse(data)


def test_what_is_malformed_is_said_in_one_line():
    with pytest.raises(Malformed) as caught:
        Layout("number" / Int8ub).parse(b"")
    assert "\n" not in str(caught.value)
