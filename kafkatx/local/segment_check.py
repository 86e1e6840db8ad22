"""A segment on its way through a verification: read ahead in stretches, each batch handed to whatever checks it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from kafkatx.evidence.coverage import coverage_of
from kafkatx.evidence.extents import Extent
from kafkatx.evidence.file_reading import FileReading
from kafkatx.evidence.item import Item
from kafkatx.evidence.offset_coverage import FileReach
from kafkatx.evidence.parted import PartedFile, Reads
from kafkatx.kernels.batches import CHECK_ALL
from kafkatx.kernels.rows import VALID
from kafkatx.segments.batches import Rows, SegmentWalk
from kafkatx.segments.damage import Damage
from kafkatx.segments.names import Names
from kafkatx.segments.resync import crc_matches
from kafkatx.segments.transaction_log import StateWalk
from kafkatx.sources.ahead import Ahead
from kafkatx.sources.files import OpenFile
from kafkatx.terms.records import dataclass
from kafkatx.terms.topics import TRANSACTION_STATE

HEADER_BYTES = 61
RECORDS_STRETCH_BYTES = 16 << 20
"""Where records are read a stretch takes long, compressed ones longest: so much that the last one is not waited for."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What a verification reads of some batches beside their headers.

    Damage of old messages; of rows of `__transaction_state` that are none; how many records there are.
    """

    old: list[Damage]
    states: list[Damage]
    records: int


def planned(item: Item, limit: int, records: bool, ahead: Ahead) -> PartedFile[Checked]:
    """Plan to read a segment whose offsets lie below `limit`, with `records` every record of it."""
    first_offset = max(0, item.base_offset)
    given = FileReading(item, coverage_of(None, item, None), FileReach(0, item.base_offset), limit)
    walk = {"first_offset": first_offset, "offset_limit": limit}
    has_states = records and item.topic == TRANSACTION_STATE
    reads = Reads(partial(_walk_of, records, walk), partial(_checked, records, has_states, walk))
    return PartedFile(given, reads, ahead, RECORDS_STRETCH_BYTES if records else None)


def _walk_of(records: bool, walk: dict[str, Any], file: OpenFile, extent: Extent) -> SegmentWalk:
    options = {"check": CHECK_ALL, **extent.options(), **walk}
    if not records:
        return SegmentWalk(file, **options)
    from kafkatx.segments.record_counts import CountWalk

    return CountWalk(file, **options)


def _checked(has_records: bool, has_states: bool, options: dict[str, Any], walk: Any) -> Iterator[tuple[Rows, Checked]]:
    states = StateWalk(walk.file, Names(), **options) if has_states else None
    for chunk in walk.chunks():
        old = _old_messages(walk.file, chunk.rows)
        records = walk.count_of(chunk) if has_records else 0
        if states is not None:
            states.damage.clear()
            states.states_of(chunk)
        yield chunk.rows, Checked(old, [] if states is None else [*states.damage], records)


def _old_messages(file: OpenFile, rows: Rows) -> list[Damage]:
    """Messages of magic 0 and 1 with a wrong CRC-32; those with the right one are marked as checked."""
    wrong = []
    for number in np.flatnonzero(rows["magic"] < 2).tolist():
        position, size = int(rows["position"][number]), int(rows["size"][number])
        if crc_matches(file, position, file.read(position, HEADER_BYTES)):
            rows["crc_valid"][number] = VALID
        else:
            wrong.append(
                Damage("crc", file.path, position, size, "a message with the CRC its header states", "another CRC")
            )
    return wrong
