"""Segments of data that are at hand and were not read, since nothing made them suspect: ranges that are a gap to all.

Which these are is decided elsewhere (stages/suspects.py). Here is what the rest is told of them: they are left out of
the partition's log, with a note in the coverage; what they hold, as far as names say it, is missing to who reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import replace

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.directories import DataDirectory, Partition
from kafkatx.evidence.extents import offset_limits
from kafkatx.evidence.item import Item, Kind
from kafkatx.evidence.offset_coverage import Range
from kafkatx.segments.batches import NO_LIMIT
from kafkatx.sources.archives import SEPARATOR
from kafkatx.terms.records import dataclass
from kafkatx.terms.topics import INTERNAL

UNNEEDED = (Kind.INDEX, Kind.TIMEINDEX, Kind.TXNINDEX, Kind.LEADER_EPOCHS, Kind.PARTITION_METADATA)
"""Small files that nobody asks for once the plans are made."""
NOT_READ = "not read: nothing in state rows, indexes or snapshots made it suspect (--thorough reads it)"
SUFFIX = ".log"


@dataclass(frozen=True, slots=True)
class UnreadSize:
    """How much was not read: partitions of which a segment was left, segments, bytes; `of` segments of data in all."""

    partitions: int
    segments: int
    bytes: int
    of: int


def is_of_data(item: Item) -> bool:
    """Whether a file is a segment of data that small files can speak of: whole, with its base offset for a name."""
    return (
        item.kind is Kind.LOG
        and item.part is None
        and item.folder is not None
        and item.folder.topic not in INTERNAL
        and item.folder.partition >= 0
        and item.base_offset >= 0
        and item.path.endswith(SUFFIX)
        and SEPARATOR not in item.path
    )


def is_unread(item: Item) -> bool:
    """Whether a segment was not read since nothing made it suspect."""
    return item.left_out == NOT_READ


def with_unread(capture: Capture, wanted: Container[str]) -> Capture:
    """Return a capture whose segments of data are left out, but for those that are wanted, by their keys."""

    def marked(item: Item) -> Item:
        leave = not item.left_out and is_of_data(item) and item.key not in wanted
        return replace(item, left_out=NOT_READ) if leave else item

    return with_items(capture, lambda items: [marked(item) for item in items])


def with_items(capture: Capture, change: Callable[[list[Item]], list[Item]]) -> Capture:
    """Return a capture whose directories hold what `change` makes of their files."""
    return replace(capture, directories=[_of_items(one, change(one.items)) for one in capture.directories])


def _of_items(directory: DataDirectory, items: list[Item]) -> DataDirectory:
    return replace(directory, items=items)


def unread_segments(capture: Capture) -> dict[Partition, list[Item]]:
    """The segments of a capture that were not read, by partition."""
    found: dict[Partition, list[Item]] = {}
    for directory in capture.directories:
        for item in directory.items:
            if is_unread(item) and item.folder is not None:
                found.setdefault((item.folder.topic, item.folder.partition), []).append(item)
    return found


def unread_size(capture: Capture) -> UnreadSize:
    """How much of a capture's data was not read."""
    left = unread_segments(capture)
    items = [item for of_partition in left.values() for item in of_partition]
    of = sum(is_of_data(item) and item.left_out in (None, NOT_READ) for item in _items(capture))
    return UnreadSize(len(left), len(items), sum(item.size for item in items), of)


def light(capture: Capture) -> Capture:
    """Return a capture without the files that nobody asks for once plans are made: most of those of a fleet.

    Of each partition one segment stays in each directory, since it says that a broker wrote there.
    """
    at_hand = capture.segments().keys()

    def kept(items: list[Item]) -> list[Item]:
        unread = {item.folder: item for item in reversed(items) if is_unread(item)}
        return [*(item for item in items if not _is_unneeded(item, at_hand)), *unread.values()]

    return with_items(capture, kept)


def _is_unneeded(item: Item, at_hand: Container[Partition]) -> bool:
    if item.left_out or item.part is not None:
        return is_unread(item)
    is_alone = item.folder is not None and (item.folder.topic, item.folder.partition) not in at_hand
    return item.kind in UNNEEDED or (item.kind is Kind.SNAPSHOT and is_alone)


def unread_ranges(unread: list[Item], read: list[Item]) -> tuple[Range, ...]:
    """Offsets that the unread segments of a partition hold by their names, behind the first one that was read.

    What lies before that is as if it had not been given: a copy of the end of a log begins where it begins.
    """
    limits = offset_limits([*unread, *read])
    begin = min((item.base_offset for item in read), default=0)
    found = [(item.base_offset, limits[item.key]) for item in unread if item.base_offset >= begin]
    return tuple(sorted((base, base + 1 if end == NO_LIMIT else end) for base, end in found))


def _items(capture: Capture) -> Iterator[Item]:
    for directory in capture.directories:
        yield from directory.items
