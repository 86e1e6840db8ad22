"""A segment of compressed batches of about 16 KiB of records, as an idempotent producer of each client writes them.

    python -m tests.benchmarks.compressed CODEC DIRECTORY [--size-mib MIB]

Records are JSON of an order, so that codecs find in them what they find in life. Bodies are some templates, each with
other numbers; headers differ. MIB is what the batches are without compression.
"""

import argparse
import gzip
import random
from collections.abc import Callable
from pathlib import Path

import lz4.frame
import numpy as np
import snappy
import zstandard

from tests.benchmarks.layouts import batch, record, seal, stamp

CODECS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
RECORDS, TEMPLATES, SEED = 150, 64, 23
SEGMENT_BYTES = 1 << 30
XERIAL = b"\x82SNAPPY\x00" + (1).to_bytes(4, "big") * 2
XERIAL_BLOCK = 32 << 10


def write(directory: Path, codec: str, size_bytes: int) -> Path:
    """Write orders-0 under `directory`, of `size_bytes` before compression."""
    folder = directory / "orders-0"
    folder.mkdir(parents=True)
    chance = random.Random(SEED)
    bodies = [_body(chance) for _ in range(TEMPLATES)]
    packed = [_packed(codec, body) for body in bodies]
    rounds = size_bytes // (sum(map(len, bodies)) + TEMPLATES * 61)
    offset, path, written = 0, folder / f"{0:020d}.log", 0
    for _ in range(rounds):
        if written > SEGMENT_BYTES - sum(map(len, packed)):
            path, written = folder / f"{offset:020d}.log", 0
        data = b"".join(_batch(body, offset + RECORDS * at, CODECS[codec]) for at, body in enumerate(packed))
        with path.open("ab") as file:
            file.write(data)
        offset, written = offset + RECORDS * TEMPLATES, written + len(data)
    return directory


def _body(chance: random.Random) -> bytes:
    return b"".join(record(b"o-%08d" % chance.randrange(10**8), _order(chance), at // 40, at) for at in range(RECORDS))


def _order(chance: random.Random) -> bytes:
    customer, cents = chance.randrange(10**6), chance.randrange(10**5)
    country = chance.choice(["DE", "FR", "IT", "PL"])
    return b'{"customer":"c-%06d","cents":%d,"currency":"EUR","country":"%s","paid":true}' % (
        customer,
        cents,
        country.encode(),
    )


def _batch(body: bytes, offset: int, codec: int) -> bytes:
    rows = np.zeros(1, dtype=batch(("records", "u1", (len(body),))))
    rows["records"] = np.frombuffer(body, np.uint8)
    at = 1_700_000_000_000 + offset // RECORDS * 4
    stamp(
        rows, base_offset=offset, attributes=codec, last_offset_delta=RECORDS - 1, base_timestamp=at,
        max_timestamp=at + 3, producer_id=4000, producer_epoch=0, base_sequence=offset & 0x7FFFFFFF,
        record_count=RECORDS,
    )  # fmt: skip
    return seal(rows).tobytes()


def _packed(codec: str, body: bytes) -> bytes:
    return PACKED[codec](body)


def _xerial(body: bytes) -> bytes:
    """The framing of Java's clients."""
    blocks = (snappy.compress(body[at : at + XERIAL_BLOCK]) for at in range(0, len(body), XERIAL_BLOCK))
    return XERIAL + b"".join(len(block).to_bytes(4, "big") + block for block in blocks)


def _lz4(body: bytes) -> bytes:
    """A frame without a content size, of blocks of 64 KiB, as Java's clients write it."""
    return lz4.frame.compress(body, block_size=lz4.frame.BLOCKSIZE_MAX64KB, block_linked=False, store_size=False)


def _zstd(body: bytes) -> bytes:
    """A frame without a content size, as a stream writes it."""
    return zstandard.ZstdCompressor(3, write_content_size=False).compress(body)


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "none": bytes,
    "gzip": lambda body: gzip.compress(body, 6, mtime=0),
    "snappy": _xerial,
    "lz4": _lz4,
    "zstd": _zstd,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("codec", choices=CODECS)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--size-mib", type=int, default=800)
    given = parser.parse_args()
    write(given.directory, given.codec, given.size_mib << 20)
