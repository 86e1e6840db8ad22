"""The bytes the generators stamp: numpy dtypes of batches, index and snapshot entries, packed and big-endian.

Written down apart from the package's own declarations on purpose: Kafka's dump tool judges these bytes, not our reader.
Source: DefaultRecordBatch, DefaultRecord, EndTransactionMarker, AbortedTxn, ProducerStateManager (Kafka 3.9).
"""

from typing import Any

import numpy as np
from google_crc32c import value as crc32c

Array = np.ndarray[Any, np.dtype[Any]]

TRANSACTIONAL, CONTROL = 0x10, 0x20
ABORT, COMMIT = 0, 1
CRC_AT, CRC_FROM, LENGTH_FROM = 17, 21, 12

HEADER = np.dtype(
    [
        ("base_offset", ">i8"),
        ("batch_length", ">i4"),
        ("leader_epoch", ">i4"),
        ("magic", "i1"),
        ("crc", ">u4"),
        ("attributes", ">i2"),
        ("last_offset_delta", ">i4"),
        ("base_timestamp", ">i8"),
        ("max_timestamp", ">i8"),
        ("producer_id", ">i8"),
        ("producer_epoch", ">i2"),
        ("base_sequence", ">i4"),
        ("record_count", ">i4"),
    ]
)
ABORTED_TXN = np.dtype(
    [
        ("version", ">i2"),
        ("producer_id", ">i8"),
        ("first_offset", ">i8"),
        ("last_offset", ">i8"),
        ("last_stable_offset", ">i8"),
    ]
)
PRODUCER_STATE = np.dtype(
    [
        ("producer_id", ">i8"),
        ("producer_epoch", ">i2"),
        ("last_sequence", ">i4"),
        ("last_offset", ">i8"),
        ("offset_delta", ">i4"),
        ("timestamp", ">i8"),
        ("coordinator_epoch", ">i4"),
        ("current_txn_first_offset", ">i8"),
    ]
)
OFFSET_INDEX = np.dtype([("relative_offset", ">i4"), ("position", ">i4")])
TIME_INDEX = np.dtype([("timestamp", ">i8"), ("relative_offset", ">i4")])


def batch(*body: tuple[Any, ...]) -> np.dtype[Any]:
    """A batch v2: the header and the given fields of its records."""
    return np.dtype([("header", HEADER), *body])


MARKER = batch(
    ("frame", "u1", (5,)),
    ("key_version", ">i2"),
    ("kind", ">i2"),
    ("value_length", "u1"),
    ("value_version", ">i2"),
    ("coordinator_epoch", ">i4"),
    ("header_count", "u1"),
)
"""An end-of-transaction marker, 78 bytes: one uncompressed control record."""


def varint(value: int) -> bytes:
    """Zig-zag base-128 as inside records of batch v2."""
    rest = (value << 1) ^ (value >> 63)
    out = bytearray()
    while rest > 127:
        out.append(rest & 127 | 128)
        rest >>= 7
    return bytes([*out, rest])


def record(key: bytes, value: bytes, timestamp_delta: int = 0, offset_delta: int = 0) -> bytes:
    """One record of a batch v2 without headers."""
    deltas = b"\0" + varint(timestamp_delta) + varint(offset_delta)
    body = deltas + varint(len(key)) + key + varint(len(value)) + value + b"\0"
    return varint(len(body)) + body


def stamp(batches: Array, **fields: Any) -> None:
    """Fill header fields; what is not given gets the value of a plain batch of one record by nobody."""
    header = batches["header"]
    plain = {"magic": 2, "producer_id": -1, "producer_epoch": -1, "base_sequence": -1, "record_count": 1}
    for name, value in (plain | fields).items():
        header[name] = value
    header["batch_length"] = batches.dtype.itemsize - LENGTH_FROM


def seal(batches: Array) -> Array:
    """Write every batch's CRC-32C, the last thing to do; returns the batches."""
    size, raw = batches.dtype.itemsize, batches.tobytes()
    sums = [crc32c(raw[at + CRC_FROM : at + size]) for at in range(0, len(raw), size)]
    batches["header"]["crc"] = np.array(sums, dtype=np.uint32).reshape(batches.shape)
    return batches


def markers(shape: tuple[int, ...], kind: Array | int) -> Array:
    """Unsealed marker batches of coordinator epoch 0; offsets, times and producers are the caller's to stamp."""
    rows = np.zeros(shape, dtype=MARKER)
    rows["frame"] = (0x20, 0, 0, 0, 8)
    rows["kind"] = kind
    rows["value_length"] = 12
    return rows
