"""The declarations as a reader and a writer: slow, plain, and what kernels are tested against.

Pure functions over bytes. Names of fields are those of `kernels/rows.py` where a row has them; absent is None here, -1
there. They read whole evidence: the walk ends at the first bytes that are no batch and looks for no other.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import google_crc32c

from kafkatx.formats import control_record, legacy, record_batch, transaction_log
from kafkatx.formats.layout import Fields, Malformed
from kafkatx.formats.primitives import TaggedField
from kafkatx.formats.producer_snapshot import CRC_COVERS_FROM, HEADER_SIZE, VERSION, ProducerSnapshot, SnapshotHeader
from kafkatx.formats.record import Record as RecordLayout
from kafkatx.formats.transaction_log import KEY_VERSION, VALUES, TransactionLogKey, TransactionLogValue


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of magic 2, or a message of magic 0 or 1 (a wrapper counts as one); `data` are its bytes."""

    position: int
    base_offset: int
    last_offset: int
    producer_id: int | None
    base_timestamp: int | None
    max_timestamp: int | None
    crc: int
    size: int
    record_count: int
    leader_epoch: int | None
    base_sequence: int | None
    coordinator_epoch: int | None
    producer_epoch: int | None
    attributes: int
    control_type: int | None
    magic: int
    crc_valid: bool
    data: bytes


@dataclass(frozen=True, slots=True)
class Record:
    """A record of a batch of magic 2; `record_size` includes its length field, `start` counts from the first record."""

    start: int
    record_size: int
    offset: int
    timestamp: int
    sequence: int | None
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True, slots=True)
class State:
    """A record of `__transaction_state`; all that a tombstone has no value for is None."""

    position: int
    offset: int
    timestamp: int
    leader_epoch: int | None
    crc: int
    transactional_id: str
    is_tombstone: bool
    value_version: int | None = None
    producer_id: int | None = None
    previous_producer_id: int | None = None
    next_producer_id: int | None = None
    producer_epoch: int | None = None
    next_producer_epoch: int | None = None
    client_transaction_version: int | None = None
    timeout_ms: int | None = None
    state: int | None = None
    started_at: int | None = None
    updated_at: int | None = None
    partitions: tuple[tuple[str, int], ...] | None = None
    unknown_tags: tuple[TaggedField, ...] = ()


def batches(data: bytes) -> Iterator[Batch]:
    """Yield the batches of a file up to its end or the first bytes that are no whole batch."""
    position = 0
    while len(data) - position >= record_batch.SMALLEST_READ:
        size = record_batch.LOG_OVERHEAD + int.from_bytes(data[position + 8 : position + 12], "big", signed=True)
        magic = data[position + record_batch.MAGIC_AT]
        if magic > record_batch.MAGIC or not _smallest(magic) <= size <= len(data) - position:
            return
        whole = data[position : position + size]
        yield _batch(whole, position) if magic == record_batch.MAGIC else _message(whole, position)
        position += size


def records(batch: bytes, payload: bytes | None = None) -> Iterator[Record]:
    """Yield the records of a batch of magic 2 up to the first that is none.

    Args:
        batch: the whole batch.
        payload: its records without compression; needed when the batch is compressed.

    Raises:
        ValueError: the batch is compressed and no payload is given.
    """
    header, at = record_batch.RecordBatchHeader.parse_at(batch)
    if payload is None and record_batch.codec_of(header.attributes) is not record_batch.Codec.none:
        raise ValueError("a compressed batch: give its decompressed records as payload")
    content, at = (batch, at) if payload is None else (payload, 0)
    first = at
    for _ in range(header.records_count):
        try:
            fields, end = RecordLayout.parse_at(content, at)
        except Malformed:
            return
        append_time = record_batch.is_log_append_time(header.attributes)
        yield Record(
            start=at - first,
            record_size=end - at,
            offset=header.base_offset + fields.offset_delta,
            timestamp=header.max_timestamp if append_time else header.base_timestamp + fields.timestamp_delta,
            sequence=_present(record_batch.sequence_after(header.base_sequence, fields.offset_delta)),
            key=fields.key,
            value=fields.value,
            headers=tuple((header.key, header.value) for header in fields.headers),
        )
        at = end


def transaction_states(data: bytes) -> Iterator[State]:
    """Yield the states of a segment of `__transaction_state`; what is no record of a known version is skipped."""
    for batch in batches(data):
        if batch.magic != record_batch.MAGIC or record_batch.is_control(batch.attributes):
            continue
        if record_batch.codec_of(batch.attributes) is not record_batch.Codec.none:
            continue
        for record in records(batch.data):
            state = _state(batch, record)
            if state is not None:
                yield state


def _smallest(magic: int) -> int:
    if magic == record_batch.MAGIC:
        return record_batch.HEADER_SIZE
    return int(legacy.LOG_OVERHEAD + legacy.MINIMUM_SIZE[magic])


def _present(number: int) -> int | None:
    return None if number == -1 else number


def _batch(data: bytes, position: int) -> Batch:
    header, _ = record_batch.RecordBatchHeader.parse_at(data)
    control_type, coordinator_epoch = _control(data, header.attributes)
    return Batch(
        position=position,
        base_offset=header.base_offset,
        last_offset=header.base_offset + header.last_offset_delta,
        producer_id=_present(header.producer_id),
        base_timestamp=_present(header.base_timestamp),
        max_timestamp=_present(header.max_timestamp),
        crc=header.crc,
        size=len(data),
        record_count=header.records_count,
        leader_epoch=_present(header.partition_leader_epoch),
        base_sequence=_present(header.base_sequence),
        coordinator_epoch=coordinator_epoch,
        producer_epoch=_present(header.producer_epoch),
        attributes=header.attributes,
        control_type=control_type,
        magic=header.magic,
        crc_valid=header.crc == google_crc32c.value(data[record_batch.CRC_COVERS_FROM :]),
        data=data,
    )


def _control(data: bytes, attributes: int) -> tuple[int | None, int | None]:
    """Type and coordinator epoch of a control batch, as far as its first record has them."""
    if not record_batch.is_control(attributes) or record_batch.codec_of(attributes) is not record_batch.Codec.none:
        return None, None
    for record in records(data):
        control_type = control_record.type_of(record.key)
        if control_type is None or not control_record.ends_transaction(control_type):
            return control_type, None
        return control_type, control_record.coordinator_epoch_of(record.value)
    return None, None


def _message(data: bytes, position: int) -> Batch:
    header, _ = legacy.MessageHeader.parse_at(data)
    timestamp = _present(legacy.MessageHeaderV1.parse_at(data)[0].timestamp) if header.magic else None
    return Batch(
        position=position,
        base_offset=header.offset,
        last_offset=header.offset,
        producer_id=None,
        base_timestamp=timestamp,
        max_timestamp=timestamp,
        crc=header.crc,
        size=len(data),
        record_count=1,
        leader_epoch=None,
        base_sequence=None,
        coordinator_epoch=None,
        producer_epoch=None,
        attributes=header.attributes,
        control_type=None,
        magic=header.magic,
        crc_valid=header.crc == zlib.crc32(data[legacy.CRC_COVERS_FROM :]),
        data=data,
    )


def _state(batch: Batch, record: Record) -> State | None:
    """Return the state that a record holds, None if its key or value is none that we know."""
    try:
        transactional_id = transaction_log.parse_key(record.key or b"")
        value = None if record.value is None else transaction_log.parse_value(record.value)
    except Malformed:
        return None
    if transactional_id is None:
        return None
    place = (batch.position, record.offset, record.timestamp, batch.leader_epoch, batch.crc, transactional_id)
    if value is None:
        return State(*place, is_tombstone=True)
    return State(
        *place,
        is_tombstone=False,
        value_version=value.version,
        producer_id=value.producer_id,
        previous_producer_id=value.previous_producer_id,
        next_producer_id=value.next_producer_id,
        producer_epoch=value.producer_epoch,
        next_producer_epoch=value.next_producer_epoch,
        client_transaction_version=value.client_transaction_version,
        timeout_ms=value.transaction_timeout_ms,
        state=value.transaction_status,
        started_at=_present(value.transaction_start_timestamp_ms),
        updated_at=_present(value.transaction_last_update_timestamp_ms),
        partitions=_pairs(value.transaction_partitions),
        unknown_tags=value.unknown_tagged_fields,
    )


def _pairs(topics: tuple[transaction_log.TopicPartitions, ...] | None) -> tuple[tuple[str, int], ...] | None:
    if topics is None:
        return None
    return tuple((topic.topic, partition) for topic in topics for partition in topic.partition_ids or ())


def build_key(transactional_id: str) -> bytes:
    """Return the key of a transactional.id in `__transaction_state`."""
    return TransactionLogKey.build({"version": KEY_VERSION, "transactional_id": transactional_id})


def build_value(value: TransactionLogValue) -> bytes:
    """Return the bytes of a value: those it was parsed from, whatever its nulls, tags and their order."""
    fields = {name: getattr(value, name) for name in TransactionLogValue.__dataclass_fields__}
    if value.transaction_partitions is not None:
        fields["transaction_partitions"] = [
            {"topic": one.topic, "partition_ids": one.partition_ids, "tagged_fields": one.tagged_fields}
            for one in value.transaction_partitions
        ]
    return VALUES[value.version].build(fields)


def is_crc_valid(data: bytes) -> bool:
    """Whether a snapshot's bytes are those its checksum was made of; False when they are too few to tell."""
    return len(data) >= HEADER_SIZE and int(SnapshotHeader.parse_at(data)[0].crc) == _crc_of(data)


def build_snapshot(entries: Sequence[Fields]) -> bytes:
    """Return a whole file of producers for these entries, with the right checksum."""
    data = ProducerSnapshot.build({"version": VERSION, "crc": 0, "entries": entries})
    return ProducerSnapshot.build({"version": VERSION, "crc": _crc_of(data), "entries": entries})


def _crc_of(data: bytes) -> int:
    return int(google_crc32c.value(data[CRC_COVERS_FROM:]))
