"""A record inside a batch of magic 2.

Bytes     length varint (of what follows), attributes int8, timestamp_delta varlong, offset_delta varint, key and value
          (varint length, -1 null), headers (varint count; key never null, value may be).
Versions  0.11 to 4.4, unchanged.
Meaning   offset = base_offset + offset_delta; time = base_timestamp + timestamp_delta (may be negative), unless the
          batch has LogAppendTime. Sequence = base_sequence + offset_delta: compaction leaves holes, so the ordinal
          would be wrong. A null value is a tombstone; null and empty differ. Header keys may repeat, and their order
          matters.
Limits    0 <= offset_delta <= last_offset_delta; a record fills its length exactly; attributes are 0.
Source    DefaultRecord.java (Kafka 0.11 to 4.3); KIP-98, KIP-82.
"""

from kafkatx.formats.layout import Int8sb, Layout, sized
from kafkatx.formats.primitives import Varint, VarintBytes, VarintString, Varlong, varint_array_of

RecordHeader = Layout(
    "key" / VarintString,
    "value" / VarintBytes,
)
RecordBody = Layout(
    "attributes" / Int8sb,
    "timestamp_delta" / Varlong,
    "offset_delta" / Varint,
    "key" / VarintBytes,
    "value" / VarintBytes,
    "headers" / varint_array_of(RecordHeader),
)
Record = sized(Varint, RecordBody)
"""`length` is made from the body when a record is built, and checked against it when one is read."""
