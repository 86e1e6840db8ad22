"""Segments that the cleaner wrote anew and had not put in place yet when the files were copied."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kafkatx.evidence.item import Item, Kind
from kafkatx.evidence.looking import Looker, size_of
from kafkatx.formats.file_names import FileSuffix, PartitionFolder
from kafkatx.kernels.batches import CHECK_NONE
from kafkatx.segments.batches import SegmentWalk
from kafkatx.sources.files import OpenFile

SWAP = f".{FileSuffix.SWAP}"
REPLACED = {Kind.LOG, Kind.INDEX, Kind.TIMEINDEX, Kind.TXNINDEX}
"""Files of a segment that the cleaner writes anew."""


def without_swapped(items: list[Item], looker: Looker) -> Iterator[Item]:
    """A .swap segment is the cleaner's finished output.

    The segments whose offsets it covers, and their indexes, are not used.
    """
    swaps = [item for item in items if item.kind is Kind.LOG and item.path.endswith(SWAP)]
    covers: dict[tuple[str, PartitionFolder | None], list[tuple[int, int]]] = {}
    for item, last in zip(swaps, looker.each(last_offset, swaps, size_of), strict=True):
        covers.setdefault((item.data_directory, item.folder), []).append((item.base_offset, last))
    for item in items:
        ranges = covers.get((item.data_directory, item.folder), ())
        of_segment = item.kind in REPLACED and not item.path.endswith(SWAP) and not item.left_out
        covered = of_segment and any(first <= item.base_offset <= last for first, last in ranges)
        yield replace(item, left_out="replaced by the .swap file beside it") if covered else item


def last_offset(item: Item) -> int:
    """Last offset in a segment, at least its base offset."""
    last = item.base_offset
    try:
        with OpenFile(item.path) as file:
            for chunk in SegmentWalk(file, check=CHECK_NONE, first_offset=max(0, item.base_offset)).chunks():
                last = int(chunk.rows["last_offset"][-1])
    except OSError:
        pass
    return last
