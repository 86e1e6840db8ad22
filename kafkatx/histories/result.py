"""The result of `history`: timelines by capture, coverage, damage. Data only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from kafkatx.evidence.coverage import Coverage
from kafkatx.histories.timeline import Book, Timeline
from kafkatx.segments.damage import Damage
from kafkatx.terms.records import dataclass


@dataclass(frozen=True, slots=True)
class CaptureHistory:
    """The timelines of one capture; `evidence_end` is "now" for ages."""

    capture: str
    cluster_id: str | None
    evidence_end: int
    book: Book


@dataclass(slots=True)
class Histories:
    """Timelines by capture, what was covered, damage. Iterating yields the timelines."""

    captures: list[CaptureHistory] = field(default_factory=list)
    coverage: list[Coverage] = field(default_factory=list)
    damage: list[Damage] = field(default_factory=list)

    def __iter__(self) -> Iterator[Timeline]:
        """Yield every timeline, capture by capture."""
        for capture in self.captures:
            yield from capture.book.timelines()
