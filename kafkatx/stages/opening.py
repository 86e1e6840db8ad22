"""Opens the places that findings name: which file holds the batch, at which byte, and whether its CRC is right."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Iterable
from typing import Any

import numpy as np

from kafkatx.evidence.directories import Partition
from kafkatx.evidence.extents import offset_limits
from kafkatx.evidence.item import Item
from kafkatx.findings.diagnosis import OpenedRef
from kafkatx.segments.batches import Rows
from kafkatx.segments.entries import SNAPSHOT_HEADER_SIZE
from kafkatx.stages.placed import Files
from kafkatx.terms.records import dataclass
from kafkatx.words.explained import EvidenceRef


class Opener:
    """Finds batches by offset. Each segment that can hold a wanted one is walked once, by its headers.

    Where copies differ, what merging set aside is not meant; of a compacted and a whole version of one batch the
    fuller is. A place
    that lies in no segment may be known from a producer snapshot: then its entry is the place.
    """

    def __init__(
        self,
        segments: dict[Partition, list[Item]],
        snapshots: dict[Partition, list[Item]],
        set_aside: Container[tuple[str, int]],
        places: Iterable[EvidenceRef],
        files: Files,
    ) -> None:
        """Look for `places` in the files of a capture by partition.

        `set_aside` are (path, position) of diverged batches; `files` is where they are read.
        """
        self._set_aside, self._files = set_aside, files
        self._found: dict[tuple[Partition, int], _Batch] = {}
        wanted: dict[Partition, set[int]] = {}
        for place in places:
            if place.topic is not None and place.partition is not None and place.offset is not None:
                wanted.setdefault((place.topic, place.partition), set()).add(place.offset)
        for key, offsets in wanted.items():
            self._find(key, segments.get(key, []), sorted(offsets))
            self._find_in_snapshots(key, snapshots.get(key, []), sorted(offsets))

    def open(self, places: Iterable[EvidenceRef]) -> list[OpenedRef]:
        """Return the places with file and position, in the order given."""
        return [self._opened(place) for place in places]

    def _opened(self, place: EvidenceRef) -> OpenedRef:
        if place.line is not None:
            return OpenedRef(place, place.source, None, None, place.line)
        if place.topic is None or place.partition is None or place.offset is None:
            return OpenedRef(place, place.source, None, None)
        found = self._found.get(((place.topic, place.partition), place.offset))
        if found is None:
            return OpenedRef(place, None, None, None)
        position = found.position if found.line is None else None
        return OpenedRef(place, found.path, position, found.crc_valid, found.line)

    def _find(self, key: Partition, items: list[Item], offsets: list[int]) -> None:
        limits = offset_limits(items)
        for item in sorted(items, key=lambda item: (item.base_offset, item.path, item.copy)):
            first = bisect_left(offsets, item.base_offset)
            candidates = offsets[first : bisect_left(offsets, limits[item.key])]
            if candidates:
                self._search(key, item, candidates)

    def _find_in_snapshots(self, key: Partition, items: list[Item], offsets: list[int]) -> None:
        """Entries of transactions that are open since an offset that no segment holds any more."""
        missing = [offset for offset in offsets if (key, offset) not in self._found]
        for item in items if missing else []:
            entries, _ = self._files.snapshot_entries(item)
            for offset in missing:
                for number in np.flatnonzero(entries["open_since_offset"] == offset)[:1]:
                    if item.part is not None:
                        printed = _Batch(item.path, item.part.position, None, PRINTED, item.part.line)
                        self._found.setdefault((key, offset), printed)
                        continue
                    position = SNAPSHOT_HEADER_SIZE + int(number) * entries.itemsize
                    self._found.setdefault((key, offset), _Batch(item.path, position, True, (0, 0)))

    def _search(self, key: Partition, item: Item, offsets: list[int]) -> None:
        find = self._find_batches if item.part is None else self._find_lines
        try:
            for rows in self._files.batches(item, offsets):
                find(key, item, rows, offsets)
                if item.part is None and offsets[-1] <= int(rows["last_offset"][-1]):
                    return
        except OSError:
            return

    def _find_lines(self, key: Partition, item: Item, rows: Rows, offsets: list[int]) -> None:
        """Lines that print the batches wanted."""
        starts, ends = rows["base_offset"], rows["last_offset"]
        for offset in offsets:
            for row in rows[(starts <= offset) & (ends >= offset)][:1]:
                place = _Batch(item.path, int(row["position"]), None, PRINTED, int(row["line"]))
                self._found.setdefault((key, offset), place)

    def _find_batches(self, key: Partition, item: Item, rows: Rows, offsets: list[int]) -> None:
        ends = rows["last_offset"]
        for offset in offsets[bisect_left(offsets, int(rows["base_offset"][0])) :]:
            if offset > int(ends[-1]):
                break
            row = rows[int(ends.searchsorted(offset))]
            if row["base_offset"] <= offset:
                self._note(key, offset, item, row)

    def _note(self, key: Partition, offset: int, item: Item, row: Any) -> None:
        position, before = int(row["position"]), self._found.get((key, offset))
        if (item.path, position) in self._set_aside:
            return
        rank = (int(row["leader_epoch"]), int(row["record_count"]))
        if before is not None and before.rank >= rank:
            return
        valid = self._files.crc_valid(item, row)
        if valid is not False:
            self._found[key, offset] = _Batch(item.path, position, valid, rank)


@dataclass(frozen=True, slots=True)
class _Batch:
    """Where a wanted batch lies; `rank` decides between copies."""

    path: str
    position: int
    crc_valid: bool | None
    rank: tuple[int, int]
    line: int | None = None


PRINTED = (-1, -1)
"""Rank of a batch that only a tool's text shows: the bytes are better."""
