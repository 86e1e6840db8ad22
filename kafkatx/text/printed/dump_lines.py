"""A line of kafka-dump-log taken apart: the one reader of its fields, whether it stands alone, in a dump or on a page.

A line of a known shape (eras.py) is matched whole. Of any other its row of `key: value` fields is read one by one:
fields in another order, fields left out (`offset: 4 ... producerId: 7`), shapes of a release to come. What a line does
not say is unknown.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.text.printed.elisions import ELIDED_FIELDS
from kafkatx.text.printed.eras import SHAPES, TIMESTAMP, DumpLineShape, LineKind

TIMESTAMPS = ("CreateTime", "LogAppendTime", "NoTimestampType")
"""Keys of a timestamp: its type."""
_OF_LOGS = frozenset(name for shape in SHAPES for name in shape.fields) - {TIMESTAMP, "headerKeys"} | {
    "endTxnMarker",
    "coordinatorEpoch",
    *TIMESTAMPS,
}
"""Fields of batches and records that stand by themselves."""
_OF_FILES = """headerKeys controlType timestamp version firstOffset lastStableOffset
    currentTxnFirstOffset lastTimestamp firstSequence offsetDelta cachedMetadata"""
FIELDS = _OF_LOGS.union(_OF_FILES.split())
"""Keys that dump lines print before a record's key and payload."""
_KEYS = "|".join(sorted(FIELDS, key=len, reverse=True))
_FIELD = regex(
    rf"(?<![^\s|,])({_KEYS}):([ \t]*)(?!(?:{_KEYS}): )"
    r"((?:[^\s,\[(]|,(?=\S))+(?=[\s,]|$)|\[[^\[\]]*\](?=[\s,]|$)|Queue\(.{0,4000}?\)\)|\S+)[\s,]*"
)
"""One field: key, blanks, value; the value has no blank, but for lists of header keys and cached batches."""
_ELISION = regex(rf"{ELIDED_FIELDS}(?=\s|$)")
"""What stands for fields that were left out."""
_BLANKS = regex(r"[\s,]+")
_TAIL = regex(r"\bheaderKeys:\s*\[|\s(?=controlType: |key: |payload: )")
_VALUE = regex(r"(OptionalLong\.empty|OptionalLong\[-?\d+\]|-?\d+|true|false|null|[A-Za-z]\w*)(?=[},]|$)")
"""A value as some release prints it; a brace or comma behind it is none of it."""
_HORIZON = regex(r"\[(-?\d+)\]")
_NO_NUMBERS = frozenset(
    {"isTransactional", "isControl", "isvalid", "isValid", "compresscodec", "compressType", "deleteHorizonMs", "crc",
     "endTxnMarker"}
)  # fmt: skip
LONGEST_DIGITS = 19


@dataclass(frozen=True, slots=True)
class FieldRow:
    """The fields of a line in their order, whether `...` stands between them, and where they end in the text."""

    fields: tuple[tuple[str, str], ...]
    is_elided: bool
    end: int

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the fields."""
        return tuple(key for key, _ in self.fields)


def row_of(text: str, at: int = 0) -> FieldRow:
    """Read the row of fields that begins at `at`; a field given as `...` counts as left out."""
    fields: list[tuple[str, str]] = []
    is_elided = False
    while found := _field_at(text, at) or _ELISION.match(text, at) or _BLANKS.match(text, at):
        at = found.end()
        if found.re.pattern == _FIELD.pattern and not _ELISION.fullmatch(found[3]):
            fields.append((found[1], found[3].rstrip(",")))
        else:
            is_elided |= found.re.pattern != _BLANKS.pattern
    return FieldRow(tuple(fields), is_elided, at)


def _field_at(text: str, at: int) -> re.Match[str] | None:
    """A field as it is printed, with one blank behind its key."""
    found = _FIELD.match(text, at)
    return found if found is not None and found[2] == " " else None


class DumpLine(NamedTuple):
    """A line of a log's dump. `at` says where in `values` a field is; `tail` is what stands behind the fields.

    `is_loose`: the line has none of the known shapes.
    """

    kind: LineKind
    at: dict[str, int]
    values: tuple[str | None, ...]
    tail: str
    is_loose: bool

    def get(self, name: str) -> str | None:
        """Value of a field, None where the line does not carry it."""
        at = self.at.get(name)
        return None if at is None else self.values[at]

    def number(self, name: str) -> int:
        """Value of a field that is a number, -1 where the line does not carry it."""
        at = self.at.get(name)
        return -1 if at is None else int(self.values[at] or -1)

    def fields(self) -> dict[str, str]:
        """Fields by the names that the tool prints: the type of a timestamp is its name."""
        fields = {name: self.values[at] or "" for name, at in self.at.items()}
        fields[fields.pop("timestampType")] = fields.pop("timestamp")
        if self.kind in (LineKind.RECORD, LineKind.FLAT_RECORD):
            fields["headerKeys"] = f"[{self.tail.partition(']')[0]}]"
        return fields


class Syntax:
    """Recognises lines; the shape that matched last is tried first, since a tool prints one shape all along."""

    def __init__(self) -> None:
        self._shapes = {letter: list(shapes) for letter, shapes in _BY_LETTER.items()}

    def exact(self, text: str) -> DumpLine | None:
        """Return what a line of a known shape says, None for any other."""
        shapes = self._shapes.get(text[:1], [])
        for number, shape in enumerate(shapes):
            if (line := _in_shape(text, shape)) is not None:
                if number:
                    shapes.insert(0, shapes.pop(number))
                return line
        return None


_KINDS_BY_LETTER = {
    "|": (LineKind.RECORD,),
    "b": (LineKind.BATCH,),
    "o": (LineKind.FLAT_RECORD, LineKind.MESSAGE),
}
"""Kinds of lines by their first letter: the bar, `baseOffset`, `offset`."""
_BY_LETTER = {
    letter: tuple(shape for shape in SHAPES if shape.kind in kinds) for letter, kinds in _KINDS_BY_LETTER.items()
}


def exact_line(text: str) -> DumpLine | None:
    """Return what a line of a known shape says, whatever stands around it; None for any other."""
    for shape in _BY_LETTER.get(text[:1], ()):
        if (line := _in_shape(text, shape)) is not None:
            return line
    return None


def _in_shape(text: str, shape: DumpLineShape) -> DumpLine | None:
    if (found := shape.pattern.match(text)) is None:
        return None
    return DumpLine(shape.kind, shape.at, found.groups(), shape.bracket + text[found.end() :], False)


def loose_line(text: str) -> DumpLine | None:
    """Return what a line of no known shape says; it needs an offset and one more field that only a log's dump has."""
    if "ffset:" not in text:
        return None
    text = text.replace("headerKeys: []", "", 1)
    border = _TAIL.search(text)
    head, tail = (text[: border.start()], text[border.end() :]) if border else (text, "")
    fields = _loose_fields(head)
    kind = _kind(fields, text)
    if kind is None:
        return None
    if border and not border.group().endswith("["):
        tail = f"] {tail}"
    return DumpLine(kind, {name: at for at, name in enumerate(fields)}, tuple(fields.values()), tail, True)


def _loose_fields(head: str) -> dict[str, str | None]:
    """Fields of logs wherever they stand, the first of each name; values that no release prints count as left out."""
    fields: dict[str, str | None] = {}
    for found in _FIELD.finditer(head):
        name, value = found[1], _VALUE.match(found[3])
        if value is None or name not in _OF_LOGS:
            continue
        if name in TIMESTAMPS:
            fields.setdefault("timestampType", name)
            name = "timestamp"
        if name not in fields and _is_meant(name, value[1]):
            fields[name] = _horizon(value[1]) if name == "deleteHorizonMs" else value[1]
    return fields


def _is_meant(name: str, value: str) -> bool:
    if name in _NO_NUMBERS:
        return value in ("true", "false") if name.startswith("is") else True
    return len(value.lstrip("-")) <= LONGEST_DIGITS and value.lstrip("-").isdecimal()


def _horizon(value: str) -> str | None:
    found = _HORIZON.search(value)
    return found[1] if found else None


def _kind(fields: dict[str, str | None], text: str) -> LineKind | None:
    if text.lstrip().startswith("|"):
        return LineKind.RECORD if "offset" in fields and (len(fields) > 1 or _TAIL.search(text)) else None
    if "baseOffset" in fields:
        return LineKind.BATCH if len(fields) > 1 else None
    if "offset" not in fields or not fields.keys() & _ONLY_IN_LOGS:
        return None
    is_message = "size" in fields and not fields.keys() & {"keysize", "keySize", "producerId"}
    return LineKind.MESSAGE if is_message else LineKind.FLAT_RECORD


_ONLY_IN_LOGS = frozenset(
    {"keysize", "keySize", "valuesize", "valueSize", "sequence", "isTransactional", "producerEpoch", "magic",
     "compresscodec", "producerId", "timestampType", "endTxnMarker"}
)  # fmt: skip
