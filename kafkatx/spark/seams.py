"""Where the stretches of large files begin, so that each can be read by itself and all of them give one walk's rows.

Look     a task a stretch walks the batches of it, from the first that it finds by CRC, and tells where it was.
Join     where each stretch begins at which the one before it ended, that is known of the file; where one does not, or
         holds damage, a task goes over the file again and reads those stretches anew (evidence/stretches.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain
from operator import attrgetter
from typing import Any

from kafkatx.evidence.extents import Extent
from kafkatx.evidence.file_reading import BatchSummary, Ending
from kafkatx.evidence.item import Kind
from kafkatx.evidence.stretches import RereadPolicy, SplitSummary, StretchReading, in_sequence, stretches
from kafkatx.segments.batches import NO_LIMIT, STRETCH_BYTES
from kafkatx.sources.archives import packing, real_path
from kafkatx.stages.packing import COST_OF_FILE, grouped
from kafkatx.stages.table_files import Source

Run = Callable[[Callable[[Any], Any], list[Any]], list[Any]]
"""Calls a function of a module for each of some values, anywhere; returns the answers in their order."""


@dataclass(frozen=True, slots=True)
class Look:
    """One stretch of a file, to be looked at."""

    source: Source
    begin: int
    stop: int
    stretch_bytes: int | None

    @property
    def bytes(self) -> int:
        """Bytes that are read."""
        return COST_OF_FILE + min(self.stop, self.source.item.size) - self.begin

    def told(self, after: SplitSummary | None = None) -> SplitSummary:
        """Walk the stretch, behind what was told of the one before it where that is known."""
        reading = StretchReading(self.source.reading(), self.begin, self.stop, self.stretch_bytes, after)
        for _ in reading.batch_rows():
            pass
        assert reading.told is not None
        return reading.told


@dataclass(frozen=True, slots=True)
class Seam:
    """A stretch that has batches: where it is read from, and the newest time in it (milliseconds, -1: none)."""

    extent: Extent
    newest: int


def in_stretches(files: list[Source], run: Run, stretch_bytes: int | None = None) -> list[Source]:
    """Return the files, and of those that are larger than a stretch (STRETCH_BYTES) the stretches that are wanted.

    The rows of all stretches of a file are the file's.
    """
    size = stretch_bytes or STRETCH_BYTES
    looks = {n: _looks(source, size) for n, source in enumerate(files) if _is_large(source, size)}
    if not looks:
        return files
    tasks = [*grouped(chain.from_iterable(looks.values()), attrgetter("bytes"))]
    told = iter(chain.from_iterable(run(look_at, tasks)))
    read = [(of_file, [next(told) for _ in of_file]) for of_file in looks.values()]
    parts = dict(zip(looks, _joined(read, run), strict=True))
    return [one for n, source in enumerate(files) for one in (_wanted(source, parts[n]) if n in parts else [source])]


def look_at(looks: list[Look]) -> list[SplitSummary]:
    """Walk some stretches, each by itself; what is told of each is cut down to what a seam needs."""
    return [_brief(look.told()) for look in looks]


def look_again(read: tuple[list[Look], list[SplitSummary]]) -> list[Seam]:
    """Join the stretches of a file of which some have to be walked again, behind the one before them."""
    looks = {look.begin: look for look in read[0]}
    return _seams(*read, lambda begin, stop, before: looks[begin].told(before))


def _joined(read: list[tuple[list[Look], list[SplitSummary]]], run: Run) -> list[list[Seam]]:
    """Join the stretches of each file: here where all fit, else where the file can be read."""
    found = [_fitting(*one) for one in read]
    broken = [one for one, seams in zip(read, found, strict=True) if seams is None]
    mended = iter(run(look_again, broken) if broken else [])
    return [next(mended) if seams is None else seams for seams in found]


def _fitting(looks: list[Look], told: list[SplitSummary]) -> list[Seam] | None:
    def again(begin: int, stop: int, before: SplitSummary) -> SplitSummary:
        raise _MisfitError

    try:
        return _seams(looks, told, again)
    except _MisfitError:
        return None


class _MisfitError(Exception):
    """A stretch has to be read again."""


def _seams(looks: list[Look], told: list[SplitSummary], again: RereadPolicy) -> list[Seam]:
    """The stretches of a file that have batches, each from where the one before it ended."""
    seams: list[Seam] = []
    whole = looks[0].source.extent
    before: SplitSummary | None = None
    for found, _ in in_sequence(told, again):
        if found.problem is not None:
            return [Seam(whole, NO_LIMIT)]
        if found.notes:
            start, fit = (before.end, before.fit) if before is not None else (0, None)
            part = replace(whole, start=start, stop=found.stop, fit=fit, stretch_bytes=looks[0].stretch_bytes)
            seams.append(Seam(part, max(seen.newest for seen, _ in found.notes)))
        before = found
    return seams


def _wanted(source: Source, seams: list[Seam]) -> list[Source]:
    since = source.extent.since
    return [replace(source, extent=seam.extent) for seam in seams if since is None or seam.newest >= since]


def _is_large(source: Source, stretch_bytes: int) -> bool:
    """Whether a file is worth stretches and can be read in them: what is packed begins at its beginning."""
    item = source.item
    if item.kind is not Kind.LOG or item.part is not None or item.size <= stretch_bytes:
        return False
    try:
        return real_path(item.path) == item.path and packing(item.path) is None
    except OSError:
        return False


def _looks(source: Source, stretch_bytes: int) -> list[Look]:
    """All stretches of a file; at multiples of STRETCH_BYTES a walk of the whole file begins one, too."""
    within = None if stretch_bytes % STRETCH_BYTES == 0 else stretch_bytes
    limits = stretches(source.item.size, stretch_bytes)
    return [Look(source, begin, stop, within) for begin, stop in limits]


def _brief(told: SplitSummary) -> SplitSummary:
    seen = [glance for glance, _ in told.notes]
    notes = ((reduce(BatchSummary.followed_by, seen), 0),) if seen else ()
    ended = Ending(told.ended.damage[:1], told.ended.torn, told.ended.preallocated)
    return replace(told, notes=notes, ended=ended)
