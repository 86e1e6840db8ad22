"""Streams of the tables whose rows stand in one file each: file by file, in memory bounded by one chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.directories import LOGS, DataDirectory
from kafkatx.evidence.file_reading import offset_limits
from kafkatx.evidence.item import Item, Kind
from kafkatx.evidence.joining import Evidence
from kafkatx.evidence.text_walk import TextWalk
from kafkatx.kernels.batches import CHECK_ALL, CHECK_CONTROL
from kafkatx.kernels.packing import pack_ranges
from kafkatx.segments.batches import NO_LIMIT, SegmentWalk
from kafkatx.segments.damage import Damage
from kafkatx.segments.names import Names
from kafkatx.segments.records import RecordChunk, RecordWalk
from kafkatx.segments.transaction_log import StateWalk
from kafkatx.sources.files import OpenFile
from kafkatx.tables import logs, transactions
from kafkatx.tables.columns import BINARY, INT32, STRING, named, numbers, structs
from kafkatx.terms.topics import INTERNAL, TRANSACTION_STATE
from kafkatx.text.pages.part import Part

Batches = Iterator[Any]
"""Streams of pyarrow.RecordBatch."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file; `limit` is the offset that a segment can't reach, `capture` None where no capture claims the file."""

    capture: Capture | None
    directory: DataDirectory | None
    item: Item
    limit: int

    def common(self) -> dict[str, Any]:
        """The columns that all rows of the file share."""
        item, capture = self.item, self.capture
        partition = item.folder.partition if item.folder and item.folder.partition >= 0 else None
        return {
            "capture": capture.name if capture else None,
            "cluster_id": capture.cluster_id if capture else None,
            "broker_id": self.directory.broker_id if self.directory else None,
            "path": item.path,
            "topic": item.topic,
            "partition": partition,
        }

    @property
    def is_log(self) -> bool:
        """Whether it is a segment (or what a tool printed of one) that is read."""
        return self.item.kind in LOGS and not self.item.left_out

    @property
    def is_state_log(self) -> bool:
        """Whether it is a segment of `__transaction_state`."""
        return self.is_log and self.item.topic == TRANSACTION_STATE


def sources(evidence: Evidence) -> Iterator[Source]:
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
        yield file


def check_of(source: Source, verify_all: bool) -> int:
    """Which CRCs of a segment are checked."""
    return CHECK_ALL if verify_all or source.item.topic in INTERNAL else CHECK_CONTROL


def span_of(source: Source) -> tuple[int, int]:
    """Offsets that a segment can hold: from its name to the next segment's."""
    return max(0, source.item.base_offset), source.limit


def batch_walk(source: Source, file: OpenFile, verify_all: bool) -> SegmentWalk:
    """Return a walk over the batches of a segment."""
    first, limit = span_of(source)
    return SegmentWalk(file, check=check_of(source, verify_all), first_offset=first, offset_limit=limit)


def state_walk(source: Source, file: OpenFile, names: Names) -> StateWalk:
    """Return a walk over the coordinator's rows in a segment."""
    first, limit = span_of(source)
    return StateWalk(file, names, first_offset=first, offset_limit=limit)


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
                        yield logs.records(chunk.records, chunk.batches, _payload(chunk), source.common())


def _record_chunks(source: Source, file: OpenFile, verify_all: bool) -> Iterator[RecordChunk]:
    first, limit = span_of(source)
    walk = RecordWalk(file, check=check_of(source, verify_all), first_offset=first, offset_limit=limit)
    yield from walk.record_chunks()


def _payload(chunk: RecordChunk) -> dict[str, Any]:
    """Columns key, value and headers: copied out of the buffer, without an object a record."""
    rows, headers = chunk.records, chunk.headers()
    fields = {
        "key": _strings(_packed(chunk.data, headers["key_start"], headers["key_length"])),
        "value": _packed(chunk.data, headers["value_start"], headers["value_length"]),
    }
    return {
        "key": _packed(chunk.data, rows["key_start"], rows["key_length"]),
        "value": _packed(chunk.data, rows["value_start"], rows["value_length"]),
        "headers": structs(rows["header_count"].clip(0), fields),
    }


def _packed(data: memoryview, starts: Any, lengths: Any) -> Any:
    starts, lengths = np.ascontiguousarray(starts), np.ascontiguousarray(lengths)
    packed = np.empty(max(1, int(lengths.clip(0).sum(dtype=np.int64))), np.uint8)
    offsets = np.empty(len(starts) + 1, np.int32)
    pack_ranges.count(len(starts))
    pack_ranges(pack_ranges.view(data), starts, lengths, packed, offsets)
    return logs.binaries(packed, offsets, lengths)


def _strings(values: Any) -> Any:
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
    common = source.common()
    del common["topic"]
    tags = [names.unknown_tags.values[code] if code >= 0 else None for code in rows["unknown_tags_code"].tolist()]
    return {
        **common,
        "transactional_id": named(rows["id_code"], names.transactional_id),
        "topic_partitions": _partition_lists(rows["partitions_code"], names),
        "unknown_tagged_fields": pa.array(tags, BINARY) if any(tags) else None,
    }


def _partition_lists(codes: Any, names: Names) -> Any:
    """Lists of topic-partitions by their codes: built once for each list that occurs."""
    distinct, at = np.unique(codes, return_inverse=True)
    lists = [names.partition_lists[int(code)] if code >= 0 else () for code in distinct]
    pairs = [names.topic_partitions[member] for members in lists for member in members]
    inner = {
        "topic": pa.array([topic for topic, _ in pairs], STRING),
        "partition": pa.array([n for _, n in pairs], INT32),
    }
    taken = np.where(codes < 0, -1, at)
    return structs(np.array([len(members) for members in lists], np.int64), inner).take(numbers(taken, pa.int64()))
