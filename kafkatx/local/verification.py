"""Verifies files: every batch (and record) of every segment, indexes against their segments, small files by their text.

Damage    a wrong CRC, bytes that are no batch, record or entry, an index that leads astray, an aborted transaction that
          its .txnindex lacks, a file that can't be read.
Ordinary  what a kill or a copy of a running broker leaves in the last segment of a partition: a torn batch at its end,
          index entries ahead of it, preallocated zeros. The broker cuts such an end off at its next start. In an
          earlier segment the same is damage: the broker would cut there and delete every segment behind
          (LogLoader, LogSegment.recover). A file of which no later segment was given counts as the last.
Limits    of several copies of a partition each is verified by itself. Files that are left out (deleted, unfinished,
          other) are named and not verified.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from pathlib import Path

import numpy as np

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.coverage import Coverage, coverage_of
from kafkatx.evidence.directories import DataDirectory, data_directories
from kafkatx.evidence.extents import offset_limits
from kafkatx.evidence.file_reading import FileReading
from kafkatx.evidence.inventory import inventory
from kafkatx.evidence.item import Item, Kind
from kafkatx.evidence.joining import evidence
from kafkatx.evidence.offset_coverage import FileReach
from kafkatx.evidence.parted import PartedFile
from kafkatx.evidence.verification import DAMAGED, EMPTY, TORN, UNREADABLE, WHOLE, Verification
from kafkatx.histories.partition_transactions import SpanFold
from kafkatx.local.cores import readers
from kafkatx.local.segment_check import Checked, planned
from kafkatx.local.small_files import damage_of_small_file
from kafkatx.segments.aborted_check import AbortedCheck
from kafkatx.segments.batches import NO_LIMIT, Rows
from kafkatx.segments.damage import Damage
from kafkatx.segments.entries import producer_states
from kafkatx.segments.indexes import IndexCheck, OffsetIndexCheck, TimeIndexCheck
from kafkatx.sources import places
from kafkatx.sources.ahead import Ahead
from kafkatx.sources.files import OpenFile
from kafkatx.terms.progress import Progress, expect
from kafkatx.terms.records import dataclass

MOST_DAMAGE = 10_000
"""Damaged old messages that are listed for a file."""
MOST_INDEX_BYTES = 256 << 20
"""No file of its kind is larger: indexes are preallocated with 10 MiB by default, and a segment ends at 2 GiB."""
CHECKS: dict[Kind, type[IndexCheck]] = {Kind.INDEX: OffsetIndexCheck, Kind.TIMEINDEX: TimeIndexCheck}


def verify(
    paths: Iterable[str | Path],
    *,
    records: bool = False,
    captures: dict[str, str] | None = None,
    progress: Progress | None = None,
) -> Verification:
    """Verify everything under the paths, with `records` every record too.

    Raises:
        UsageError: a path does not exist.
    """
    found = evidence(data_directories(inventory(paths, cut_texts=False)), captures)
    result = Verification()
    inside = (item for one in found.captures for place in one.directories for item in place.items)
    expect(progress, (item.size for item in inside if not item.left_out))
    with readers(found.captures) as ahead:
        folders = (
            _Folder(capture, directory, items, records, progress or _silent, result, ahead)
            for capture in found.captures
            for directory in capture.directories
            for items in _folders(directory.items)
        )
        for folder in ahead.in_order(folders, _Folder.plan):
            folder.verify()
    result.coverage += [coverage_of(capture, item, None) for capture in found.captures for item in capture.others]
    result.coverage += [coverage_of(None, item, None) for item in found.others]
    result.damage += [_unreadable(entry) for entry in result.coverage if entry.status == UNREADABLE]
    result.coverage.sort(key=lambda entry: entry.path)
    for stretches in (result.damage, result.ordinary):
        stretches.sort(key=lambda place: (place.path, place.position))
    return result


def _silent(path: str, size: int) -> None:
    """Progress that nobody watches."""


def _folders(items: Iterable[Item]) -> list[list[Item]]:
    """Files by folder; a segment that lies alone in another folder than its like is a partition's copy of its own."""
    found: dict[str, list[Item]] = {}
    for item in items:
        found.setdefault(places.parent(item.path), []).append(item)
    return list(found.values())


def _unreadable(entry: Coverage) -> Damage:
    return Damage("unreadable", entry.path, 0, entry.bytes, "a file that can be read", entry.note or "an error")


class _Spans:
    """Transactions of a folder's segments, in order; none where segments overlap (an offset was met twice)."""

    def __init__(self) -> None:
        self._fold = SpanFold(0)
        self._next: int | None = -1

    def feed(self, rows: Rows) -> None:
        """Add batches."""
        if self._next is not None and int(rows["base_offset"][0]) >= self._next:
            self._fold.feed(rows)
            self._next = int(rows["last_offset"][-1]) + 1
        else:
            self._next = None

    def found(self) -> Rows | None:
        """Return the spans."""
        return None if self._next is None else self._fold.finish().spans


@dataclass(slots=True)
class _Folder:
    """The files of one folder: segments in order, each with its indexes; then everything else."""

    capture: Capture
    directory: DataDirectory
    items: list[Item]
    records: bool
    progress: Progress
    result: Verification
    ahead: Ahead
    logs: dict[str, PartedFile[Checked]] = field(default_factory=dict)
    spans: _Spans = field(default_factory=lambda: _Spans())

    def plan(self) -> _Folder:
        """Plan to read the segments ahead; returns the folder itself."""
        logs = self._segments()
        limits = offset_limits(logs)
        self.logs = {item.key: planned(item, limits[item.key], self.records, self.ahead) for item in logs}
        return self

    def _segments(self) -> list[Item]:
        logs = (item for item in self.items if item.kind is Kind.LOG and not item.left_out)
        return sorted(logs, key=lambda item: (item.base_offset, item.path))

    def verify(self) -> None:
        """Verify all files; the result grows."""
        entries = {item.path: coverage_of(self.capture, item, self.directory.broker_id) for item in self.items}
        self.result.coverage += entries.values()
        used = [item for item in self.items if not item.left_out]
        logs = self._segments()
        limits = offset_limits(logs)
        aborted = []
        for item in logs:
            indexes = [other for other in used if _belongs(other, item)]
            aborted += self._segment(item, limits[item.key], indexes, entries)
        self._compare_aborted(aborted, entries)
        checked = {item.path for item in logs} | {item.path for item in used if _has_log(item, logs)}
        for item in used:
            if item.path not in checked:
                self._other(item, entries[item.path])

    def _segment(self, item: Item, limit: int, indexes: list[Item], entries: dict[str, Coverage]) -> list[AbortedCheck]:
        """Verify a segment and the indexes beside it; returns its .txnindex, which needs the other segments too."""
        is_last = limit == NO_LIMIT
        checks = [check for other in indexes if (check := self._index_check(other, entries[other.path])) is not None]
        aborted = self._aborted_check(item, indexes, entries)
        end_offset, end = self._log(item, limit, entries[item.path], [*checks, *aborted])
        for check in checks:
            check.finish(end_offset, end, is_last)
            self._close_index(check, entries[check.path])
        for transactions in aborted:
            transactions.finish(end_offset, is_last)
        return aborted

    def _index_check(self, item: Item, entry: Coverage) -> IndexCheck | None:
        if item.kind not in CHECKS:
            return None
        data = self._content(item, entry)
        return None if data is None else CHECKS[item.kind](item.path, data, item.base_offset)

    def _aborted_check(self, log: Item, indexes: list[Item], entries: dict[str, Coverage]) -> list[AbortedCheck]:
        """Return the .txnindex of a segment; where only its other indexes are at hand it has no entries."""
        present = next((item for item in indexes if item.kind is Kind.TXNINDEX), None)
        if present is None:
            path = places.beside(log.path, ".txnindex")
            return [AbortedCheck(path, b"", log.base_offset)] if indexes else []
        data = self._content(present, entries[present.path])
        return [] if data is None else [AbortedCheck(present.path, data, log.base_offset)]

    def _log(self, item: Item, limit: int, entry: Coverage, checks: list[IndexCheck | AbortedCheck]) -> tuple[int, int]:
        """Read a segment; returns the offset and the position behind its last batch."""
        self.progress(item.path, item.size)
        first_offset = max(0, item.base_offset)
        log = self.logs.get(item.key) or planned(item, limit, self.records, self.ahead)
        damage = self._read(log, FileReading(item, entry, FileReach(0, item.base_offset), limit), checks)
        if entry.status == UNREADABLE:
            return first_offset, 0
        self._close_log(entry, log, damage, limit != NO_LIMIT)
        return first_offset if entry.last_offset is None else entry.last_offset + 1, log.end

    def _read(
        self, log: PartedFile[Checked], reading: FileReading, checks: list[IndexCheck | AbortedCheck]
    ) -> list[Damage]:
        """Hand every batch to whatever checks it; returns all damage of the segment itself."""
        wrong: list[Damage] = []
        beyond: list[Damage] = []
        states: list[Damage] = []
        records = 0
        for block in log.blocks(reading):
            for checked in block.held:
                wrong += checked.old[: max(0, MOST_DAMAGE - len(wrong))]
                states += checked.states[: max(0, MOST_DAMAGE - len(states))]
                records += checked.records
            beyond = beyond or _beyond(reading.item.path, block.batches, reading.limit)
            for check in checks:
                check.feed(block.batches)
            self.spans.feed(block.batches)
        if self.records and reading.entry.batches:
            reading.entry.records = records
        known = {damage.position for damage in log.ended.damage}
        return [*log.ended.damage, *wrong, *beyond, *(found for found in states if found.position not in known)]

    def _close_log(self, entry: Coverage, log: PartedFile[Checked], damage: list[Damage], has_later: bool) -> None:
        """Tell the ordinary end of a last segment from damage."""
        ordinary = [found for found in damage if found.kind == "torn" and not has_later]
        wrong = [found for found in damage if found not in ordinary]
        preallocated = log.ended.preallocated
        if preallocated and has_later:
            found = f"{preallocated:,} zero bytes"
            expected = "batches up to the end of a segment that has a later one"
            wrong.append(Damage("torn", entry.path, log.end, preallocated, expected, found))
        self.result.damage += wrong
        self.result.ordinary += ordinary
        entry.note = None
        entry.checked = "CRC of every batch" + (f", {entry.records:,} records" if entry.records is not None else "")
        if wrong:
            entry.status = DAMAGED
        elif ordinary:
            entry.status, entry.note = TORN, f"the last {ordinary[0].bytes:,} bytes are no whole batch"
        else:
            entry.status = WHOLE if entry.batches else EMPTY
            entry.note = f"{preallocated:,} preallocated bytes at the end" if preallocated else None

    def _close_index(self, check: IndexCheck, entry: Coverage) -> None:
        self.result.damage += check.damage
        entry.status = DAMAGED if check.damage else WHOLE if len(check.entries) else EMPTY
        entry.checked = f"{len(check.entries):,} entries against the segment"
        if check.beyond:
            entry.note = f"{check.beyond:,} entries are ahead of the log: it was being written, or lost its end"

    def _compare_aborted(self, checks: list[AbortedCheck], entries: dict[str, Coverage]) -> None:
        """Hold each .txnindex against the aborted transactions that all segments of the folder show."""
        spans = self.spans.found()
        for check in checks:
            if spans is not None:
                check.compare(spans)
            self.result.damage += check.damage
            if check.path in entries:
                entry = entries[check.path]
                entry.status = DAMAGED if check.damage else WHOLE if len(check.entries) else EMPTY
                entry.checked = f"{len(check.entries):,} entries against the markers"

    def _other(self, item: Item, entry: Coverage) -> None:
        """Verify a file that belongs to no segment at hand."""
        if item.kind is Kind.METADATA_SNAPSHOT:
            self._log(item, NO_LIMIT, entry, [])
            return
        data = self._content(item, entry)
        if data is None or item.kind in (Kind.OTHER, Kind.TEXT):
            return
        if item.kind in CHECKS:
            self._close_index(CHECKS[item.kind](item.path, data, item.base_offset), entry)
            entry.checked = "structure; its segment is not at hand"
            return
        damage = _damage_of(item, data)
        self.result.damage += damage
        entry.status = DAMAGED if damage else WHOLE if data else EMPTY
        entry.checked = "CRC and structure" if item.kind is Kind.SNAPSHOT else "structure"

    def _content(self, item: Item, entry: Coverage) -> bytes | None:
        """Return the bytes of a small file; None, and why in its coverage, where they can't be had."""
        self.progress(item.path, item.size)
        try:
            with OpenFile(item.path) as file:
                if file.size <= MOST_INDEX_BYTES:
                    data = file.read(0, file.size)
                    if file.problem is None:
                        return data
                entry.note = file.problem or f"larger than {MOST_INDEX_BYTES:,} bytes, which no file of its kind is"
        except OSError as error:
            entry.note = error.strerror
        entry.status = UNREADABLE
        return None


def _belongs(index: Item, log: Item) -> bool:
    """Whether an index lies beside a segment: one base offset, and both or none of them a .swap file."""
    return (
        index.kind in (*CHECKS, Kind.TXNINDEX)
        and index.base_offset == log.base_offset >= 0
        and Path(index.path).suffix == Path(log.path).suffix.replace(".log", f".{index.kind.value}")
    )


def _has_log(item: Item, logs: list[Item]) -> bool:
    return any(_belongs(item, log) for log in logs)


def _damage_of(item: Item, data: bytes) -> list[Damage]:
    """Damage of a file whose structure stands for itself."""
    if item.kind is Kind.TXNINDEX:
        return AbortedCheck(item.path, data, item.base_offset).damage
    if item.kind is not Kind.SNAPSHOT:
        return damage_of_small_file(item.kind, item.path, data)
    entries, damage = producer_states(item.path, data)
    late = np.flatnonzero(
        (entries["last_offset"] >= item.base_offset) | (entries["open_since_offset"] >= item.base_offset)
    )
    expected, found = f"offsets below {item.base_offset:,}, up to which the snapshot is valid", "a later one"
    return damage + [
        Damage("entry", item.path, 10 + 46 * number, 46, expected, found) for number in late[:100].tolist()
    ]


def _beyond(path: str, rows: Rows, limit: int) -> list[Damage]:
    """First batch of some that reaches into the next segment: two segments of a folder don't hold the same offsets."""
    number = int(np.searchsorted(rows["last_offset"], limit))
    if number == len(rows):
        return []
    row = rows[number]
    expected, found = f"offsets below {limit:,}, where the next segment begins", f"offset {int(row['last_offset']):,}"
    return [Damage("header", path, int(row["position"]), int(row["size"]), expected, found)]
