"""Whether two lines of a page are one line of a tool that was broken in two, and whether a line is all of it.

A terminal breaks a long line at its last column, mail and editors at a blank before it. A line is joined with the next
one where the two together read as one line of a dump and as more of it than the first alone: no field twice, and none
where no release prints it.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from kafkatx.terms.regex import regex
from kafkatx.text.lines import Line
from kafkatx.text.printed.contents import HEADER_KEYS, SIZES, Growth, Reach, content_of, looks_decoded
from kafkatx.text.printed.dump_lines import TIMESTAMPS, FieldRow, row_of
from kafkatx.text.printed.elisions import is_elision
from kafkatx.text.printed.eras import SHAPES, TIMESTAMP
from kafkatx.text.printed.line_kinds import BEGINNINGS, CONTENT, NAMELESS, ToolLineKind, begin_of_row
from kafkatx.text.printed.pasted import Printed, as_printed

_TITLES = ("key:", "payload:")
FILE_END = regex(r"\.(?:log|index|timeindex|txnindex|snapshot|checkpoint)(?:\.(?:deleted|swap|cleaned))?$")
_OTHER_ORDERS = (
    "version producerId firstOffset lastOffset lastStableOffset",
    "producerId producerEpoch lastSequence lastOffset offsetDelta lastTimestamp coordinatorEpoch currentTxnFirstOffset",
    "producerId producerEpoch coordinatorEpoch currentTxnFirstOffset cachedMetadata",
    "currentTxnFirstOffset firstSequence lastSequence lastOffset offsetDelta timestamp",
    "currentTxnFirstOffset lastTimestamp firstSequence",
    "headerKeys endTxnMarker coordinatorEpoch",
    "headerKeys controlType",
)


def _followers() -> frozenset[tuple[str, str]]:
    """Pairs of fields that stand beside each other in a line of some release."""
    orders = [shape.fields for shape in SHAPES] + [tuple(order.split()) for order in _OTHER_ORDERS]
    spelled = [tuple(kind if key == TIMESTAMP else key for key in order) for order in orders for kind in TIMESTAMPS]
    return frozenset(pair for order in spelled for pair in pairwise(order))


FOLLOWERS = _followers()


_TITLE = regex(r"\s?(?:key|payload|endTxnMarker|controlType):(?: |$)|\s?LeaderChange:(?: \{|$)")
_LAST_TIMESTAMP = regex(r" timestamp: (?:-1|\d{13,19})$")
_OPEN_TITLE = regex(r"(?:headerKeys: \[[^\[\]]*\]|crc: \d+) (?:key|payload|LeaderChange|controlType|endTxnMarker):\s*$")
_BROKEN_TITLE = regex(r"headerKeys: \[[^\[\]]*\] (?:k|p|e|L|c)[A-Za-z]{0,12}$")
_DECODED_END = regex(
    r"payload: .*(?:txnTimeoutMs=\d+|\}|<DELETE>|offset=\d+(?:,metadata=\S*)?|payload: \d+\S*)$|skipping"
)


def ends_decoded(text: str) -> bool:
    """Whether what a decoder printed of a record ends as its shapes end, so that nothing was broken off."""
    return _DECODED_END.search(text) is not None


def begins_anew(printed: Printed, text: str) -> bool:
    """Whether a line can't be the rest of the one above: none, the next one, a sign that lines were left out."""
    if not text.strip() or text.startswith((*BEGINNINGS, "Dumping ")):
        return True
    return is_elision(text) and content_of(printed.text) is None


def is_whole(printed: Printed) -> bool:
    """Whether a line has all that a line of its shape ends with, so that nothing was broken off."""
    text = printed.text
    match printed.kind:
        case ToolLineKind.BATCH:
            return text.endswith(("valid: true", "valid: false")) and " crc: " in text
        case ToolLineKind.RECORD:
            return " coordinatorEpoch: " in text
        case ToolLineKind.TXNINDEX:
            return "lastStableOffset: " in text
        case ToolLineKind.DUMPING:
            return FILE_END.search(text) is not None
        case ToolLineKind.STATE | ToolLineKind.OFFSET:
            return text.endswith((")", "]", "NULL")) or text.startswith("{") or _LAST_OF_STATE.search(text) is not None
        case ToolLineKind.SNAPSHOT:
            return _LAST_TIMESTAMP.search(text) is not None
        case ToolLineKind.INDEX:
            return False
    return True


def is_complete(printed: Printed) -> bool:
    """Whether the last line of a text has everything, as far as it tells: its last field, or all of its content."""
    if printed.kind is ToolLineKind.SNAPSHOT:
        return " currentTxnFirstOffset: " in printed.text
    if printed.kind is not ToolLineKind.RECORD:
        return is_whole(printed) or printed.kind is ToolLineKind.INDEX
    has_fields = HEADER_KEYS in printed.text or " crc: " in printed.text
    return (
        has_fields and growth_of(Line(0, 0, printed.text), printed.text) is None and not _has_open_brace(printed.text)
    )


def _has_open_brace(text: str) -> bool:
    """Whether what the tool prints as JSON is not closed."""
    begin = max(text.find("LeaderChange: {"), text.find(" payload: {"))
    return begin >= 0 and text.count("{", begin) > text.count("}", begin)


def growth_of(line: Line, text: str) -> Growth | None:
    """A record's content, to be followed to its end; None where the line itself holds all of it, or none."""
    tail, sizes = content_of(text), SIZES.search(text)
    if tail is None or sizes is None or looks_decoded(tail):
        return None
    key, value = int(sizes[1]), int(sizes[2])
    if min(key, value) < -1 or len(tail) > max(key, 0) + max(value, 0) + len("] key:  payload: "):
        return None
    growth = Growth(line, tail, key, value)
    return growth if growth.reach() in (Reach.SHORT, Reach.POSSIBLE) else None


def extended(printed: Printed, rest: str, is_full: bool) -> Printed | None:
    """Return what a line and the next one are together, None where they are two.

    Args:
        printed: the line as far as it is known.
        rest: the next line of the page, without what pasting put before it.
        is_full: whether the line is as long as one that was broken before.
    """
    if _has_title_apart(printed.text, rest, is_full):
        return replace(printed, text=f"{printed.text.rstrip()} {rest.lstrip()}")
    if is_full and (_BROKEN_TITLE.search(printed.text) or _has_open_brace(printed.text)):
        return replace(printed, text=printed.text + rest)
    if (tail := content_of(printed.text)) is not None:
        return _extended_content(printed, tail, rest, is_full)
    if printed.kind in (ToolLineKind.DUMPING, ToolLineKind.STATE, ToolLineKind.OFFSET):
        return _extended_text(printed, rest)
    if printed.text.startswith("| key:") or not printed.fields:
        return None
    ways = dict.fromkeys((rest, f" {rest}", rest.lstrip()))
    return next(filter(None, (_extended_row(printed, way) for way in ways)), None)


def _stands_alone(text: str) -> bool:
    """Whether a line is a tool's own, and can't be the value of a record whose line was broken before it."""
    return as_printed(text) is not None and _NAMELESS.match(text.lstrip()) is None


def _has_title_apart(text: str, rest: str, is_full: bool) -> bool:
    """Whether a record was broken around the title of its key or value."""
    is_open = _OPEN_TITLE.search(text) is not None and (is_full or text[-1] == ":")
    return (is_open and not _stands_alone(rest)) or (_TITLE.match(rest) is not None and " payload: " not in text)


def _extended_content(printed: Printed, tail: str, rest: str, is_full: bool) -> Printed | None:
    """Content that was broken at the column at which the fields above were, or inside of a decoder's text."""
    if looks_decoded(tail):
        is_all = _DECODED_END.search(tail) and not (is_full and rest.isdecimal())
        glue = " " if not is_full and tail.endswith(_TITLES) else ""  # but for titles decoders print no blank
        return None if is_all or _stands_alone(rest) else replace(printed, text=printed.text + glue + rest)
    is_open = is_full and growth_of(Line(0, 0, printed.text), printed.text) is not None
    return replace(printed, text=printed.text + rest) if is_open else None


def _extended_text(printed: Printed, rest: str) -> Printed | None:
    """A path or a value of the console consumer that went on in the next line."""
    rest = rest.strip()
    if printed.kind is ToolLineKind.DUMPING:
        text = f"Dumping {rest}" if printed.text == "Dumping" else printed.text + rest
        return replace(printed, text=text) if FILE_END.search(text) and " " not in rest else None
    lacks_value = printed.text.rstrip().endswith("payload:")
    if "::" in rest or (_stands_alone(rest) if lacks_value else as_printed(rest) is not None):
        return None
    return replace(printed, text=printed.text + " " * printed.text.endswith(",") + rest)


def _extended_row(printed: Printed, rest: str) -> Printed | None:
    """A row of fields that goes on in the next line, where the two together are one row that some release prints."""
    text = printed.text + rest
    row = row_of(text, begin_of_row(text))
    if row.end <= len(printed.text) or not _ends_well(text, row) or not _is_in_order(row):
        return None
    has_more = len(row.keys) > len(printed.fields) or _reaches_content(text, row, printed.text)
    if has_more or (row.keys == tuple(printed.fields) and _WHOLE_VALUE.fullmatch(row.fields[-1][1])):
        return Printed(printed.kind, text, dict(row.fields), row.is_elided)
    return None


def _ends_well(text: str, row: FieldRow) -> bool:
    """Whether a row is followed by nothing, a record's content, or a key that was broken as well."""
    behind = CONTENT.match(text, row.end) or _BROKEN_KEY.fullmatch(text, row.end)
    return row.end == len(text) or behind is not None


def _is_in_order(row: FieldRow) -> bool:
    """Whether some release prints the fields of a row beside each other, none of them twice."""
    is_usual = row.is_elided or FOLLOWERS.issuperset(pairwise(row.keys))
    return is_usual and len(set(row.keys)) == len(row.keys)


def _reaches_content(text: str, row: FieldRow, before: str) -> bool:
    return CONTENT.match(text, row.end) is not None and not CONTENT.match(before, len(before))


_NAMELESS = regex(NAMELESS)
_LAST_OF_STATE = regex(r",txnTimeoutMs=\d{1,10}$")
_BROKEN_KEY = regex(r"[A-Za-z]{1,21}:?\s*")
_WHOLE_VALUE = regex(r"true|false|COMMIT|ABORT|-?\d{1,19}|OptionalLong(?:\.empty|\[-?\d+\])|Some\(\d+\)|None|\[.*\]")
