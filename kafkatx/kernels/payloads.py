"""The records of compressed batches without compression, one batch behind the other."""

from typing import Any

from kafkatx.kernels.batches import walk_batches
from kafkatx.kernels.codec_frames import lz4_frame, zstd_frame
from kafkatx.kernels.engine import kernel, kernel_after
from kafkatx.kernels.snappy import snappy_block

SNAPPY, LZ4, ZSTD = 2, 3, 4
"""Codecs as a batch's attributes number them (formats/record_batch.py)."""
MOST_TIMES = 255
"""Nothing that is decompressed at once has more bytes than so many times its own (an lz4 can't)."""
XERIAL_MAGIC = b"\x82SNAPPY\x00"
XERIAL_HEADER_SIZE = 16


@kernel
def snappy_payload(data: Any, start: int, end: int, out: Any, at: int, room: int) -> int:
    """Write what snappy made of a batch's records: blocks behind the header of xerial's library, or one raw block."""
    is_xerial = end - start >= XERIAL_HEADER_SIZE
    for place in range(8):
        is_xerial = is_xerial and data[start + place] == XERIAL_MAGIC[place]
    if not is_xerial:
        return snappy_block(data, start, end, out, at, room)
    filled = 0
    place = start + XERIAL_HEADER_SIZE
    while place < end:
        if end - place < 4:
            return -1
        size = int(data[place]) << 24 | int(data[place + 1]) << 16 | int(data[place + 2]) << 8 | int(data[place + 3])
        place += 4
        if size > end - place:
            return -1
        block = snappy_block(data, place, place + size, out, at + filled, room - filled)
        if block < 0:
            return -1
        filled += block
        place += size
    return filled


@kernel
def payload_at_once(data: Any, start: int, end: int, codec: int, limit: int, calls: Any, out: Any, at: int) -> int:
    """Decompress data[start:end] into `out` from `at` on, no more than `limit` bytes.

    Its size; -1 where it is not done at once: damaged, of another codec, or larger than what is left of `out`.
    """
    room = min(len(out) - at, limit, MOST_TIMES * (end - start))
    if codec == LZ4:
        return lz4_frame(data, calls, start, end, out, at, room)
    if codec == ZSTD:
        return zstd_frame(data, calls, start, end, out, at, room)
    if codec == SNAPPY:
        return snappy_payload(data, start, end, out, at, room)
    return -1


@kernel_after(walk_batches)
def lay_payloads(
    data: Any, starts: Any, ends: Any, codecs: Any, first: int, limit: int, calls: Any, out: Any, at: int, enough: int,
    sizes: Any,
) -> tuple[int, int]:  # fmt: skip
    """Decompress batches from `first` on into `out`, one behind the other from `at` on, until `enough` is filled.

    Batch n lies in data[starts[n] : ends[n]] and may have `limit` bytes; `sizes[n]` says how many it has. Returns the
    number of the next batch, and how far `out` is filled. A batch that is not done at once ends it.
    """
    number = first
    while number < len(starts) and at < enough:
        size = payload_at_once(data, int(starts[number]), int(ends[number]), codecs[number], limit, calls, out, at)
        if size < 0:
            break
        sizes[number] = size
        at += size
        number += 1
    return number, at
