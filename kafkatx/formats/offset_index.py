"""Entry of a .index file: where in the segment an offset is.

Bytes     8, big-endian, entries back to back, no header, no checksum.
Versions  0.11 to 4.4, unchanged layout. offset is the last one of the batch at `position` (4.1+), before of the whole
          append whose first batch is there: with followers and compacted segments that can be a later batch.
Meaning   offset = base offset (of the file name) + relative_offset. One entry after every index.interval.bytes (4096):
          an index is a shortcut, not a proof; what it points at must be checked.
Limits    ascending in both fields. An active file is preallocated with zeros, and stays so after a kill: a zero entry
          behind the first one, and a file of nothing but zeros, hold no entry. A size that is no multiple of 8 is
          damage.
Source    OffsetIndex.java, LogSegment.java (Kafka 0.11 to 4.3).
"""

from kafkatx.formats.layout import Int32sb, Layout

OffsetIndexEntry = Layout(
    "relative_offset" / Int32sb,
    "position" / Int32sb,
)
ENTRY_SIZE = OffsetIndexEntry.sizeof()  # 8
