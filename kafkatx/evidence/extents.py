"""What of a file of a log is read: which bytes, which offsets it can hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kafkatx.evidence.item import Item
from kafkatx.segments.batches import NO_LIMIT, Chunk
from kafkatx.segments.resync import ExpectedNext
from kafkatx.sources.archives import real_path
from kafkatx.sources.files import OpenFile
from kafkatx.terms.records import dataclass

MODERN = 2
"""Magic of batches that state how new their newest record is; of older ones a wrapper does."""


@dataclass(frozen=True, slots=True)
class Extent:
    """What of a file is read: of its first `size` bytes (None: of all) the batches that begin in [start, stop).

    `fit` is what the batch at `start` must satisfy, None at the beginning of the file; `stretch_bytes` as of
    SegmentWalk. Of batches whose records are all older than `since` (milliseconds, None: of none) no record is read.
    """

    size: int | None = None
    start: int = 0
    stop: int = NO_LIMIT
    fit: ExpectedNext | None = None
    stretch_bytes: int | None = None
    since: int | None = None

    def options(self) -> dict[str, Any]:
        """Options of a SegmentWalk over it."""
        return {"start": self.start, "stop": self.stop, "fit": self.fit, "stretch_bytes": self.stretch_bytes}

    def cut_off(self, file: OpenFile) -> None:
        """Forget what was appended to a file since it had this size; what was unpacked has another one."""
        if self.size is not None and file.size > self.size and real_path(file.path) == file.path:
            file.size = self.size

    def chosen(self, chunk: Chunk) -> Chunk:
        """Leave out batches that are too old by what their headers say, as Kafka's own search by time does."""
        if self.since is None:
            return chunk
        rows = chunk.rows
        return replace(chunk, rows=rows[(rows["max_timestamp"] >= self.since) | (rows["magic"] < MODERN)])


WHOLE = Extent()


def first_possible_offset(item: Item) -> int:
    """Lowest offset a file can begin at: its name's, or any where the name has none."""
    return item.base_offset if item.base_offset >= 0 else -(1 << 62)


def offset_limits(items: list[Item]) -> dict[str, int]:
    """By key: the base offset of the next segment in the same folder, above which the file can't go."""
    folders: dict[str, list[Item]] = {}
    for item in items:
        folders.setdefault(item.data_directory if item.part else item.path.rpartition("/")[0], []).append(item)
    limits: dict[str, int] = {}
    for folder in folders.values():
        folder.sort(key=lambda item: item.base_offset)
        for item, behind in zip(folder, [*folder[1:], None], strict=True):
            known = behind is not None and item.base_offset >= 0 and behind.base_offset > item.base_offset
            limits[item.key] = behind.base_offset if known and behind is not None else NO_LIMIT
    return limits
