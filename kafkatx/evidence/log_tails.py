"""The log of a partition as its segments lie in a folder now: what a mark is made of and held against."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from dataclasses import field

import numpy as np

from kafkatx.evidence.coverage import coverage_of
from kafkatx.evidence.extents import offset_limits
from kafkatx.evidence.file_reading import FileReading
from kafkatx.evidence.inventory import inventory
from kafkatx.evidence.item import Item, Kind
from kafkatx.evidence.log_marks import Noted
from kafkatx.evidence.offset_coverage import FileReach
from kafkatx.evidence.stretches import NO_END, StretchReading
from kafkatx.formats.checkpoints import LEADER_EPOCHS, parse_leader_epochs
from kafkatx.kernels.batches import HEADER_SIZE, MAGIC_AT
from kafkatx.kernels.rows import BATCH
from kafkatx.segments.batches import NO_LIMIT, Rows
from kafkatx.segments.resync import ExpectedNext
from kafkatx.sources import places
from kafkatx.sources.files import OpenFile, read_small
from kafkatx.terms.records import dataclass

TAIL = 4 << 20
"""Bytes before the end of a segment that are walked to learn where its last batch ends, if they tell."""
MOST_ROWS = 1 << 16
MOST_EPOCHS = 1 << 20
"""Bytes of a leader-epoch-checkpoint that are read at most."""
MODERN = 2
ANYTHING = ExpectedNext(-1, NO_LIMIT, -1)


def is_followed(item: Item) -> bool:
    """Whether a file is a segment of a broker, as it lies in a folder of a partition."""
    return item.kind is Kind.LOG and item.part is None and item.base_offset >= 0 and not item.left_out


def check_active(segments: Segments) -> None:
    """Raise OSError where a segment lies behind the newest of some by now.

    The active segment is never cleaned, so what it lacks was truncated. Of one that was active when it was listed and
    rolled since, what is read may be what a cleaner left.
    """
    newest = max(segments.bases, default=-1)
    if newest >= 0 and max(Segments.of(listed(segments.folder)).bases, default=-1) > newest:
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), segments.items[newest].path)


def listed(folder: str) -> list[Item]:
    """The files of a folder as they lie now; none where it is gone."""
    return inventory([folder], cut_texts=False) if places.is_folder(folder, anew=True) else []


@dataclass(slots=True)
class Segments:
    """The segments of a log, as they were listed."""

    items: dict[int, Item]
    _limits: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, items: Sequence[Item]) -> Segments:
        """Return those among some files of one folder; of two of one name the finished output of the cleaner."""
        kept = sorted(filter(is_followed, items), key=lambda item: (item.base_offset, item.path))
        return cls({item.base_offset: item for item in kept}, offset_limits(kept))

    @property
    def bases(self) -> list[int]:
        """The offsets in their names, in order."""
        return list(self.items)

    def limit(self, base: int) -> int:
        """The offset that a segment can't reach."""
        return self._limits.get(self.items[base].key, NO_LIMIT)

    def batches(self, base: int) -> Rows:
        """Return the last whole batches of a segment, of a short one all; raises OSError."""
        size = self.items[base].size
        if size > TAIL:
            rows, is_whole = self._walked(base, size - TAIL)
            if is_whole:
                return rows
        return self._walked(base, 0)[0]

    def noted(self, base: int, position: int) -> Noted | None:
        """Return the batch at a place of a segment, None where none is; raises OSError."""
        with OpenFile(self.items[base].path) as file:
            header = file.read(position, HEADER_SIZE)
        if not ANYTHING.admits(header):
            return None
        crc = header[17:21] if header[MAGIC_AT] == MODERN else header[12:16]
        return position, int.from_bytes(header[:8], "big"), int.from_bytes(crc, "big")

    def epochs(self) -> list[tuple[int, int]]:
        """Return leader epochs and where they began, of the checkpoint beside them; none of one that is not whole."""
        try:
            text = read_small(places.joined(self.folder, LEADER_EPOCHS), MOST_EPOCHS).decode("utf-8", "replace")
        except OSError:
            return []
        found = parse_leader_epochs(text)
        return [] if found.problems else [(one.epoch, one.start_offset) for one in found.entries]

    @property
    def folder(self) -> str:
        """Where they lie."""
        return places.parent(next(iter(self.items.values())).path)

    def _walked(self, base: int, begin: int) -> tuple[Rows, bool]:
        """The last batches of a segment from a place on, and whether nothing but the end is damaged there."""
        item = self.items[base]
        given = FileReading(item, coverage_of(None, item, None), FileReach(0, base), self.limit(base))
        reading = StretchReading(given, begin, NO_END)
        kept: list[Rows] = []
        for rows in reading.batch_rows():
            kept.append(rows)
            while sum(map(len, kept[1:])) >= MOST_ROWS:
                del kept[0]
        told = reading.told
        if told is None or told.problem:
            raise OSError(told.problem if told else "")
        damage = [one for one in told.ended.damage if one.kind != "torn"]
        return np.concatenate(kept or [np.zeros(0, BATCH)]), told.start >= 0 and not damage
