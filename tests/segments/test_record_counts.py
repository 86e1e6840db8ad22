"""Counting records meets the same records and the same damage as reading them, whatever the bytes."""

import gzip
import random

import lz4.frame
import pytest
import snappy
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kafkatx.kernels import codec_libraries
from kafkatx.kernels.batches import CHECK_NONE
from kafkatx.segments import batches as walk_of_batches
from kafkatx.segments import record_counts
from kafkatx.segments.record_counts import CountWalk
from kafkatx.segments.records import RecordWalk
from kafkatx.sources.held import HeldFile
from tests.building import with_crc
from tests.formats.captures import broker_files
from tests.formats.test_legacy import message
from tests.kernels.test_records import a_batch
from tests.segments.test_records import record

COMPRESS = [bytes, gzip.compress, snappy.compress, lz4.frame.compress, zstandard.compress]
AT_ONCE = [0, 2, 3, 4]


def a_segment(seed, codecs=(0, 1, 2, 3, 4), count=12):
    """Batches of each codec, some with more or fewer records than they claim, or with bytes that are none."""
    chance, parts, offset = random.Random(seed), [], 0
    if seed % 5 == 0:
        parts.append(message(1, offset=0, value=b"old"))
        offset = 1
    for _ in range(count):
        number = chance.randrange(0, 6)
        content = bytearray(b"".join(record(chance.randbytes(chance.randrange(90)), delta) for delta in range(number)))
        if content and chance.random() < 0.3:
            content[chance.randrange(len(content))] = chance.randrange(256)
        claimed = max(0, number + chance.choice([0, 0, 0, 1, -1]))
        codec = chance.choice(codecs)
        body = COMPRESS[codec](bytes(content))
        if chance.random() < 0.2:
            body = body[: chance.randrange(len(body) + 1)]
        parts.append(with_crc(a_batch(body, claimed, base_offset=offset, attributes=codec, producer_id=-1)))
        offset += number + 1
    return b"".join(parts)


def seven(codec, content, count):
    body = COMPRESS[codec](content)
    fields = {"attributes": codec, "producer_id": -1}
    return b"".join(with_crc(a_batch(body, count, base_offset=20 * number, **fields)) for number in range(7))


def counted(data, **options):
    walk = CountWalk(HeldFile(data), check=CHECK_NONE, **options)
    return sum(walk.count_of(chunk) for chunk in walk.chunks()), told(walk)


def read(data, **options):
    walk = RecordWalk(HeldFile(data), check=CHECK_NONE, **options)
    return sum(len(part.records) for part in walk.record_chunks()), told(walk)


def told(walk):
    damage = sorted((found.position, found.bytes, found.kind, found.expected, found.found) for found in walk.damage)
    return damage, walk.torn, walk.preallocated, walk.end


@pytest.fixture(params=[60, 700, 1 << 20], ids=str)
def buffer(request, monkeypatch):
    """Chunks of a batch, of some or of all, of which the larger ones don't fit."""
    monkeypatch.setattr(walk_of_batches, "BUFFER_SIZE", request.param)
    monkeypatch.setattr(walk_of_batches, "LARGEST_BUFFER", max(request.param, 200))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 1000),
    codecs=st.just([0, 1, 2, 3, 4]) | st.just(AT_ONCE) | st.lists(st.sampled_from(AT_ONCE), min_size=1, max_size=2),
    places=st.lists(st.floats(0, 0.999), max_size=3),
    cut=st.floats(0.3, 1),
    limit=st.sampled_from([1 << 20, 100]),
)
def test_records_are_counted_as_they_are_read(engine, buffer, seed, codecs, places, cut, limit):
    data = bytearray(a_segment(seed, codecs))
    for place in places:
        data[int(place * len(data))] ^= 0x55
    data = bytes(data[: int(len(data) * cut)])
    assert counted(data, largest_payload=limit) == read(data, largest_payload=limit)


def test_every_recorded_segment_is_counted_as_it_is_read(engine):
    for path in broker_files("*/*.log"):
        data = path.read_bytes()
        assert counted(data) == read(data), path


@pytest.mark.parametrize("codec", AT_ONCE)
def test_more_problems_than_a_call_has_room_for_are_all_told(engine, monkeypatch, codec):
    content = record(b"a") + b"\x05"
    data = seven(codec, content, 2)
    whole = read(data)
    monkeypatch.setattr(record_counts, "PROBLEMS_PER_CALL", 3)
    assert counted(data) == whole
    assert len(whole[1][0]) == 7


@pytest.mark.parametrize("codec", AT_ONCE)
def test_a_payload_larger_than_the_room_is_read_with_care(engine, monkeypatch, codec):
    content = b"".join(record(random.Random(delta).randbytes(300), delta) for delta in range(9))
    data = seven(codec, content, 9)
    monkeypatch.setattr(record_counts, "LAID", 1000)
    monkeypatch.setattr(record_counts, "LAST", 24)
    assert counted(data)[0] == read(data)[0] == 63


def test_without_the_libraries_functions_the_same_is_counted(engine, monkeypatch):
    data = a_segment(7, AT_ONCE)
    whole = counted(data)
    monkeypatch.setattr(codec_libraries, "_lz4", lambda: None)
    monkeypatch.setattr(codec_libraries, "_zstd", lambda: None)
    monkeypatch.setattr(codec_libraries, "_of_thread", codec_libraries._OfThread())
    assert counted(data) == whole == read(data)
