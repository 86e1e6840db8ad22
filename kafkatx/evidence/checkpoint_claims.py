"""What other files of a capture say of a partition's log: its checkpoints, and the offsets in names.

They need not be of the moment in which the log was copied: a mark says what was true, never what is not.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.directories import Partition
from kafkatx.evidence.item import Item
from kafkatx.segments.batches import NO_LIMIT
from kafkatx.terms.topics import COMPACTED


def highest_mark(capture: Capture, key: Partition, name: str) -> int:
    """Return the highest offset that a checkpoint of any copy gives for a partition, -1 for none.

    `name` is one of high_watermarks, recovery_points, first_dirty.
    """
    return max((getattr(directory, name).get(key, -1) for directory in capture.directories), default=-1)


def known_end(capture: Capture, key: Partition, named: Iterable[Item]) -> int:
    """Return how far the log of a partition reached at least, whatever is left of it; -1 where nothing says so.

    High watermark and recovery point never pass the end of their own log; a segment or a producer snapshot (`named`
    are those of the partition) is named after an offset that the log had reached.
    """
    marks = [highest_mark(capture, key, name) for name in ("high_watermarks", "recovery_points")]
    return max([*marks, *(item.base_offset for item in named)])


def explained_below(capture: Capture, key: Partition) -> int:
    """Return the offset below which the cleaner may have removed records.

    Its checkpoint names every partition that it has cleaned. Without one nothing is known of an internal topic that is
    compacted, and other topics are taken for topics that are not.
    """
    told = [directory.first_dirty.get(key, 0) for directory in capture.directories if directory.has_cleaner_checkpoint]
    return max(told) if told else NO_LIMIT if key[0] in COMPACTED else 0


def named_partitions(capture: Capture, topic: str) -> set[int]:
    """Return the partitions of a topic that the checkpoints name, whether or not a file of them is at hand."""
    tables = [table for one in capture.directories for table in (one.high_watermarks, one.recovery_points)]
    return {partition for table in tables for name, partition in table if name == topic}
