"""Where a dump stands in its log, and whether a line can be what comes next there."""

from __future__ import annotations

from dataclasses import field
from enum import IntEnum

from kafkatx.terms.records import dataclass
from kafkatx.text.dump.events import HEADERS, Header, extent_of
from kafkatx.text.printed.dump_lines import DumpLine
from kafkatx.text.printed.eras import LineKind


class Continuation(IntEnum):
    """How a line continues the log."""

    NOT = 0
    LOOSELY = 1
    STRICTLY = 2


@dataclass(slots=True)
class LogCursor:
    """The last offset told (-1: none yet), the batch whose records come, the last record of it, the last position.

    `left` is the number of its records that have not come yet, -1 where the batch does not tell it.
    """

    offset: int = -1
    header: Header | None = None
    record_offset: int = -1
    position: int = -1
    left: int = -1

    @property
    def place(self) -> tuple[int, Header | None, int, int, int]:
        """All of it, to come back to."""
        return self.offset, self.header, self.record_offset, self.position, self.left

    @place.setter
    def place(self, place: tuple[int, Header | None, int, int, int]) -> None:
        self.offset, self.header, self.record_offset, self.position, self.left = place

    def fit(self, parsed: DumpLine) -> Continuation:
        """How a line continues the log: as the very next thing, as a later one, not at all.

        A batch is the very next one if it begins at the position at which the last one ends, and no record of that is
        missing.
        """
        offset, position, header = extent_of(parsed)[0], parsed.number("position"), self.header
        if parsed.kind is LineKind.RECORD and header is not None:
            return _continuation(self.batch_of(offset) is not None, is_next=offset == self.record_offset + 1)
        if parsed.kind in HEADERS and header is not None and header.end >= 0 and position >= 0:
            is_next = position == header.end and self.left < 1
            return _continuation(offset > self.offset and position >= header.end, is_next)
        is_behind = offset > self.offset and not -1 < position < self.position
        return _continuation(is_behind, is_next=offset == self.offset + 1)

    def begin(self, header: Header) -> tuple[int, int] | None:
        """Go on with a batch; returns the offsets (first, behind) between the last one and it if lines are missing."""
        before = self.header
        missing = before is not None and header.position > before.end >= 0
        gap = (self.offset + 1, header.base_offset) if missing else None
        is_message = header.parsed.kind is LineKind.MESSAGE  # a wrapper has the offset of its last message
        self.record_offset = self.offset if is_message else header.base_offset - 1
        self.header, self.offset, self.position = header, header.last_offset, header.position
        self.left = header.parsed.number("count")
        return gap

    def batch_of(self, offset: int) -> Header | None:
        """Return the batch that a record with this offset can belong to."""
        header = self.header
        if header is None or self.left == 0 or not self.record_offset < offset <= header.last_offset:
            return None
        return header

    def step(self, offset: int, parsed: DumpLine, header: Header | None) -> None:
        """Go on with a record; without a header above it, it is a batch's first as far as one can tell."""
        self.record_offset, self.left = offset, max(self.left - 1, -1 if self.left < 0 else 0)
        if header is None:
            self.header, self.offset, self.position, self.left = None, offset, parsed.number("position"), -1


def _continuation(follows: bool, is_next: bool) -> Continuation:
    if not follows:
        return Continuation.NOT
    return Continuation.STRICTLY if is_next else Continuation.LOOSELY


@dataclass(slots=True)
class Generation:
    """Which lines can stand in one text: one run of the tool prints the shapes of one release.

    Up to 2.1 lines of records say all, and there are none of batches; later a record stands below its batch. For
    batches and for records of magic 2 a release knows one shape each; `usual` are those met, by identity.
    """

    is_flat: bool | None = None
    shapes: dict[LineKind, dict[str, int]] = field(default_factory=dict)
    usual: set[int] = field(default_factory=set)

    def admits(self, parsed: DumpLine) -> bool:
        """Whether a line can stand beside those before it."""
        if self.is_flat is not None and self.is_flat != (parsed.kind is LineKind.FLAT_RECORD):
            return False
        return not _has_one_shape(parsed) or self.shapes.get(parsed.kind, parsed.at) is parsed.at

    def note(self, parsed: DumpLine) -> None:
        """Take in a line."""
        if self.is_flat is None and not parsed.is_loose:
            self.is_flat = parsed.kind is LineKind.FLAT_RECORD
        if _has_one_shape(parsed):
            self.shapes.setdefault(parsed.kind, parsed.at)
            self.usual.add(id(parsed.at))


def _has_one_shape(parsed: DumpLine) -> bool:
    return not parsed.is_loose and (parsed.kind is LineKind.BATCH or "sequence" in parsed.at)
