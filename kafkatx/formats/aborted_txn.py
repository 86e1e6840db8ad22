"""Entry of a .txnindex file: one aborted transaction of the segment.

Bytes     34, big-endian, entries back to back, no file header, no checksum, no preallocation.
Versions  0 is all that Kafka writes (0.11 to 4.4). Its reader looks at the first byte only; we read the int16: any
          other is damage.
Meaning   last_offset is the offset of the ABORT marker itself; last_stable_offset is the first offset of the next
          transaction still open then, else last_offset + 1. The entry stands in the segment of the marker; the data
          may be in earlier ones. A committed transaction is never listed. A marker without data has an entry with
          first_offset = last_offset in 2.0 to 2.6, none in 2.8 and later.
Limits    first_offset <= last_offset; entries ascend by last_offset. Fewer than 34 bytes at the end are no entry.
Source    AbortedTxn.java, TransactionIndex.java (Kafka 0.11 to 4.3); KIP-98.
"""

from kafkatx.formats.layout import Int16sb, Int64sb, Layout

VERSION = 0

AbortedTxn = Layout(
    "version" / Int16sb,
    "producer_id" / Int64sb,
    "first_offset" / Int64sb,
    "last_offset" / Int64sb,
    "last_stable_offset" / Int64sb,
)
ENTRY_SIZE = AbortedTxn.sizeof()  # 34
