"""Streams of the tables about files: those that were met, damage in them, and the small ones beside segments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kafkatx.evidence.coverage import Coverage, coverage_of
from kafkatx.evidence.directories import LOGS
from kafkatx.evidence.item import Kind
from kafkatx.segments import entries
from kafkatx.segments.batches import Chunk, SegmentWalk
from kafkatx.segments.damage import Damage
from kafkatx.segments.metadata_log import MetadataWalk
from kafkatx.segments.names import Names
from kafkatx.segments.offset_commits import CommitWalk
from kafkatx.segments.transaction_log import StateWalk
from kafkatx.sources.files import OpenFile
from kafkatx.stages.table_files import Batches, Source, batch_walk, opened, state_walk
from kafkatx.stages.table_internal import commit_walk, metadata_walk
from kafkatx.stages.table_texts import printed_damage, printed_entries
from kafkatx.tables import entries as entry_tables
from kafkatx.tables.columns import microseconds
from kafkatx.tables.files import DAMAGE, FILES

ROWS_OF_DAMAGE = 1_000
"""Rows of one batch of `damage`."""


def aborted_table(found: Iterable[Source]) -> Batches:
    """Stream `aborted_transactions`."""
    for source, data in _small(found, Kind.TXNINDEX):
        if not isinstance(data, bytes):
            yield data
            continue
        rows, _ = entries.aborted_transactions(source.item.path, data)
        whole = np.frombuffer(data, entries.ABORTED, len(data) // entries.ABORTED.itemsize)
        positions = np.flatnonzero(whole["version"] == 0) * entries.ABORTED.itemsize
        if len(rows):
            yield entry_tables.aborted_transactions(rows, positions, source.common())


def producer_table(found: Iterable[Source]) -> Batches:
    """Stream `producer_states`."""
    for source, data in _small(found, Kind.SNAPSHOT):
        if not isinstance(data, bytes):
            yield data
            continue
        rows, _ = entries.producer_states(source.item.path, data)
        positions = entries.SNAPSHOT_HEADER_SIZE + np.arange(len(rows)) * entries.PRODUCER.itemsize
        if len(rows):
            offset = source.item.base_offset if source.item.base_offset >= 0 else None
            yield entry_tables.producer_states(rows, positions, {**source.common(), "snapshot_offset": offset})


def _small(found: Iterable[Source], kind: Kind) -> Iterator[tuple[Source, Any]]:
    """Content of the files of a kind; of what a tool printed of one the rows as a RecordBatch."""
    for source in found:
        if source.item.kind is kind and not source.item.left_out:
            with opened(source) as file:
                if file and source.item.part is not None:
                    yield source, printed_entries(source, file, source.item.part)
                elif file:
                    yield source, file.read(0, file.size)


def damage_table(found: Iterable[Source], verify_all: bool) -> Batches:
    """Stream `damage`: of segments, of internal topics' records, of indexes of aborted transactions and snapshots."""
    for source in found:
        damage: list[Damage] = []
        if source.item.part is not None and not source.item.left_out:
            if source.item.kind in (*LOGS, Kind.TXNINDEX, Kind.SNAPSHOT):
                with opened(source, damage) as file:
                    damage += printed_damage(source, file, source.item.part) if file else []
        elif source.is_log or source.is_snapshot_of_metadata:
            damage, _ = _walked(source, verify_all, None)
        elif source.item.kind in (Kind.TXNINDEX, Kind.SNAPSHOT) and not source.item.left_out:
            read = entries.aborted_transactions if source.item.kind is Kind.TXNINDEX else entries.producer_states
            with opened(source, damage) as file:
                damage += read(source.item.path, file.read(0, file.size))[1] if file else []
        for first in range(0, len(damage), ROWS_OF_DAMAGE):
            yield DAMAGE.rows([_damage_row(source, entry) for entry in damage[first : first + ROWS_OF_DAMAGE]])


def _damage_row(source: Source, entry: Damage) -> dict[str, Any]:
    fields = {"kind": entry.kind, "bytes": entry.bytes, "expected": entry.expected, "found": entry.found}
    return {**source.common(), "position": entry.position, **fields}


def _walked(source: Source, verify_all: bool, entry: Coverage | None) -> tuple[list[Damage], int]:
    """Return a segment's damage and the bytes that are batches or preallocated; fills in the coverage of the file."""
    damage: list[Damage] = []
    size = 0
    with opened(source, damage) as file:
        if file is None:
            return damage, 0
        walk = _walk(source, file, verify_all)
        for rows in walk.rows():
            size += int(rows["size"].sum(dtype=np.int64))
            if entry is not None:
                _note(entry, rows)
        found = walk.walk
        if entry is not None:
            entry.status = _status(found, entry)
        return [*damage, *found.damage], size + found.preallocated


@dataclass(frozen=True, slots=True)
class _Walk:
    """A walk over batches, with their records decoded where they are a coordinator's or a controller's."""

    walk: SegmentWalk

    def rows(self) -> Iterator[Any]:
        if isinstance(self.walk, StateWalk):
            yield from (batches for batches, _ in self.walk.state_chunks())
            return
        for chunk in self.walk.chunks():
            for _ in self._decoded(chunk):
                pass
            yield chunk.rows

    def _decoded(self, chunk: Chunk) -> Iterator[Any]:
        if isinstance(self.walk, CommitWalk):
            return self.walk.commits_of(chunk)
        return self.walk.records_of(chunk) if isinstance(self.walk, MetadataWalk) else iter(())


def _walk(source: Source, file: OpenFile, verify_all: bool) -> _Walk:
    if source.is_state_log:
        return _Walk(state_walk(source, file, Names()))
    if source.is_offsets_log:
        return _Walk(commit_walk(source, file))
    if source.has_metadata:
        return _Walk(metadata_walk(source, file))
    return _Walk(batch_walk(source, file, verify_all))


def _note(entry: Coverage, rows: Any) -> None:
    if entry.first_offset is None:
        entry.first_offset, entry.first_timestamp = int(rows["base_offset"][0]), int(rows["max_timestamp"][0])
    entry.last_offset, newest = int(rows["last_offset"][-1]), int(rows["max_timestamp"].max())
    entry.last_timestamp = newest if entry.last_timestamp is None else max(entry.last_timestamp, newest)
    entry.batches += len(rows)


def _status(walk: SegmentWalk, entry: Coverage) -> str:
    if any(damage.kind != "torn" for damage in walk.damage):
        return "damaged"
    return "torn" if walk.torn else "read" if entry.batches else "empty"


def file_table(found: Iterable[Source]) -> Batches:
    """Stream `files`: each is read to its end, so that every byte is accounted for."""
    for source in found:
        entry = coverage_of(source.capture, source.item, source.directory.broker_id if source.directory else None)
        accounted = None
        if source.is_log and source.item.part is None:
            damage, accounted = _walked(source, False, entry)
            accounted += sum(one.bytes for one in damage if one.kind != "entry")
        yield FILES.rows([_file_row(source, entry, accounted)])


def _file_row(source: Source, entry: Coverage, accounted: int | None) -> dict[str, Any]:
    return {
        **source.common(),
        "kind": entry.kind,
        "base_offset": source.item.base_offset if source.item.base_offset >= 0 else None,
        "bytes": entry.bytes,
        "accounted_bytes": accounted,
        "status": entry.status,
        "first_offset": entry.first_offset,
        "last_offset": entry.last_offset,
        "first_timestamp": microseconds(entry.first_timestamp),
        "last_timestamp": microseconds(entry.last_timestamp),
        "note": entry.note,
    }
