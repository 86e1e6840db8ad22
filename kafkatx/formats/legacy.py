"""A message of magic 0 or 1, alone or as the wrapper of compressed ones.

Bytes     offset int64, size int32 (of what follows), crc uint32, magic, attributes, magic 1: timestamp int64, key,
          value (int32 length each, -1 null). CRC-32 (zlib's, not Castagnoli) from CRC_COVERS_FROM to the end of the
          message.
Versions  magic 0 before 0.10, 1 since 0.10 (KIP-32); read by all releases up to 4.4, not written by 4.0 and later.
Meaning   attributes: bits 0-2 codec (no zstd), bit 3 with magic 1 LogAppendTime. With a codec the value is a sequence
          of messages and the wrapper's offset is that of the last of them: absolute inside magic 0, relative inside
          magic 1. There is no producer id, epoch, sequence or transaction: such messages are never evidence of a
          transaction.
Limits    size >= MINIMUM_SIZE[magic]; wrappers are not nested; magic 0 has no time.
Source    LegacyRecord.java, AbstractLegacyRecordBatch.java (Kafka 0.11 to 4.3); KIP-31, KIP-32.
"""

from kafkatx.formats.layout import Int8sb, Int8ub, Int32sb, Int32ub, Int64sb, Layout
from kafkatx.formats.primitives import Bytes

_COMMON = (
    "offset" / Int64sb,
    "size" / Int32sb,
    "crc" / Int32ub,
    "magic" / Int8sb,
    "attributes" / Int8ub,
)
_CONTENT = ("key" / Bytes, "value" / Bytes)

MessageHeader = Layout(*_COMMON)
MessageHeaderV1 = Layout(*_COMMON, "timestamp" / Int64sb)
MESSAGES = {
    0: Layout(*_COMMON, *_CONTENT),
    1: Layout(*_COMMON, "timestamp" / Int64sb, *_CONTENT),
}
"""The whole message by magic."""

LOG_OVERHEAD = MessageHeader.offset_of("crc")  # 12
MAGIC_AT = MessageHeader.offset_of("magic")  # 16
CRC_COVERS_FROM = MAGIC_AT
LENGTHS = 2 * Int32sb.sizeof()
MINIMUM_SIZE = {
    0: MessageHeader.sizeof() - LOG_OVERHEAD + LENGTHS,  # 14
    1: MessageHeaderV1.sizeof() - LOG_OVERHEAD + LENGTHS,  # 22
}
"""Smallest legal `size` by magic: null key, null or empty value."""
