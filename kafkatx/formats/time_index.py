"""Entry of a .timeindex file: the largest timestamp so far, and the offset that has it.

Bytes     12, big-endian, entries back to back, no header, no checksum.
Versions  0.11 to 4.4, unchanged.
Meaning   offset = base offset (of the file name) + relative_offset. One entry with each entry of the .index, and one
          more at roll or clean close: its timestamp is that of the segment, by which retention goes.
Limits    timestamps ascend. An active file is preallocated with zeros, and stays so after a kill: a zero entry behind
          the first one, and a file of nothing but zeros, hold no entry. A size that is no multiple of 12 is damage.
Source    TimeIndex.java, LogSegment.java (Kafka 0.11 to 4.3); KIP-33.
"""

from kafkatx.formats.layout import Int32sb, Int64sb, Layout

TimeIndexEntry = Layout(
    "timestamp" / Int64sb,
    "relative_offset" / Int32sb,
)
ENTRY_SIZE = TimeIndexEntry.sizeof()  # 12
