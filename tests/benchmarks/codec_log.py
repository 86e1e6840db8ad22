"""One segment of many distinct records, with each codec as Java's client writes it: what readers are compared over.

No two records are alike: keys, numbers and letters in the values are random, and so is the length of a value. Half of a
value is the same words as in the next one, as in topics of JSON, so codecs find something to do.
"""

from collections.abc import Callable
from pathlib import Path

import lz4.frame
import numpy as np
import snappy
import zstandard

from tests.benchmarks.layouts import CRC_AT, CRC_FROM, HEADER, LENGTH_FROM, Array, crc32c, varint

BATCH_RECORDS, BATCHES_AT_ONCE = 150, 64
STARTED_AT = 1_700_000_000_000
NAME = "00000000000000000000.log"
XERIAL_HEADER = b"\x82SNAPPY\x00" + bytes([0, 0, 0, 1, 0, 0, 0, 1])
XERIAL_BLOCK = 32 << 10
WORDS = b'{"order":"________","amount":_____.__,"currency":"EUR","note":"'
LETTERS = np.frombuffer(b"0123456789abcdef", "u1")
KEY_BYTES, LEAST_NOTE, MOST_NOTE = 10, 4, 40


def _snappy(data: bytes) -> bytes:
    blocks = (bytes(snappy.compress(data[at : at + XERIAL_BLOCK])) for at in range(0, len(data), XERIAL_BLOCK))
    return XERIAL_HEADER + b"".join(len(block).to_bytes(4, "big") + block for block in blocks)


def _lz4(data: bytes) -> bytes:
    made = lz4.frame.compress(data, block_size=lz4.frame.BLOCKSIZE_MAX64KB, block_linked=False, store_size=False)
    return bytes(made)


def _zstd(data: bytes) -> bytes:
    frame = zstandard.ZstdCompressor().compressobj()  # as of a stream: the frame does not say how much it holds
    return frame.compress(data) + frame.flush()


CODECS: dict[str, tuple[int, Callable[[bytes], bytes]]] = {
    "none": (0, lambda data: data),
    "snappy": (2, _snappy),
    "lz4": (3, _lz4),
    "zstd": (4, _zstd),
}
"""What the attributes of a batch say of each, and what makes it."""


def write(directory: Path, size_bytes: int, seed: int = 7) -> dict[str, Path]:
    """Write orders-0 with each codec into a folder of its own; `size_bytes` are those of the one without. Its files."""
    paths = {name: directory / name / "orders-0" / NAME for name in CODECS}
    for path in paths.values():
        path.parent.mkdir(parents=True)
    files = {name: path.open("wb") for name, path in paths.items()}
    rng, base, written = np.random.default_rng(seed), 0, 0
    while written < size_bytes:
        for body in _bodies(rng):
            for name, file in files.items():
                file.write(_batch(base, name, body))
            base, written = base + BATCH_RECORDS, written + HEADER.itemsize + len(body)
    for file in files.values():
        file.close()
    return paths


def _batch(base_offset: int, codec: str, body: bytes) -> bytes:
    """One batch whose records take a millisecond each."""
    number, compress = CODECS[codec]
    body = compress(body)
    header = np.zeros(1, HEADER)
    header["base_offset"], header["magic"], header["attributes"] = base_offset, 2, number
    header["batch_length"] = HEADER.itemsize + len(body) - LENGTH_FROM
    header["last_offset_delta"], header["record_count"] = BATCH_RECORDS - 1, BATCH_RECORDS
    header["base_timestamp"] = STARTED_AT + base_offset
    header["max_timestamp"] = STARTED_AT + base_offset + BATCH_RECORDS - 1
    header["producer_id"] = header["producer_epoch"] = header["base_sequence"] = -1
    whole = bytearray(header.tobytes() + body)
    whole[CRC_AT:CRC_FROM] = crc32c(bytes(whole[CRC_FROM:])).to_bytes(4, "big")
    return bytes(whole)


def _bodies(rng: np.random.Generator) -> list[bytes]:
    """Records of some batches: a matrix with a row a record, of which each row's own length is kept."""
    count = BATCH_RECORDS * BATCHES_AT_ONCE
    notes = rng.integers(LEAST_NOTE, MOST_NOTE + 1, size=count)
    ends = WIDTH - MOST_NOTE + notes
    deltas = np.tile(_deltas(), (BATCHES_AT_ONCE, 1))
    rows = _templates()[notes]
    rows[:, DELTAS_AT : DELTAS_AT + 4] = deltas
    rows[:, RANDOM] = LETTERS[rng.integers(0, len(LETTERS), size=(count, len(RANDOM)), dtype="u1")]
    rows[np.arange(count), ends - 1] = 0  # no headers
    kept = np.arange(WIDTH) < ends[:, None]
    kept[:, DELTAS_AT + 1], kept[:, DELTAS_AT + 3] = deltas[:, 1] != 0, deltas[:, 3] != 0
    lengths = kept.sum(axis=1)
    rows[:, 0], rows[:, 1] = (lengths - 2) << 1 & 127 | 128, (lengths - 2) >> 6
    borders = lengths.reshape(BATCHES_AT_ONCE, BATCH_RECORDS).sum(axis=1).cumsum()
    return [part.tobytes() for part in np.split(rows[kept], borders[:-1])]


def _templates() -> Array:
    """A record for each length of a note: two bytes for its length (and one for attributes), two for each delta."""
    heads = (
        bytes(DELTAS_AT + 4) + varint(KEY_BYTES) + bytes(KEY_BYTES) + varint(len(WORDS) + note)
        for note in range(MOST_NOTE + 1)
    )
    return np.stack([np.frombuffer((head.ljust(HEAD) + WORDS).ljust(WIDTH), "u1") for head in heads])


def _deltas() -> Array:
    """Two bytes each for the delta of the time and of the offset of a batch's records, the second 0 where not used."""
    each = [varint(number).ljust(2, b"\0") for number in range(BATCH_RECORDS)]
    return np.frombuffer(b"".join(one + one for one in each), "u1").reshape(BATCH_RECORDS, 4)


DELTAS_AT = 3
HEAD = DELTAS_AT + 4 + 1 + KEY_BYTES + 2
WIDTH = HEAD + len(WORDS) + MOST_NOTE + 1
RANDOM = np.concatenate(
    [
        DELTAS_AT + 5 + np.arange(KEY_BYTES),
        HEAD + np.flatnonzero(np.frombuffer(WORDS, "u1") == ord("_")),
        HEAD + len(WORDS) + np.arange(MOST_NOTE),
    ]
)
"""Where in a record random letters stand."""
