"""Records compressed again with the codec, and in the framing, that they had."""

from __future__ import annotations

import gzip
import zlib

import lz4.frame
import snappy
import zstandard

from kafkatx.formats.record_batch import Codec
from kafkatx.kernels.payloads import XERIAL_HEADER_SIZE, XERIAL_MAGIC

XERIAL_BLOCK = 32 << 10


def compress(codec: Codec, data: bytes, original: bytes) -> bytes:
    """Return records compressed; `original` is what they were compressed to before."""
    if codec is Codec.gzip:
        return gzip.compress(data, mtime=0)
    if codec is Codec.lz4:
        return bytes(lz4.frame.compress(data, block_linked=False))
    if codec is Codec.zstd:
        return zstandard.ZstdCompressor().compress(data)
    if codec is Codec.snappy:
        return _snappy(data, original)
    return data


def _snappy(data: bytes, original: bytes) -> bytes:
    if not original.startswith(XERIAL_MAGIC):
        return bytes(snappy.compress(data))
    blocks = [bytes(snappy.compress(data[at : at + XERIAL_BLOCK])) for at in range(0, len(data), XERIAL_BLOCK)]
    return original[:XERIAL_HEADER_SIZE] + b"".join(len(block).to_bytes(4, "big") + block for block in blocks)


def crc32(data: bytes) -> int:
    """Return the CRC of a message of magic 0 or 1."""
    return zlib.crc32(data)
