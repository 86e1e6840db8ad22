"""Which offsets of a partition were read, and which are missing although they must have been there.

Ranges are half-open pairs of offsets. Everything is counted on the merged copies, so that a cut at a batch boundary, a
repeated or an overlapping file can't change it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from kafkatx.terms.records import dataclass

Range = tuple[int, int]
BEFORE_ALL = -(1 << 62)

MOST_RANGES = 1_000
"""Missing ranges kept of a partition; the last one is stretched over all that follow."""


@dataclass(slots=True)
class FileReach:
    """What one file tells: the ranges read whole, and those that its own damage took away.

    `begin` is the offset in its name, -1 where it has none. Holes in a range that was read are no loss of this file.
    """

    source: int
    begin: int
    read: list[Range] = field(default_factory=list)
    lost: list[Range] = field(default_factory=list)
    _stretches: int = 0

    @property
    def end(self) -> int:
        """Offset behind the last batch read."""
        return self.read[-1][1] if self.read else max(self.begin, 0)

    def note(self, first: int, end: int, stretches: int, unreadable: Sequence[Range] = ()) -> None:
        """Carry on over batches from `first` up to `end`; `stretches` of damage were met in the file so far.

        `unreadable` are the batches among them, in order, with records that can't be read.
        """
        damaged, self._stretches = stretches > self._stretches, stretches
        begin = self.end if self.read or self.begin >= 0 else first
        if damaged and begin < first:
            self.lost.append((begin, first))
        at = first if damaged else begin
        is_joined = bool(self.read) and not damaged
        for lost_from, lost_to in (*unreadable, (end, end)):
            if is_joined:
                self.read[-1] = (self.read[-1][0], max(lost_from, self.read[-1][1]))
            else:
                self.read.append((at, lost_from))
            if lost_from < lost_to:
                self.lost.append((lost_from, lost_to))
            at, is_joined = lost_to, False

    def leave_out(self, lost: Iterable[Range]) -> None:
        """Note what a text does not show of the ranges that it was read in."""
        taken = sorted(one for one in lost if one[0] < one[1])
        self.read = list(without(self.read, taken))
        self.lost.extend(taken)

    def break_off(self, limit: int | None) -> None:
        """Note that the file breaks off: what follows up to `limit`, at least one offset, was there."""
        self.lost.append((self.end, max(self.end + 1, limit if limit is not None else 0)))


@dataclass(slots=True)
class Holes:
    """Offsets missing between merged rows, from `explained_below` on: below it the cleaner may have taken them.

    `end` is the offset behind the last row so far, at first that in the lowest name (-1: none has one).
    """

    explained_below: int
    end: int
    ranges: list[Range] = field(default_factory=list)

    def feed(self, starts: Any, ends: Any, counts: Callable[[], Any]) -> None:
        """Carry on over rows; `counts` says, where that is asked, of which rows the start means something.

        Not of messages of magic 0 and 1.
        """
        if starts[0] <= (starts[0] if self.end < 0 else self.end) and (starts[1:] - ends[:-1] <= 1).all():
            self.end = int(ends[-1]) + 1
            return
        before = np.empty(len(starts), np.int64)
        before[1:] = ends[:-1] + 1
        before[0] = starts[0] if self.end < 0 else self.end
        found = np.flatnonzero((starts > before) & (starts > self.explained_below) & counts())
        room = max(0, MOST_RANGES - len(self.ranges))
        for number in found[:room].tolist():
            self.ranges.append((max(int(before[number]), self.explained_below), int(starts[number])))
        if len(found) > room:
            self.ranges[-1] = (self.ranges[-1][0], int(starts[found[-1]]))
        self.end = int(ends[-1]) + 1


def left_over(lost: Iterable[Range], read: Iterable[Range]) -> list[Range]:
    """Return what of the lost ranges no other file has read."""
    spans, result = deque(sorted(read)), list[Range]()
    at = BEFORE_ALL
    for begin, end in sorted(lost):
        # What covers the begin of one range can't leave a gap below that of the next: no span is looked at twice.
        at = max(at, begin)
        while spans and spans[0][0] <= at:
            at = max(at, spans.popleft()[1])
        if at < end:
            result.append((at, end))
    return result


def without(ranges: Iterable[Range], taken: Sequence[Range]) -> Iterator[Range]:
    """Yield what is left of ranges in order when others, in order too, are taken out of them."""
    first = 0
    for at, end in ranges:
        while first < len(taken) and taken[first][1] <= at:
            first += 1
        for begin, behind in taken[first:]:
            if begin >= end:
                break
            if at < begin:
                yield at, begin
            at = max(at, behind)
        if at < end:
            yield at, end
