"""Opens the places that findings name: which file holds the batch, at which byte, and whether its CRC is right."""

from __future__ import annotations

from bisect import bisect_right

from kafkatx.evidence.directories import Partition
from kafkatx.evidence.inventory import Item
from kafkatx.kernels.batches import CHECK_NONE, HEADER_SIZE
from kafkatx.rules.diagnosis import OpenedPlace
from kafkatx.rules.finding import Place
from kafkatx.segments.batches import SegmentWalk
from kafkatx.segments.resync import crc_matches
from kafkatx.sources.files import OpenFile


class Opener:
    """Finds batches by offset. Each segment that is asked for is walked once by its headers; only the wanted batches are kept."""

    def __init__(self, segments: dict[Partition, list[Item]]) -> None:
        """`segments` are the log files of a capture by partition."""
        self._segments = {
            key: sorted(items, key=lambda item: (item.base_offset, item.path)) for key, items in segments.items()
        }
        self._found: dict[tuple[Partition, int], OpenedPlace] = {}

    def open(self, places: list[Place]) -> list[OpenedPlace]:
        """Open all places, in the order given."""
        wanted: dict[Partition, set[int]] = {}
        for place in places:
            key = (place.topic, place.partition)
            if (key, place.offset) not in self._found:
                wanted.setdefault(key, set()).add(place.offset)
        for key, offsets in wanted.items():
            self._find(key, sorted(offsets))
        return [self._opened(place) for place in places]

    def _opened(self, place: Place) -> OpenedPlace:
        found = self._found.get(((place.topic, place.partition), place.offset))
        return (
            OpenedPlace(place, found.source, found.position, found.crc_valid)
            if found
            else OpenedPlace(place, None, None, None)
        )

    def _find(self, key: Partition, offsets: list[int]) -> None:
        """Look for offsets in the segments that can hold them, the last segment of each folder that begins at or below first."""
        missing = offsets
        for item in self._segments.get(key, []):
            begins = item.base_offset if item.base_offset >= 0 else 0
            candidates = [offset for offset in missing if offset >= begins]
            if candidates:
                self._search(key, item, candidates)
                missing = [offset for offset in missing if (key, offset) not in self._found]

    def _search(self, key: Partition, item: Item, offsets: list[int]) -> None:
        try:
            with OpenFile(item.path) as file:
                self._search_file(key, file, offsets)
        except OSError:
            return

    def _search_file(self, key: Partition, file: OpenFile, offsets: list[int]) -> None:
        for chunk in SegmentWalk(file, check=CHECK_NONE).chunks():
            ends = chunk.rows["last_offset"]
            for offset in offsets[bisect_right(offsets, int(chunk.rows["base_offset"][0]) - 1) :]:
                if offset > int(ends[-1]):
                    break
                row = chunk.rows[int(ends.searchsorted(offset))]
                if row["base_offset"] <= offset:
                    position = int(row["position"])
                    valid = crc_matches(file, position, file.read(position, HEADER_SIZE)) if row["magic"] == 2 else None
                    place = Place(*key, offset, None, "")
                    if valid is not False:
                        self._found[key, offset] = OpenedPlace(place, file.path, position, valid)
            if offsets[-1] <= int(ends[-1]):
                return
