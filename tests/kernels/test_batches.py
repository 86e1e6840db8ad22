import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.formats import record_batch
from kafkatx.kernels.batches import (
    CHECK_ALL,
    CHECK_CONTROL,
    CHECK_NONE,
    DAMAGED,
    END,
    FULL,
    MORE_DATA,
    TORN,
    WRONG_CRC,
)
from kafkatx.kernels.rows import BATCH, UNCHECKED, VALID
from tests import declared
from tests.building import BOTH_ENGINES, batch, data_batch, marker, message, record
from tests.formats.captures import broker_files
from tests.kernels.walking import walk


def assert_equal(row, batch, crc_valid):
    for name in BATCH.names:
        if name != "crc_valid":
            found = getattr(batch, name)
            assert row[name] == (-1 if found is None else found), name
    assert row["crc_valid"] == crc_valid


def test_every_recorded_batch_is_that_of_the_declaration(engine):
    compared = 0
    for path in broker_files("*/*.log"):
        data = path.read_bytes()
        rows, _, why = walk(data, room=len(data) // 26 + 1)
        assert why == END
        for row, expected in zip(rows, declared.batches(data), strict=True):
            assert_equal(row, expected, VALID if expected.magic == 2 else UNCHECKED)
            compared += 1
    assert compared > 1000


HEADERS = st.fixed_dictionaries(
    {
        "base_offset": st.integers(0, 2**62),
        "partition_leader_epoch": st.integers(-1, 2**31 - 1),
        "attributes": st.integers(0, 127).filter(lambda attributes: attributes & 7 <= 4),
        "last_offset_delta": st.integers(3, 2**31 - 1),
        "base_timestamp": st.integers(-(2**63), 2**63 - 1),
        "max_timestamp": st.integers(-(2**63), 2**63 - 1),
        "producer_id": st.integers(-(2**63), 2**63 - 1),
        "producer_epoch": st.integers(-(2**15), 2**15 - 1),
        "base_sequence": st.integers(-(2**31), 2**31 - 1),
        "records_count": st.integers(0, 3),
    }
)


def test_only_markers_have_a_coordinator_epoch(engine):
    for control_type in (2, 3, -1, -32768, 32767):
        key = b"\0\0" + control_type.to_bytes(2, "big", signed=True)
        data = batch(content=record(0, b"\0\0\0\0\0\5", key), attributes=0x30, records_count=1)
        assert walk(data)[0][["control_type", "coordinator_epoch"]].tolist() == [(control_type, -1)]


@BOTH_ENGINES
@given(fields=HEADERS, value=st.none() | st.binary(max_size=8), key=st.none() | st.binary(max_size=6))
def test_every_field_of_a_batch_is_that_of_the_declaration(engine, fields, value, key):
    data = batch(content=record(0, value, key), **fields)
    rows, position, why = walk(data)
    assert (len(rows), position, why) == (1, len(data), END)
    assert_equal(rows[0], next(declared.batches(data)), VALID)


@BOTH_ENGINES
@given(magic=st.integers(0, 1), offset=st.integers(0, 2**62), value=st.none() | st.binary(max_size=8))
def test_every_field_of_an_old_message_is_that_of_the_declaration(engine, magic, offset, value):
    data = message(offset, magic, value)
    rows, _, why = walk(data)
    assert why == END
    assert_equal(rows[0], next(declared.batches(data)), UNCHECKED)


def test_the_smallest_message_at_the_end_of_a_file_is_whole(engine):
    data = message(4, 0, None)
    assert len(data) == 26
    assert walk(data)[2] == END
    assert walk(data[:-1])[2] == TORN


@pytest.mark.parametrize(
    "fields",
    [
        {"attributes": 5},
        {"attributes": 0x80},
        {"attributes": -1},
        {"last_offset_delta": -1},
        {"records_count": -1},
        {"records_count": 3, "last_offset_delta": 1},
        {"partition_leader_epoch": -2},
        {"batch_length": 48},
        {"magic": 3},
    ],
)
def test_a_header_that_no_broker_writes_is_damage(engine, fields):
    assert walk(batch(7, b"a", b"b", **fields), check=CHECK_NONE)[1:] == (0, DAMAGED)


def test_a_batch_has_to_lie_between_its_neighbours(engine):
    data = batch(7, b"a", b"b")
    assert walk(data, last_offset=6, limit=9)[2] == END
    assert walk(data, last_offset=7)[2] == DAMAGED
    assert walk(data, limit=8)[2] == DAMAGED
    assert walk(data, epoch=1)[2] == DAMAGED


@pytest.mark.parametrize("made", [batch(2**33, b"a"), message(2**33, 0), message(2**33, 1)])
def test_an_offset_further_away_than_a_segment_spans_is_damage(engine, made):
    assert walk(made)[2] == END
    assert walk(made, last_offset=2**33 - 2**31)[2] == END
    assert walk(made, last_offset=2**33 - 2**31 - 1)[2] == DAMAGED


@pytest.mark.parametrize("base_offset", [2**63 - 1, 2**63 - 2, 2**63 - 2**31])
def test_offsets_at_the_end_of_int64_do_not_wrap(engine, base_offset):
    rows, _, why = walk(batch(base_offset, b"a", last_offset_delta=2**31 - 1))
    assert (len(rows), why) == (0, DAMAGED)


def test_the_walk_says_why_it_stops_at_every_length_of_the_buffer(engine):
    data = data_batch(0, 7) + marker(1, 7) + batch(2, b"x")
    for held in range(len(data)):
        rows, position, why = walk(data, held=held)
        assert why == MORE_DATA
        assert position == sum(int(row["size"]) for row in rows) <= held
    assert walk(data, room=2)[2] == FULL


def test_the_walk_ends_torn_at_every_length_of_the_file(engine):
    data = data_batch(0, 7) + marker(1, 7)
    whole = [0, len(data_batch(0, 7)), len(data)]
    for size in range(len(data)):
        assert walk(data[:size])[2] == (END if size in whole else TORN)


def test_a_body_that_is_not_needed_may_lie_behind_the_buffer(engine):
    data = batch(0, b"x" * 500) + batch(1, b"y")
    rows, position, why = walk(data, check=CHECK_NONE, held=100)
    assert (len(rows), position, why) == (1, len(batch(0, b"x" * 500)), MORE_DATA)


def damaged(data):
    return data[:-1] + bytes([data[-1] ^ 1])


def test_a_wrong_crc_is_met_wherever_it_is_looked_for(engine):
    data = damaged(data_batch(0, 7))
    assert walk(data, check=CHECK_ALL)[2] == WRONG_CRC
    assert walk(data, check=CHECK_CONTROL)[2] == WRONG_CRC
    assert walk(data, check=CHECK_NONE)[2] == END
    assert walk(damaged(marker(0, 7)), check=CHECK_CONTROL)[2] == WRONG_CRC


def test_only_what_was_not_to_be_expected_is_checked(engine):
    data = [
        data_batch(0, 7, base_sequence=0),
        damaged(data_batch(1, 7, base_sequence=1)),
        data_batch(2, 7, base_sequence=2),
        damaged(batch(3, b"x")),
        data_batch(4, 7, base_sequence=3),
    ]
    rows, _, why = walk(b"".join(data), check=CHECK_CONTROL)
    assert (rows["crc_valid"].tolist(), why) == ([VALID, UNCHECKED, UNCHECKED, UNCHECKED, UNCHECKED], END)
    for break_of_sequence in (data_batch(5, 7, base_sequence=9), data_batch(5, 7, epoch=1), data_batch(5, 8)):
        assert walk(b"".join([*data, damaged(break_of_sequence)]), check=CHECK_CONTROL)[2] == WRONG_CRC


@pytest.mark.parametrize("producer_id", [-2, -72_057_594_037_927_935, -(2**63)], ids=str)
def test_a_producer_id_that_nobody_is_given_is_checked(engine, producer_id):
    broken = damaged(data_batch(1, producer_id, base_sequence=1))
    assert walk(data_batch(0, 7) + broken, check=CHECK_CONTROL)[2] == WRONG_CRC


def test_a_batch_without_a_producer_that_has_a_sequence_is_checked(engine):
    assert walk(damaged(data_batch(0, -1, base_sequence=4)), check=CHECK_CONTROL)[2] == WRONG_CRC


def test_a_sequence_is_expected_to_wrap_to_zero(engine):
    data = data_batch(0, 7, base_sequence=2**31 - 1) + data_batch(1, 7, base_sequence=0)
    assert walk(data, check=CHECK_CONTROL)[0]["crc_valid"].tolist() == [VALID, UNCHECKED]


@BOTH_ENGINES
@given(content=st.binary(max_size=30), count=st.integers(0, 2))
def test_a_control_batch_with_any_content_is_that_of_the_declaration(engine, content, count):
    fields = {"attributes": 0x30, "records_count": count, "last_offset_delta": 2}
    data = batch(content=content, **fields) + batch(3, b"x")
    rows, _, _ = walk(data)
    expected = next(declared.batches(data))
    if expected.control_type is not None and len(list(declared.records(expected.data))) == count:
        assert_equal(rows[0], expected, VALID)


@BOTH_ENGINES
@given(data=st.binary(max_size=200), position=st.integers(0, 190), byte=st.integers(0, 255))
def test_any_bytes_are_walked(engine, data, position, byte):
    whole = bytearray(data_batch(0, 7) + marker(1, 7) + data)
    whole[min(position, len(whole) - 1)] = byte
    for check in (CHECK_NONE, CHECK_ALL):
        rows, behind, _ = walk(whole, check=check)
        assert rows["size"].sum() == behind <= len(whole)
        assert (np.diff(rows["base_offset"]) > 0).all()


def test_the_header_has_the_size_of_the_declaration():
    from kafkatx.kernels import batches

    assert (batches.HEADER_SIZE, batches.LOG_OVERHEAD) == (record_batch.HEADER_SIZE, record_batch.LOG_OVERHEAD)
    assert batches.SMALLEST_LENGTH == record_batch.MINIMUM_BATCH_LENGTH
