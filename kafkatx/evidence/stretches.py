"""Files read in stretches, each anywhere, and put together to what one walk from the beginning would have read.

Stretch   the batches that begin in [begin, stop), bytes of the file; `stop` is a multiple of the stretch's size.
Start     nobody walks headers to plan: a stretch finds its first batch by CRC (segments/resync.py).
Seam      a stretch counts where the one before it ended at its first batch, that batch fits what the walk knew there
          (offset above, leader epoch not lower), and nothing in it is damaged: then the whole walk would have read the
          same, since all that it carries over is what the first batch must satisfy (the table of producers seen begins
          empty at each stretch). Else it is read again from where the one before it ended.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import field, replace
from typing import Any, TypeVar

from kafkatx.evidence.extents import Extent
from kafkatx.evidence.file_reading import BatchSummary, Ending, FileReading, batches_of, watched
from kafkatx.evidence.offset_coverage import Range
from kafkatx.kernels.batches import HEADER_SIZE, MAGIC_AT
from kafkatx.segments.batches import STRETCH_BYTES, Rows, SegmentWalk
from kafkatx.segments.damage import noted
from kafkatx.segments.names import Names
from kafkatx.segments.resync import LONGEST_LEAD, ExpectedNext, Resync
from kafkatx.segments.transaction_log import StateWalk
from kafkatx.sources.files import OpenFile
from kafkatx.terms.records import dataclass

NO_END = (1 << 63) - 1
MODERN = 2
T = TypeVar("T")
WalkOf = Callable[[OpenFile, Extent], SegmentWalk]
Met = tuple[BatchSummary, int, Rows, T]
"""Consecutive batches of a file: what they say together, how many stretches of damage were met so far in the stretch,
the batches, and what was read of them."""


@dataclass(frozen=True, slots=True)
class SplitSummary:
    """What a stretch of a file told.

    `begin` and `stop` are its limits, `start` where its first batch begins (-1: none does), with the first bytes of
    that batch as `header`; `end` is where the walk stood behind its last batch and `fit` what must follow there;
    `is_over`: it found that nothing does. `notes` sum batches up, with the stretches of damage met before them;
    `problem` is why the file could not be opened.
    """

    begin: int
    stop: int
    start: int
    header: bytes
    end: int
    fit: ExpectedNext
    is_over: bool = False
    notes: tuple[tuple[BatchSummary, int], ...] = ()
    ended: Ending = field(default_factory=Ending)
    problem: str | None = None

    def follows(self, before: SplitSummary) -> bool:
        """Whether a walk that has come to the end of `before` would have read the same in this stretch."""
        if self.ended.damage or self.ended.torn:
            return False
        if self.start < 0:
            return before.end >= self.stop
        is_as_new = before.fit.leader_epoch < 0 or leader_epoch(self.header) >= 0
        return self.start == before.end and before.fit.admits(self.header) and is_as_new


def stretches(size: int, stretch_bytes: int | None = None) -> list[Range]:
    """Cut a file of `size` bytes into stretches of `stretch_bytes` (STRETCH_BYTES); the last one has no end."""
    begins = list(range(0, max(size, 1), stretch_bytes or STRETCH_BYTES))
    return list(zip(begins, [*begins[1:], NO_END], strict=True))


@dataclass(slots=True)
class StretchReading:
    """One stretch while it is read; `told` is there when the rows are exhausted.

    `given` says which file; `after` is what was told of the stretch before, None where that is not known: then the
    first batch is believed when `lead` batches follow it. `opened` opens the file.
    """

    given: FileReading
    begin: int
    stop: int
    stretch_bytes: int | None = None
    after: SplitSummary | None = None
    told: SplitSummary | None = None
    lead: int = LONGEST_LEAD
    opened: Callable[[str], OpenFile] = OpenFile
    _notes: list[tuple[BatchSummary, int]] = field(default_factory=list)

    def batch_rows(self) -> Iterator[Rows]:
        """Batches (kernels.rows.BATCH) in offset order."""
        return self._rows(self.given.batch_walk, batches_of)

    def state_rows(self, names: Names) -> Iterator[Rows]:
        """Coordinator rows (kernels.rows.STATE) in offset order, named by `names`."""

        def walk_of(file: OpenFile, extent: Extent) -> StateWalk:
            return self.given.state_walk(file, names, extent)

        return self._rows(walk_of, StateWalk.state_chunks)

    def _rows(
        self,
        walk_of: Callable[[OpenFile, Extent], SegmentWalk],
        read: Callable[[Any], Iterator[tuple[Rows, Rows]]],
    ) -> Iterator[Rows]:
        for seen, met, _, rows in self.met(walk_of, read):
            self._note(seen, met)
            yield rows

    def met(self, walk_of: WalkOf, read: Callable[[Any], Iterator[tuple[Rows, T]]]) -> Iterator[Met[T]]:
        """Batches in offset order with what `read` takes of a walk, and what they say of the file."""
        try:
            file = self.opened(self.given.item.path)
        except OSError as error:
            self.told = replace(self._nothing(self.begin), is_over=True, problem=str(error.strerror))
            return
        with file:
            begin = self._begin(file)
            if begin is None or begin >= self.stop:
                self.told = self._nothing(begin if begin is not None and self.after else self.begin)
                return
            fit = self.after.fit if self.after else None
            walk = walk_of(file, Extent(None, begin, self.stop, fit, self.stretch_bytes))
            start, said = -1, deque[tuple[BatchSummary, int]]()
            for batches, held in watched(walk, read, lambda seen, met: said.append((seen, met))):
                start = int(batches["position"][0]) if start < 0 else start
                yield *said.popleft(), batches, held
            self._tell(file, walk, start)

    def _begin(self, file: OpenFile) -> int | None:
        """Where the walk begins: known for the first stretch and behind a known one, else found by CRC."""
        if self.after is not None:
            return self.after.end
        if self.begin == 0:
            return 0
        first_offset = max(0, self.given.item.base_offset)
        fit = ExpectedNext(first_offset - 1, self.given.limit, -1)
        return Resync(file).first_batch(self.begin, fit, self.stop, self.lead)

    def _note(self, seen: BatchSummary, met: int) -> None:
        if self._notes and self._notes[-1][1] == met:
            self._notes[-1] = (self._notes[-1][0].followed_by(seen), met)
        else:
            self._notes.append((seen, met))

    def _nothing(self, end: int) -> SplitSummary:
        fit = self.after.fit if self.after else ExpectedNext(-1, NO_END, -1)
        return SplitSummary(self.begin, self.stop, -1, b"", end, fit)

    def _tell(self, file: OpenFile, walk: SegmentWalk, start: int) -> None:
        ended = Ending(walk.damage, walk.torn, walk.preallocated)
        header = file.read(start, HEADER_SIZE) if start >= 0 else b""
        is_over = walk.torn or walk.preallocated > 0 or walk.end >= file.size
        self.told = SplitSummary(
            self.begin, self.stop, start, header, walk.end, walk.fit, is_over, tuple(self._notes), ended
        )  # fmt: skip


RereadPolicy = Callable[[int, int, SplitSummary], SplitSummary]
"""Reads the stretch [begin, stop) again behind what was told of the one before it."""


def put_together(given: FileReading, parts: list[SplitSummary], again: RereadPolicy) -> set[int]:
    """Tell a file from its stretches, which are all of it and in order.

    Coverage, reach and damage of `given` become those of one walk. Returns the begins of the stretches that count as
    they were read; the others were read again, or are behind the end.
    """
    counted: set[int] = set()
    ended, met = Ending(), 0
    for found, counts in in_sequence(parts, again):
        if found.problem is not None:
            given.refuse(found.problem)
            return counted
        if counts:
            counted.add(found.begin)
        for seen, stretches_met in found.notes:
            given.note(seen, met + stretches_met)
        met += sum(one.kind != "entry" for one in found.ended.damage)
        ended = and_then(ended, found.ended)
    given.end(ended)
    return counted


def in_sequence(parts: list[SplitSummary], again: RereadPolicy) -> Iterator[tuple[SplitSummary, bool]]:
    """Yield what one walk tells of each stretch, and whether that is what was told; ends where the log does.

    `parts` are all stretches of the file in order. A file that could not be opened ends with the stretch that says so.
    """
    before: SplitSummary | None = None
    for part in parts:
        if before is not None and (before.is_over or before.problem is not None):
            return
        counts = part.problem is None and (before is None or part.follows(before))
        if part.problem is not None or before is None:
            found = part
        elif counts:
            found = part if part.start >= 0 else replace(part, end=before.end, fit=before.fit)
        else:
            found = again(part.begin, part.stop, before)
        yield found, counts
        before = found


def and_then(one: Ending, other: Ending) -> Ending:
    """Return how a file ended, of how two stretches did."""
    damage = list(one.damage)
    for entry in other.damage:
        noted(damage, entry)
    return Ending(damage, other.torn, other.preallocated)


def leader_epoch(header: bytes) -> int:
    """The leader epoch in the first bytes of a batch; -1 of what has none."""
    return int.from_bytes(header[12:16], "big", signed=True) if header[MAGIC_AT] == MODERN else -1
