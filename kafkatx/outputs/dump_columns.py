"""Batches and records as a dump shows them, out of the columns that kernels filled."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from kafkatx.formats.record_batch import (
    CODEC_MASK,
    MAGIC,
    Attributes,
    Codec,
    codec_of,
    sequence_after,
)
from kafkatx.kernels.rows import VALID
from kafkatx.segments.batches import Rows
from kafkatx.segments.records import RecordChunk
from kafkatx.sources.files import OpenFile


class BatchView(NamedTuple):
    """A batch (or message of magic 0 or 1) as it is shown; `timestamp_type` as Kafka prints it."""

    position: int
    base_offset: int
    last_offset: int
    size: int
    record_count: int
    leader_epoch: int
    magic: int
    crc: int
    is_valid: bool
    codec: str
    timestamp_type: str
    max_timestamp: int
    delete_horizon_ms: int | None
    is_transactional: bool
    is_control: bool
    producer_id: int
    producer_epoch: int
    base_sequence: int
    last_sequence: int


class RecordView(NamedTuple):
    """A record as it is shown; `crc` and `is_valid` are None but for messages of magic 0 and 1."""

    batch_row: int
    offset: int
    timestamp: int
    sequence: int
    key: bytes | None
    value: bytes | None
    headers: list[tuple[bytes, bytes | None]]
    crc: int | None
    is_valid: bool | None


LOG_APPEND_TIME, IS_TRANSACTIONAL = int(Attributes.LOG_APPEND_TIME), int(Attributes.IS_TRANSACTIONAL)
IS_CONTROL, HAS_DELETE_HORIZON = int(Attributes.IS_CONTROL), int(Attributes.HAS_DELETE_HORIZON)
"""As plain numbers: flags of an enumeration cost a microsecond each."""
CODEC_NAMES = {attributes: (codec_of(attributes) or Codec.none).name for attributes in range(CODEC_MASK + 1)}


BATCH_COLUMNS = (
    "position", "base_offset", "last_offset", "size", "record_count", "leader_epoch", "magic", "crc", "crc_valid",
    "attributes", "base_timestamp", "max_timestamp", "producer_id", "producer_epoch", "base_sequence",
)  # fmt: skip
RECORD_COLUMNS = (
    "batch_row", "offset", "timestamp", "sequence", "key_start", "key_length", "value_start", "value_length",
    "headers_start", "header_count", "record_size",
)  # fmt: skip


def batch_views(rows: Rows, file: OpenFile) -> Iterator[BatchView]:
    """Yield batches; those of magic 2 are as valid as the walk found them, messages are read again for their CRC."""
    columns = [rows[name].tolist() for name in BATCH_COLUMNS]
    for (
        position, base_offset, last_offset, size, count, leader_epoch, magic, crc, crc_valid, attributes,
        base_timestamp, max_timestamp, producer_id, producer_epoch, base_sequence,
    ) in zip(*columns, strict=True):  # fmt: skip
        flags = attributes if magic == MAGIC else attributes & LOG_APPEND_TIME
        yield BatchView(
            position, base_offset, last_offset, size, count, leader_epoch, magic, crc,
            crc_valid == VALID if magic == MAGIC else is_message_valid(file.read(position, size), crc),
            CODEC_NAMES[attributes & CODEC_MASK],
            timestamp_type(magic, attributes),
            max_timestamp,
            base_timestamp if flags & HAS_DELETE_HORIZON else None,
            bool(flags & IS_TRANSACTIONAL),
            bool(flags & IS_CONTROL),
            producer_id, producer_epoch, base_sequence, sequence_after(base_sequence, last_offset - base_offset),
        )  # fmt: skip


def timestamp_type(magic: int, attributes: int) -> str:
    """Return the name of a timestamp type as Kafka prints it."""
    if magic == 0:
        return "NoTimestampType"
    return "LogAppendTime" if attributes & LOG_APPEND_TIME else "CreateTime"


def is_message_valid(message: bytes, crc: int) -> bool:
    """Whether a message of magic 0 or 1 has the CRC it states (zlib's, over all behind it)."""
    return len(message) > 16 and zlib.crc32(message[16:]) == crc


def record_views(chunk: RecordChunk) -> Iterator[RecordView]:
    """Yield the records of a chunk."""
    records, data = chunk.records, chunk.data
    headers = _headers(chunk)
    columns = [records[name].tolist() for name in RECORD_COLUMNS]
    for number, (batch, offset, time, sequence, key, key_size, value, value_size, start, count, size) in enumerate(
        zip(*columns, strict=True)
    ):
        crc = int.from_bytes(data[start + 12 : start + 16], "big") if count < 0 else None
        yield RecordView(
            batch, offset, time, sequence,
            None if key_size < 0 else bytes(data[key : key + key_size]),
            None if value_size < 0 else bytes(data[value : value + value_size]),
            headers.get(number, []) if count > 0 else [],
            crc,
            None if crc is None else is_message_valid(bytes(data[start : start + size]), crc),
        )  # fmt: skip


def _headers(chunk: RecordChunk) -> dict[int, list[tuple[bytes, bytes | None]]]:
    """Headers by number of the record, of those that have any."""
    found: dict[int, list[tuple[bytes, bytes | None]]] = {}
    data: Any = chunk.data
    for record, key, key_size, value, value_size in chunk.headers().tolist():
        content = None if value_size < 0 else bytes(data[value : value + value_size])
        found.setdefault(record, []).append((bytes(data[key : key + key_size]), content))
    return found
