"""Copies of one partition as one stream in offset order: a set union of facts, window by window, in bounded memory.

Several files can hold the same offsets: replicas, repeated or overlapping pieces, a compacted and a whole version.
Every file that reaches into a window contributes its rows; equal facts fall together, of two versions of one batch the
fuller stands, and of facts that contradict each other those of the highest leader epoch stand. The result does not
depend on the order or number of files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from typing import Any

import numpy as np

from kafkatx.segments.batches import Rows
from kafkatx.terms.records import dataclass

BEGIN = -(1 << 62)


@dataclass(slots=True)
class Stream:
    """One file's rows: the offset it can begin at, and how to begin. A file is opened when the merge reaches it."""

    first_offset: int
    source: int
    begin: Callable[[], Iterator[Rows]]
    chunks: Iterator[Rows] | None = None
    rows: Rows | None = None
    ended: bool = False

    def load(self) -> None:
        """Have rows at hand unless the file has ended."""
        if self.chunks is None:
            self.chunks = self.begin()
        while not self.ended and (self.rows is None or not len(self.rows)):
            self.rows = next(self.chunks, None)
            self.ended = self.rows is None

    def last(self, offset: str) -> int:
        """Offset of the last row at hand, of a file that has not ended."""
        assert self.rows is not None
        return int(self.rows[offset][-1])

    def take(self, frontier: int, offset: str) -> Rows | None:
        """Remove and return the rows with an offset up to `frontier`."""
        if self.rows is None or not len(self.rows):
            return self.rows
        cut = len(self.rows)
        if self.rows[offset][-1] > frontier:
            cut = int(np.searchsorted(self.rows[offset], frontier, "right"))
        taken, self.rows = self.rows[:cut], self.rows[cut:]
        return taken


@dataclass(frozen=True, slots=True)
class RowShape:
    """How rows of one kind are compared: their offset columns, and which of two equal-offset rows is fuller.

    A row whose column `unprinted` is negative comes from a text that left something out: there -1 agrees with anything.
    """

    offset: str
    last_offset: str
    identity: tuple[str, ...]
    fullness: tuple[str, ...]
    unprinted: str


BATCH_SHAPE = RowShape(
    "base_offset",
    "last_offset",
    ("last_offset", "producer_id", "producer_epoch", "base_sequence"),
    ("record_count", "crc"),
    "size",
)
STATE_SHAPE = RowShape(
    "offset",
    "offset",
    ("id_code", "producer_id", "producer_epoch", "state", "updated_at", "is_tombstone"),
    ("crc", "started_at"),
    "leader_epoch",
)


def in_order(streams: Iterable[Stream]) -> list[Stream]:
    """Sort streams as a merge wants them."""
    return sorted(streams, key=lambda stream: (stream.first_offset, stream.source))


class _Ahead:
    """The streams that are not reached yet, with a look at the next one."""

    def __init__(self, streams: Iterable[Stream]) -> None:
        self._streams = iter(streams)
        self.next = next(self._streams, None)

    def begin_next(self) -> Stream | None:
        """Return the next stream, begun; None where it has no rows, or where there is none."""
        begun = self.next
        if begun is None:
            return None
        self.next = next(self._streams, None)
        begun.load()
        return None if begun.ended else begun


@dataclass(slots=True)
class Merge:
    """One merge of streams that come in order of the offsets they begin at; they are asked for when they are reached.

    `diverged` collects what was set aside, with the number of its source.
    """

    shape: RowShape
    streams: Iterable[Stream]
    diverged: list[tuple[int, Any]] = field(default_factory=list)
    _leader_epoch: int = -1
    _held: tuple[Rows, Any] | None = None

    def windows(self) -> Iterator[Rows]:
        """Yield rows in offset order, each fact once."""
        waiting = _Ahead(self.streams)
        active: list[Stream] = []
        while waiting.next is not None or active:
            frontier = self._frontier(waiting, active)
            if frontier is None:
                break
            parts = [
                (stream.source, rows)
                for stream in active
                if (rows := stream.take(frontier, self.shape.offset)) is not None and len(rows)
            ]
            if parts:
                yield from self._settle(*self._unite(parts))
        yield from self._last()

    def _frontier(self, waiting: _Ahead, active: list[Stream]) -> int | None:
        """Offset up to which every file that can contribute is loaded; None when all have ended.

        Thousands of pieces of a text may begin at one offset: none is looked at again because another one joins.
        """
        for stream in active:
            stream.load()
        active[:] = [stream for stream in active if not stream.ended]
        ends = [stream.last(self.shape.offset) for stream in active]
        frontier = min(ends, default=None)
        while waiting.next is not None and (frontier is None or waiting.next.first_offset <= frontier):
            if (begun := waiting.begin_next()) is not None:
                active.append(begun)
                end = begun.last(self.shape.offset)
                frontier = end if frontier is None else min(frontier, end)
        return frontier

    def _unite(self, parts: list[tuple[int, Rows]]) -> tuple[Rows, Any]:
        """Sort the rows of a window and drop repeats; returns rows and their sources."""
        of_parts = [np.broadcast_to(np.int64(source), len(rows)) for source, rows in parts]
        if len(parts) == 1:
            return parts[0][1], of_parts[0]
        rows, sources = np.concatenate([rows for _, rows in parts]), np.concatenate(of_parts)
        order = self._order(rows, sources)
        return self._once(rows[order], sources[order])

    def _settle(self, rows: Rows, sources: Any) -> Iterator[Rows]:
        """Set aside what contradicts, but hold a window back until the row behind its last one is known.

        Windows end anywhere. None is copied for that: what is held back is all of it.
        """
        rows, sources = self._of_highest_epoch(rows, sources)
        if not len(rows):
            return
        if self._held is not None:
            before, of = self._held
            if self._reaches(before[-1:], rows[:1]).any():
                self._set_aside(before[-1:], of[-1:], np.ones(1, bool))
                before = before[:-1]
            if len(before):
                yield before
        reaches = np.zeros(len(rows), bool)
        reaches[:-1] = self._reaches(rows[:-1], rows[1:])
        self._held = self._without(rows, sources, reaches)

    def _reaches(self, rows: Rows, next_rows: Rows) -> Any:
        """Which rows reach over the start of the next one, of a newer leader epoch."""
        is_older = rows["leader_epoch"] < next_rows["leader_epoch"]
        return is_older & (rows[self.shape.last_offset] >= next_rows[self.shape.offset]) if is_older.any() else is_older

    def _last(self) -> Iterator[Rows]:
        if self._held is not None:
            yield self._held[0]

    def _order(self, rows: Rows, sources: Any) -> Any:
        """Offset, then newest leader epoch, then the fuller version; the rest only makes the order total.

        Bytes come before what a tool printed of them, which may lack columns, and files in their order: windows may
        meet them in another one.
        """
        keys = [sources, rows[self.shape.unprinted] < 0]
        keys += [rows[name] for name in reversed(self.shape.identity)]
        keys += [-rows[name].astype(np.int64) for name in reversed(self.shape.fullness)]
        return np.lexsort([*keys, -rows["leader_epoch"].astype(np.int64), rows[self.shape.offset]])

    def _once(self, rows: Rows, sources: Any) -> tuple[Rows, Any]:
        """Keep the first row of each offset; rows of the same offset that are no version of it are diverged."""
        first = np.ones(len(rows), bool)
        first[1:] = rows[self.shape.offset][1:] != rows[self.shape.offset][:-1]
        kept = np.flatnonzero(first)[np.cumsum(first) - 1]
        same = np.ones(len(rows), bool)
        partial = rows[self.shape.unprinted] < 0
        for name in (*self.shape.identity, "leader_epoch"):
            unknown = (partial & (rows[name] == -1)) | (partial[kept] & (rows[name][kept] == -1))
            same &= (rows[name] == rows[name][kept]) | unknown
        self._set_aside(rows, sources, ~same)
        return rows[first], sources[first]

    def _of_highest_epoch(self, rows: Rows, sources: Any) -> tuple[Rows, Any]:
        """Set aside rows below the highest leader epoch so far."""
        epochs = rows["leader_epoch"]
        low, high = int(epochs.min()), int(epochs.max())
        if low == high >= self._leader_epoch or high < 0:
            self._leader_epoch = max(high, self._leader_epoch)
            return rows, sources
        highest = np.maximum(np.maximum.accumulate(epochs.astype(np.int64)), self._leader_epoch)
        self._leader_epoch = int(highest[-1])
        return self._without(rows, sources, (epochs < highest) & (epochs >= 0))

    def _without(self, rows: Rows, sources: Any, bad: Any) -> tuple[Rows, Any]:
        if not bad.any():
            return rows, sources
        self._set_aside(rows, sources, bad)
        return rows[~bad], sources[~bad]

    def _set_aside(self, rows: Rows, sources: Any, chosen: Any) -> None:
        for number in np.flatnonzero(chosen)[: max(0, MOST_DIVERGED - len(self.diverged))]:
            self.diverged.append((int(sources[number]), rows[number].copy()))


MOST_DIVERGED = 10_000
"""Diverged rows that are kept; a replica that diverged for longer is told by the first ones."""
