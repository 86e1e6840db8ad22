import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.formats.layout import Malformed
from kafkatx.formats.record import Record

MARKER_RECORD = bytes.fromhex("20 00 00 00 08 00000001 0c 0000 00000005 00")
NULLABLE_BYTES = st.none() | st.binary(max_size=50)


def test_the_record_of_a_marker_has_17_bytes():
    record, end = Record.parse_at(MARKER_RECORD)
    assert end == 17
    assert (record.key.hex(), record.value.hex(), record.headers) == ("00000001", "000000000005", ())
    assert Record.build(record) == MARKER_RECORD


def test_null_and_empty_keys_and_values_differ():
    null = Record.parse(bytes.fromhex("0c 00 00 00 01 01 00"))
    empty = Record.parse(bytes.fromhex("0c 00 00 00 00 00 00"))
    assert (null.key, null.value) == (None, None)
    assert (empty.key, empty.value) == (b"", b"")


def test_headers_may_repeat_and_keep_their_order():
    data = bytes.fromhex("1a 00 03 04 01 01 04 02 61 02 78 02 61 01")
    record = Record.parse(data)
    assert [(header.key, header.value) for header in record.headers] == [("a", b"x"), ("a", None)]
    assert (record.timestamp_delta, record.offset_delta) == (-2, 2)
    assert Record.build(record) == data


@pytest.mark.parametrize(
    "data",
    [
        "0e 00 00 00 01 01 00 00",
        "0a 00 00 00 01 01 00",
        "0c 00 00 00 01 01 01",
        "0e 00 00 00 01 01 02 01",
        "01",
        "0c 00 00 00 03 01 00",
    ],
    ids=[
        "bytes left over",
        "length too short",
        "null headers",
        "null header key",
        "negative length",
        "negative key length",
    ],
)
def test_a_record_that_breaks_its_own_lengths_is_malformed(data):
    with pytest.raises(Malformed):
        Record.parse(bytes.fromhex(data))


@pytest.mark.parametrize("size", range(17))
def test_a_record_cut_short_anywhere_is_malformed(size):
    with pytest.raises(Malformed):
        Record.parse(MARKER_RECORD[:size])


@given(
    st.fixed_dictionaries(
        {
            "attributes": st.integers(-128, 127),
            "timestamp_delta": st.integers(-(2**63), 2**63 - 1),
            "offset_delta": st.integers(-(2**31), 2**31 - 1),
            "key": NULLABLE_BYTES,
            "value": NULLABLE_BYTES,
            "headers": st.lists(
                st.fixed_dictionaries({"key": st.text(max_size=10), "value": NULLABLE_BYTES}), max_size=4
            ),
        }
    )
)
def test_every_record_comes_back(fields):
    data = Record.build(fields)
    read = Record.parse(data)
    assert {name: read[name] for name in fields if name != "headers"} == {
        name: fields[name] for name in fields if name != "headers"
    }
    assert [(header.key, header.value) for header in read.headers] == [
        (header["key"], header["value"]) for header in fields["headers"]
    ]
    assert Record.build(read) == data
