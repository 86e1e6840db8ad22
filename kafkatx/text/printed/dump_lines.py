"""Syntax of a line of a log's dump: which shape it has, its fields as text, and the tail behind them.

A line of a known shape is matched whole. Any other that has an offset and more of our fields is read field by field:
fields in another order, fields left out (`offset: 4 ... producerId: 7`), shapes of a release to come. What a line does
not say is unknown.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from kafkatx.text.printed.eras import SHAPES, TIMESTAMP, LineKind

LOOSE_FIELDS = (
    *dict.fromkeys(name for shape in SHAPES for name in shape.fields if name not in (TIMESTAMP, "headerKeys")),
    "endTxnMarker",
    "coordinatorEpoch",
)
_TIMES = ("CreateTime", "LogAppendTime", "NoTimestampType")
_FIELD = re.compile(
    rf"(?<![^\s|])({'|'.join(sorted({*LOOSE_FIELDS, *_TIMES}, key=len, reverse=True))}):\s*"
    r"(OptionalLong\.empty|OptionalLong\[-?\d+\]|-?\d+|true|false|null|[A-Za-z]\w*)(?=[\s},]|$)"
)
_TAIL = re.compile(r"\bheaderKeys:\s*\[|\s(?=controlType: |key: |payload: )")
_HORIZON = re.compile(r"\[(-?\d+)\]")
_NUMBERS = frozenset(LOOSE_FIELDS) - {
    "isTransactional", "isControl", "isvalid", "isValid", "compresscodec", "compressType", "deleteHorizonMs", "crc",
    "endTxnMarker",
}  # fmt: skip
LONGEST_DIGITS = 19


class LogLine(NamedTuple):
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


class Syntax:
    """Recognises lines; the shape that matched last is tried first, since a tool prints one shape all along."""

    def __init__(self) -> None:
        self._shapes = {
            letter: [shape for shape in SHAPES if shape.kind in kinds] for letter, kinds in _BY_LETTER.items()
        }

    def exact(self, text: str) -> LogLine | None:
        """Return what a line of a known shape says, None for any other."""
        shapes = self._shapes.get(text[:1], [])
        for number, shape in enumerate(shapes):
            found = shape.pattern.match(text)
            if found:
                if number:
                    shapes.insert(0, shapes.pop(number))
                return LogLine(shape.kind, shape.at, found.groups(), shape.bracket + text[found.end() :], False)
        return None

    def read(self, text: str) -> LogLine | None:
        """Return what a line says, None where it is no line of a log's dump."""
        return self.exact(text) or loose_line(text)


_BY_LETTER = {
    "|": (LineKind.RECORD,),
    "b": (LineKind.BATCH,),
    "o": (LineKind.FLAT_RECORD, LineKind.MESSAGE),
}
"""Kinds of lines by their first letter: the bar, `baseOffset`, `offset`."""


def loose_line(text: str) -> LogLine | None:
    """Return what a line of no known shape says; it needs an offset and one more field that only a log's dump has."""
    if "ffset:" not in text:
        return None
    text = text.replace("headerKeys: []", "", 1)
    border = _TAIL.search(text)
    head, tail = (text[: border.start()], text[border.end() :]) if border else (text, "")
    fields: dict[str, str | None] = {}
    for name, value in _FIELD.findall(head):
        if name in _TIMES:
            fields.setdefault("timestampType", name)
            name = "timestamp"
        if name not in fields and _is_meant(name, value):
            fields[name] = _horizon(value) if name == "deleteHorizonMs" else value
    kind = _kind(fields, text)
    if kind is None:
        return None
    if border and not border.group().endswith("["):
        tail = f"] {tail}"
    return LogLine(kind, {name: at for at, name in enumerate(fields)}, tuple(fields.values()), tail, True)


def _is_meant(name: str, value: str) -> bool:
    if name in _NUMBERS or name == "timestamp":
        return len(value.lstrip("-")) <= LONGEST_DIGITS and value.lstrip("-").isdecimal()
    return value in ("true", "false") if name.startswith("is") else True


def _horizon(value: str) -> str | None:
    found = _HORIZON.search(value)
    return found[1] if found else None


def _kind(fields: dict[str, str | None], text: str) -> LineKind | None:
    if text.lstrip().startswith("|"):
        return LineKind.RECORD if "offset" in fields and len(fields) > 1 else None
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
