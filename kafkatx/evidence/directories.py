"""Data directories: who wrote them and what their checkpoints say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from kafkatx.evidence.item import Item, Kind
from kafkatx.formats.checkpoints import (
    CLEANER_OFFSETS,
    LOG_START_OFFSETS,
    RECOVERY_POINT_OFFSETS,
    REPLICATION_OFFSETS,
    parse_offsets,
)
from kafkatx.formats.identity import parse_meta_properties
from kafkatx.sources import places
from kafkatx.sources.files import read_small
from kafkatx.terms.records import dataclass

Partition = tuple[str, int]

LOGS = (Kind.LOG, Kind.STATES)
"""Files that hold a partition's log: segments, what the dump tool printed of them, what a consumer printed."""


@dataclass(slots=True)
class DataDirectory:
    """One `log.dirs` entry (or what was given in its place). Offsets by (topic, partition)."""

    path: str
    items: list[Item] = field(default_factory=list)
    cluster_id: str | None = None
    broker_id: int | None = None
    has_partition_metadata: bool = False
    high_watermarks: dict[Partition, int] = field(default_factory=dict)
    log_starts: dict[Partition, int] = field(default_factory=dict)
    recovery_points: dict[Partition, int] = field(default_factory=dict)
    first_dirty: dict[Partition, int] = field(default_factory=dict)
    has_cleaner_checkpoint: bool = False
    problems: list[str] = field(default_factory=list)

    @property
    def is_of_broker(self) -> bool:
        """Whether a file of a broker lies here; other files (logs, configuration, text) make no data directory."""
        return any(item.kind.is_of_broker for item in self.items)

    @property
    def is_printed(self) -> bool:
        """Whether all that it holds of a broker is what tools printed: then it is text that belongs to something."""
        return self.is_of_broker and all(item.part is not None for item in self.items if item.kind.is_of_broker)

    @property
    def partitions(self) -> set[Partition]:
        """Partitions of which a segment lies here."""
        return {(item.folder.topic, item.folder.partition) for item in self.items if item.kind in LOGS and item.folder}


def data_directories(items: Iterable[Item]) -> list[DataDirectory]:
    """Group the files by data directory and read the small ones; what can't be read is a problem, not an error."""
    found: dict[str, DataDirectory] = {}
    for item in items:
        directory = found.setdefault(item.data_directory, DataDirectory(item.data_directory))
        directory.items.append(item)
        if not item.left_out:
            _read(directory, item)
    return [found[path] for path in sorted(found)]


def _read(directory: DataDirectory, item: Item) -> None:
    if item.kind is Kind.PARTITION_METADATA:
        directory.has_partition_metadata = True
    elif item.kind in (Kind.META_PROPERTIES, Kind.CHECKPOINT):
        try:
            text = read_small(item.path).decode("utf-8", "replace")
        except OSError as error:
            directory.problems.append(f"{item.path}: {error.strerror}")
            return
        if item.kind is Kind.META_PROPERTIES:
            meta = parse_meta_properties(text)
            directory.cluster_id, directory.broker_id = meta.cluster_id, meta.broker_id
        else:
            _read_offsets(directory, places.name(item.path), text)


def _read_offsets(directory: DataDirectory, name: str, text: str) -> None:
    target = {
        REPLICATION_OFFSETS: directory.high_watermarks,
        RECOVERY_POINT_OFFSETS: directory.recovery_points,
        LOG_START_OFFSETS: directory.log_starts,
        CLEANER_OFFSETS: directory.first_dirty,
    }.get(name)
    if target is not None:
        read = parse_offsets(text)
        target.update({(entry.topic, entry.partition): entry.offset for entry in read.entries})
        directory.has_cleaner_checkpoint |= name == CLEANER_OFFSETS and not read.problems
