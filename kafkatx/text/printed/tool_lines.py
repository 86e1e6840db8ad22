"""Lines of tools as they were printed: what pasting did is undone, broken lines are joined, contents stay.

Wraps      A terminal breaks a long line at its last column, mail and editors at a blank before it. A line is joined
           with the next one where the two together read as one line of a dump and as more of it than the first alone:
           no field twice, and none where no release prints it.
Contents   Keys and values are printed raw and may hold ends of lines: lines that end where the declared sizes end are
           content, whatever they look like. A quotation mark before the record's line is taken off them as well.
Limits     Looking ahead is paid from a budget in proportion to the text, so that time is linear whatever sizes lines
           claim; what is looked at is bounded by `LONGEST_CONTENT`.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

from kafkatx.text.lines import Line
from kafkatx.text.printed.contents import Growth, Reach, looks_decoded
from kafkatx.text.printed.elisions import is_elision
from kafkatx.text.printed.eras import SHAPES, TIMESTAMP
from kafkatx.text.printed.line_kinds import BEGINNINGS, CONTENT, TIMESTAMPS, Shape, head_of
from kafkatx.text.printed.pasted import Printed, as_printed, undecorated

LONGEST_CONTENT = 4 << 20
"""Bytes of a record's content that are looked at behind its first line."""
BUDGET = 1 << 20
"""Bytes of looking ahead that are always granted."""
MOST_WRAPS = 200
"""Lines that one line may have been broken into."""
NARROWEST = 40
"""Columns below which nobody breaks lines."""
_HEADER_KEYS = "headerKeys: ["
_SIZES = re.compile(r" key[sS]ize: (-?\d{1,10}) value[sS]ize: (-?\d{1,10}) ")
_FILE_END = re.compile(r"\.(?:log|index|timeindex|txnindex|snapshot|checkpoint)(?:\.(?:deleted|swap|cleaned))?$")
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


@dataclass(frozen=True, slots=True)
class ToolLine:
    """A line as printed: `line` has the number and place of its first physical line, and the end of its last one.

    `printed` is None for a line of no tool (its text is then as it stands) and for content of the record above
    (`is_content`). `is_joined`: it had been broken. `is_pasted`: something stood before it, or was undone in it.
    """

    line: Line
    printed: Printed | None
    is_content: bool = False
    is_joined: bool = False
    is_pasted: bool = False


def unpasted(source: Iterable[Line]) -> Iterator[Line]:
    """Yield lines as the tool printed them; lines of no tool as they stand."""
    return (tool_line.line for tool_line in tool_lines(source))


def tool_lines(source: Iterable[Line]) -> Iterator[ToolLine]:
    """Yield the lines of a text as tools printed them, in order; bounded memory, linear time, raises nothing."""
    return _Reader(iter(source)).read()


@dataclass(slots=True)
class _Reader:
    """One pass: lines that were looked at and not taken wait, each with what it reads as once that is known."""

    source: Iterator[Line]
    waiting: deque[Line] = field(default_factory=deque)
    budget: int = BUDGET
    width: int = 0

    def read(self) -> Iterator[ToolLine]:
        while (line := self._next()) is not None:
            printed = as_printed(line.text)
            if printed is None and line.text.rstrip().endswith("Dumping"):
                printed = self._header(line)
            if printed is None:
                yield ToolLine(line, None)
                continue
            found = self._joined(line, printed)
            yield found
            if printed.shape is Shape.RECORD:
                bare = replace(found.line, size=-1) if found.is_joined else line
                yield from self._contents(_as_if_bare(bare, found.line.text), prefix_of(line.text, printed.text))

    def _next(self) -> Line | None:
        if self.waiting:
            return self.waiting.popleft()
        line = next(self.source, None)
        if line is not None:
            self.budget += 2 * len(line.text)
        return line

    def _peek(self, number: int) -> Line | None:
        while len(self.waiting) <= number:
            line = next(self.source, None)
            if line is None:
                return None
            self.budget += 2 * len(line.text)
            self.waiting.append(line)
        return self.waiting[number]

    def _header(self, line: Line) -> Printed | None:
        """A header that was broken before its path."""
        following = self._peek(0)
        path = without_prefix(following.text, line.text.partition("Dumping")[0]).strip() if following else ""
        is_header = undecorated(line.text).strip() == "Dumping" and _FILE_END.search(path) and " " not in path
        return Printed(Shape.DUMPING, "Dumping") if is_header else None

    def _joined(self, line: Line, printed: Printed) -> ToolLine:
        """Join a line with those that it was broken into."""
        prefix = prefix_of(line.text.rstrip(), printed.text)
        width, last = len(line.text), line
        for _ in range(MOST_WRAPS):
            is_narrow = len(line.text) < NARROWEST and printed.text != "Dumping"
            following = None if is_whole(printed) or is_narrow else self._peek(0)
            if following is None or _begins_anew(printed, following.text):
                break
            more = self._extended(printed, without_prefix(following.text, prefix), width)
            if more is None:
                break
            printed, width, last = more, len(following.text), self.waiting.popleft()
        if last is line and printed.text == line.text:
            return ToolLine(line, printed)
        joined = replace(line, text=printed.text, end=last.end, is_ended=last.is_ended, size=len(printed.text.encode()))
        return ToolLine(joined, printed, is_joined=last is not line, is_pasted=True)

    def _extended(self, printed: Printed, rest: str, width: int) -> Printed | None:
        """What a line and the next one are together, None where they are two."""
        is_open = _OPEN_TITLE.search(printed.text) is not None and (width == self.width or printed.text[-1] == ":")
        if (is_open and as_printed(rest) is None) or (_TITLE.match(rest) and " payload: " not in printed.text):
            return replace(printed, text=f"{printed.text.rstrip()} {rest.lstrip()}")
        if width == self.width and (_BROKEN_TITLE.search(printed.text) or _has_open_brace(printed.text)):
            return replace(printed, text=printed.text + rest)
        if (tail := content_of(printed.text)) is not None:
            return self._extended_content(printed, tail, rest, width)
        if printed.shape in (Shape.DUMPING, Shape.STATE, Shape.OFFSET):
            return _extended_text(printed, rest)
        if printed.text.startswith("| key:") or not printed.fields:
            return None
        found = next(filter(None, (_extended_head(printed, glue, rest) for glue in ("", " "))), None)
        if found is None and rest != rest.lstrip():
            found = _extended_head(printed, "", rest.lstrip())
        if found is not None and len(found.fields) > len(printed.fields):
            self.width = width
        return found

    def _extended_content(self, printed: Printed, tail: str, rest: str, width: int) -> Printed | None:
        """Content that was broken at the column at which the fields above were, or inside of a decoder's text."""
        if looks_decoded(tail):
            is_whole = _DECODED_END.search(tail) and not (width == self.width and rest.isdecimal())
            glue = "" if width == self.width else " "
            return None if is_whole or as_printed(rest) else replace(printed, text=printed.text + glue + rest)
        is_open = width == self.width and _growth_of(Line(0, 0, printed.text), printed.text) is not None
        return replace(printed, text=printed.text + rest) if is_open else None

    def _contents(self, record: Line, prefix: str) -> Iterator[ToolLine]:
        """The lines behind a record's own that are its content, by the sizes that it declares."""
        growth = _growth_of(record, record.text)
        taken: list[Line] = []
        size = 0
        while growth is not None and growth.reach() in (Reach.SHORT, Reach.POSSIBLE):
            following = self._peek(len(taken)) if self.budget > 0 and size < LONGEST_CONTENT else None
            if following is None:
                return
            text = without_prefix(following.text, prefix)
            bare = _as_if_bare(following, text)
            taken.append(replace(bare, end=following.end))
            cost = growth.add(bare) + 1
            self.budget, size = self.budget - cost, size + cost
        if growth is not None and growth.reach() is Reach.EXACT:
            for line in taken:
                self.waiting.popleft()
                yield ToolLine(line, None, is_content=True)


_TITLE = re.compile(r"\s?(?:key|payload|endTxnMarker|controlType):(?: |$)|\s?LeaderChange:(?: \{|$)")
_LAST_TIMESTAMP = re.compile(r" timestamp: (?:-1|\d{13,19})$")
_OPEN_TITLE = re.compile(
    r"(?:headerKeys: \[[^\[\]]*\]|crc: \d+) (?:key|payload|LeaderChange|controlType|endTxnMarker):\s*$"
)
_BROKEN_TITLE = re.compile(r"headerKeys: \[[^\[\]]*\] (?:k|p|e|L|c)[A-Za-z]{0,12}$")
_DECODED_END = re.compile(
    r"payload: .*(?:txnTimeoutMs=\d+|\}|<DELETE>|offset=\d+(?:,metadata=\S*)?|payload: \d+\S*)$|skipping"
)


def _begins_anew(printed: Printed, text: str) -> bool:
    """Whether a line can't be the rest of the one above: none, the next one, a sign that lines were left out."""
    if not text.strip() or text.startswith((*BEGINNINGS, "Dumping ")):
        return True
    return is_elision(text) and content_of(printed.text) is None


def is_whole(printed: Printed) -> bool:
    """Whether a line has all that a line of its shape ends with, so that nothing was broken off."""
    text = printed.text
    match printed.shape:
        case Shape.BATCH:
            return text.endswith(("valid: true", "valid: false")) and " crc: " in text
        case Shape.RECORD:
            return " coordinatorEpoch: " in text
        case Shape.TXNINDEX:
            return "lastStableOffset: " in text
        case Shape.DUMPING:
            return _FILE_END.search(text) is not None
        case Shape.STATE | Shape.OFFSET:
            return text.endswith((")", "]", "NULL")) or text.startswith("{")
        case Shape.SNAPSHOT:
            return _LAST_TIMESTAMP.search(text) is not None
        case Shape.INDEX:
            return False
    return True


def is_complete(printed: Printed) -> bool:
    """Whether the last line of a text has everything, as far as it tells: its last field, or all of its content."""
    if printed.shape is Shape.SNAPSHOT:
        return " currentTxnFirstOffset: " in printed.text
    if printed.shape is not Shape.RECORD:
        return is_whole(printed) or printed.shape is Shape.INDEX
    has_fields = _HEADER_KEYS in printed.text or " crc: " in printed.text
    return (
        has_fields and _growth_of(Line(0, 0, printed.text), printed.text) is None and not _has_open_brace(printed.text)
    )


def _has_open_brace(text: str) -> bool:
    """Whether what the tool prints as JSON is not closed."""
    begin = max(text.find("LeaderChange: {"), text.find(" payload: {"))
    return begin >= 0 and text.count("{", begin) > text.count("}", begin)


def prefix_of(text: str, printed: str) -> str:
    """Return what stands before a tool's line as pasted, empty where more than that was changed."""
    return text[: -len(printed)] if printed and text.endswith(printed) else ""


def without_prefix(text: str, prefix: str) -> str:
    """Return a line without the quotation marks, comment signs or blanks that the line above has before it."""
    if prefix and text.startswith(prefix):
        return text[len(prefix) :]
    if prefix.strip() and text.startswith(prefix.rstrip()):
        return text[len(prefix.rstrip()) :]
    return text


def content_of(text: str) -> str | None:
    """Return what stands behind the fields of a record from the keys of its headers on, None without any content."""
    tail = text.partition(_HEADER_KEYS)[2]
    return tail if "] key: " in tail or "] payload: " in tail else None


def _as_if_bare(line: Line, text: str) -> Line:
    """A line as if nothing had stood before it: the bytes that it takes beside its text are those of its end."""
    shown = len(text.encode())
    if line.size < 0:
        return replace(line, text=text, end=line.position + shown + 1, size=shown)
    size = line.size - len(line.text.encode()) + shown
    return replace(line, text=text, end=line.end - line.size + size, size=size)


def _growth_of(line: Line, text: str) -> Growth | None:
    """A record's content, to be followed to its end; None where the line itself holds all of it, or none."""
    tail, sizes = content_of(text), _SIZES.search(text)
    if tail is None or sizes is None or looks_decoded(tail):
        return None
    key, value = int(sizes[1]), int(sizes[2])
    if min(key, value) < -1 or len(tail) > max(key, 0) + max(value, 0) + len("] key:  payload: "):
        return None
    growth = Growth(line, tail, key, value)
    return growth if growth.reach() in (Reach.SHORT, Reach.POSSIBLE) else None


def _extended_text(printed: Printed, rest: str) -> Printed | None:
    """A path or a value of the console consumer that went on in the next line."""
    rest = rest.strip()
    if printed.shape is Shape.DUMPING:
        text = f"Dumping {rest}" if printed.text == "Dumping" else printed.text + rest
        return replace(printed, text=text) if _FILE_END.search(text) and " " not in rest else None
    if "::" in rest or as_printed(rest) is not None:
        return None
    return replace(printed, text=printed.text + " " * printed.text.endswith(",") + rest)


def _extended_head(printed: Printed, glue: str, rest: str) -> Printed | None:
    """A row of fields that goes on in the next line, where the two together are one row that some release prints."""
    text = printed.text + glue + rest
    begin, joint = 2 if text.startswith("| ") else 0, len(printed.text)
    head = head_of(text, begin)
    keys = head.keys
    ends_well = head.end == len(text) or CONTENT.match(text, head.end) or _BROKEN_KEY.fullmatch(text, head.end)
    if head.end <= joint or not ends_well or len(set(keys)) < len(keys):
        return None
    if not head.is_elided and not FOLLOWERS.issuperset(pairwise(keys)):
        return None
    grew = len(keys) > len(printed.fields) or (CONTENT.match(text, head.end) and not CONTENT.match(printed.text, joint))
    if not grew and not (keys == tuple(printed.fields) and _WHOLE_VALUE.fullmatch(head.fields[-1][1])):
        return None
    return Printed(printed.shape, text, dict(head.fields), head.is_elided)


_BROKEN_KEY = re.compile(r"[A-Za-z]{1,21}:?\s*")
_WHOLE_VALUE = re.compile(
    r"true|false|COMMIT|ABORT|-?\d{1,19}|OptionalLong(?:\.empty|\[-?\d+\])|Some\(\d+\)|None|\[.*\]"
)
