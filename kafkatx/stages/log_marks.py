"""What small files beside a log say of it: snapshots of producers, indexes of aborted transactions and of times.

Newest snapshot   producers with a transaction open at its offset; what lies behind it no small file speaks of.
.txnindex         which producers had data aborted in a segment.
.timeindex        its last entry is the newest time of the segment, its first one a time near its beginning.

Grain: one copy of one partition. Functions here take paths and may run wherever files are read.
Source  ProducerStateManager, TransactionIndex, TimeIndex (0.11 to 4.4).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from kafkatx.evidence.captures import Capture
from kafkatx.evidence.directories import Partition
from kafkatx.evidence.item import Item, Kind
from kafkatx.evidence.unread import is_of_data
from kafkatx.segments.entries import aborted_transactions, producer_states
from kafkatx.segments.indexes import TIME_ENTRY
from kafkatx.sources.files import OpenFile, read_small
from kafkatx.terms.records import dataclass

UNKNOWN = -1
Times = tuple[int, int]
"""Time near the begin of a segment, and its newest one, in milliseconds; UNKNOWN where no entry says it."""


@dataclass(frozen=True, slots=True)
class LogCopy:
    """A partition's files in one data directory, in order of their offsets; `time_paths` are parallel to `segments`."""

    key: Partition
    segments: tuple[Item, ...]
    snapshots: tuple[Item, ...]
    indexes: tuple[Item, ...]
    time_paths: tuple[str | None, ...]

    @property
    def bytes(self) -> int:
        """Bytes of all its segments."""
        return sum(item.size for item in self.segments)

    @property
    def tail(self) -> tuple[Item, ...]:
        """The segments of which no snapshot speaks: those that lie, or may lie, behind the newest one."""
        newest = self.snapshots[-1].base_offset if self.snapshots else 0
        ends = [*(item.base_offset for item in self.segments[1:]), newest + 1]
        return tuple(item for item, end in zip(self.segments, ends, strict=True) if end > newest)

    @property
    def asked(self) -> MarksAsked | None:
        """What is to be read of its small files; None where there is nothing to read."""
        if not (self.snapshots or self.indexes):
            return None
        paths = dict(zip((item.base_offset for item in self.segments), self.time_paths, strict=True))
        bases = [item.base_offset for item in self.segments]
        before = {behind: paths[base] for base, behind in pairwise(bases)}
        snapshots = [item for item in self.snapshots[-2:] if item.size]
        return MarksAsked(
            tuple(item.path for item in snapshots),
            before.get(snapshots[-1].base_offset) if snapshots else None,
            tuple((item.path, item.base_offset, before.get(item.base_offset), paths.get(item.base_offset))
                  for item in self.indexes),
            sum(item.size for item in (*snapshots, *self.indexes)),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class MarksAsked:
    """Paths of small files: the newest snapshots, the .timeindex of the segment before the newest one.

    `indexes` are indexes of aborted transactions, each with its base offset and the .timeindex files of the segment
    before it and of its own.
    """

    snapshots: tuple[str, ...]
    time_path: str | None
    indexes: tuple[tuple[str, int, str | None, str | None], ...]
    bytes: int


@dataclass(frozen=True, slots=True)
class OpenMark:
    """A transaction that the newest snapshot has open; `lasted`: the snapshot before has it open, too."""

    producer_id: int
    since_offset: int
    timestamp: int
    lasted: bool


@dataclass(frozen=True, slots=True)
class AbortedMark:
    """Entries of the index of a segment, and between which times these lie; UNKNOWN where unknown.

    `producers` are producer ids, each with the number of its entries.
    """

    base_offset: int
    end_offset: int
    since: int
    until: int
    producers: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class LogMarks:
    """What the small files of a copy say; `rolled_at` is a time up to which the newest snapshot knows all at least.

    `damaged` are base offsets of small files that are none.
    """

    open: tuple[OpenMark, ...] = ()
    rolled_at: int = UNKNOWN
    aborted: tuple[AbortedMark, ...] = ()
    damaged: tuple[int, ...] = ()

    @property
    def says_something(self) -> bool:
        """Whether anything in it can make a segment suspect."""
        return bool(self.open or self.aborted or self.damaged)


def copies_of(capture: Capture) -> Iterator[LogCopy]:
    """Yield the copies of data partitions in a capture, by directory and partition."""
    for directory in capture.directories:
        kinds: dict[Kind, dict[Partition, list[Item]]] = {kind: {} for kind in BESIDE}
        for item in directory.items:
            is_used = item.kind in kinds and item.folder is not None and not item.left_out
            if is_used and item.folder is not None and (item.kind is not Kind.LOG or is_of_data(item)):
                kinds[item.kind].setdefault((item.folder.topic, item.folder.partition), []).append(item)
        for key in sorted(kinds[Kind.LOG]):
            yield _copy(key, {kind: sorted(found.get(key, ()), key=_place) for kind, found in kinds.items()})


BESIDE = (Kind.LOG, Kind.SNAPSHOT, Kind.TXNINDEX, Kind.TIMEINDEX)


def _place(item: Item) -> tuple[int, str]:
    return item.base_offset, item.path


def _copy(key: Partition, files: dict[Kind, list[Item]]) -> LogCopy:
    times = {item.base_offset: item.path for item in files[Kind.TIMEINDEX] if item.part is None and item.size}
    return LogCopy(
        key,
        tuple(files[Kind.LOG]),
        tuple(item for item in files[Kind.SNAPSHOT] if item.part is None),
        tuple(item for item in files[Kind.TXNINDEX] if item.part is None and item.size),
        tuple(times.get(item.base_offset) for item in files[Kind.LOG]),
    )


def marks_of(asked: MarksAsked) -> LogMarks:
    """Read the small files of a copy; what can't be read is damaged."""
    damaged: list[int] = []
    known = [_producers(path, damaged) for path in asked.snapshots]
    newest = known[-1] if known else None
    before = {_which(row) for row in known[0]} if len(known) > 1 else set()
    found = () if newest is None else newest[newest["open_since_offset"] >= 0]
    rolled_at = times_of(asked.time_path)[1] if len(found) else UNKNOWN
    if newest is not None and len(newest):
        rolled_at = max(rolled_at, int(newest["timestamp"].max()))
    open_ = tuple(OpenMark(*_which(row), int(row["timestamp"]), _which(row) in before) for row in found)
    return LogMarks(open_, rolled_at, tuple(_aborted(asked, damaged)), tuple(sorted(set(damaged))))


def _which(row: np.void) -> tuple[int, int]:
    return int(row["producer_id"]), int(row["open_since_offset"])


def _producers(path: str, damaged: list[int]) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    rows, damage = producer_states(path, _content(path))
    damaged.extend(_base(path) for _ in damage[:1])
    found: np.ndarray[tuple[int], np.dtype[np.void]] = rows
    return found


def _aborted(asked: MarksAsked, damaged: list[int]) -> Iterator[AbortedMark]:
    for path, base, before, own in asked.indexes:
        rows, damage = aborted_transactions(path, _content(path))
        is_wrong = bool(damage) or bool((rows["first_offset"] > rows["last_offset"]).any())
        damaged.extend([base] if is_wrong else [])
        if len(rows):
            ids, counts = np.unique(rows["producer_id"], return_counts=True)
            producers = tuple(zip(ids.tolist(), counts.tolist(), strict=True))
            last = int(rows["last_offset"].max())
            yield AbortedMark(base, last, times_of(before)[1], times_of(own)[1], producers)


def times_of(path: str | None) -> Times:
    """Return the first and the last time of a .timeindex; UNKNOWN where there is none, or it can't be read."""
    if path is None:
        return UNKNOWN, UNKNOWN
    try:
        with OpenFile(path) as file:
            last = _last_entry(file, file.size // TIME_ENTRY.itemsize)
            return (UNKNOWN, UNKNOWN) if last < 0 else (_time(file, 0), _time(file, last))
    except OSError:
        return UNKNOWN, UNKNOWN


def times_of_all(paths: tuple[str | None, ...]) -> list[Times]:
    """Return the times of the segments of a copy."""
    return [times_of(path) for path in paths]


def _last_entry(file: OpenFile, entries: int) -> int:
    """Number of the last entry before the zeros that a file is preallocated with; -1 where there is none."""
    first, behind = 0, entries
    while first < behind:
        middle = (first + behind) // 2
        if _time(file, middle) > 0:
            first = middle + 1
        else:
            behind = middle
    return first - 1


def _time(file: OpenFile, number: int) -> int:
    data = file.read(number * TIME_ENTRY.itemsize, TIME_ENTRY.itemsize)
    return int.from_bytes(data[:8], "big", signed=True) if len(data) == TIME_ENTRY.itemsize else UNKNOWN


def _content(path: str) -> bytes:
    try:
        return read_small(path)
    except OSError:
        return b""


def _base(path: str) -> int:
    name = path.rpartition("/")[2].partition(".")[0]
    return int(name) if name.isdecimal() else 0
