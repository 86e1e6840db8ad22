"""How far the log of a partition was read, and what of it is new since then, whatever became of its files.

Mark      the next offset, the highest leader epoch, the place behind the last whole batch, some of the last batches.
New       a batch behind the mark's offset, or of a later leader epoch: what a broker truncates it writes anew under a
          later epoch, and of two batches of one offset and one epoch there is only one. So segments may be rolled,
          merged and written anew by the cleaner, or deleted, and nothing is read twice.
Truncated an active segment is never cleaned: where batches of the mark are gone from it, or the segment is gone and
          none lies behind it, or the log ends before the mark, it was truncated. Mostly a later epoch did it and says
          what is new: by its batches, or, if a cleaner took those, by the broker's note of where each epoch begins.
One epoch Where no later epoch is told of (a broker that lost what it had not flushed and leads on), all behind the last
          batch that is still there is new; where that one was not among those noted, some of what follows it comes
          twice. Nothing is lost. Which of two batches between two that are noted was read, bytes can't tell: what was
          there before is gone, and to know each batch again a mark would have to hold one number a batch, not some
          fifty a log. Who counts takes such rows as one by topic, partition, leader epoch, offset and checksum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

from kafkatx.segments.batches import Rows
from kafkatx.terms.records import dataclass

NOTED = 32
"""The last batches that a mark notes one by one; before them at doubling distances, up to the first of a segment.

So a loss of so many under one epoch is told apart exactly; it makes a mark some 1.3 kB.
"""

Noted = tuple[int, int, int]
"""Where in its segment a batch begins, its offset and its checksum."""

Earlier = tuple[int, int, int, int]
"""The same of a batch of an earlier segment, behind the name of that."""


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a log was read: up to offset `end`, which is at `position` of the segment `base`, in `epoch` at most.

    `noted` are some of its last batches there, newest last, and `tight` is how many of those follow each other. Where a
    segment has few, `earlier` are the last of those before it: a truncation may take the whole segment.
    """

    end: int
    epoch: int
    base: int
    position: int
    noted: tuple[Noted, ...] = ()
    tight: int = 0
    earlier: tuple[Earlier, ...] = ()

    def has(self, epochs: Any, offsets: Any) -> Any:
        """Whether batches (arrays of their leader epochs and offsets) were read."""
        return (offsets < self.end) & (epochs <= self.epoch)

    def told(self) -> list[Any]:
        """Return it as JSON has it."""
        flat = [number for one in (*self.noted, *self.earlier) for number in one]
        return [self.end, self.epoch, self.base, self.position, self.tight, len(self.noted), *flat]


def mark_of(told: Sequence[int]) -> Mark:
    """Return the mark that `told` told."""
    end, epoch, base, position, tight, count, *flat = told
    here, before = flat[: 3 * count], flat[3 * count :]
    noted = zip(here[::3], here[1::3], here[2::3], strict=True)
    earlier = zip(before[::4], before[1::4], before[2::4], before[3::4], strict=True)
    return Mark(end, epoch, base, position, tuple(noted), tight, tuple(earlier))


class LogView(Protocol):
    """The log of a partition as its files are now; segments are called by the offsets in their names."""

    @property
    def bases(self) -> Sequence[int]:
        """Its segments in order."""

    def batches(self, base: int) -> Rows:
        """Return the last whole batches of a segment (kernels.rows.BATCH); of a short one all."""

    def noted(self, base: int, position: int) -> Noted | None:
        """Return the batch that begins at a place of a segment, None where none does."""

    def epochs(self) -> Sequence[tuple[int, int]]:
        """Return leader epochs and the offset that each began at, as the broker notes them; none where it doesn't."""


def end_of(view: LogView) -> Mark | None:
    """Return how far a log goes now; None of one without segments."""
    if not view.bases:
        return None
    newest = view.bases[-1]
    for base in reversed(view.bases):
        rows = view.batches(base)
        if len(rows):
            mark = _behind(rows, base, newest)
            return mark if len(rows) >= NOTED else replace(mark, earlier=_earlier(view, base, NOTED - len(rows)))
    return Mark(newest, -1, newest, 0)


def _behind(rows: Rows, base: int, newest: int) -> Mark:
    last, noted = rows[-1], _noted(rows[_kept(len(rows))])
    end = max(int(last["last_offset"]) + 1, newest)
    position = int(last["position"]) + int(last["size"])
    return Mark(end, int(rows["leader_epoch"].max()), base, position, noted, min(NOTED, len(rows)))


def _noted(rows: Rows) -> tuple[Noted, ...]:
    return tuple((int(row["position"]), int(row["base_offset"]), int(row["crc"])) for row in rows)


def _earlier(view: LogView, base: int, count: int) -> tuple[Earlier, ...]:
    """Return the last batches of the segments before one, at most `count`, oldest first."""
    found: list[Earlier] = []
    for before in reversed([one for one in view.bases if one < base]):
        if len(found) < count:
            last = _noted(view.batches(before)[-(count - len(found)) :])
            found = [*((before, *one) for one in last), *found]
    return tuple(found)


def _kept(count: int) -> list[int]:
    """Which of some batches a mark notes: the last ones, others at doubling distances, the first."""
    back, step = [*range(1, min(NOTED, count) + 1)], NOTED
    while back[-1] + step < count:
        back.append(back[-1] + step)
        step *= 2
    return sorted({0, *(count - one for one in back)})


@dataclass(frozen=True, slots=True)
class Newer:
    """What of a log is new: behind `known` (None: nothing is known) and up to `end`, of offsets in [first, stop)."""

    known: Mark | None
    end: Mark
    first: int = 0
    stop: int = (1 << 63) - 1

    def of(self, rows: Rows) -> Rows:
        """Return the rows of batches, or of the coordinator, that are new."""
        offsets = rows["base_offset" if "base_offset" in (rows.dtype.names or ()) else "offset"]
        epochs = rows["leader_epoch"]
        new = self.end.has(epochs, offsets) & (offsets >= self.first) & (offsets < self.stop)
        found: Rows = rows[new & ~self.known.has(epochs, offsets)] if self.known is not None else rows[new]
        return found

    def within(self, first: int, stop: int) -> Newer:
        """Return the same, of fewer offsets."""
        return replace(self, first=max(first, self.first), stop=min(stop, self.stop))


def since(known: Mark | None, end: Mark, view: LogView) -> Newer:
    """Return what is new of a log that was read up to `known` and is to be read up to `end`."""
    if known is None:
        return Newer(None, end)
    if is_there(known, view):
        return Newer(known, end, known.noted[-1][1] + 1)
    if not _is_truncated(known, end, view):
        return Newer(known, end, known.end if known.epoch >= end.epoch else 0)
    return _behind_truncation(known, end, view)


def is_there(mark: Mark, view: LogView) -> bool:
    """Whether the last batch of a mark is where it was: then all before it is, and nothing was truncated."""
    return bool(mark.noted) and mark.base in view.bases and view.noted(mark.base, mark.noted[-1][0]) == mark.noted[-1]


def _is_truncated(known: Mark, end: Mark, view: LogView) -> bool:
    return end.end < known.end or (bool(known.noted) and known.base >= view.bases[-1])


def _behind_truncation(known: Mark, end: Mark, view: LogView) -> Newer:
    """All of later epochs is new, and of the same one what lies behind the last batch that is still there."""
    cut, is_exact = _cut(known, view)
    if not is_exact and (end.epoch > known.epoch or _is_over(known, view)):
        return Newer(known, end, cut if known.base in view.bases and cut > known.base else 0)
    return Newer(replace(known, end=min(known.end, cut)), end, cut)


def _is_over(known: Mark, view: LogView) -> bool:
    """Whether a later epoch than those of a mark began before its end: what is of the mark's epochs is not new then.

    A cleaner takes batches out of the log, even all of an epoch, but nothing out of the broker's note of epochs.
    """
    return any(epoch > known.epoch and start <= known.end for epoch, start in view.epochs())


def _cut(known: Mark, view: LogView) -> tuple[int, bool]:
    """Return an offset at which a log was truncated, or one before it, and whether it was there.

    Only of the active segment that is known: what another one lacks a cleaner may have taken.
    """
    if known.base not in view.bases:
        return _cut_before(known, view)
    is_active = known.base == view.bases[-1]
    there = [view.noted(known.base, one[0]) == one for one in known.noted]
    kept = max((number for number, is_kept in enumerate(there) if is_kept), default=-1)
    if kept < 0:
        is_whole = bool(known.noted) and known.noted[0][0] == 0
        return known.base, is_active and is_whole and _goes_up_to(known, view)
    if kept + 1 < len(there) and kept >= len(there) - known.tight:
        return known.noted[kept + 1][1], is_active
    return known.noted[kept][1] + 1, False


def _goes_up_to(known: Mark, view: LogView) -> bool:
    """Whether a log is there up to the segment of a mark; one of that name may have been made anew after less."""
    if not known.earlier:
        return known.base == view.bases[0]
    base, *one = known.earlier[-1]
    return base in view.bases and view.noted(base, one[0]) == tuple(one)


def _cut_before(known: Mark, view: LogView) -> tuple[int, bool]:
    """The same of a log that ends before the segment in which it was read last."""
    for base, *one in reversed(known.earlier):
        if base in view.bases and view.noted(base, one[0]) == tuple(one):
            return one[1] + 1, False
    return max((base for base in view.bases if base < known.base), default=0), False
