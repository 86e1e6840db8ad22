"""Where the stretches of a large file begin: found by the tasks that read them, so that nobody walks files to plan.

Plan    a stretch is given by bytes alone. All stretches of a file together have the rows of one walk over it.
Tail    the task walks the last LOOK_BACK bytes before its stretch, from the first batch that it finds by CRC. Walks
        that meet go on alike: where that one is whole, it ends where one walk of the whole file would have come to.
Doubt   a tail that is damaged or has no batch says nothing, nor does one whose offsets or leader epochs do not go on
        from those that samples before it have. Then the stretch before is walked first, from where that one
        begins, found in the same way; at last from the beginning of the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from itertools import pairwise

from kafkatx.evidence.item import Kind
from kafkatx.evidence.stretches import SplitSummary, StretchReading, leader_epoch, stretches
from kafkatx.segments.batches import NO_LIMIT, STRETCH_BYTES
from kafkatx.segments.resync import ExpectedNext, Resync
from kafkatx.sources.archives import packing, real_path
from kafkatx.sources.files import OpenFile
from kafkatx.stages.table_files import Source
from kafkatx.terms.records import dataclass

LOOK_BACK = 8 << 20
"""Bytes before a stretch that are walked to learn where it begins; a longer batch that holds whole batches itself could
be taken for them."""
NEAR = 3
"""So many stretches before a tail offsets are looked at twice a LOOK_BACK, farther away at each limit."""
ANYTHING = ExpectedNext(-1, NO_LIMIT, -1)

Place = tuple[int, int, int]
"""Where a batch begins, its offset and its leader epoch (-1: it has none)."""


def in_stretches(files: Iterable[Source], stretch_bytes: int | None = None) -> list[Source]:
    """Return the files, and in place of those that are larger than a stretch (STRETCH_BYTES) their stretches.

    Where a stretch begins is to be found yet (`begun`): its extent starts at a limit and says nothing of what fits.
    """
    size = stretch_bytes or STRETCH_BYTES
    return [one for source in files for one in (_cut(source, size) if _is_large(source, size) else [source])]


def begun(found: Iterable[Source]) -> Iterator[Source]:
    """Yield what is to be read, with stretches that begin at a batch; leaves out those that have none."""
    files: dict[str, _Seams] = {}
    for source in found:
        extent = source.extent
        if extent.start == 0 or extent.fit is not None:
            yield source
            continue
        before = files.setdefault(source.item.key, _Seams(source)).before(extent.start)
        if before is not None and before.end < extent.stop:
            yield replace(source, extent=replace(extent, start=before.end, fit=before.fit))


@dataclass(slots=True)
class _Seams:
    """The limits of a file's stretches."""

    source: Source
    _samples: dict[int, Place | None] = field(default_factory=dict)

    @property
    def unit(self) -> int:
        """Bytes of a stretch, at multiples of which a walk forgets the producers seen."""
        return self.source.extent.stretch_bytes or STRETCH_BYTES

    def before(self, limit: int) -> SplitSummary | None:
        """What one walk tells that has come to a limit of stretches; None where the log ends before it."""
        at, told = limit, self._tail(limit)
        while told is None:
            at = max(0, at - self.unit)
            if at == 0:
                break
            told = self._tail(at)
        while at < limit and not (told and (told.is_over or told.problem)):
            at, told = at + self.unit, self._told(at, at + self.unit, told)
        return None if told is None or told.is_over or told.problem else told

    def _told(self, begin: int, stop: int, after: SplitSummary | None) -> SplitSummary:
        reading = StretchReading(self.source.reading(), begin, stop, self.source.extent.stretch_bytes, after)
        for _ in reading.batch_rows():
            pass
        assert reading.told is not None
        return reading.told

    def _tail(self, limit: int) -> SplitSummary | None:
        """What the walk of the bytes before a limit tells; None where that may not be what a whole walk tells."""
        begin = max(0, limit - LOOK_BACK)
        told = self._told(begin, limit, None)
        if begin == 0 or told.problem:
            return told
        ended = told.ended
        is_whole = told.start >= 0 and told.end >= limit and not (ended.damage or ended.torn or ended.preallocated)
        return told if is_whole and self._goes_on(begin, told) else None

    def _goes_on(self, begin: int, told: SplitSummary) -> bool:
        """Whether offsets and leader epochs rise from sample to sample, and from there to what a tail told."""
        first = told.start, int.from_bytes(told.header[:8], "big"), leader_epoch(told.header)
        near = max(0, begin - NEAR * self.unit) // self.unit * self.unit
        looked = [*range(0, near, self.unit), *range(near, begin, max(LOOK_BACK // 2, 1))]
        samples = [place for at in looked if (place := self._sample(at)) and place < first]
        return all(_follows(*pair) for pair in pairwise(sorted({*samples, first})))

    def _sample(self, at: int) -> Place | None:
        """The first batch that begins at a place or behind it, by its CRC."""
        if at not in self._samples:
            self._samples[at] = _first_batch(self.source.item.path, at)
        return self._samples[at]


def _follows(one: Place, other: Place) -> bool:
    return one[1] < other[1] and (other[2] < 0 or one[2] <= other[2])


def _first_batch(path: str, at: int) -> Place | None:
    try:
        with OpenFile(path) as file:
            found = Resync(file).first_header(at, ANYTHING)
    except OSError:
        return None
    return (found[0], int.from_bytes(found[1][:8], "big"), leader_epoch(found[1])) if found else None


def _cut(source: Source, stretch_bytes: int) -> list[Source]:
    """All stretches of a file; at multiples of STRETCH_BYTES a walk of the whole file begins one, too."""
    within = None if stretch_bytes % STRETCH_BYTES == 0 else stretch_bytes
    whole, limits = replace(source.extent, stretch_bytes=within), stretches(source.item.size, stretch_bytes)
    return [replace(source, extent=replace(whole, start=begin, stop=stop)) for begin, stop in limits]


def _is_large(source: Source, stretch_bytes: int) -> bool:
    """Whether a file is worth stretches and can be read in them: what is packed begins at its beginning."""
    item = source.item
    if item.kind is not Kind.LOG or item.part is not None or item.size <= stretch_bytes:
        return False
    try:
        return real_path(item.path) == item.path and packing(item.path) is None
    except OSError:
        return False
