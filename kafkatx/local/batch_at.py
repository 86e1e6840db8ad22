"""The batch that holds an offset, in every file that has it, and the record in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from itertools import pairwise
from typing import Any

import numpy as np

from kafkatx.evidence.item import Item
from kafkatx.evidence.text_walk import TextWalk, tell_magic
from kafkatx.formats.control_record import ControlType
from kafkatx.formats.record_batch import (
    codec_of,
    has_delete_horizon,
    is_control,
    is_log_append_time,
    is_transactional,
    sequence_after,
)
from kafkatx.histories.location import BatchFacts, Copy, Neighbour, RecordFacts
from kafkatx.kernels.batches import CHECK_NONE, HEADER_SIZE
from kafkatx.segments.batches import Chunk, SegmentWalk
from kafkatx.segments.entries import aborted_transactions
from kafkatx.segments.records import RecordChunk, RecordWalk
from kafkatx.segments.resync import crc_matches
from kafkatx.sources.files import OpenFile, read_small
from kafkatx.terms.records import dataclass
from kafkatx.text.pages.part import TextPart

MAGIC = 2


@dataclass(slots=True)
class Held:
    """What the files say of an offset: copies of its batch (the best first), its neighbours, what could not be read."""

    copies: list[Copy] = field(default_factory=list)
    rows: list[Any] = field(default_factory=list)
    before: Neighbour | None = None
    behind: Neighbour | None = None
    problems: list[str] = field(default_factory=list)

    @property
    def row(self) -> Any | None:
        """The best copy's batch (dtype BATCH), None where no file holds one."""
        return self.rows[0] if self.rows else None

    @property
    def is_printed(self) -> bool:
        """Whether only texts show the batch: they may leave its records out."""
        return bool(self.copies) and self.copies[0].line is not None


def batch_at(items: Iterable[Item], offset: int) -> Held:
    """Look for an offset in the segments that can hold it.

    A name says where a file begins: of each folder the last one that begins at or below the offset is read, and those
    without a number in their names. Of several copies that of the highest leader epoch with a right CRC stands first.
    """
    held = Held()
    found: list[_Found] = []
    for item in _candidates(items, offset):
        try:
            with OpenFile(item.path) as file:
                if item.part is not None:
                    found += _printed(file, item.part, offset)
                elif (row := _search(file, item.base_offset, offset, held)) is not None:
                    found.append(_Found(row, _crc(file, row), file.path))
        except OSError as error:
            held.problems.append(f"{item.path}: {error.strerror}")
    for one in sorted(found, key=lambda one: one.rank):
        epoch = _known(one.row["leader_epoch"])
        held.copies.append(Copy(one.path, int(one.row["position"]), one.valid, epoch, one.line))
        held.rows.append(one.row)
    return held


@dataclass(frozen=True, slots=True)
class _Found:
    """A copy of the batch: in a segment, or printed in a line of a text."""

    row: Any
    valid: bool | None
    path: str
    line: int | None = None

    @property
    def rank(self) -> tuple[bool, bool, int, int, str]:
        """The best first: right bytes, those of the newest leader; then text; then wrong bytes."""
        epoch, records = int(self.row["leader_epoch"]), int(self.row["record_count"])
        return self.valid is False, self.line is not None, -epoch, -records, self.path


def _candidates(items: Iterable[Item], offset: int) -> list[Item]:
    folders: dict[str, list[Item]] = {}
    for item in items:
        folders.setdefault(item.data_directory if item.part else item.path.rpartition("/")[0], []).append(item)
    chosen = []
    for folder in folders.values():
        numbered = sorted((item for item in folder if item.base_offset >= 0), key=lambda item: item.base_offset)
        chosen += [item for item in folder if item.base_offset < 0]
        chosen += [item for item, behind in pairwise([*numbered, None]) if item and _may_hold(item, behind, offset)]
    return chosen


def _may_hold(item: Item, behind: Item | None, offset: int) -> bool:
    return item.base_offset <= offset and (behind is None or offset < behind.base_offset)


def _printed(file: OpenFile, part: TextPart, offset: int) -> Iterator[_Found]:
    """The batch that a tool printed for an offset; its position is that of the line."""
    for chunk in TextWalk(file, part).printed():
        at = np.flatnonzero((chunk.rows["base_offset"] <= offset) & (chunk.rows["last_offset"] >= offset))
        if len(at):
            tell_magic(chunk.rows)
            row = chunk.rows[at[0]].copy()
            row["position"] = chunk.positions[at[0]]
            yield _Found(row, None, file.path, int(chunk.lines[at[0]]))
            return


def _search(file: OpenFile, first_offset: int, offset: int, held: Held) -> Any | None:
    """The batch that holds an offset; notes its neighbours where none does, and damage before it."""
    walk, found = SegmentWalk(file, check=CHECK_NONE, first_offset=max(0, first_offset)), None
    for chunk in walk.chunks():
        ends = chunk.rows["last_offset"]
        if offset > int(ends[-1]):
            held.before = _later(held.before, Neighbour(int(chunk.rows["base_offset"][-1]), int(ends[-1])))
            continue
        at = int(ends.searchsorted(offset))
        row = chunk.rows[at]
        if at:
            held.before = _later(held.before, Neighbour(int(chunk.rows["base_offset"][at - 1]), int(ends[at - 1])))
        if row["base_offset"] <= offset or row["magic"] < MAGIC:
            found = row.copy()
        else:
            held.behind = _sooner(held.behind, Neighbour(int(row["base_offset"]), int(row["last_offset"])))
        break
    held.problems += [damage.sentence() for damage in walk.damage]
    return found


def _later(one: Neighbour | None, other: Neighbour) -> Neighbour:
    return other if one is None or other.last_offset > one.last_offset else one


def _sooner(one: Neighbour | None, other: Neighbour) -> Neighbour:
    return other if one is None or other.first_offset < one.first_offset else one


def _crc(file: OpenFile, row: Any) -> bool | None:
    """Whether the CRC of a batch is right; that of old messages is not looked at."""
    position = int(row["position"])
    return crc_matches(file, position, file.read(position, HEADER_SIZE)) if row["magic"] == MAGIC else None


def batch_facts(row: Any) -> BatchFacts:
    """Return every field of a batch's header (a row of dtype BATCH)."""
    attributes, codec, modern = int(row["attributes"]), codec_of(int(row["attributes"])), int(row["magic"]) == MAGIC
    count = int(row["last_offset"]) - int(row["base_offset"])
    control = int(row["control_type"])
    known = control in ControlType._value2member_map_
    return BatchFacts(
        base_offset=int(row["base_offset"]),
        last_offset=int(row["last_offset"]),
        record_count=_known(row["record_count"]),
        magic=int(row["magic"]),
        codec=codec.name if codec is not None else f"unknown({attributes & 7})",
        timestamp_type="LogAppendTime" if is_log_append_time(attributes) else "CreateTime",
        is_transactional=modern and is_transactional(attributes),
        is_control=modern and is_control(attributes),
        has_delete_horizon=modern and has_delete_horizon(attributes),
        leader_epoch=_known(row["leader_epoch"]),
        producer_id=_known(row["producer_id"]),
        producer_epoch=_known(row["producer_epoch"]),
        base_sequence=_known(row["base_sequence"]),
        last_sequence=_known(sequence_after(int(row["base_sequence"]), count)),
        base_timestamp=_known(row["base_timestamp"]),
        max_timestamp=_known(row["max_timestamp"]),
        size=int(row["size"]),
        crc=int(row["crc"]),
        control_type=ControlType(control).name if known else None if control < 0 else f"unknown({control})",
        coordinator_epoch=_known(row["coordinator_epoch"]),
    )


def record_at(copy: Copy, offset: int, payloads: bool, problems: list[str]) -> RecordFacts | None:
    """Return the record at an offset of a batch, None where it has none there; damage goes to `problems`."""
    if copy.line is not None:
        return None
    try:
        with OpenFile(copy.path) as file:
            walk = RecordWalk(file, check=CHECK_NONE, start=copy.position)
            alone = SegmentWalk(file, check=CHECK_NONE, start=copy.position, bodies=True, most_rows=1)
            found = _record(walk, next(alone.chunks(), None), offset, payloads)
            problems += [damage.sentence() for damage in walk.damage]
            return found
    except OSError as error:
        problems.append(f"{copy.path}: {error.strerror}")
        return None


def _record(walk: RecordWalk, batch: Chunk | None, offset: int, payloads: bool) -> RecordFacts | None:
    for chunk in walk.chunks_of(batch) if batch is not None else ():
        at = np.flatnonzero(chunk.records["offset"] == offset)
        if len(at):
            return _facts(chunk, int(at[0]), payloads)
    return None


def unlisted_in(indexes: Iterable[Item], offset: int, marker_offset: int) -> Iterator[str]:
    """Yield the .txnindex files at hand that should list the abort of a record and don't.

    The entry of an abort stands in the index of the segment that holds its marker.
    """
    for item in _candidates((item for item in indexes if item.part is None), marker_offset):
        try:
            entries, _ = aborted_transactions(item.path, read_small(item.path, item.size))
        except OSError:
            continue
        if not ((entries["first_offset"] <= offset) & (entries["last_offset"] == marker_offset)).any():
            yield item.path


def _facts(chunk: RecordChunk, at: int, payloads: bool) -> RecordFacts:
    record = chunk.records[at]
    headers = chunk.headers()
    mine = headers[headers["record_row"] == at]
    pairs = tuple((_bytes(chunk, header, "key") or b"", _bytes(chunk, header, "value")) for header in mine)
    return RecordFacts(
        timestamp=_known(record["timestamp"]),
        sequence=_known(record["sequence"]),
        key_size=_known(record["key_length"]),
        value_size=_known(record["value_length"]),
        header_names=tuple(name for name, _ in pairs),
        key=_bytes(chunk, record, "key") if payloads else None,
        value=_bytes(chunk, record, "value") if payloads else None,
        headers=pairs if payloads else None,
    )


def _bytes(chunk: RecordChunk, row: Any, name: str) -> bytes | None:
    start, length = int(row[f"{name}_start"]), int(row[f"{name}_length"])
    return bytes(chunk.data[start : start + length]) if length >= 0 else None


def _known(value: Any) -> int | None:
    return int(value) if value >= 0 else None
