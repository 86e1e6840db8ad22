"""The records of a compressed batch without compression: every codec in every framing that clients write.

Framing   gzip: members one behind the other. snappy: blocks behind the header of xerial's library, or one raw block
          (librdkafka, Go). lz4: frames. zstd: frames, one or several.
Limits    output ends at a limit, so that a few bytes can't claim the memory of the machine. The frame header of an lz4
          wrapper of magic 0 carries a wrong checksum (KAFKA-3160); it is corrected before the frame is read.
Damage    is data: what could be decompressed comes back with a sentence about the rest, never an exception.
Source    CompressionType.java, Lz4BlockInputStream.java, SnappyInputStream (xerial) of Kafka 0.11 to 4.3; KIP-110.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator

from kafkatx.formats.record_batch import Codec
from kafkatx.kernels.payloads import XERIAL_HEADER_SIZE, XERIAL_MAGIC
from kafkatx.kernels.snappy import claimed_size
from kafkatx.terms.records import dataclass

LARGEST_PAYLOAD = 256 << 20
"""Bytes that the records of one batch may have: above what any sensible max.message.bytes allows."""

PIECE = 1 << 20
ZSTD_SLICE = 1 << 10
"""Input given to zstd at once. Its output can't be bounded, but so little has at most 32 MiB (4 bytes a block)."""
GZIP_WRAPPED = 31
"""zlib's window setting for gzip members."""
LZ4_MAGIC = b"\x04\x22\x4d\x18"
LZ4_CONTENT_SIZE_FLAG, LZ4_DICTIONARY_FLAG = 0x08, 0x01


@dataclass(frozen=True, slots=True)
class Payload:
    """What a batch's bytes decompress to; `problem` says why it is not all, None when it is."""

    data: bytes
    problem: str | None = None


class _Damaged(Exception):
    """The compressed bytes end early or are none of their codec; the text is for a damage row."""


def decompress(codec: Codec, data: bytes, *, limit: int = LARGEST_PAYLOAD, wrong_lz4_checksum: bool = False) -> Payload:
    """Return the records of a batch (or the messages of a wrapper) without compression; never raises.

    Args:
        codec: the batch's codec.
        data: the bytes behind the batch's header (the value of a wrapper of magic 0 or 1).
        limit: bytes of output at which reading stops.
        wrong_lz4_checksum: the bytes are of magic 0, whose lz4 frame headers have a checksum of their own kind.
    """
    if wrong_lz4_checksum and codec is Codec.lz4:
        data = _with_right_checksum(data)
    out = bytearray()
    try:
        for piece in PIECES_OF[codec](data, limit):
            out += piece
            if len(out) > limit:
                return Payload(bytes(out[:limit]), f"more than {limit:,} bytes when decompressed")
    except _Damaged as damage:
        return Payload(bytes(out), str(damage))
    return Payload(bytes(out))


def _plain(data: bytes, limit: int) -> Iterator[bytes]:
    yield data


def _gzip(data: bytes, limit: int) -> Iterator[bytes]:
    while data:
        member = zlib.decompressobj(GZIP_WRAPPED)
        while not member.eof:
            try:
                piece = member.decompress(data, PIECE)
            except zlib.error as error:
                raise _Damaged(f"no gzip data: {error}") from None
            data = member.unconsumed_tail
            if not piece and not data and not member.eof:
                raise _Damaged("gzip data that ends early")
            yield piece
        data = member.unused_data


def _lz4(data: bytes, limit: int) -> Iterator[bytes]:
    import lz4.frame  # each codec by need: together they take as long to load as a small segment to read

    while data:
        frame = lz4.frame.LZ4FrameDecompressor()
        left: bytes | None = data
        while not frame.eof:
            try:
                piece: bytes = frame.decompress(left or b"", max_length=PIECE)
            except (RuntimeError, EOFError) as error:
                raise _Damaged(f"no lz4 frame: {error}") from None
            if not piece and frame.needs_input and not frame.eof:
                raise _Damaged("an lz4 frame that ends early")
            left = None
            yield piece
        data = frame.unused_data or b""


def _zstd(data: bytes, limit: int) -> Iterator[bytes]:
    import zstandard

    at = 0
    while at < len(data):
        frame = zstandard.ZstdDecompressor().decompressobj()
        while not frame.eof:
            if at >= len(data):
                raise _Damaged("a zstd frame that ends early")
            try:
                piece = frame.decompress(data[at : at + ZSTD_SLICE])
            except (zstandard.ZstdError, MemoryError) as error:
                raise _Damaged(f"no zstd frame: {error}") from None
            at = min(at + ZSTD_SLICE, len(data))
            yield piece
        at -= len(frame.unused_data)


def _snappy(data: bytes, limit: int) -> Iterator[bytes]:
    if not data.startswith(XERIAL_MAGIC):
        yield _snappy_block(data, limit)
        return
    at = 0
    while at < len(data):
        if data.startswith(XERIAL_MAGIC, at):
            at += XERIAL_HEADER_SIZE
            continue
        size = int.from_bytes(data[at : at + 4], "big", signed=True)
        at += 4
        if size < 0 or size > len(data) - at:
            raise _Damaged(f"a snappy block of {size} bytes where {len(data) - at} are left")
        yield _snappy_block(data[at : at + size], limit)
        at += size


def _snappy_block(block: bytes | memoryview, limit: int) -> bytes:
    """Decompress one raw block; the size it claims is looked at first, since memory is taken for it."""
    import snappy

    if (claimed := claimed_size(block)) > limit:
        raise _Damaged(f"a snappy block that claims {claimed:,} bytes")
    try:
        return bytes(snappy.uncompress(block))
    except snappy.UncompressError as error:
        raise _Damaged(f"no snappy block: {error.__cause__ or error}") from None


PIECES_OF: dict[Codec, Callable[[bytes, int], Iterator[bytes]]] = {
    Codec.none: _plain,
    Codec.gzip: _gzip,
    Codec.snappy: _snappy,
    Codec.lz4: _lz4,
    Codec.zstd: _zstd,
}


def _with_right_checksum(data: bytes) -> bytes:
    """Return a frame of magic 0 with the checksum of the lz4 specification: over the descriptor, without the magic."""
    if len(data) < 7 or not data.startswith(LZ4_MAGIC):
        return data
    size = 2 + 8 * bool(data[4] & LZ4_CONTENT_SIZE_FLAG) + 4 * bool(data[4] & LZ4_DICTIONARY_FLAG)
    descriptor = data[4 : 4 + size]
    return data[: 4 + size] + bytes([xxhash32(descriptor) >> 8 & 0xFF]) + data[5 + size :]


_PRIMES = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1)


def xxhash32(data: bytes) -> int:
    """XXH32 with seed 0 of fewer than 16 bytes: all that the descriptor of an lz4 frame can have."""
    state, whole = _PRIMES[4] + len(data), len(data) // 4 * 4
    for at in range(0, whole, 4):
        state = _turned(state + int.from_bytes(data[at : at + 4], "little") * _PRIMES[2], 17) * _PRIMES[3]
    for byte in data[whole:]:
        state = _turned(state + byte * _PRIMES[4], 11) * _PRIMES[0]
    state &= 0xFFFFFFFF
    state = (state ^ state >> 15) * _PRIMES[1] & 0xFFFFFFFF
    state = (state ^ state >> 13) * _PRIMES[2] & 0xFFFFFFFF
    return state ^ state >> 16


def _turned(value: int, by: int) -> int:
    value &= 0xFFFFFFFF
    return (value << by | value >> (32 - by)) & 0xFFFFFFFF
