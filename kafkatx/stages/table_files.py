"""Streams of the tables whose rows stand in one file each: file by file, in memory bounded by one chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.directories import LOGS, DataDirectory
from kafkatx.evidence.file_reading import offset_limits
from kafkatx.evidence.item import Item, Kind
from kafkatx.evidence.joining import JoinedEvidence
from kafkatx.evidence.text_walk import TextWalk
from kafkatx.kernels.batches import CHECK_ALL, CHECK_CONTROL
from kafkatx.kernels.packing import pack_ranges
from kafkatx.segments.batches import NO_LIMIT, Chunk, SegmentWalk
from kafkatx.segments.damage import Damage
from kafkatx.segments.names import Names
from kafkatx.segments.records import RecordChunk, RecordWalk
from kafkatx.segments.resync import Fit
from kafkatx.segments.transaction_log import StateWalk
from kafkatx.sources.archives import real_path
from kafkatx.sources.files import OpenFile
from kafkatx.tables import logs, transactions
from kafkatx.tables.columns import BINARY, INT32, STRING, named, numbers, structs
from kafkatx.terms.topics import CLUSTER_METADATA, CONSUMER_OFFSETS, INTERNAL, TRANSACTION_STATE
from kafkatx.text.pages.part import Part

MODERN = 2
"""Magic of batches that state how new their newest record is; of older ones a wrapper does."""

Batches = Iterator[Any]
"""Streams of pyarrow.RecordBatch."""


@dataclass(frozen=True, slots=True)
class Extent:
    """What of a file is read: of its first `size` bytes (None: of all) the batches that begin in [start, stop).

    `fit` is what the batch at `start` must satisfy, None at the beginning of the file; `stretch_bytes` as of
    SegmentWalk.
    """

    size: int | None = None
    start: int = 0
    stop: int = NO_LIMIT
    fit: Fit | None = None
    stretch_bytes: int | None = None

    def walk(self) -> dict[str, Any]:
        """Options of a walk over it."""
        return {"start": self.start, "stop": self.stop, "fit": self.fit, "stretch_bytes": self.stretch_bytes}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What of a file's rows is wanted: columns (None: all; the others may be null), and since when (milliseconds)."""

    columns: frozenset[str] | None = None
    since: int | None = None

    def column(self, name: str) -> bool:
        """Whether a column is wanted."""
        return self.columns is None or name in self.columns


WHOLE, ALL = Extent(), Wanted()


@dataclass(frozen=True, slots=True)
class Source:
    """A file; `limit` is the offset that a segment can't reach, `capture` None where no capture claims the file.

    `extent` and `wanted` say what of it is read.
    """

    capture: Capture | None
    directory: DataDirectory | None
    item: Item
    limit: int
    extent: Extent = WHOLE
    wanted: Wanted = ALL

    def common(self) -> dict[str, Any]:
        """The columns that all rows of the file share; None for those that are not wanted."""
        return {name: value if self.wanted.column(name) else None for name, value in self._common().items()}

    def _common(self) -> dict[str, Any]:
        item, capture = self.item, self.capture
        return {
            "capture": capture.name if capture else None,
            "cluster_id": capture.cluster_id if capture else None,
            "broker_id": self.directory.broker_id if self.directory else None,
            "path": item.path,
            "topic": item.topic,
            "partition": self.partition,
        }

    @property
    def partition(self) -> int | None:
        """The partition whose folder it lies in, or that a text names; None where nothing does."""
        folder = self.item.folder
        return folder.partition if folder and folder.partition >= 0 else None

    @property
    def is_log(self) -> bool:
        """Whether it is a segment (or what a tool printed of one) that is read."""
        return self.item.kind in LOGS and not self.item.left_out

    @property
    def is_state_log(self) -> bool:
        """Whether it is a segment of `__transaction_state`."""
        return self.is_log and self.item.topic == TRANSACTION_STATE

    @property
    def is_offsets_log(self) -> bool:
        """Whether it is a segment of `__consumer_offsets` (or what kafka-dump-log printed of one)."""
        return self.is_log and self.item.topic == CONSUMER_OFFSETS

    @property
    def has_commits(self) -> bool:
        """Whether it holds offset commits: such a segment, or what a console consumer printed of the topic."""
        return self.is_offsets_log or (self.item.kind is Kind.OFFSETS and not self.item.left_out)

    @property
    def is_snapshot_of_metadata(self) -> bool:
        """Whether it is a snapshot of the metadata log (or what kafka-dump-log printed of one)."""
        return self.item.kind is Kind.METADATA_SNAPSHOT and not self.item.left_out

    @property
    def has_metadata(self) -> bool:
        """Whether it holds records of `__cluster_metadata`: a segment or a snapshot, or a print of one."""
        return self.is_snapshot_of_metadata or (self.is_log and self.item.topic == CLUSTER_METADATA)


def sources(evidence: JoinedEvidence) -> Iterator[Source]:
    """Yield every file of the evidence, capture by capture."""
    for capture in evidence.captures:
        for directory in capture.directories:
            limits = offset_limits([item for item in directory.items if item.kind is Kind.LOG])
            for item in directory.items:
                yield Source(capture, directory, item, limits.get(item.key, NO_LIMIT))
        for item in capture.others:
            yield Source(capture, None, item, NO_LIMIT)
    for item in evidence.others:
        yield Source(None, None, item, NO_LIMIT)


@contextmanager
def opened(source: Source, damage: list[Damage] | None = None) -> Iterator[OpenFile | None]:
    """Open a file; None (and a row of damage) where it can't be."""
    try:
        file = OpenFile(source.item.path)
    except OSError as error:
        if damage is not None:
            found = str(error.strerror)
            damage.append(Damage("unreadable", source.item.path, 0, source.item.size, "a readable file", found))
        yield None
        return
    with file:
        _cut_off(file, source.extent.size)
        yield file


def _cut_off(file: OpenFile, size: int | None) -> None:
    """Forget what was appended to a file since it was `size` bytes long; what was unpacked has another size."""
    if size is not None and file.size > size and real_path(file.path) == file.path:
        file.size = size


def check_of(source: Source, verify_all: bool) -> int:
    """Which CRCs of a segment are checked."""
    return CHECK_ALL if verify_all or source.item.topic in INTERNAL else CHECK_CONTROL


def span_of(source: Source) -> tuple[int, int]:
    """Offsets that a segment can hold: from its name to the next segment's."""
    return max(0, source.item.base_offset), source.limit


def walk_options(source: Source, verify_all: bool) -> dict[str, Any]:
    """Options of a walk over the batches of a segment."""
    first, limit = span_of(source)
    check = check_of(source, verify_all)
    return {"check": check, "first_offset": first, "offset_limit": limit, **source.extent.walk()}


def batch_walk(source: Source, file: OpenFile, verify_all: bool) -> SegmentWalk:
    """Return a walk over the batches of a segment."""
    return SegmentWalk(file, **walk_options(source, verify_all))


def state_walk(source: Source, file: OpenFile, names: Names) -> StateWalk:
    """Return a walk over the coordinator's rows in a segment."""
    first, limit = span_of(source)
    return StateWalk(file, names, first_offset=first, offset_limit=limit, **source.extent.walk())


def batch_table(found: Iterable[Source], verify_all: bool, build: Callable[[Any, dict[str, Any]], Any]) -> Batches:
    """Stream `batches` (or, by another `build`, `markers`)."""
    for source in found:
        if source.is_log:
            with opened(source) as file:
                for rows in _batch_rows(source, file, verify_all) if file else ():
                    batch = build(rows, source.common())
                    if batch.num_rows:
                        yield batch


def _batch_rows(source: Source, file: OpenFile, verify_all: bool) -> Iterator[Any]:
    if source.item.part is not None:
        return TextWalk(file, source.item.part).batches()
    return (chunk.rows for chunk in batch_walk(source, file, verify_all).chunks())


def record_table(
    found: Iterable[Source], verify_all: bool, printed: Callable[[Source, OpenFile, Part], Iterator[Any]]
) -> Batches:
    """Stream `records`, whatever their codec; `printed` yields those of a log that a tool printed."""
    for source in found:
        if source.is_log:
            with opened(source) as file:
                if file and source.item.part is not None:
                    yield from printed(source, file, source.item.part)
                    continue
                for chunk in _record_chunks(source, file, verify_all) if file else ():
                    if len(chunk.records):
                        payload = _payload(chunk, source.wanted)
                        yield logs.records(chunk.records, chunk.batches, payload, source.common())


def _record_chunks(source: Source, file: OpenFile, verify_all: bool) -> Iterator[RecordChunk]:
    walk = RecordWalk(file, **walk_options(source, verify_all))
    for chunk in walk.chunks():
        yield from walk.chunks_of(not_before(chunk, source.wanted.since))


def not_before(chunk: Chunk, since: int | None) -> Chunk:
    """Leave out batches whose records are all older, by what their headers say, as Kafka's own search by time does."""
    if since is None:
        return chunk
    rows = chunk.rows
    return replace(chunk, rows=rows[(rows["max_timestamp"] >= since) | (rows["magic"] < MODERN)])


def _payload(chunk: RecordChunk, wanted: Wanted) -> dict[str, Any]:
    """Columns key, value and headers where they are wanted: copied out of the buffer, without an object a record."""
    columns = {}
    for name in ("key", "value"):
        if wanted.column(name):
            columns[name] = packed(chunk.data, chunk.records[f"{name}_start"], chunk.records[f"{name}_length"])
    if wanted.column("headers"):
        columns["headers"] = _headers(chunk)
    return columns


def _headers(chunk: RecordChunk) -> Any:
    headers = chunk.headers()
    fields = {
        "key": strings(packed(chunk.data, headers["key_start"], headers["key_length"])),
        "value": packed(chunk.data, headers["value_start"], headers["value_length"]),
    }
    return structs(chunk.records["header_count"].clip(0), fields)


def packed(data: memoryview, starts: Any, lengths: Any) -> Any:
    """Byte strings that lie in a buffer, copied without an object for each; a length of -1 is null."""
    starts, lengths = np.ascontiguousarray(starts), np.ascontiguousarray(lengths)
    content = np.empty(max(1, int(lengths.clip(0).sum(dtype=np.int64))), np.uint8)
    offsets = np.empty(len(starts) + 1, np.int32)
    pack_ranges.count(len(starts))
    pack_ranges(pack_ranges.view(data), starts, lengths, content, offsets)
    return logs.binaries(content, offsets, lengths)


def strings(values: Any) -> Any:
    """Byte strings as text; those that are no UTF-8 are decoded one by one."""
    try:
        return values.cast(STRING)
    except pa.ArrowInvalid:
        return pa.array(
            [None if value is None else value.decode("utf-8", "replace") for value in values.to_pylist()], STRING
        )


def state_table(found: Iterable[Source], names_of: Callable[[Source], Names]) -> Batches:
    """Stream `transaction_states`; `names_of` gives the names of a file's capture."""
    for source in found:
        if source.is_state_log:
            with opened(source) as file:
                names = names_of(source)
                for _, rows in _state_rows(source, file, names) if file else ():
                    if len(rows):
                        yield transactions.transaction_states(rows, _named_columns(rows, names, source))


def _state_rows(source: Source, file: OpenFile, names: Names) -> Iterator[tuple[Any, Any]]:
    if source.item.part is not None:
        return TextWalk(file, source.item.part).states(names)
    return state_walk(source, file, names).state_chunks()


def _named_columns(rows: Any, names: Names, source: Source) -> dict[str, Any]:
    columns, wanted = source.common(), source.wanted
    del columns["topic"]
    if wanted.column("transactional_id"):
        columns["transactional_id"] = named(rows["id_code"], names.transactional_id)
    if wanted.column("topic_partitions"):
        columns["topic_partitions"] = _partition_lists(rows["partitions_code"], names)
    if wanted.column("unknown_tagged_fields"):
        tags = [names.unknown_tags.values[code] if code >= 0 else None for code in rows["unknown_tags_code"].tolist()]
        columns["unknown_tagged_fields"] = pa.array(tags, BINARY) if any(tags) else None
    return columns


def _partition_lists(codes: Any, names: Names) -> Any:
    """Lists of topic-partitions by their codes, each in order: built once for each list that occurs."""
    distinct, at = np.unique(codes, return_inverse=True)
    lists = [
        sorted(names.topic_partitions[member] for member in names.partition_lists[int(code)]) if code >= 0 else ()
        for code in distinct
    ]
    pairs = [pair for members in lists for pair in members]
    inner = {
        "topic": pa.array([topic for topic, _ in pairs], STRING),
        "partition": pa.array([n for _, n in pairs], INT32),
    }
    taken = np.where(codes < 0, -1, at)
    return structs(np.array([len(members) for members in lists], np.int64), inner).take(numbers(taken, pa.int64()))
