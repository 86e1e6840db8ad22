"""The files that tables are read of, one by one: which there are, what of each is read, what its rows share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import field, replace
from itertools import islice
from typing import Any

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.coverage import coverage_of
from kafkatx.evidence.directories import LOGS, DataDirectory
from kafkatx.evidence.extents import WHOLE, Extent, offset_limits
from kafkatx.evidence.file_reading import FileReading
from kafkatx.evidence.item import Item, Kind
from kafkatx.evidence.joining import JoinedEvidence
from kafkatx.evidence.offset_coverage import FileReach
from kafkatx.segments.batches import NO_LIMIT
from kafkatx.sources.files import OpenFile
from kafkatx.terms.records import dataclass
from kafkatx.terms.topics import CLUSTER_METADATA, CONSUMER_OFFSETS, TRANSACTION_STATE
from kafkatx.text.pages.part import TextPart

PRINTED_AT_ONCE = 4096

Batches = Iterator[Any]
"""Streams of pyarrow.RecordBatch."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file; `limit` is the offset that a segment can't reach, `capture` None where no capture claims the file.

    `extent` says what of it is read, `columns` which of a table's columns are wanted (None: all; the others may be
    null); with `verify_all` the CRC of every batch is checked.
    """

    capture: Capture | None
    directory: DataDirectory | None
    item: Item
    limit: int
    extent: Extent = WHOLE
    columns: frozenset[str] | None = None
    verify_all: bool = False

    def reading(self) -> FileReading:
        """Begin to read it; its walks are given `extent`."""
        entry = coverage_of(self.capture, self.item, self.directory.broker_id if self.directory else None)
        return FileReading(self.item, entry, FileReach(0, self.item.base_offset), self.limit, self.verify_all)

    def opened(self) -> AbstractContextManager[OpenFile | None]:
        """Open it; None where that can't be."""
        return self.reading().opened(self.extent)

    def wants(self, column: str) -> bool:
        """Whether a column is wanted."""
        return self.columns is None or column in self.columns

    def common(self, *but: str) -> dict[str, Any]:
        """The columns that all rows of the file share, but for some; None for those that are not wanted."""
        item, capture = self.item, self.capture
        columns = {
            "capture": capture.name if capture else None,
            "cluster_id": capture.cluster_id if capture else None,
            "broker_id": self.directory.broker_id if self.directory else None,
            "path": item.path,
            "topic": item.topic,
            "partition": self.partition,
        }
        return {name: value if self.wants(name) else None for name, value in columns.items() if name not in but}

    @property
    def partition(self) -> int | None:
        """The partition whose folder it lies in, or that a text names; None where nothing does."""
        folder = self.item.folder
        return folder.partition if folder and folder.partition >= 0 else None

    @property
    def base_offset(self) -> int | None:
        """The offset in its name; None where that has none."""
        return self.item.base_offset if self.item.base_offset >= 0 else None

    def is_of(self, *kinds: Kind) -> bool:
        """Whether it is of one of some kinds, and is read."""
        return self.item.kind in kinds and not self.item.left_out

    @property
    def is_log(self) -> bool:
        """Whether it is a segment (or what a tool printed of one) that is read."""
        return self.is_of(*LOGS)

    @property
    def is_state_log(self) -> bool:
        """Whether it is a segment of `__transaction_state`."""
        return self.is_log and self.item.topic == TRANSACTION_STATE

    @property
    def has_commits(self) -> bool:
        """Whether it holds offset commits: a segment of `__consumer_offsets`, or what a tool printed of the topic."""
        return (self.is_log and self.item.topic == CONSUMER_OFFSETS) or self.is_of(Kind.OFFSETS)

    @property
    def has_metadata(self) -> bool:
        """Whether it holds records of `__cluster_metadata`: a segment or a snapshot, or a print of one."""
        return self.is_of(Kind.METADATA_SNAPSHOT) or (self.is_log and self.item.topic == CLUSTER_METADATA)


def sources(evidence: JoinedEvidence, verify_all: bool = False) -> Iterator[Source]:
    """Yield every file of the evidence, capture by capture."""
    for capture in evidence.captures:
        for directory in capture.directories:
            limits = offset_limits([item for item in directory.items if item.kind is Kind.LOG])
            for item in directory.items:
                yield Source(capture, directory, item, limits.get(item.key, NO_LIMIT), verify_all=verify_all)
        for item in capture.others:
            yield Source(capture, None, item, NO_LIMIT, verify_all=verify_all)
    for item in evidence.others:
        yield Source(None, None, item, NO_LIMIT, verify_all=verify_all)


def light(source: Source) -> Source:
    """Return a file without the files beside it, as a task needs it."""
    return Light().source(source)


@dataclass(slots=True)
class Light:
    """Captures and directories without the files that they hold; files of one share one."""

    captures: dict[int, Capture] = field(default_factory=dict)
    directories: dict[int, DataDirectory] = field(default_factory=dict)

    def source(self, source: Source) -> Source:
        """Return a file with what a task needs to know of its capture and directory."""
        return replace(source, capture=self._capture(source.capture), directory=self._directory(source.directory))

    def _capture(self, capture: Capture | None) -> Capture | None:
        if capture is None:
            return None
        made = replace(capture, directories=[], others=[])
        return self.captures.setdefault(id(capture), made)

    def _directory(self, directory: DataDirectory | None) -> DataDirectory | None:
        if directory is None:
            return None
        made = DataDirectory(directory.path, cluster_id=directory.cluster_id, broker_id=directory.broker_id)
        return self.directories.setdefault(id(directory), made)


def printed(source: Source, read: Callable[[OpenFile, TextPart], Iterable[Any]]) -> Iterator[list[Any]]:
    """What a tool printed, some objects at a time, as `read` makes them of a part of a text."""
    with source.opened() as file:
        if file is not None and source.item.part is not None:
            told = iter(read(file, source.item.part))
            while some := list(islice(told, PRINTED_AT_ONCE)):
                yield some
