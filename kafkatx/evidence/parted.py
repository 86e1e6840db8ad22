"""One file read in stretches by several cores (sources/ahead.py), told as one walk over it tells.

Stretch   what evidence/stretches.py says. The first one of a file, and one that nobody has begun when its turn comes,
          is read from where the one before it ended: the walk goes on. One that is read ahead finds its first batch by
          its CRC.
Seam      is looked at before the first batches of a stretch are told: where they do not follow what the walk knew, the
          stretch is walked over here.
Damage    what a stretch that was read ahead has of it may be less than what the walk would tell, which knows what lay
          before. So such a stretch counts up to its first damage; then it is walked over again, here, from where the
          one before it ended, and told from that place on.
Whole     without other cores a file is one stretch.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np

from kafkatx.evidence.file_reading import BatchSummary, Ending, FileReading
from kafkatx.evidence.offset_coverage import Range
from kafkatx.evidence.stretches import NO_END, Met, SplitSummary, StretchReading, WalkOf, and_then, stretches
from kafkatx.kernels.batches import HEADER_SIZE
from kafkatx.segments.batches import ROWS_PER_CHUNK, Rows
from kafkatx.sources.ahead import Ahead, Task
from kafkatx.sources.files import OpenFile, was_read
from kafkatx.terms.records import dataclass

T = TypeVar("T")
LEAD = 8
"""Batches that the first one of a stretch leads to: a wrong start costs a second reading, and is rare."""


@dataclass(frozen=True, slots=True)
class Reads(Generic[T]):
    """What is read of a file: the walk over an extent of it, what is taken of the walk beside the batches.

    Who asks only for what is beside them `leaves_batches`: of a block the first and the last one stay.
    """

    walk_of: WalkOf
    read: Callable[[Any], Iterator[tuple[Rows, T]]]
    leaves_batches: bool = False


@dataclass(frozen=True, slots=True)
class Block(Generic[T]):
    """Consecutive batches: what they say together, stretches of damage met before them, what else was read of them."""

    seen: BatchSummary
    met: int
    batches: Rows
    held: tuple[T, ...]

    @property
    def start(self) -> int:
        """Position of the first batch."""
        return int(self.batches["position"][0])

    @property
    def end(self) -> int:
        """Position behind the last batch."""
        return int(self.batches["position"][-1]) + int(self.batches["size"][-1])


Item = Block[T] | SplitSummary
"""What a stretch tells: batches, and at the end how it ended."""


def _blocks(met: Iterator[Met[T]]) -> Iterator[Block[T]]:
    """Put small pieces together: whoever takes a block pays for each."""
    parts: list[Met[T]] = []
    rows = 0
    for part in met:
        if parts and (rows + part[0].batches > ROWS_PER_CHUNK or part[1] != parts[0][1]):
            yield _block(parts)
            parts, rows = [], 0
        parts.append(part)
        rows += part[0].batches
    if parts:
        yield _block(parts)


def _block(parts: list[Met[T]]) -> Block[T]:
    seen, met, batches, _ = parts[0]
    for part in parts[1:]:
        seen = seen.followed_by(part[0])
    if len(parts) > 1:
        batches = _together([part[2] for part in parts])
    return Block(seen, met, batches, tuple(part[3] for part in parts))


def _ends(batches: Rows) -> Rows:
    """The first and the last of them, in memory of their own: what all lie in is used again."""
    return batches[:: max(len(batches) - 1, 1)].copy()


def _together(parts: list[Rows]) -> Rows:
    """Return what numpy.concatenate does, which asks for a common type of each column first: rows are all of one."""
    whole, at = np.empty(sum(map(len, parts)), parts[0].dtype), 0
    for part in parts:
        whole[at : at + len(part)] = part
        at += len(part)
    return whole


class _Shared:
    """A file that is opened once, by whoever comes first; each reader has it as a file of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._file: OpenFile | OSError | None = None

    def again(self, path: str) -> OpenFile:
        """Open it; raises OSError, each time the same."""
        with self._lock:
            if self._file is None:
                try:
                    self._file = OpenFile(path)
                except OSError as error:
                    self._file = error
            if isinstance(self._file, OSError):
                raise self._file
            return self._file.again()

    def close(self) -> None:
        """Close it for those who come later."""
        with self._lock:
            if isinstance(self._file, OpenFile):
                self._file.close()
            self._file = OSError("closed")


class PartedFile(Generic[T]):
    """A file whose stretches are planned to be read ahead; `blocks` tells it.

    `ended` and `end` say afterwards how and where one walk ended.
    """

    def __init__(self, given: FileReading, reads: Reads[T], ahead: Ahead, stretch_bytes: int | None = None) -> None:
        """Plan it; `given` says which file, and is told nothing. `stretch_bytes` as of SegmentWalk."""
        self.ended, self.end = Ending(), 0
        self._given, self._reads, self._ahead, self._stretch_bytes = given, reads, ahead, stretch_bytes
        self._shared = _Shared()
        cuts = stretches(given.item.size, stretch_bytes) if ahead.is_parallel else [(0, NO_END)]
        self._parts = [(cut, ahead.task(partial(self._walked, cut))) for cut in cuts]

    def blocks(self, reading: FileReading) -> Iterator[Block[T]]:
        """Yield the batches in order; coverage, reach and damage of `reading` become those of one walk."""
        before: SplitSummary | None = None
        try:
            for cut, task in self._parts:
                for item in self._of_part(cut, task, before):
                    if isinstance(item, SplitSummary):
                        before = item
                        break
                    reading.note(item.seen, _stretches_of(self.ended) + item.met)
                    yield item
                assert before is not None
                self.ended, self.end = and_then(self.ended, before.ended), before.end
                if before.is_over:
                    break
        finally:
            self._close()
        if before is not None and before.problem is not None:
            reading.refuse(before.problem)
        else:
            reading.end(self.ended)

    def _of_part(self, cut: Range, task: Task[Item[T]], before: SplitSummary | None) -> Iterator[Item[T]]:
        """Yield what the walk tells of a stretch, then how it ended."""
        known = 0
        if not task.claim():
            for item in task.items():
                if before is not None and not self._counts(item, before, is_first=not known):
                    break
                if isinstance(item, SplitSummary):
                    yield item if item.start >= 0 or before is None else replace(item, end=before.end, fit=before.fit)
                    return
                known = item.end
                was_read(self._given.item.path, item.start, known)
                yield item
        yield from self._ahead.here(self._walked(cut, before, known))

    def _walked(self, cut: Range, after: SplitSummary | None = None, known: int = 0) -> Iterator[Item[T]]:
        """Walk over a stretch, behind `after` where that is known; what is before the position `known` is not told."""
        stretch = StretchReading(self._given, *cut, self._stretch_bytes, after, lead=LEAD, opened=self._shared.again)
        met = stretch.met(self._reads.walk_of, self._reads.read)
        if self._reads.leaves_batches:
            met = ((seen, stretches, _ends(batches), held) for seen, stretches, batches, held in met)
        yield from _blocks(piece for piece in met if piece[2]["position"][0] >= known)
        assert stretch.told is not None
        yield stretch.told

    def _counts(self, item: Item[T], before: SplitSummary, is_first: bool) -> bool:
        """Whether one walk, that has told `before`, would tell this of the stretch behind it.

        `is_first`: nothing of that stretch has been told yet. Damage of records in a whole batch is that batch's own.
        """
        if isinstance(item, SplitSummary):
            others = [one for one in item.ended.damage if one.kind != "entry"]
            return replace(item, ended=replace(item.ended, damage=others)).follows(before)
        return not item.met and (not is_first or self._is_seam(item, before))

    def _is_seam(self, block: Block[T], before: SplitSummary) -> bool:
        with self._shared.again(self._given.item.path) as file:
            header = file.read(block.start, HEADER_SIZE)
        return SplitSummary(0, NO_END, block.start, header, block.end, before.fit).follows(before)

    def _close(self) -> None:
        for _, task in self._parts:
            task.drop()
        self._shared.close()


def _stretches_of(ended: Ending) -> int:
    return sum(one.kind != "entry" for one in ended.damage)
