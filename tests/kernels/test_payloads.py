"""What is decompressed at once equals what is read with care, of all that clients write and of whatever damage does."""

import random
from itertools import pairwise

import lz4.frame
import numpy as np
import pytest
import snappy
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kafkatx.formats.record_batch import Codec
from kafkatx.kernels import codec_libraries
from kafkatx.kernels.codec_libraries import LZ4_DECOMPRESS, ZSTD_DECOMPRESS, addresses
from kafkatx.kernels.engine import _linked
from kafkatx.kernels.moves import move_16
from kafkatx.kernels.payloads import LZ4, SNAPPY, XERIAL_MAGIC, ZSTD, lay_payloads
from kafkatx.kernels.snappy import claimed_size, snappy_block
from kafkatx.segments.compression import decompress
from tests.segments.test_compression import xerial

ROOM, LIMIT = 1 << 18, 1 << 17
WORDS = [b"order", b"amount", b"\0" * 9, b"abcdefghijklmnopqrstuvwxyz" * 3, b"-", random.Random(3).randbytes(90)]
TEXTS = st.lists(st.sampled_from(WORDS) | st.binary(max_size=80), max_size=120).map(b"".join)
FRAMES = {
    "xerial": (SNAPPY, lambda data: xerial(data, 700)),
    "raw": (SNAPPY, snappy.compress),
    "lz4": (LZ4, lambda data: lz4.frame.compress(data, block_linked=False, store_size=False)),
    "lz4 linked, checked": (LZ4, lambda data: lz4.frame.compress(data, content_checksum=True, block_checksum=True)),
    "lz4 twice": (LZ4, lambda data: lz4.frame.compress(data[:9]) + lz4.frame.compress(data[9:])),
    "zstd": (ZSTD, zstandard.ZstdCompressor(write_checksum=True).compress),
    "zstd of a stream": (ZSTD, lambda data: streamed(data)),
    "zstd twice": (ZSTD, lambda data: zstandard.compress(data[:9]) + streamed(data[9:])),
}


def examples(count):
    """So many of them, with the engine that a test is given."""
    return settings(max_examples=count, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def streamed(data):
    writer = zstandard.ZstdCompressor().compressobj()
    return writer.compress(data) + writer.flush()


def laid(batches, limit=LIMIT, room=ROOM, enough=ROOM):
    """Numbers of the batches that were done, and what each of them has; batches are (codec, compressed)."""
    data = b"".join(compressed for _, compressed in batches)
    ends = np.cumsum([len(compressed) for _, compressed in batches])
    starts = ends - [len(compressed) for _, compressed in batches]
    codecs, sizes, out = np.array([codec for codec, _ in batches]), np.zeros(len(batches), np.int64), bytearray(room)
    done, at = lay_payloads(
        lay_payloads.view(data), starts, ends, codecs, 0, limit, addresses(), lay_payloads.room(out), 0, enough, sizes
    )
    borders = [0, *np.cumsum(sizes[:done]).tolist()]
    assert borders[-1] == at
    return [bytes(out[begin:end]) for begin, end in pairwise(borders)]


@pytest.mark.parametrize("name", FRAMES)
@examples(15)
@given(texts=st.lists(TEXTS.filter(bool), min_size=1, max_size=4))
def test_whole_payloads_are_laid_one_behind_the_other(engine, name, texts):
    codec, write = FRAMES[name]
    batches = [(codec, write(text)) for text in texts]
    done = laid(batches)
    assert done == texts[: len(done)]
    if "twice" not in name:
        assert len(done) == len(texts) or len(texts[len(done)]) > 16 * len(batches[len(done)][1])


@pytest.mark.parametrize("name", FRAMES)
@examples(60)
@given(text=TEXTS, seed=st.integers(0, 2**32), data=st.data())
def test_what_damage_leaves_is_never_taken_for_more_than_care_takes_it_for(engine, name, text, seed, data):
    codec, write = FRAMES[name]
    whole, chance = bytearray(write(text)), random.Random(seed)
    for _ in range(data.draw(st.integers(0, 3))):
        if whole:
            whole[chance.randrange(len(whole))] = chance.choice([0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)])
    compressed = bytes(whole[: data.draw(st.integers(0, len(whole)) | st.just(len(whole)))])
    found = laid([(codec, compressed)])
    if found:
        with_care = decompress(Codec(codec), compressed, limit=LIMIT)
        assert (with_care.data, with_care.problem) == (found[0], None)


def test_what_follows_an_empty_frame_is_not_passed_over(engine):
    for empty in (streamed(b""), zstandard.compress(b"")):
        for more in (b"\x28", streamed(b"abc"), streamed(b"abc")[:9]):
            assert laid([(ZSTD, empty + more)]) == []


@examples(60)
@given(codec=st.sampled_from([SNAPPY, LZ4, ZSTD]), data=st.binary(max_size=200))
def test_any_bytes_are_read_as_with_care(engine, codec, data):
    for compressed in (data, XERIAL_MAGIC + data):
        found = laid([(codec, compressed)])
        with_care = decompress(Codec(codec), compressed, limit=LIMIT)
        assert not found or (found[0], None) == (with_care.data, with_care.problem)


@given(block=st.binary(max_size=120), claim=st.integers(0, 300))
@examples(300)
def test_a_block_of_snappy_is_read_as_by_the_library(engine, block, claim):
    data = bytes([claim & 127 | 128, claim >> 7]) + block
    out = bytearray(500)
    size = snappy_block(snappy_block.view(data), 0, len(data), snappy_block.room(out), 7, 400)
    try:
        expected = bytes(snappy.uncompress(data))
    except snappy.UncompressError:
        assert size == -1
    else:
        assert (size, bytes(out[7 : 7 + size])) == (len(expected), expected)
    assert not any(out[:7])


@given(text=TEXTS)
@examples(30)
def test_the_decoder_of_snappy_as_plain_python_equals_the_library(text):
    block, out = snappy.compress(text), bytearray(len(text) + 100)
    decoder = _linked(snappy_block.function, lambda kernel: _linked(kernel.function, lambda inner: inner.plain))
    assert decoder(memoryview(block), 0, len(block), memoryview(out), 0, len(text)) == len(text) == claimed_size(block)
    assert out[: len(text)] == text


@pytest.mark.parametrize("name", ["xerial", "raw", "lz4", "zstd", "zstd of a stream"])
def test_no_more_than_limit_room_and_what_a_codec_can(engine, name):
    codec, write = FRAMES[name]
    text = random.Random(5).randbytes(500) * 8
    compressed = write(text)
    assert laid([(codec, compressed)], limit=len(text)) == [text]
    assert laid([(codec, compressed)], limit=len(text) - 1) == []
    assert laid([(codec, compressed)] * 3, room=2 * len(text)) == [text, text]
    assert laid([(codec, compressed)] * 3, enough=1) == [text]
    assert laid([(codec, compressed), (1, b"gzip"), (codec, compressed)]) == [text]


def test_a_claim_takes_no_memory(engine):
    claims = b"\xff\xff\xff\xff\x0f" + b"\xfe\x01\x00" * 10
    assert laid([(SNAPPY, claims)]) == []
    assert laid([(ZSTD, zstandard.compress(bytes(1 << 26)))]) == []
    claims = bytearray(zstandard.compress(b"abc"))
    claims[4:6] = b"\xe0" + (1 << 40).to_bytes(8, "little")
    assert laid([(ZSTD, bytes(claims))]) == []


def test_a_wheel_that_shows_no_functions_has_no_addresses(monkeypatch):
    monkeypatch.setattr(codec_libraries, "_lz4", lambda: None)
    monkeypatch.setattr(codec_libraries, "_zstd", lambda: None)
    assert not codec_libraries._OfThread().addresses.any()


def test_the_libraries_here_are_called_by_address():
    """On Linux both wheels show them; where this fails, reading is right and slower: look at codec_libraries."""
    assert addresses()[LZ4_DECOMPRESS]
    assert addresses()[ZSTD_DECOMPRESS]


def test_sixteen_bytes_move_as_they_were_where_places_overlap(engine):
    out = bytearray(range(40))
    whole = move_16.room(out)
    (move_16.compiled if move_16.is_compiled else move_16.plain)(whole, 5, whole, 1)
    assert out == bytes(range(5)) + bytes(range(1, 17)) + bytes(range(21, 40))
