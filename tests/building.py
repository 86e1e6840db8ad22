"""Makes segments batch by batch, from the declarations: for tests that need bytes no broker wrote."""

import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import google_crc32c
from hypothesis import HealthCheck, settings

from kafkatx.formats import control_record, legacy, record_batch, transaction_log
from kafkatx.formats.record import Record
from tests.declared import build_key, build_value

BOTH_ENGINES = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
"""For hypothesis tests that use the fixture `engine`: it has no state that one example could leave to the next."""

TRANSACTIONAL, CONTROL = 0x10, 0x30


def record(offset_delta: int = 0, value: bytes | None = b"value", key: bytes | None = None, **fields: Any) -> bytes:
    """Return the bytes of a record."""
    content = {"attributes": 0, "timestamp_delta": 0, "offset_delta": offset_delta, "key": key, "value": value}
    return Record.written(content | {"headers": ()} | fields)


def batch(base_offset: int = 0, *values: bytes, content: bytes | None = None, **fields: int) -> bytes:
    """Return a batch of magic 2 with the right CRC: one record a value, or `content` as its records."""
    records = b"".join(record(number, value) for number, value in enumerate(values)) if content is None else content
    count = fields.get("records_count", len(values))
    header = {
        "base_offset": base_offset,
        "batch_length": record_batch.MINIMUM_BATCH_LENGTH + len(records),
        "partition_leader_epoch": 0,
        "magic": 2,
        "crc": 0,
        "attributes": 0,
        "last_offset_delta": max(count - 1, 0),
        "base_timestamp": 1000 + base_offset % 2**40,
        "max_timestamp": 1000 + base_offset % 2**40,
        "producer_id": -1,
        "producer_epoch": -1,
        "base_sequence": -1,
        "records_count": count,
    }
    return with_crc(record_batch.RecordBatchHeader.build(header | fields) + records)


def with_crc(data: bytes) -> bytes:
    """Return a batch with the CRC its bytes must have."""
    crc = google_crc32c.value(data[record_batch.CRC_COVERS_FROM :])
    return data[:17] + crc.to_bytes(4, "big") + data[21:]


def marker(offset: int, producer_id: int, *, epoch: int = 0, commit: bool = True, coordinator_epoch: int = 0) -> bytes:
    """Return a transaction marker."""
    key = control_record.ControlRecordKey.build({"version": 0, "type": int(commit)})
    value = control_record.EndTxnMarker.build({"version": 0, "coordinator_epoch": coordinator_epoch})
    return batch(
        offset,
        content=record(0, value, key),
        attributes=CONTROL,
        records_count=1,
        producer_id=producer_id,
        producer_epoch=epoch,
    )


def data_batch(base_offset: int, producer_id: int, *values: bytes, epoch: int = 0, base_sequence: int = 0) -> bytes:
    """Return a transactional batch."""
    return batch(
        base_offset,
        *(values or (b"value",)),
        attributes=TRANSACTIONAL,
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=base_sequence,
    )


def states(base_offset: int, *rows: tuple[str, transaction_log.TransactionLogValue | bytes | None]) -> bytes:
    """Return a batch of `__transaction_state`, a record each: transactional.id and value, its bytes, or None
    (tombstone).
    """
    encoded = [
        (build_key(who), value if value is None or isinstance(value, bytes) else build(value)) for who, value in rows
    ]
    content = b"".join(record(number, value, key) for number, (key, value) in enumerate(encoded))
    return batch(base_offset, content=content, records_count=len(rows))


build = build_value


def message(offset: int, magic: int, value: bytes | None = b"value", key: bytes | None = None) -> bytes:
    """Return a message of magic 0 or 1 with the right CRC."""
    fields = {"offset": offset, "size": 0, "crc": 0, "magic": magic, "attributes": 0, "timestamp": 77}
    data = legacy.MESSAGES[magic].build(fields | {"key": key, "value": value})
    size, crc = len(data) - legacy.LOG_OVERHEAD, zlib.crc32(data[legacy.CRC_COVERS_FROM :])
    return data[:8] + size.to_bytes(4, "big") + crc.to_bytes(4, "big") + data[legacy.CRC_COVERS_FROM :]


def segment(folder: Path, batches: Iterable[bytes] | bytes, name: str = "00000000000000000000.log") -> Path:
    """Write a segment file and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(batches if isinstance(batches, bytes) else b"".join(batches))
    return path
