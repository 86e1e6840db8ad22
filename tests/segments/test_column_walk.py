"""CRCs looked at while records are read, and before: the same records, the same damage, whatever the bytes."""

import gzip
import random

import lz4.frame
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import kafkatx
from kafkatx.segments import batches as walk_of_batches
from kafkatx.segments import record_columns as columns
from kafkatx.segments.record_columns import ColumnWalk
from kafkatx.sources.files import OpenFile
from kafkatx.sources.held import HeldFile
from kafkatx.terms.errors import NothingReadableError
from tests.building import with_crc
from tests.formats.captures import broker_files
from tests.formats.test_legacy import message
from tests.kernels.test_records import a_batch
from tests.segments.test_records import record

COMPRESS = [(0, bytes), (0, bytes), (3, lz4.frame.compress), (1, gzip.compress)]


def a_segment(seed, count=12):
    """Batches of a few records each, most of them plain; the first may be a message of magic 1."""
    chance, parts, offset = random.Random(seed), [], 0
    if seed % 5 == 0:
        parts.append(message(1, offset=0, value=b"old"))
        offset = 1
    plain_only = seed % 2
    for _ in range(count):
        records = chance.randrange(1, 6)
        content = b"".join(record(chance.randbytes(chance.randrange(40)), delta) for delta in range(records))
        codec, compress = COMPRESS[0 if plain_only else chance.randrange(len(COMPRESS))]
        fields = {"base_offset": offset, "attributes": codec, "producer_id": -1}
        parts.append(with_crc(a_batch(compress(content), records, **fields)))
        offset += records
    return b"".join(parts)


def told(file, is_careful):
    """Records, their batches, and what the walk met."""
    walk, found, crcs = ColumnWalk(file, is_careful=is_careful), [], []
    for chunk in walk.column_chunks():
        offsets, times = chunk.column(0).tolist(), chunk.column(1).tolist()
        data, views = bytes(chunk.data), chunk.column(4, 2).tolist()
        values = [_value(data, *views[at : at + 2]) for at in range(0, len(views), 2)]
        found += zip(offsets, times, values, strict=True)
        crcs += chunk.batches["crc_valid"][chunk.first : chunk.behind].tolist()
        borders = [0, *chunk.rows_behind.tolist()]
        assert borders == sorted(borders)
        assert borders[-1] == chunk.rows
    return found, crcs, walk.damage, walk.torn, walk.preallocated, walk.end


def _value(data, first, second):
    length = first & 0xFFFFFFFF
    if length <= 12:
        return (first >> 32 & 0xFFFFFFFF).to_bytes(4, "little") + second.to_bytes(8, "little", signed=True), length
    at = second >> 32
    return data[at : at + length], length


@pytest.fixture(params=[(60, 1 << 17), (400, 1 << 17), (1 << 20, 3)], ids=str)
def pieces(request, monkeypatch):
    """Chunks of a batch or of all, columns of some rows: every border falls somewhere else."""
    held, rows = request.param
    monkeypatch.setattr(columns, "HELD_AT_ONCE", max(held, 61))
    monkeypatch.setattr(columns, "ROWS_PER_COLUMN", rows)
    monkeypatch.setattr(walk_of_batches, "BUFFER_SIZE", held)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 1000),
    places=st.lists(st.floats(0, 0.999), max_size=3),
    cut=st.floats(0.3, 1),
    zero=st.booleans(),
)
@example(seed=113, places=[0.3844027148466675], cut=1.0, zero=True)  # no records are claimed, where a chunk is full
def test_damage_is_met_alike(engine, pieces, tmp_path_factory, seed, places, cut, zero):
    data = bytearray(a_segment(seed))
    for place in places:
        at = int(place * len(data))
        data[at] = 0 if zero else data[at] ^ 0x55
    data = bytes(data[: int(len(data) * cut)])
    careful = told(HeldFile(data), True)
    assert told(HeldFile(data), False) == careful
    path = tmp_path_factory.mktemp("orders-0") / "00000000000000000000.log"
    path.write_bytes(data)
    with OpenFile(str(path)) as file:
        one = told(file, False)
    with OpenFile(str(path)) as file:
        assert one == told(file, True)


def test_each_batch_in_turn_with_a_wrong_crc(engine, pieces):
    data = a_segment(3)
    places, at = [], 0
    while at < len(data):
        places.append(at)
        at += 12 + int.from_bytes(data[at + 8 : at + 12], "big")
    for place in places:
        damaged = data[: place + 61] + bytes([data[place + 61] ^ 2]) + data[place + 62 :]
        found, crcs, damage, *_ = told(HeldFile(damaged), False)
        assert (found, crcs, damage) == told(HeldFile(damaged), True)[:3]
        assert [(one.kind, one.position) for one in damage] == [("crc", place)]
        assert set(crcs) == {1}


def test_recorded_segments_are_read_alike():
    for path in broker_files("*/*.log"):
        data = path.read_bytes()
        assert told(HeldFile(data), False) == told(HeldFile(data), True), path


def test_what_came_before_a_wrong_crc_is_given_and_then_told(engine):
    data = a_segment(3)
    found = []
    with pytest.raises(NothingReadableError, match="a batch with the CRC its header states"):
        found.extend(batch.num_rows for batch in kafkatx.records(data[:-1] + bytes([data[-1] ^ 1])))
    assert sum(found) == sum(batch.num_rows for batch in kafkatx.records(data)) - _last(data)


def _last(data):
    at = count = 0
    while at < len(data):
        count = int.from_bytes(data[at + 57 : at + 61], "big")
        at += 12 + int.from_bytes(data[at + 8 : at + 12], "big")
    return count
