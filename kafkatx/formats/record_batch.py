"""Header of a record batch of magic 2, and the meaning of its attribute bits.

Bytes     61, big-endian; then the records, uncompressed or as one compressed stream. batch_length counts what follows
          it, so a whole batch has LOG_OVERHEAD + batch_length bytes. The CRC-32C covers CRC_COVERS_FROM to the end of
          the batch.
Versions  0.11 to 4.4; codec zstd since 2.1 (KIP-110), the delete horizon since 3.1 (KIP-534). Magic 0 and 1: legacy.py.
Meaning   base_offset and last_offset_delta are those of the batch as produced; compaction keeps them when records go,
          so records_count may be smaller, even 0. partition_leader_epoch is set by the leader and not covered by the
          CRC. With HAS_DELETE_HORIZON base_timestamp is the horizon, not a record's time; deltas still count from it.
          With LOG_APPEND_TIME every record's time is max_timestamp.
Limits    batch_length >= MINIMUM_BATCH_LENGTH; attributes use 7 bits; -1 in producer_id, producer_epoch,
          base_sequence: none.
Source    DefaultRecordBatch.java, CompressionType.java (Kafka 0.11 to 4.3); KIP-98, KIP-534.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag

from kafkatx.formats.layout import Int8sb, Int16sb, Int32sb, Int32ub, Int64sb, Layout

MAGIC = 2

RecordBatchHeader = Layout(
    "base_offset" / Int64sb,
    "batch_length" / Int32sb,
    "partition_leader_epoch" / Int32sb,
    "magic" / Int8sb,
    "crc" / Int32ub,
    "attributes" / Int16sb,
    "last_offset_delta" / Int32sb,
    "base_timestamp" / Int64sb,
    "max_timestamp" / Int64sb,
    "producer_id" / Int64sb,
    "producer_epoch" / Int16sb,
    "base_sequence" / Int32sb,
    "records_count" / Int32sb,
)
HEADER_SIZE = RecordBatchHeader.sizeof()  # 61
LOG_OVERHEAD = RecordBatchHeader.offset_of("partition_leader_epoch")  # 12
MAGIC_AT = RecordBatchHeader.offset_of("magic")  # 16, in every magic
CRC_COVERS_FROM = RecordBatchHeader.offset_of("attributes")  # 21
MINIMUM_BATCH_LENGTH = HEADER_SIZE - LOG_OVERHEAD  # 49
SMALLEST_READ = MAGIC_AT + 2  # 18: with fewer bytes left Kafka ends the file in silence
MAX_SEQUENCE = 2**31 - 1


class Codec(IntEnum):
    """Compression of the records, as Kafka names it."""

    none = 0
    gzip = 1
    snappy = 2
    lz4 = 3
    zstd = 4


class Attributes(IntFlag):
    """Bits of `attributes`; the three lowest are the codec."""

    LOG_APPEND_TIME = 0x08
    IS_TRANSACTIONAL = 0x10
    IS_CONTROL = 0x20
    HAS_DELETE_HORIZON = 0x40


CODEC_MASK = 0x07


def codec_of(attributes: int) -> Codec | None:
    """Return the codec, None for a number that stands for none (damage, or a release to come)."""
    number = attributes & CODEC_MASK
    return Codec(number) if number <= Codec.zstd else None


def is_log_append_time(attributes: int) -> bool:
    """Whether times are those of the append; then the deltas of the records mean nothing."""
    return bool(attributes & Attributes.LOG_APPEND_TIME)


def is_transactional(attributes: int) -> bool:
    """Whether the batch belongs to a transaction (its data or its marker)."""
    return bool(attributes & Attributes.IS_TRANSACTIONAL)


def is_control(attributes: int) -> bool:
    """Whether the batch holds control records; without IS_TRANSACTIONAL they are those of KRaft."""
    return bool(attributes & Attributes.IS_CONTROL)


def has_delete_horizon(attributes: int) -> bool:
    """Whether base_timestamp is the time after which the cleaner may remove tombstones or the marker."""
    return bool(attributes & Attributes.HAS_DELETE_HORIZON)


def sequence_after(base_sequence: int, delta: int) -> int:
    """Return the sequence `delta` records later; after 2147483647 comes 0, and -1 (none) stays -1."""
    return -1 if base_sequence < 0 else (base_sequence + delta) & MAX_SEQUENCE


def sequence_before(last_sequence: int, delta: int) -> int:
    """Return the sequence `delta` records earlier; before 0 comes 2147483647, and -1 (none) stays -1."""
    return -1 if last_sequence < 0 else (last_sequence - delta) & MAX_SEQUENCE
