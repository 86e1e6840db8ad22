"""Lines of a log's dump in order, each record with its contents, whatever stands in them.

Why     keys, values and keys of headers are printed raw: they may hold line ends and text that looks like a line of the
        tool. How many bytes belong to a record is printed before them, so the lines of a record are known by counting.
Doubt   what was no UTF-8 became U+FFFD (three bytes for one to three), and pasting may lose control characters or write
        them as `^A`. Then of the ends that the count allows the last one counts behind which the log goes on; a line
        that may be content is never taken for a line of the tool.
Limits  lookahead is paid from a budget in proportion to the text: the time is linear whatever sizes lines claim.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from kafkatx.formats.control_record import ControlType
from kafkatx.segments.damage import Damage
from kafkatx.text.dump.contents import Contents, Growth, Reach, decoded_size, looks_decoded
from kafkatx.text.dump.eras import LineKind
from kafkatx.text.dump.lines import LogLine, Syntax, is_left_out
from kafkatx.text.lines import Line

BUDGET = 4 << 20
"""Bytes of lookahead that are always granted."""
MOST_DAMAGE = 10_000

STRICTLY, LOOSELY, NOT = 2, 1, 0
"""How a line continues the log: as the very next one, as a later one, not at all."""

_MARKER = re.compile(r"\] endTxnMarker: (COMMIT|ABORT) coordinatorEpoch: (-?\d{1,10})$")
_CONTROL_NUMBER = re.compile(r"\] controlType: \w+\((-?\d{1,5})\)$")
_CONTROL_NAMES = {
    "] LeaderChange: {": ControlType.LEADER_CHANGE,
    "] SnapshotHeader {": ControlType.SNAPSHOT_HEADER,
    "] SnapshotFooter {": ControlType.SNAPSHOT_FOOTER,
    "] KRaftVersion {": ControlType.KRAFT_VERSION,
    "] KRaftVoters {": ControlType.KRAFT_VOTERS,
}
_INVALID_BYTES = re.compile(r"Found (\d{1,15}) invalid bytes at the end of ")
_DIED = re.compile(r"Exception in thread \"|java\.[\w.]+(?:Exception|Error)\b|^\s+at [\w.$]+\(")


class Control(NamedTuple):
    """What the line of a control record says: type (formats/control_record.py) and epoch of the coordinator."""

    type: int
    coordinator_epoch: int


class Header(NamedTuple):
    """A line that heads a batch, or tells a message of magic 0 or 1."""

    line: Line
    parsed: LogLine
    base_offset: int
    last_offset: int


class Record(NamedTuple):
    """A line that tells a record. `header` is that of its batch where it stands above."""

    line: Line
    parsed: LogLine
    offset: int
    header: Header | None
    control: Control | None
    contents: Contents | None


@dataclass(slots=True)
class LogText:
    """One pass over the lines of a log's dump.

    `topic` is that of the dumped file, None where it is not known; `size` the bytes of the text. What was met on the
    way stands in `damage`, `left_out` (offsets first, behind), `is_elided`, `is_torn` afterwards.
    """

    source: Iterator[Line]
    path: str
    topic: str | None
    size: int
    damage: list[Damage] = field(default_factory=list)
    left_out: list[tuple[int, int]] = field(default_factory=list)
    is_elided: bool = False
    is_torn: bool = False
    _waiting: deque[Line] = field(default_factory=deque)
    _syntax: Syntax = field(default_factory=Syntax)
    _header: Header | None = None
    _offset: int = -1
    _record_offset: int = -1
    _position: int = -1
    _budget: int = 0
    _losses: int = 0
    _in_doubt: bool = False
    _has_metadata: bool = True

    def __post_init__(self) -> None:
        self._budget = BUDGET + 2 * self.size

    def events(self) -> Iterator[Header | Record]:
        """Yield headers and records in ascending order of offset; never raises for what the text holds."""
        while (line := self._next()) is not None and not self.is_torn:
            parsed = self._syntax.read(line.text)
            if parsed is None:
                self._foreign(line)
                continue
            if (self._in_doubt or not self._has_metadata) and self._fit(line) < (1 if self._has_metadata else 2):
                continue
            self._in_doubt = False
            self.is_elided |= parsed.is_loose
            event = self._headed(line, parsed) if parsed.kind in _HEADERS else self._record(line, parsed)
            if event is not None:
                yield event

    def _next(self) -> Line | None:
        return self._waiting.popleft() if self._waiting else next(self.source, None)

    def _peek(self, number: int) -> Line | None:
        """Line that comes `number` lines after the next one."""
        while len(self._waiting) <= number:
            line = next(self.source, None)
            if line is None:
                return None
            self._waiting.append(line)
        return self._waiting[number]

    def _headed(self, line: Line, parsed: LogLine) -> Header | None:
        base, last = _extent(parsed)
        if base <= self._offset or last < base:
            self._note(line, "entry", "a batch behind the last one", f"offsets {base} to {last}")
            return None
        position = parsed.number("position")
        if self._header is not None and position > _end(self._header) >= 0:
            self.left_out.append((self._offset + 1, base))
            self.is_elided = True
        self._record_offset = self._offset if parsed.kind is LineKind.MESSAGE else base - 1
        self._header = Header(line, parsed, base, last)
        self._offset, self._position = last, position
        return self._header

    def _record(self, line: Line, parsed: LogLine) -> Record | None:
        offset, header = parsed.number("offset"), self._header
        if header is not None and not self._record_offset < offset <= header.last_offset:
            header = None
        if header is None:
            if offset <= self._offset:
                self._note(line, "entry", "a record behind the last one", f"offset {offset}")
                return None
            self._header, self._offset, self._position = None, offset, parsed.number("position")
        self._record_offset = offset
        control = self._control(parsed, header)
        contents = None
        if control is None and parsed.tail and parsed.tail != "]":
            contents = self._contents(line, parsed)
        return Record(line, parsed, offset, header, control, contents)

    def _control(self, parsed: LogLine, header: Header | None) -> Control | None:
        """What a control record says, None for a record that is data as its batch or its fields tell."""
        if header is not None and header.parsed.get("isControl") == "false":
            return None
        if parsed.is_loose and (kind := parsed.get("endTxnMarker")) is not None:
            return Control(int(kind == "COMMIT"), parsed.number("coordinatorEpoch")) if kind in _KINDS else None
        if not parsed.tail.startswith("] ") or parsed.get("isTransactional") == "false":
            return None
        if parsed.kind is LineKind.FLAT_RECORD and parsed.number("sequence") != -1:
            return None
        if found := _MARKER.match(parsed.tail):
            return Control(int(found[1] == "COMMIT"), int(found[2]))
        if header is None or header.parsed.get("isControl") != "true":
            return None
        if found := _CONTROL_NUMBER.match(parsed.tail):
            return Control(int(found[1]), -1)
        return next((Control(kind, -1) for name, kind in _CONTROL_NAMES.items() if parsed.tail.startswith(name)), None)

    def _contents(self, line: Line, parsed: LogLine) -> Contents:
        key_size, value_size = _sizes(parsed)
        if key_size < -1 or value_size < -1:
            return Contents(parsed.tail, -2, -2, is_whole=False, is_decoded=False)
        if self._may_be_decoded and looks_decoded(parsed.tail):
            return self._decoded(line, parsed.tail, key_size, value_size)
        growth = Growth(line, parsed.tail, key_size, value_size)
        lines, is_whole = (0, True) if growth.reach() is Reach.EXACT else self._look_ahead(line, growth)
        text = "\n".join([parsed.tail, *(self._waiting.popleft().text for _ in range(lines))])
        return Contents(text, key_size, value_size, is_whole, is_decoded=False)

    def _decoded(self, line: Line, tail: str, key_size: int, value_size: int) -> Contents:
        """Contents that a decoder printed: one line, but for ids and groups that hold the end of a line."""
        wanted, text = decoded_size(tail, key_size), tail
        while len(text.encode()) < wanted and self._budget > 0 and (following := self._peek(0)) is not None:
            self._budget -= len(following.text)
            text += "\n" + self._waiting.popleft().text
        return Contents(text, key_size, value_size, is_whole=True, is_decoded=True)

    @property
    def _may_be_decoded(self) -> bool:
        return self.topic is None or self.topic.startswith("__")

    def _look_ahead(self, line: Line, growth: Growth) -> tuple[int, bool]:
        """Lines that belong to a record beside its own, and whether its contents are whole."""
        best, taken, beyond = (NOT, NOT, 0), 0, False
        while self._budget > 0:
            reach = growth.reach()
            if reach is Reach.EXACT:
                return taken, True
            if reach is Reach.BEYOND:
                beyond = True
                break
            following = self._peek(taken)
            if reach is Reach.POSSIBLE or taken == 0 or growth.may_have_lost or self._losses:
                best = max(best, (self._fit(following), int(reach is Reach.POSSIBLE), taken))
            if following is None:
                break
            self._budget -= growth.add(following)
            taken += 1
        return self._choose(line, best, taken, beyond, growth)

    def _choose(
        self, line: Line, best: tuple[int, int, int], taken: int, beyond: bool, growth: Growth
    ) -> tuple[int, bool]:
        """Lines of a record whose size fits nowhere: up to where the log goes on, else all that could be content."""
        fits, is_possible, lines = best
        self._losses += beyond
        if fits and (beyond or is_possible or growth.may_have_lost or self._losses):
            return lines, False
        if not beyond and self._budget > 0:
            self.is_torn = True
            self._note(line, "torn", "a record of the size that its line declares", "the end of the text")
            return taken, False
        self._in_doubt = True
        return 0, False

    def _fit(self, line: Line | None) -> int:
        """How a line continues the log behind the last record; the end of the text does so, too."""
        if line is None:
            return STRICTLY
        parsed = self._syntax.read(line.text)
        if parsed is None:
            return LOOSELY if _INVALID_BYTES.match(line.text) else NOT
        offset, position = _extent(parsed)[0], parsed.number("position")
        header = self._header
        if parsed.kind in _HEADERS and header is not None and _end(header) >= 0:
            follows = offset > header.last_offset and position >= _end(header)
            return NOT if not follows else STRICTLY if position == _end(header) else LOOSELY
        if parsed.kind is LineKind.RECORD and header is not None:
            follows = self._record_offset < offset <= header.last_offset
            return NOT if not follows else STRICTLY if offset == self._record_offset + 1 else LOOSELY
        if offset <= self._offset or -1 < position < self._position:
            return NOT
        return STRICTLY if offset == self._offset + 1 else LOOSELY

    def _foreign(self, line: Line) -> None:
        """Take in what is no line of a batch or record."""
        if found := _INVALID_BYTES.match(line.text):
            self._note(line, "torn", "a whole batch", f"{found[1]} bytes at the end of the log that are none")
        elif _DIED.search(line.text):
            self.is_torn = True
            self._note(line, "torn", "the rest of the log", "the tool ended with an exception")
        elif is_left_out(line.text):
            self.is_elided = True
        elif self._header is not None and line.text.startswith(("| key: ", "| payload: ", " payload: ")):
            self._has_metadata = False

    def _note(self, line: Line, kind: str, expected: str, found: str) -> None:
        if len(self.damage) < MOST_DAMAGE:
            self.damage.append(
                Damage(kind, self.path, line.position, max(line.end - line.position, 0), expected, found)
            )


_HEADERS = (LineKind.BATCH, LineKind.MESSAGE)
_KINDS = ("COMMIT", "ABORT")


def _extent(parsed: LogLine) -> tuple[int, int]:
    """First and last offset that a line tells of."""
    if parsed.kind is LineKind.BATCH:
        base = parsed.number("baseOffset")
        return base, base if parsed.get("lastOffset") is None else parsed.number("lastOffset")
    offset = parsed.number("offset")
    return offset, offset


def _end(header: Header) -> int:
    """Position behind a batch, -1 where it is not known."""
    position, size = header.parsed.number("position"), header.parsed.number("size")
    return -1 if position < 0 or size < 0 else position + size


def _sizes(parsed: LogLine) -> tuple[int, int]:
    """Sizes of key and value as declared, -2 where they are not."""
    key, value = parsed.get("keysize") or parsed.get("keySize"), parsed.get("valuesize") or parsed.get("valueSize")
    return -2 if key is None else int(key), -2 if value is None else int(value)
