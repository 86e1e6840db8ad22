"""Whether lines of a dump are all that the tool printed: what was left out shows in positions, counts and fields.

Positions   batches of a log lie back to back, so a batch begins where the one before ends (position + size); offsets
            may be missing (the cleaner), bytes may not. Where positions are not printed, missing offsets count as left
            out, unless the text has its header and nothing foreign in it.
Counts      a batch that is followed by record lines has `count` of them, when any batch has some (deep iteration).
Fields      a line without the fields that every release prints there was shortened.
"""

from __future__ import annotations

from collections.abc import Mapping

from kafkatx.formats.record_batch import Attributes
from kafkatx.segments.batches import Rows
from kafkatx.terms.records import dataclass
from kafkatx.text.pages.incidents import number
from kafkatx.text.printed.line_kinds import ToolLineKind

_OF_BATCH = frozenset(("lastOffset", "producerId", "producerEpoch", "position", "size", "magic", "crc"))
_OF_MESSAGE = frozenset(("position", "size", "magic", "crc"))
_OF_RECORD = frozenset(("headerKeys", "sequence"))
_SMALLEST_BATCH = 61
_LARGEST_RECORD_OVERHEAD = 40
"""Bytes of a record beside key and value, without headers: length, attributes, deltas and lengths as varints."""


@dataclass(slots=True)
class Completeness:
    """What the lines of one dumped log say about each other, fed in their order.

    `is_elided`: something was left out for sure; `has_holes`: offsets are missing that only the cleaner could explain;
    `first_position` is that of the first line; `is_deep`: there are lines of records.
    """

    is_elided: bool = False
    has_holes: bool = False
    first_position: int = -1
    last_offset: int = -1
    is_deep: bool = False
    lines: int = 0
    _next_position: int = -1
    _awaited: int = -1
    _has_batch: bool = False
    _records: int = 0
    _had_records: bool = False
    _is_control: bool = False
    _flat_position: int = -1
    _flat_room: int = 0

    def add(self, shape: ToolLineKind, fields: Mapping[str, str]) -> None:
        """Take in a line of a batch or record."""
        self.lines += 1
        if shape is ToolLineKind.BATCH:
            self._add_batch(fields)
        elif "position" in fields and "batchSize" not in fields:
            self._add_flat(fields)
        else:
            self._add_record(fields)

    @property
    def misses_records(self) -> bool:
        """Whether the last batch has fewer lines of records than it says."""
        return self.is_deep and 0 <= self._records < self._awaited and not self._is_control

    @property
    def is_plain(self) -> bool:
        """Whether the last line is of a batch that has all of its records, or is the last of them."""
        is_all = self._records == self._awaited if self.is_deep or self._had_records else not self._records
        return self._has_batch and self._next_position >= 0 and is_all and self._flat_position < 0

    @property
    def next_position(self) -> int:
        """Where the next batch begins, -1 where nothing tells it."""
        return self._next_position

    def pass_over(self, rows: Rows, line_count: int, *, is_deep: bool) -> None:
        """Take in batches that follow the last line, with all of their records or with none (`is_deep`)."""
        last = rows[-1]
        self.lines += line_count
        self.last_offset, self._next_position = int(last["last_offset"]), int(last["position"] + last["size"])
        self._awaited = int(last["record_count"])
        self._records = self._awaited if is_deep else 0
        self._is_control = bool(last["attributes"] & Attributes.IS_CONTROL)

    def _add_batch(self, fields: Mapping[str, str]) -> None:
        is_message = "baseOffset" not in fields
        self.is_elided |= not (_OF_MESSAGE if is_message else _OF_BATCH) <= fields.keys()
        self.is_elided |= self.misses_records or (self._had_records and self._awaited > 0 == self._records)
        first, position = number(fields, "offset" if is_message else "baseOffset"), number(fields, "position")
        self._goes_on(first, position)
        size = number(fields, "size")
        self._next_position = position + size if position >= 0 and size >= 0 else -1
        last = number(fields, "lastOffset")
        self.last_offset = max(first, last)
        self._awaited, self._records = number(fields, "count"), 0
        self._has_batch, self._is_control = True, fields.get("isControl") == "true"

    def _goes_on(self, first: int, position: int) -> None:
        """Compare the beginning of a batch with the end of the one before."""
        if self.lines == 1:
            self.first_position = position
        elif self._next_position >= 0 and position >= 0:
            self.is_elided |= position != self._next_position
        elif self.last_offset >= 0 and first > self.last_offset + 1:
            self.has_holes = True

    def _add_record(self, fields: Mapping[str, str]) -> None:
        offset = number(fields, "offset")
        self.is_elided |= "crc" not in fields and not fields.keys() >= _OF_RECORD
        self.is_elided |= not self._has_batch or offset > self.last_offset
        self.is_deep = self._had_records = True
        self._records += 1
        self.last_offset = max(self.last_offset, offset)

    def _add_flat(self, fields: Mapping[str, str]) -> None:
        """A line of releases before 2.2, whose position is that of its batch."""
        offset, position = number(fields, "offset"), number(fields, "position")
        self.is_elided |= "headerKeys" not in fields and number(fields, "magic") not in (0, 1)
        self.is_deep = True
        if self.lines == 1:
            self.first_position = position
        self.has_holes |= self.last_offset >= 0 and offset > self.last_offset + 1
        if position != self._flat_position:
            self.is_elided |= self._flat_room > 0 and position > self._flat_position + self._flat_room + _SMALLEST_BATCH
            self._flat_position, self._flat_room = position, _SMALLEST_BATCH
        has_headers = fields.get("headerKeys", "[]") != "[]"
        content = max(0, number(fields, "keysize")) + max(0, number(fields, "valuesize"))
        self._flat_room += content + _LARGEST_RECORD_OVERHEAD + has_headers * (1 << 30)
        self.last_offset = max(self.last_offset, offset)
