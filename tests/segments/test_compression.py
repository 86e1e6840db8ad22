import gzip
import random
from collections.abc import Callable

import lz4.frame
import pytest
import snappy
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.formats.record_batch import Codec
from kafkatx.kernels.payloads import XERIAL_MAGIC
from kafkatx.segments.compression import LARGEST_PAYLOAD, decompress, xxhash32

TEXT = random.Random(7).randbytes(1000) * 50
MAGIC_0_LZ4 = bytes.fromhex("04224d18 60 40 1a 03000080 616263 00000000")


def xerial(data: bytes, block: int = 32_768) -> bytes:
    """The stream of the Java library, in blocks."""
    stream = XERIAL_MAGIC + (1).to_bytes(4, "big") * 2
    for at in range(0, len(data), block):
        compressed = snappy.compress(data[at : at + block])
        stream += len(compressed).to_bytes(4, "big") + compressed
    return stream


WRITERS: dict[str, tuple[Codec, Callable[[bytes], bytes]]] = {
    "none": (Codec.none, bytes),
    "gzip": (Codec.gzip, gzip.compress),
    "gzip members": (Codec.gzip, lambda data: gzip.compress(data[:70]) + gzip.compress(data[70:])),
    "snappy xerial": (Codec.snappy, xerial),
    "snappy xerial streams": (Codec.snappy, lambda data: xerial(data[:70], 64) + xerial(data[70:])),
    "snappy raw": (Codec.snappy, snappy.compress),
    "lz4": (Codec.lz4, lz4.frame.compress),
    "lz4 with sizes and checksums": (
        Codec.lz4,
        lambda data: lz4.frame.compress(data, content_checksum=True, block_checksum=True, store_size=True),
    ),
    "lz4 frames": (Codec.lz4, lambda data: lz4.frame.compress(data[:70]) + lz4.frame.compress(data[70:])),
    "zstd": (Codec.zstd, zstandard.compress),
    "zstd frames": (Codec.zstd, lambda data: zstandard.compress(data[:70]) + zstandard.compress(data[70:])),
}
COMPRESSED = [name for name in WRITERS if name != "none"]


@pytest.fixture(params=COMPRESSED)
def compressed(request: pytest.FixtureRequest) -> tuple[Codec, bytes]:
    codec, write = WRITERS[request.param]
    return codec, write(TEXT)


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("data", [b"", b"a", TEXT], ids=["nothing", "a byte", "much"])
def test_what_was_compressed_comes_back(name, data):
    codec, write = WRITERS[name]
    payload = decompress(codec, write(data))
    assert (payload.data, payload.problem) == (data, None)


def test_a_stream_cut_short_yields_its_beginning_and_a_problem(compressed):
    codec, data = compressed
    for size in (1, 7, 30, len(data) // 2, len(data) - 1):
        payload = decompress(codec, data[:size])
        assert TEXT.startswith(payload.data)
        assert payload.problem or len(payload.data) == 70 or data[:size].startswith(XERIAL_MAGIC)
        assert len(payload.data) < len(TEXT) or payload.problem


def test_bytes_behind_the_end_are_a_problem_and_cost_nothing(compressed):
    codec, data = compressed
    payload = decompress(codec, data + b"\x01\x02\x03\x04\x05")
    assert payload.problem
    assert payload.data in (TEXT, b"") or codec is Codec.snappy


def test_output_ends_at_the_limit(compressed):
    codec, data = compressed
    payload = decompress(codec, data, limit=1000)
    assert len(payload.data) <= 1000
    assert TEXT.startswith(payload.data)
    assert "000" in payload.problem or "claims" in payload.problem


def test_a_bomb_is_stopped_before_it_takes_memory():
    gigabyte = zstandard.ZstdCompressor().compress(bytes(1 << 30))
    assert len(gigabyte) < 40_000
    assert decompress(Codec.zstd, gigabyte, limit=1 << 20).problem == "more than 1,048,576 bytes when decompressed"
    claim = b"\xff\xff\xff\xff\x0f" + b"\xfe\x01\x00" * 10
    assert decompress(Codec.snappy, claim).problem == "a snappy block that claims 4,294,967,295 bytes"
    assert LARGEST_PAYLOAD < 4_294_967_295


def test_the_wrong_header_checksum_of_magic_0_is_corrected_only_there():
    assert decompress(Codec.lz4, MAGIC_0_LZ4).problem.startswith("no lz4 frame")
    payload = decompress(Codec.lz4, MAGIC_0_LZ4, wrong_lz4_checksum=True)
    assert (payload.data, payload.problem) == (b"abc", None)


@pytest.mark.parametrize("sizes", [False, True])
def test_the_checksum_we_make_is_that_of_the_library(sizes):
    data = lz4.frame.compress(TEXT, store_size=sizes)
    at = 14 if sizes else 6
    assert xxhash32(data[4:at]) >> 8 & 0xFF == data[at]
    wrong = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
    assert decompress(Codec.lz4, wrong).problem.startswith("no lz4 frame")
    assert decompress(Codec.lz4, wrong, wrong_lz4_checksum=True).data == TEXT


@given(codec=st.sampled_from(list(Codec)), data=st.binary(max_size=200), magic=st.sampled_from(COMPRESSED))
def test_no_bytes_raise(codec, data, magic):
    assert len(decompress(codec, data, limit=10_000).data) <= 10_000
    head = WRITERS[magic][1](TEXT)[:20]
    assert len(decompress(WRITERS[magic][0], head + data, limit=10_000, wrong_lz4_checksum=True).data) <= 10_000
