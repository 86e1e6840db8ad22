"""What the lines of a log's dump tell, in order: headers of batches, and records with their contents."""

from __future__ import annotations

from typing import NamedTuple

from kafkatx.formats.control_record import ControlType
from kafkatx.terms.regex import regex
from kafkatx.text.lines import Line
from kafkatx.text.printed.contents import Contents
from kafkatx.text.printed.dump_lines import DumpLine
from kafkatx.text.printed.eras import LineKind

HEADERS = (LineKind.BATCH, LineKind.MESSAGE)
_MARKER = regex(r"\] endTxnMarker: (COMMIT|ABORT) coordinatorEpoch: (-?\d{1,10})$")
_CONTROL_NUMBER = regex(r"\] controlType: \w+\((-?\d{1,5})\)$")
_CONTROL_NAMES = {
    "] LeaderChange: {": ControlType.LEADER_CHANGE,
    "] SnapshotHeader {": ControlType.SNAPSHOT_HEADER,
    "] SnapshotFooter {": ControlType.SNAPSHOT_FOOTER,
    "] KRaftVersion {": ControlType.KRAFT_VERSION,
    "] KRaftVoters {": ControlType.KRAFT_VOTERS,
}
_KINDS: dict[str | None, ControlType] = {"ABORT": ControlType.ABORT, "COMMIT": ControlType.COMMIT}


class Control(NamedTuple):
    """What the line of a control record says: type (formats/control_record.py) and epoch of the coordinator."""

    type: int
    coordinator_epoch: int


class Header(NamedTuple):
    """A line that heads a batch, or tells a message of magic 0 or 1; `end` is the position behind it.

    Position and end are -1 where they are not told.
    """

    line: Line
    parsed: DumpLine
    base_offset: int
    last_offset: int
    position: int
    end: int


class DumpedRecord(NamedTuple):
    """A line that tells a record. `header` is that of its batch where it stands above."""

    line: Line
    parsed: DumpLine
    offset: int
    header: Header | None
    control: Control | None
    contents: Contents | None


def control_of(parsed: DumpLine, header: Header | None) -> Control | None:
    """Return what a control record says; None for a record that is data, as its batch or its own fields tell.

    Keys of headers may imitate the text of a marker, so that text counts only where nothing else speaks against it.
    """
    said = None if header is None else header.parsed.get("isControl")
    if said == "false":
        return None
    if parsed.is_loose and (kind := _KINDS.get(parsed.get("endTxnMarker"))) is not None:
        return Control(kind, parsed.number("coordinatorEpoch"))
    is_flat = parsed.kind is LineKind.FLAT_RECORD
    if not parsed.tail.startswith("] ") or (is_flat and parsed.number("sequence") != -1):
        return None
    if (found := _MARKER.match(parsed.tail)) and parsed.get("isTransactional") != "false":
        return Control(_KINDS[found[1]], int(found[2]))
    return _of_quorum(parsed.tail) if is_flat or said == "true" else None


def _of_quorum(tail: str) -> Control | None:
    """What a control record says that ends no transaction."""
    if found := _CONTROL_NUMBER.match(tail):
        return Control(int(found[1]), -1)
    return next((Control(kind, -1) for title, kind in _CONTROL_NAMES.items() if tail.startswith(title)), None)


def header_of(line: Line, parsed: DumpLine) -> Header:
    """Return a line as the head of a batch."""
    base, last = extent_of(parsed)
    position, size = parsed.number("position"), parsed.number("size")
    return Header(line, parsed, base, last, position, -1 if position < 0 or size < 0 else position + size)


def extent_of(parsed: DumpLine) -> tuple[int, int]:
    """First and last offset that a line tells of; of a batch whose last offset is left out, the first twice."""
    if parsed.kind is not LineKind.BATCH:
        offset = parsed.number("offset")
        return offset, offset
    base = parsed.number("baseOffset")
    return base, base if parsed.get("lastOffset") is None else parsed.number("lastOffset")


def sizes_of(parsed: DumpLine) -> tuple[int, int]:
    """Sizes of key and value as declared, -1 for null, -2 where the line does not carry them."""
    at, values = parsed.at, parsed.values
    key, value = at.get("keySize", at.get("keysize")), at.get("valueSize", at.get("valuesize"))
    return -2 if key is None else int(values[key] or -2), -2 if value is None else int(values[value] or -2)
