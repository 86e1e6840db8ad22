import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kafkatx
from kafkatx.formats.record import Record
from kafkatx.kernels import engine as engines
from kafkatx.kernels import record_columns
from kafkatx.kernels.loads import byte_at, half_at, put_word, word_at
from kafkatx.kernels.record_columns import INLINE, write_view
from kafkatx.segments.free_arrays import FreeArrays
from kafkatx.tables import columns
from tests.building import with_crc
from tests.formats.captures import broker_files
from tests.kernels.test_records import BYTES, HEADERS, a_batch

SHARED = settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
COLUMNS = ["record_offset", "timestamp", "key", "value", "headers"]
LONG = st.none() | st.binary(max_size=300)
RECORDS = st.lists(
    st.fixed_dictionaries(
        {
            "attributes": st.just(0),
            "timestamp_delta": st.integers(-(2**63), 2**63 - 1) | st.integers(-9000, 9000),
            "offset_delta": st.integers(0, 20_000),
            "key": BYTES | LONG,
            "value": BYTES | LONG,
            "headers": HEADERS,
        }
    ),
    max_size=6,
)


def test_times_are_those_of_the_tables():
    assert (record_columns.FIRST_MS, record_columns.LAST_MS) == (columns.FIRST_MS, columns.LAST_MS)


def table_of(batches):
    return pa.Table.from_batches(batches).select(COLUMNS).to_pylist() if batches else []


def from_table(path):
    evidence = kafkatx.open(path)
    return table_of([*evidence.table("records")])


def decoded(rows):
    """Keys of headers as the table has them: text."""
    for row in rows:
        for header in row["headers"] or ():
            header["key"] = header["key"].decode("utf-8", "replace")
    return rows


def checked(batches):
    for batch in batches:
        batch.validate(full=True)
    return decoded(table_of(batches))


@SHARED
@given(records=RECORDS, base=st.integers(0, 2**41), append_time=st.booleans())
def test_columns_equal_the_table(engine, tmp_path_factory, records, base, append_time):
    path = tmp_path_factory.mktemp("orders-0") / "00000000000000000000.log"
    content = b"".join(map(Record.build, records))
    fields = {"base_timestamp": base, "attributes": 8 * append_time, "last_offset_delta": 20_000}
    data = with_crc(a_batch(content, len(records), **fields))
    path.write_bytes(data)
    assert checked([*kafkatx.records(data)]) == checked([*kafkatx.records(path)]) == from_table(path)


@pytest.mark.parametrize("where", ["bytes", "path"])
def test_columns_of_recorded_segments_equal_the_table(where):
    compared = 0
    for path in broker_files("*/*.log"):
        try:
            ours = checked([*kafkatx.records(path.read_bytes() if where == "bytes" else path)])
        except kafkatx.NothingReadableError:
            continue  # damaged: held against the table by the tests of what is damaged
        assert ours == from_table(path), path
        compared += len(ours)
    assert compared > 1000


def test_recorded_segments_give_the_same_on_both_engines():
    codecs = [path for path in broker_files("*/*.log") if "codec" in str(path)] or broker_files("*/*.log")[:8]
    for path in codecs[:12]:
        with engines.forced("compiled"):
            compiled = checked([*kafkatx.records(path)])
        with engines.forced("interpreted"):
            assert checked([*kafkatx.records(path)]) == compiled


def test_batches_that_are_kept_keep_their_bytes(tmp_path):
    path = tmp_path / "00000000000000000000.log"
    value = [b"%07d" % number * 4 for number in range(400)]
    plain = {"attributes": 0, "timestamp_delta": 0, "key": None, "headers": []}
    with path.open("wb") as file:
        for turn in range(400):
            content = b"".join(Record.build(plain | {"offset_delta": n, "value": v}) for n, v in enumerate(value))
            file.write(with_crc(a_batch(content, len(value), base_offset=turn * len(value))))
    kept = [*kafkatx.records(path)]
    assert len(kept) > 2
    told = pa.chunked_array([batch["value"].cast(pa.binary()) for batch in kept])
    assert told.to_pylist() == value * 400
    assert np.array_equal(
        np.concatenate([batch["record_offset"].to_numpy() for batch in kept]), np.arange(400 * len(value))
    )


def test_damage_is_told_after_what_could_be_read():
    record = {"attributes": 0, "timestamp_delta": 0, "offset_delta": 0, "key": None, "value": b"v", "headers": []}
    good = with_crc(a_batch(Record.build(record), 1))
    bad = bytearray(with_crc(a_batch(Record.build(record), 1, base_offset=2000)))
    bad[-2] ^= 1
    read = kafkatx.records(good + bytes(bad))
    assert next(read)["value"].to_pylist() == [b"v"]
    with pytest.raises(kafkatx.NothingReadableError, match="position 69"):
        next(read)


def test_a_path_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(kafkatx.UsageError, match="none"):
        next(kafkatx.records(tmp_path / "none.log"))


@pytest.mark.parametrize("behind", range(INLINE + 2))
def test_views_at_the_end_of_a_buffer_read_nothing_behind_it(engine, behind):
    """A page that may not be read lies behind a mapped file; here other bytes do, which must not be seen."""
    for length in range(-1, 20):
        whole = np.frombuffer(bytes(range(200, 200 + max(length, 0))) + b"\xee" * 64, np.uint8)
        data = whole[: max(length, 0) + behind]
        out = np.full(2, -1, np.int64)
        chosen = write_view.compiled if engine == "compiled" else write_view.plain
        chosen(data if engine == "compiled" else memoryview(data), 0, length, out, 0)
        told = out.tobytes()
        assert int.from_bytes(told[:4], "little", signed=True) == length
        expected = bytes(data[: max(length, 0)])
        if 0 <= length <= INLINE:
            assert told[4:] == expected.ljust(INLINE, b"\0")
        elif length > INLINE:
            assert (told[4:8], told[8:]) == (expected[:4], bytes(8))


@given(data=st.binary(min_size=8, max_size=24), at=st.integers(0, 16))
def test_loads_equal_what_their_kernels_say(data, at):
    at = min(at, len(data) - 8)
    array = np.frombuffer(data, np.uint8)
    for load, size in ((byte_at, 1), (half_at, 4), (word_at, 8)):
        expected = int.from_bytes(data[at : at + size], "little", signed=size > 1)
        assert load.plain(memoryview(data), at) == load.compiled(array, at) == load.function(array.astype(object), at)
        assert load.plain(memoryview(data), at) == expected


def test_a_word_is_put_where_it_belongs(engine):
    words = np.zeros(3, np.int64)
    put_word.count(0)
    put_word(words, 1, -(2**63))
    assert words.tolist() == [0, -(2**63), 0]


def test_arrays_are_given_out_again_when_nobody_holds_a_view():
    arrays = FreeArrays(64)
    first = arrays.take()
    view = pa.py_buffer(first[8:16])
    address = first.ctypes.data
    del first
    second = arrays.take()
    assert second.ctypes.data != address
    del view
    assert arrays.take().ctypes.data == address
