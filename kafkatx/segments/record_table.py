"""The table `records`: what producers wrote, one row a record, as Arrow batches with the columns of the contract.

Meaning   `position`, like `batch_position`, is where the batch begins: a compressed record has no place of its own.
          Null stands for what is absent: no producer, no sequence (magic 0 and 1), a null key or value. `timestamp_ms`
          is what the bytes say; `timestamp` is null where that is no time that Arrow's microseconds can hold.
Limits    control records are no row here: the table `markers` has those that end transactions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from kafkatx.formats.record_batch import MAGIC, Attributes
from kafkatx.kernels.packing import pack_ranges
from kafkatx.segments.batches import Rows
from kafkatx.segments.records import RecordChunk, RecordWalk

HEADER = pa.struct([("key", pa.string()), ("value", pa.binary())])
RECORDS = pa.schema(
    [
        ("capture", pa.string()),
        ("cluster_id", pa.string()),
        ("broker_id", pa.int32()),
        ("path", pa.string()),
        ("position", pa.int64()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("timestamp", pa.timestamp("us", tz="UTC")),
        ("timestamp_ms", pa.int64()),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("headers", pa.list_(HEADER)),
        ("batch_position", pa.int64()),
        ("producer_id", pa.int64()),
        ("producer_epoch", pa.int16()),
        ("sequence", pa.int32()),
        ("is_transactional", pa.bool_()),
    ]
)
LARGEST_MS = ((1 << 63) - 1) // 1000


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the records of a file come from; None where it is not known."""

    path: str
    capture: str | None = None
    cluster_id: str | None = None
    broker_id: int | None = None
    topic: str | None = None
    partition: int | None = None


def record_batches(walk: RecordWalk, origin: Origin) -> Iterator[pa.RecordBatch]:
    """Yield the records of a file as Arrow batches of the schema RECORDS; what can't be read is damage of the walk."""
    for chunk in walk.record_chunks():
        kept = np.flatnonzero(_flags(chunk.batches[chunk.records["batch_row"]]) & Attributes.IS_CONTROL == 0)
        if len(kept):
            yield _table(chunk, kept, origin)


def _flags(batches: Rows) -> Rows:
    """Attributes of batches; those of magic 0 and 1 say nothing of transactions and control."""
    return np.where(batches["magic"] == MAGIC, batches["attributes"], 0)


def _table(chunk: RecordChunk, kept: Rows, origin: Origin) -> pa.RecordBatch:
    records = chunk.records[kept]
    batches, times = chunk.batches[records["batch_row"]], records["timestamp"]
    columns: dict[str, Any] = {
        "position": pa.array(batches["position"]),
        "offset": pa.array(records["offset"]),
        "timestamp": _times(times),
        "timestamp_ms": pa.array(times),
        "key": _binary(chunk.data, records["key_start"], records["key_length"]),
        "value": _binary(chunk.data, records["value_start"], records["value_length"]),
        "headers": _headers(chunk, kept),
        "batch_position": pa.array(batches["position"]),
        "producer_id": _present(batches["producer_id"]),
        "producer_epoch": _present(batches["producer_epoch"]),
        "sequence": _present(records["sequence"]),
        "is_transactional": pa.array(_flags(batches) & Attributes.IS_TRANSACTIONAL != 0),
    }
    for field in RECORDS:
        if field.name not in columns:
            columns[field.name] = pa.repeat(pa.scalar(getattr(origin, field.name), field.type), len(records))
    return pa.record_batch([columns[name] for name in RECORDS.names], schema=RECORDS)


def _present(values: Rows) -> pa.Array:
    values = np.ascontiguousarray(values)
    return pa.array(values, mask=values == -1)


def _times(milliseconds: Rows) -> pa.Array:
    outside = (milliseconds < 0) | (milliseconds > LARGEST_MS)
    micros = np.where(outside, 0, milliseconds) * 1000
    return pa.array(micros, mask=outside).cast(pa.timestamp("us", tz="UTC"))


def _binary(data: memoryview, starts: Rows, lengths: Rows) -> pa.Array:
    """Ranges of a buffer as a binary column; a length of -1 is null."""
    packed = np.empty(max(1, int(lengths.clip(0).sum(dtype=np.int64))), np.uint8)
    offsets = np.empty(len(starts) + 1, np.int32)
    pack_ranges.count(len(starts))
    pack_ranges(pack_ranges.view(data), np.ascontiguousarray(starts), np.ascontiguousarray(lengths), packed, offsets)
    nulls = pa.array(lengths >= 0).buffers()[1] if (lengths < 0).any() else None
    return pa.Array.from_buffers(pa.binary(), len(starts), [nulls, pa.py_buffer(offsets), pa.py_buffer(packed)])


def _headers(chunk: RecordChunk, kept: Rows) -> pa.Array:
    """Headers of the kept records as lists; keys that are no UTF-8 get U+FFFD."""
    headers = chunk.headers()
    counts = chunk.records["header_count"].clip(0)
    headers = headers[np.isin(headers["record_row"], kept)]
    offsets = np.concatenate(([0], np.cumsum(counts[kept], dtype=np.int64))).astype(np.int32)
    keys = _texts(_binary(chunk.data, headers["key_start"], headers["key_length"]))
    values = _binary(chunk.data, headers["value_start"], headers["value_length"])
    pairs = pa.StructArray.from_arrays([keys, values], fields=list(HEADER))
    return pa.ListArray.from_arrays(pa.array(offsets), pairs)


def _texts(keys: pa.Array) -> pa.Array:
    try:
        return keys.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([key.decode("utf-8", "replace") for key in keys.to_pylist()], pa.string())
