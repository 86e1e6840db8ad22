"""Lines of dumped .txnindex and .snapshot files to their entries.

Snapshots  0.11 prints the fields in an order of its own; 1.0 the cached batches as a Scala queue; to 3.0 an entry
           without a cached batch has no time; the time of the last entry is `lastTimestamp` (3.1) or the batch's.
Source     DumpLogSegments, ProducerStateManager, TransactionIndex (Kafka 0.11 to 4.3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from itertools import islice
from typing import Any

import numpy as np

from kafkatx.segments.batches import Rows
from kafkatx.segments.damage import Damage
from kafkatx.sources.files import OpenFile
from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.text.dump.rows import (
    ABORTED_ENTRY,
    PRODUCER_ENTRY,
    TextRows,
    columns_of,
    mask_of,
)
from kafkatx.text.lines import Line, lines
from kafkatx.text.pages.part import TextPart
from kafkatx.text.printed.elisions import leaves_out
from kafkatx.text.printed.tool_lines import cleaned

EntryColumns = dict[str, int]
"""Columns of an entry that a line carries."""

_FIELD = regex(r"(?<![\w=])(\w+)[:=] ?(-?\d{1,19}|None|Some\(\d{1,19}\)|OptionalLong(?:\.empty|\[\d{1,19}\]))(?!\w)")
_DIGITS = regex(r"-?\d+")
ABORTED_FIELDS = {
    "version": "version",
    "producerId": "producer_id",
    "firstOffset": "first_offset",
    "lastOffset": "last_offset",
    "lastStableOffset": "last_stable_offset",
}
PRODUCER_FIELDS = {
    "producerId": "producer_id",
    "producerEpoch": "producer_epoch",
    "coordinatorEpoch": "coordinator_epoch",
    "currentTxnFirstOffset": "open_since_offset",
    "lastTimestamp": "timestamp",
    "timestamp": "timestamp",
    "lastSequence": "last_sequence",
    "lastSeq": "last_sequence",
    "lastOffset": "last_offset",
    "offsetDelta": "offset_delta",
}


def aborted_of(text: str) -> EntryColumns | None:
    """Return an entry of a .txnindex, None for another line."""
    if "irstOffset: " not in text or "producerId: " not in text:
        return None
    return {ABORTED_FIELDS[name]: int(value) for name, value in _FIELD.findall(text) if name in ABORTED_FIELDS}


def producer_of(text: str) -> EntryColumns | None:
    """Return an entry of a .snapshot, None for another line."""
    if "producerId: " not in text or not ("currentTxnFirstOffset: " in text or "coordinatorEpoch: " in text):
        return None
    fields = _FIELD.findall(text)
    found = {PRODUCER_FIELDS[name]: _number(value) for name, value in fields if name in PRODUCER_FIELDS}
    if "cachedMetadata" in text:
        found |= _last_cached(dict(fields))
    elif "currentTxnFirstOffset" in text and "last_offset" not in found and not leaves_out(text):
        found |= {"last_sequence": -1, "last_offset": -1, "offset_delta": 0}
    return found


def _last_cached(fields: dict[str, str]) -> EntryColumns:
    """What 1.0 prints of the last batch it cached."""
    if "lastOffset" not in fields:
        return {"last_sequence": -1, "last_offset": -1, "offset_delta": 0}
    first = _number(fields.get("firstOffset", fields["lastOffset"]))
    return {"offset_delta": _number(fields["lastOffset"]) - first}


def _number(value: str) -> int:
    found = _DIGITS.search(value)
    return int(found[0]) if found else -1


def aborted_entries(file: OpenFile, part: TextPart) -> TextRows:
    """Return the entries (columns of segments.entries.ABORTED) of a dumped .txnindex.

    Those of an unknown version are damage, as they are in bytes.
    """
    reading = _Reading(file.path, ABORTED_ENTRY, aborted_of, lambda entry: entry.get("version", 0) == 0)
    return reading.rows(lines(file, part.position, part.end, part.line))


def producer_entries(file: OpenFile, part: TextPart) -> TextRows:
    """Return the entries (columns of segments.entries.PRODUCER) of a dumped .snapshot."""
    reading = _Reading(file.path, PRODUCER_ENTRY, producer_of)
    return reading.rows(lines(file, part.position, part.end, part.line))


ENTRIES_AT_ONCE = 16_384


@dataclass(slots=True)
class _Reading:
    """One pass over the lines of a part: entries go to arrays a few at a time."""

    path: str
    dtype: np.dtype[Any]
    read: Callable[[str], EntryColumns | None]
    is_known: Callable[[EntryColumns], bool] = field(default=lambda entry: True)
    damage: list[Damage] = field(default_factory=list)
    is_elided: bool = False

    def rows(self, source: Iterator[Line]) -> TextRows:
        """Return the entries as rows."""
        entries = self._entries(source)
        parts = []
        while some := list(islice(entries, ENTRIES_AT_ONCE)):
            parts.append(self._arrays(some))
        parts.append(self._arrays([]))
        rows, numbers, positions, known = (np.concatenate(column) for column in zip(*parts, strict=True))
        return TextRows(columns_of(self.dtype), rows, numbers, positions, known, self.damage, [], self.is_elided)

    def _entries(self, source: Iterator[Line]) -> Iterator[tuple[Line, EntryColumns]]:
        for line in cleaned(source, self.read):
            entry = self.read(line.text)
            if entry is None:
                self._foreign(line)
                continue
            self.is_elided |= leaves_out(line.text)
            problem = self._problem(entry)
            if problem is None:
                yield line, entry
            else:
                self._note("entry", line, *problem)

    def _problem(self, entry: EntryColumns) -> tuple[str, str] | None:
        """What was expected and found where an entry is none."""
        if not self.is_known(entry):
            return "an entry of version 0", f"version {entry['version']}"
        for name, value in entry.items():
            limits = np.iinfo(self.dtype[name])
            if not limits.min <= value <= limits.max:
                return "numbers that an entry can have", f"{name} {value}"
        return None

    def _foreign(self, line: Line) -> None:
        self.is_elided |= leaves_out(line.text)
        if line.text.startswith('Exception in thread "'):
            self._note("torn", line, "the rest of the file", "the tool ended with an exception")

    def _note(self, kind: str, line: Line, expected: str, found: str) -> None:
        if len(self.damage) < MOST_DAMAGE:
            size = max(line.end - line.position, 0)
            self.damage.append(Damage(kind, self.path, line.position, size, expected, found))

    def _arrays(self, entries: list[tuple[Line, EntryColumns]]) -> tuple[Rows, Rows, Rows, Rows]:
        """Rows, lines, positions, and what is known."""
        columns = columns_of(self.dtype)
        rows = np.zeros(len(entries), self.dtype)
        for name in columns:
            rows[name] = [entry.get(name, -1) for _, entry in entries]
        known = np.array([mask_of(columns, entry.keys()) for _, entry in entries], np.int64)
        numbers = np.array([line.number for line, _ in entries], np.int64)
        return rows, numbers, np.array([line.position for line, _ in entries], np.int64), known


MOST_DAMAGE = 10_000
