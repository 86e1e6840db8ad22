"""A segment of `__cluster_metadata`, or a snapshot of it, as chunks of records; equal ones are read once.

A controller writes a NoOpRecord every half second, so most records of a quiet cluster are equal: rows carry the number
of what they say.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kafkatx.formats.control_record import type_of
from kafkatx.formats.layout import Malformed
from kafkatx.formats.metadata_log import QUORUM_MESSAGES, read_metadata_record, read_quorum_record
from kafkatx.formats.record_batch import MAGIC, Attributes
from kafkatx.segments.batches import Chunk, Rows
from kafkatx.segments.interning import Interner
from kafkatx.segments.records import RecordChunk, RecordWalk
from kafkatx.terms.records import dataclass

UNREADABLE = -1


@dataclass(frozen=True, slots=True)
class Said:
    """What a record says: its kind (the name in Kafka's schemas, `unknown(API KEY)` or `unknown control(TYPE)`).

    `version` and `fields` are None where the record is not declared, or not in this version. Secrets are hidden.
    """

    kind: str
    version: int | None
    fields: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class MetadataChunk:
    """Some records (dtype RECORD) with what they say: `said[codes[n]]` for row n; none is unreadable."""

    batches: Rows
    records: Rows
    codes: Rows
    said: list[Said]


class MetadataWalk(RecordWalk):
    """One pass over the records of a file, control records too. Damage and ends as in RecordWalk."""

    def records_of(self, chunk: Chunk) -> Iterator[MetadataChunk]:
        """Yield the records of some batches that the walk has found, in order of the file; those of none are damage."""
        for part in self.chunks_of(chunk):
            said: list[Said] = []
            codes = np.full(len(part.records), UNREADABLE, np.int32)
            control = _is_control(part.batches)[part.records["batch_row"]]
            _read_controls(part, np.flatnonzero(control), codes, said)
            _read_records(part, np.flatnonzero(~control), codes, said)
            self._note_unreadable(part, codes)
            kept = codes != UNREADABLE
            yield MetadataChunk(part.batches, part.records[kept], codes[kept], said)

    def _note_unreadable(self, part: RecordChunk, codes: Rows) -> None:
        for record in part.records[codes == UNREADABLE]:
            found = f"a record at offset {int(record['offset'])} that is none"
            self._note_batch(part.batches[int(record["batch_row"])], "a record of cluster metadata", found)


def _is_control(batches: Rows) -> Rows:
    """Which batches hold control records."""
    controls: Rows = (batches["magic"] == MAGIC) & ((batches["attributes"] & int(Attributes.IS_CONTROL)) != 0)
    return controls


def _read_records(part: RecordChunk, rows: Rows, codes: Rows, said: list[Said]) -> None:
    """Read the records of some rows; a record without a value says nothing."""
    values = Interner()
    starts, lengths = part.records["value_start"][rows], part.records["value_length"][rows]
    found = values.codes(part.data, starts, lengths)
    read = [_code(_said(value), said) for value in values.values]
    codes[rows] = np.array([*read, UNREADABLE], np.int32)[found]


def _code(found: Said | None, said: list[Said]) -> int:
    if found is None:
        return UNREADABLE
    said.append(found)
    return len(said) - 1


def _said(value: bytes) -> Said | None:
    try:
        found = read_metadata_record(value)
    except Malformed:
        return None
    if found.name is None:
        return Said(f"unknown({found.number})", None, None)
    return Said(found.name, found.version, found.fields)


def _read_controls(part: RecordChunk, rows: Rows, codes: Rows, said: list[Said]) -> None:
    """Read the control records of some rows: a few in each file."""
    for row in rows.tolist():
        record = part.records[row]
        key, value = (_bytes(part.data, record, name) for name in ("key", "value"))
        codes[row] = _code(_control_said(key, value), said)


def _bytes(data: memoryview, record: Any, name: str) -> bytes | None:
    start, length = int(record[f"{name}_start"]), int(record[f"{name}_length"])
    return bytes(data[start : start + length]) if length >= 0 else None


def _control_said(key: bytes | None, value: bytes | None) -> Said | None:
    number = type_of(key)
    if number is None:
        return None
    if number not in QUORUM_MESSAGES:
        return Said(f"unknown control({number})", None, None)
    fields = read_quorum_record(number, value)
    name = next(name for known, name in QUORUM_MESSAGES.items() if known == number)
    return None if fields is None else Said(name, int(fields["version"]), fields)
