"""A .snapshot file: what a partition knew about its producers at the offset in the file's name (exclusive).

Bytes     version int16, crc uint32 (CRC-32C of everything behind it), count int32, then `count` entries of 46 bytes;
          big-endian.
Versions  1 in all releases, 0.11 to 4.4.
Meaning   one entry a producer id, of the newest of its cached batches (0.11 caches one, 1.0+ five). last_offset -1
          (then last_sequence -1, offset_delta 0): only a marker is known. coordinator_epoch -1: no marker was seen.
          current_txn_first_offset >= 0: a transaction was open from there. timestamp: of the last batch or the last
          marker.
Limits    first sequence = last_sequence - offset_delta, with wrap (record_batch.sequence_before). A file of 10 bytes
          has no producers. Written at roll, clean close and truncation: after a kill it may be far behind the log.
Source    ProducerStateManager.java/.scala, ProducerSnapshot.json (Kafka 0.11 to 4.3); KIP-98.
"""

from kafkatx.formats.layout import Int16sb, Int32sb, Int32ub, Int64sb, Layout
from kafkatx.formats.primitives import array_of, not_null

VERSION = 1

ProducerEntry = Layout(
    "producer_id" / Int64sb,
    "producer_epoch" / Int16sb,
    "last_sequence" / Int32sb,
    "last_offset" / Int64sb,
    "offset_delta" / Int32sb,
    "timestamp" / Int64sb,
    "coordinator_epoch" / Int32sb,
    "current_txn_first_offset" / Int64sb,
)
ProducerSnapshot = Layout(
    "version" / Int16sb,
    "crc" / Int32ub,
    "entries" / not_null(array_of(ProducerEntry)),
)
SnapshotHeader = Layout(
    "version" / Int16sb,
    "crc" / Int32ub,
    "count" / Int32sb,
)
ENTRY_SIZE = ProducerEntry.sizeof()  # 46
HEADER_SIZE = SnapshotHeader.sizeof()  # 10
CRC_COVERS_FROM = SnapshotHeader.offset_of("count")  # 6
