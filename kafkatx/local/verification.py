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
from kafkatx.evidence.file_reading import FileReading, glance
from kafkatx.evidence.inventory import inventory
from kafkatx.evidence.item import Item, Kind
from kafkatx.evidence.joining import evidence
from kafkatx.evidence.offset_coverage import FileReach
from kafkatx.evidence.verification import DAMAGED, EMPTY, TORN, UNREADABLE, WHOLE, Verification
from kafkatx.histories.partition_transactions import SpanFold
from kafkatx.kernels.batches import CHECK_ALL
from kafkatx.kernels.rows import VALID
from kafkatx.local.small_files import damage_of_small_file
from kafkatx.segments.aborted_check import AbortedCheck
from kafkatx.segments.batches import NO_LIMIT, Rows, SegmentWalk
from kafkatx.segments.damage import Damage
from kafkatx.segments.entries import producer_states
from kafkatx.segments.indexes import IndexCheck, OffsetIndexCheck, TimeIndexCheck
from kafkatx.segments.names import Names
from kafkatx.segments.records import RecordWalk
from kafkatx.segments.resync import crc_matches
from kafkatx.segments.transaction_log import StateWalk
from kafkatx.sources import places
from kafkatx.sources.files import OpenFile
from kafkatx.terms.progress import Progress, expect
from kafkatx.terms.records import dataclass
from kafkatx.terms.topics import TRANSACTION_STATE

MOST_DAMAGE = 10_000
"""Damaged old messages that are listed for a file."""
MOST_INDEX_BYTES = 256 << 20
"""No file of its kind is larger: indexes are preallocated with 10 MiB by default, and a segment ends at 2 GiB."""
HEADER_BYTES = 61
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
    for capture in found.captures:
        for directory in capture.directories:
            for items in _folders(directory.items):
                _Folder(capture, directory, items, records, progress or _silent, result).verify()
        result.coverage += [coverage_of(capture, item, None) for item in capture.others]
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
    spans: _Spans = field(default_factory=lambda: _Spans())

    def verify(self) -> None:
        """Verify all files; the result grows."""
        entries = {item.path: coverage_of(self.capture, item, self.directory.broker_id) for item in self.items}
        self.result.coverage += entries.values()
        used = [item for item in self.items if not item.left_out]
        logs = sorted((item for item in used if item.kind is Kind.LOG), key=lambda item: (item.base_offset, item.path))
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
        reading = FileReading(item, entry, FileReach(0, item.base_offset), limit)
        with reading.opened() as file:
            if file is None:
                return first_offset, 0
            kind = RecordWalk if self.records else SegmentWalk
            walk = kind(file, check=CHECK_ALL, first_offset=first_offset, offset_limit=limit)
            damage = self._read(walk, reading, checks)
            damage += self._states(file, item, first_offset, limit, walk.damage)
        self._close_log(entry, walk, damage, limit != NO_LIMIT)
        return first_offset if entry.last_offset is None else entry.last_offset + 1, walk.end

    def _read(self, walk: SegmentWalk, reading: FileReading, checks: list[IndexCheck | AbortedCheck]) -> list[Damage]:
        """Hand every batch to whatever checks it; returns all damage of the segment itself."""
        wrong: list[Damage] = []
        entry = reading.entry
        for chunk in walk.chunks():
            rows = chunk.rows
            old = _old_messages(walk.file, rows)
            wrong += [*old, *_beyond(walk.file.path, rows, reading.limit)][: max(0, MOST_DAMAGE - len(wrong))]
            for check in checks:
                check.feed(rows)
            self.spans.feed(rows)
            reading.note(glance(rows), 0)
            if isinstance(walk, RecordWalk):
                entry.records = (entry.records or 0) + sum(len(part.records) for part in walk.chunks_of(chunk))
        return [*walk.damage, *wrong]

    def _states(
        self, file: OpenFile, item: Item, first_offset: int, limit: int, known: list[Damage]
    ) -> Iterable[Damage]:
        """Records of `__transaction_state` whose key or value is none, in batches that are otherwise whole."""
        if self.records and item.topic == TRANSACTION_STATE:
            walk = StateWalk(file, Names(), first_offset=first_offset, offset_limit=limit)
            for _ in walk.state_chunks():
                pass
            positions = {damage.position for damage in known}
            yield from (found for found in walk.damage if found.kind == "entry" and found.position not in positions)

    def _close_log(self, entry: Coverage, walk: SegmentWalk, damage: list[Damage], has_later: bool) -> None:
        """Tell the ordinary end of a last segment from damage."""
        ordinary = [found for found in damage if found.kind == "torn" and not has_later]
        wrong = [found for found in damage if found not in ordinary]
        if walk.preallocated and has_later:
            found = f"{walk.preallocated:,} zero bytes"
            expected = "batches up to the end of a segment that has a later one"
            wrong.append(Damage("torn", entry.path, walk.end, walk.preallocated, expected, found))
        self.result.damage += wrong
        self.result.ordinary += ordinary
        entry.preallocated = walk.preallocated
        entry.checked = "CRC of every batch" + (f", {entry.records:,} records" if entry.records is not None else "")
        if wrong:
            entry.status = DAMAGED
        elif ordinary:
            entry.status, entry.note = TORN, f"the last {ordinary[0].bytes:,} bytes are no whole batch"
        else:
            entry.status = WHOLE if entry.batches else EMPTY
            entry.note = f"{walk.preallocated:,} preallocated bytes at the end" if walk.preallocated else None

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


def _old_messages(file: OpenFile, rows: Rows) -> list[Damage]:
    """Messages of magic 0 and 1 with a wrong CRC-32; those with the right one are marked as checked."""
    wrong = []
    for number in np.flatnonzero(rows["magic"] < 2).tolist():
        position, size = int(rows["position"][number]), int(rows["size"][number])
        if crc_matches(file, position, file.read(position, HEADER_BYTES)):
            rows["crc_valid"][number] = VALID
        else:
            wrong.append(
                Damage("crc", file.path, position, size, "a message with the CRC its header states", "another CRC")
            )
    return wrong
