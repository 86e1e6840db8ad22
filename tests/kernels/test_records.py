import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kafkatx.formats import record_batch
from kafkatx.formats.layout import Malformed
from kafkatx.formats.record import Record
from kafkatx.kernels import engine as engines
from kafkatx.kernels.batches import CHECK_NONE
from kafkatx.kernels.records import LEFT_OVER, NO_RECORD, PROBLEM, SMALLEST_RECORD, walk_records, wrapped_sum
from kafkatx.kernels.rows import RECORD
from tests import declared
from tests.formats.captures import broker_files
from tests.kernels.walking import batch_rows

HEADER_SIZE = record_batch.HEADER_SIZE
BOTH_ENGINES = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])

BYTES = st.none() | st.binary(max_size=12)
HEADERS = st.lists(st.fixed_dictionaries({"key": st.text(max_size=4), "value": BYTES}), max_size=3)
RECORDS = st.lists(
    st.fixed_dictionaries(
        {
            "attributes": st.integers(-128, 127),
            "timestamp_delta": st.integers(-(2**63), 2**63 - 1) | st.integers(-100, 100),
            "offset_delta": st.integers(-(2**31), 2**31 - 1) | st.integers(0, 100),
            "key": BYTES,
            "value": BYTES,
            "headers": HEADERS,
        }
    ),
    max_size=4,
)


def a_batch(content: bytes, count: int, **fields: int) -> bytes:
    header = {
        "base_offset": 1000,
        "batch_length": record_batch.MINIMUM_BATCH_LENGTH + len(content),
        "partition_leader_epoch": 0,
        "magic": 2,
        "crc": 0,
        "attributes": 0,
        "last_offset_delta": max(count - 1, 0),
        "base_timestamp": 5000,
        "max_timestamp": 6000,
        "producer_id": 7,
        "producer_epoch": 0,
        "base_sequence": 2**31 - 2,
        "records_count": count,
    }
    return record_batch.RecordBatchHeader.build(header | fields) + content


def walked(data: bytes, room: int = 1000) -> tuple[np.ndarray, list[tuple[int, int, int]], np.ndarray]:
    """Records of the uncompressed batches, read in calls of `room` rows; problems as (batch, record, outcome)."""
    batches = batch_rows(data, CHECK_NONE)
    starts = np.where(batches["attributes"] & 7, -1, batches["position"] + HEADER_SIZE)
    ends = batches["position"] + batches["size"]
    parts, problems, number, record, at = [], [], 0, 0, -1
    while number < len(batches):
        out, noted = np.zeros(room, RECORD), np.zeros(100, PROBLEM)
        view = walk_records.view(data)
        count, bad, number, record, at = walk_records(view, batches, starts, ends, number, record, at, out, noted)
        parts.append(out[:count])
        problems += [(int(p["batch_row"]), int(p["record"]), int(p["outcome"])) for p in noted[:bad]]
    return np.concatenate([*parts, np.zeros(0, RECORD)]), problems, batches


def wrapped(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


def assert_equal(rows: np.ndarray, oracle: list[declared.Record], data: bytes) -> None:
    assert len(rows) == len(oracle)
    for row, record in zip(rows, oracle, strict=True):
        assert int(row["offset"]) == wrapped(record.offset)
        assert int(row["timestamp"]) == wrapped(record.timestamp)
        assert int(row["sequence"]) == (-1 if record.sequence is None else record.sequence)
        assert int(row["record_size"]) == record.record_size
        assert int(row["header_count"]) == len(record.headers)
        for name in ("key", "value"):
            start, length = int(row[f"{name}_start"]), int(row[f"{name}_length"])
            assert (None if length == -1 else data[start : start + length]) == getattr(record, name)


@BOTH_ENGINES
@given(records=RECORDS, log_append_time=st.booleans())
def test_the_walk_equals_the_declaration(engine, records, log_append_time):
    content = b"".join(map(Record.build, records))
    data = a_batch(content, len(records), attributes=8 * log_append_time)
    rows, problems, _ = walked(data)
    assert_equal(rows, list(declared.records(data)), data)
    assert problems == []


@BOTH_ENGINES
@given(records=RECORDS, place=st.integers(0, 200), byte=st.integers(0, 255), cut=st.integers(0, 3))
def test_broken_records_end_where_the_declaration_ends_them(engine, records, place, byte, cut):
    content = bytearray(b"".join(map(Record.build, records)))
    if content:
        content[place % len(content)] = byte
    content = content[: len(content) - cut]
    data = a_batch(bytes(content), len(records))
    rows, problems, _ = walked(data)
    oracle = list(declared.records(data))
    assert_equal(rows, oracle, data)
    if len(oracle) < len(records):
        assert problems == [(0, len(oracle), NO_RECORD)]


@pytest.mark.parametrize(
    "head",
    [
        "ffffffff1f 00 00 00 01 01 00",
        "8c8080808000 00 00 00 01 01 00",
        "0e 00 8080808080808080808000 00 01 01 00",
        "2000 ffffffffffffffffff03 00 01 01 00",
        "2000 ffffffffffffffffff01 00 01 01 00",
        "2000 ffffffffffffffff7f 00 01 01 00 00",
        "8c00 00 00 00 01 01 00",
        "00",
    ],
)
def test_odd_numbers_are_read_or_refused_as_declared(engine, head):
    data = a_batch(bytes.fromhex(head), 1)
    rows, _, _ = walked(data)
    assert_equal(rows, list(declared.records(data)), data)


def test_every_cut_of_a_record_is_refused(engine):
    whole = Record.build(
        {
            "attributes": 0,
            "timestamp_delta": -1,
            "offset_delta": 0,
            "key": b"k",
            "value": b"v",
            "headers": [{"key": "h", "value": None}],
        }
    )
    for size in range(len(whole)):
        with pytest.raises(Malformed):
            Record.parse(whole[:size])
        rows, problems, _ = walked(a_batch(whole[:size], 1))
        assert (len(rows), problems) == (0, [(0, 0, NO_RECORD)])


def test_a_batch_after_one_with_broken_records_is_read(engine):
    good = Record.build(
        {"attributes": 0, "timestamp_delta": 0, "offset_delta": 0, "key": None, "value": b"v", "headers": []}
    )
    data = (
        a_batch(good + b"\x01", 2) + a_batch(good, 1, base_offset=2000) + a_batch(good + b"\x00", 1, base_offset=3000)
    )
    rows, problems, _ = walked(data)
    assert list(zip(rows["batch_row"].tolist(), rows["offset"].tolist(), strict=True)) == [
        (0, 1000),
        (1, 2000),
        (2, 3000),
    ]
    assert problems == [(0, 1, NO_RECORD), (2, 1, LEFT_OVER)]


def test_a_count_that_lies_costs_no_more_than_the_bytes_there_are(engine):
    rows, problems, _ = walked(a_batch(b"", 2**31 - 1, last_offset_delta=2**31 - 2))
    assert (len(rows), problems) == (0, [(0, 0, NO_RECORD)])


def test_offsets_and_times_past_the_largest_wrap_as_in_java(engine):
    top = 2**63 - 1
    content = Record.build(
        {"attributes": 0, "timestamp_delta": 5, "offset_delta": 2, "key": None, "value": None, "headers": []}
    )
    data = a_batch(content, 1, base_timestamp=top)
    assert walked(data)[0]["timestamp"].tolist() == [wrapped(top + 5)]
    for left, right in [(top, 1), (top, top), (-top - 1, -1), (-top - 1, -top - 1), (top, -top - 1), (0, 0), (3, -5)]:
        assert wrapped_sum(left, right) == wrapped(left + right)


def test_the_smallest_record_has_seven_bytes():
    empty = {"attributes": 0, "timestamp_delta": 0, "offset_delta": 0, "key": None, "value": None, "headers": []}
    assert len(Record.build(empty)) == SMALLEST_RECORD


@pytest.mark.parametrize("room", [1, 3])
def test_a_walk_in_small_steps_reads_the_same(engine, room):
    path = max(broker_files("*/*.log"), key=lambda path: (path.parent.name.startswith("__tr"), path.stat().st_size))
    data = path.read_bytes()
    whole, _, _ = walked(data)
    stepwise, _, _ = walked(data, room)
    assert len(whole) > 10
    assert whole.tobytes() == stepwise.tobytes()


def test_recorded_batches_are_read_as_declared():
    """Interpreted only: both engines are held equal above, and this reads everything there is."""
    compared = 0
    for path in broker_files("*/*.log"):
        data = path.read_bytes()
        oracle = {
            batch.position: list(declared.records(batch.data))
            for batch in declared.batches(data)
            if batch.magic == 2 and not batch.attributes & 7
        }
        if not oracle:
            continue
        with engines.forced("interpreted"):
            rows, problems, batches = walked(data)
        of_magic_2 = batches["position"][rows["batch_row"]]
        for position, records in oracle.items():
            assert_equal(rows[of_magic_2 == position], records, data)
            compared += len(records)
        assert problems == [] or batches["magic"].min() < 2
    assert compared > 1000
