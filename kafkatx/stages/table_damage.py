"""Files as tables: those that were met, damage in them, and the entries of the small ones beside segments."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kafkatx.evidence.directories import LOGS
from kafkatx.evidence.file_entries import file_entries, unreadable
from kafkatx.evidence.file_reading import FileReading
from kafkatx.evidence.item import Kind
from kafkatx.segments.damage import Damage
from kafkatx.stages.table_files import Batches, Source
from kafkatx.tables import entries
from kafkatx.tables.files import DAMAGE, FILES

ROWS_OF_DAMAGE = 1_000
"""Rows of one batch of `damage`."""
ENTRIES = (Kind.TXNINDEX, Kind.SNAPSHOT)


def aborted_of(source: Source) -> Batches:
    """Stream `aborted_transactions` of a .txnindex."""
    found = file_entries(source.item, source.extent)
    if len(found.rows):
        yield entries.aborted_transactions(found.rows, found.positions, source.common())


def producers_of(source: Source) -> Batches:
    """Stream `producer_states` of a .snapshot."""
    found = file_entries(source.item, source.extent)
    if len(found.rows):
        common = {**source.common(), "snapshot_offset": source.base_offset}
        yield entries.producer_states(found.rows, found.positions, common)


def has_damage(source: Source) -> bool:
    """Whether damage of a file is told: a print of a metadata snapshot has none."""
    return source.is_of(*LOGS, *ENTRIES) or (source.is_of(Kind.METADATA_SNAPSHOT) and source.item.part is None)


def damage_of(source: Source) -> Batches:
    """Stream `damage` of a file: of a segment and internal topics' records, or of entries."""
    damage = file_entries(source.item, source.extent).damage if source.is_of(*ENTRIES) else _of_log(source)
    for first in range(0, len(damage), ROWS_OF_DAMAGE):
        yield DAMAGE.of_objects(damage[first : first + ROWS_OF_DAMAGE], source.common())


def _of_log(source: Source) -> list[Damage]:
    reading = source.reading()
    for _ in reading.whole(source.extent):
        pass
    return _met(reading)


def _met(reading: FileReading) -> list[Damage]:
    """The damage of a log that was read whole, or that it could not be read."""
    if reading.entry.status == "unreadable":
        return [unreadable(reading.item, str(reading.entry.note))]
    return reading.damage


def files_of(source: Source) -> Batches:
    """Yield the row of `files`: a segment is read to its end, so that every byte is accounted for."""
    reading = replace(source, verify_all=False).reading()
    accounted = _accounted(source, reading) if source.is_log and source.item.part is None else None
    yield file_row(source, reading, accounted)


def file_row(source: Source, reading: FileReading, accounted: int | None) -> Any:
    """Return the row of `files` of a file that was read, and of how many bytes of it is accounted."""
    told = {"base_offset": source.base_offset, "accounted_bytes": accounted, "note": source.item.left_out}
    return FILES.of_objects([reading.entry], {**source.common(), **told})


def _accounted(source: Source, reading: FileReading) -> int:
    """Bytes of a segment that are batches, preallocated, or damage; its coverage is there afterwards."""
    batches = sum(int(rows["size"].sum(dtype=np.int64)) for rows in reading.whole(source.extent))
    return batches + reading.entry.preallocated + sum(one.bytes for one in _met(reading) if one.kind != "entry")
