"""Offset and time indexes of a dump, held against the log beside them.

Meaning   an entry that the log does not bear out is a mismatch; the tool tells of them on standard error when all files
          are dumped. Preallocated zeros are no entries: the tool prints `offset: 0 position: 0` for a file of them.
Limits    without the log beside it an index is held against nothing, and that is said; the tool ends there.
Source    DumpLogSegments.dumpIndex, dumpTimeIndex, OffsetIndex/TimeIndex.sanityCheck (Kafka 4.3).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np

from kafkatx.formats.record_batch import HEADER_SIZE, LOG_OVERHEAD, MAGIC, MAGIC_AT
from kafkatx.kernels.batches import CHECK_NONE
from kafkatx.kernels.bytes import int32_at, int64_at
from kafkatx.outputs.dump_entries import LARGEST_FILE, Entry
from kafkatx.segments.batches import Chunk, Rows
from kafkatx.segments.records import RecordWalk
from kafkatx.sources import places
from kafkatx.sources.files import OpenFile

OFFSET_ENTRY = np.dtype([("relative_offset", ">i4"), ("position", ">i4")])
TIME_ENTRY = np.dtype([("timestamp", ">i8"), ("relative_offset", ">i4")])
PROBLEMS_KEPT = 1_000


class IndexDump:
    """One pass over an index; `problems` holds the lines for standard error when `entries` has ended."""

    def __init__(self, path: str, base_offset: int, *, of_times: bool) -> None:
        """Read an index (`of_times`: a .timeindex); raises OSError."""
        self.path, self.base_offset, self.of_times = path, base_offset, of_times
        self.problems: list[str] = []
        layout = TIME_ENTRY if of_times else OFFSET_ENTRY
        with OpenFile(path) as file:
            data = file.read(0, LARGEST_FILE)
        self.size_bytes, self.left_over = len(data), len(data) % layout.itemsize
        self._rows = _without_zeros(np.frombuffer(data, layout, len(data) // layout.itemsize))

    def is_sane(self) -> bool:
        """Whether a broker keeps the index at its start: whole entries, the last not below the first."""
        ascending = not len(self._rows) or self._rows["relative_offset"][-1] >= 0
        return not self.left_over and bool(ascending)

    def entries(self) -> Iterator[Entry]:
        """Yield the entries up to preallocated zeros."""
        name = f"{places.name(self.path).split('.')[0]}.log"
        log = places.joined(places.parent(self.path), name)
        with ExitStack() as stack:
            file = stack.enter_context(OpenFile(log)) if places.is_file(log) else None
            if file is None:
                self.problems.append(f"{self.path} is held against nothing: {name} is not beside it")
            yield from self._times(file) if self.of_times else self._offsets(file)

    def _offsets(self, log: OpenFile | None) -> Iterator[Entry]:
        mismatches: list[str] = []
        for relative_offset, position in self._rows.tolist():
            offset = self.base_offset + relative_offset
            found = None if log is None else _last_offset_at(log, position)
            if log is not None and found != offset and len(mismatches) < PROBLEMS_KEPT:
                mismatches.append(f"  Index offset: {offset}, log offset: {-1 if found is None else found}")
            yield f"offset: {offset} position: {position}\n", {"offset": offset, "position": position}
        if mismatches:
            self.problems += [f"Mismatches in :{places.absolute(self.path)}", *reversed(mismatches)]

    def _times(self, log: OpenFile | None) -> Iterator[Entry]:
        timestamps = self._rows["timestamp"].tolist()
        offsets = (self._rows["relative_offset"].astype(np.int64) + self.base_offset).tolist()
        for timestamp, offset in zip(timestamps, offsets, strict=True):
            yield f"timestamp: {timestamp} offset: {offset}\n", {"timestamp_ms": timestamp, "offset": offset}
        if log is not None:
            check = _TimeCheck(self.path, log)
            check.look(timestamps, offsets)
            self.problems += check.problems()


class _TimeCheck:
    """Entries of a time index held against the log: is there such a batch, has it this time, do times grow."""

    def __init__(self, path: str, log: OpenFile) -> None:
        self._path, self._walk = places.absolute(path), RecordWalk(log, check=CHECK_NONE)
        self._wrong: list[str] = []
        self._unordered: list[str] = []
        self._missing: list[str] = []

    def look(self, timestamps: list[int], offsets: list[int]) -> None:
        """Look at all entries, which ascend by offset."""
        done = 0
        for chunk in self._walk.chunks():
            last_offsets = chunk.rows["last_offset"]
            while done < len(offsets) and offsets[done] <= last_offsets[-1]:
                number = int(np.searchsorted(last_offsets, offsets[done]))
                batch = Chunk(chunk.rows[number : number + 1], chunk.data, chunk.data_position)
                self._compare(timestamps[done], timestamps[done - 1] if done else -1, offsets[done], batch)
                done += 1
        for offset in offsets[done:]:
            _note(self._missing, f"Indexed offset: {offset}, found log offset: -1")

    def problems(self) -> list[str]:
        """Return the lines that the tool prints of what was found."""
        lines = []
        for title, found in (
            (f"Found timestamp mismatch in :{self._path}", self._wrong),
            (f"Found out of order timestamp in :{self._path}", self._unordered),
            (f"The following indexed offsets are not found in :{self._path}", self._missing),
        ):
            lines += [title, *found] if found else []
        return lines

    def _compare(self, timestamp: int, previous: int, offset: int, batch: Chunk) -> None:
        found = int(batch.rows["last_offset"][0])
        if found != offset:
            _note(self._missing, f"Indexed offset: {offset}, found log offset: {found}")
            return
        largest = self._largest_time(batch)
        if largest != timestamp:
            _note(self._wrong, f"  Index timestamp: {timestamp}, log timestamp: {largest}")
        if previous >= timestamp:
            _note(self._unordered, f"  Index timestamp: {timestamp}, Previously indexed timestamp: {previous}")

    def _largest_time(self, batch: Chunk) -> int:
        times = [int(chunk.records["timestamp"].max(initial=-1)) for chunk in self._walk.chunks_of(batch)]
        return max(times, default=-1)


def _note(lines: list[str], line: str) -> None:
    if len(lines) < PROBLEMS_KEPT:
        lines.append(line)


def _without_zeros(rows: Rows) -> Rows:
    """Return the entries before preallocated zeros; a file of zeros has none."""
    if not any(rows[name].any() for name in rows.dtype.names or ()):
        return rows[:0]
    zeros = np.flatnonzero(rows["relative_offset"][1:] == 0)
    return rows[: zeros[0] + 1] if len(zeros) else rows


def _last_offset_at(log: OpenFile, position: int) -> int | None:
    """Last offset of the batch at a position, None where none begins that ends inside the log."""
    header = log.read(position, HEADER_SIZE)
    if len(header) <= MAGIC_AT or LOG_OVERHEAD + int32_at.plain(header, 8) > log.size - position:
        return None
    base_offset = int64_at.plain(header, 0)
    is_batch = header[MAGIC_AT] == MAGIC and len(header) == HEADER_SIZE
    return base_offset + int32_at.plain(header, 23) if is_batch else base_offset
