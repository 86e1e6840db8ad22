"""Undoes what pasting does to the lines of tools: quotes, prompts, grep prefixes, comment signs, escapes, entities.

A line is taken as it is where it is a tool's; only otherwise is something undone, one layer after the other, until one
appears. What a record holds is kept, unless the line itself shows that all of it was escaped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from kafkatx.terms.records import dataclass
from kafkatx.terms.regex import regex
from kafkatx.text.printed.contents import is_longer_by
from kafkatx.text.printed.dump_lines import exact_line, row_of
from kafkatx.text.printed.letters import LETTERS, without_entities
from kafkatx.text.printed.line_kinds import (
    ANCHOR,
    BEGINNINGS,
    FRAME,
    STATE_TEXT,
    STATED,
    ToolLineKind,
    begin_of_row,
    is_note,
    kind_of,
    kind_of_dump_line,
    kind_of_row,
)
from kafkatx.text.printed.named_cells import named_cells
from kafkatx.text.printed.stable_offsets import is_of_statistics, tells_stable_offset
from kafkatx.text.remembered import remembered

LONGEST_PREFIX = 400
"""Characters that may stand before a tool's line."""
DECORATIONS = (
    ("blanks", r"\s+"),
    ("colours of a terminal", r"\x1b\[[0-9;?]*[A-Za-z]"),
    (
        "quote marks, comment signs, list marks",
        r"(?:>+|\*+|/{2,}|/\*+|#+|;+|--|[-+%•·‣▪\u2013\u2014→]|<!--)(?=[\s|>{\[]|\w)",
    ),
    ("escaped quote marks", r"(?:&gt;)+"),
    ("code fences, quotation marks", r"[`\"'“”„«\u2039]+"),
    ("HTML", r"</?(?:pre|code|p|br|li|ul|ol|b|i|em|strong|span|div|td|tr|blockquote|font)\b[^<>]{0,200}>"),
    ("bar of a table", r"\|(?! ?(?:offset: (?!\d+ position: )|key: |payload: ))"),
    ("escaped bar", r"\\(?=\|)"),
    ("prompt", r"(?:\([^()\s]{1,60}\) )?\[?[\w.-]{1,60}@[\w.-]{1,100}[^$#>]{0,200}[$#>] ?"),
    ("prompt of a shell", r"(?:[$%] |(?:ba|z)?sh-[\d.]+[$#] )"),
    ("prompt of Windows", r"(?:PS )?[A-Za-z]:\\[^<>|]{0,200}> ?"),
    ("grep, file and line", r"(?:[A-Za-z]:)?[^\s:|<>]{1,300}[:-]\d{1,9}[:-](?=[\s\w|{\[])"),
    ("grep, file", r"(?:[A-Za-z]:)?[^\s:|<>]{0,300}\.\w{1,12}(?:\.\w{1,4})?[:-](?=\s?[\w|{\[])"),
    ("line number", r"\d{1,9}(?:[:|.)\]-]|(?=\s))(?!\d)"),
    ("number in brackets", r"(?:\(\d{1,6}\)|\[\d{1,6}\]|\(?[a-z]\))(?=\s)"),
    ("container", r"[\w.-]{1,60}\s+\|\s(?!offset: (?!\d+ position: )|key: |payload: )"),
    ("container, record", r"[\w.-]{1,60}\s+\|\s(?=\| )"),
)
"""What pasting puts before a line, with names for it."""
_DECORATION = regex("|".join(f"(?:{pattern})" for _, pattern in DECORATIONS))
_HINT = regex(
    r"(?:ffset|Id|Epoch|imestamp|Time|key|payload|crc|alid|agic|ize|equence|ount|Marker|artition):"
    r"|Dumping|ing offset|KRaft b|_TIMESTAMP|ransactionalId|ProducerId|\"producerId|::"
    r"|TRANSACTIONAL-ID|PRODUCER-ID|LAST[- ]SEQ|-OFFSET[\s|,]"
    r"|% Reached|\] offset |Processed a total|transactional-id |Topic:"
    r"|(?:Ongoing|Empty|Dead|Commit|Abort|EpochFence)\s*$"
    r"|\d{13}\s+(?:None|\d{1,18})\s*$"
    r"|stuck at offset|stuck with tra|causing producer|(?i:Stable_?Offset_?Lag|With_?Late_?Transactions)|#mbean = "
    r"|Value = \d"
)
"""A line without any of these is no tool's, however it was pasted (remarks of the dump tool aside)."""
_STATE = regex(r"[Ss]tate.{0,8}(?:Ongoing|Prepare|Complete|Empty|Dead)")
_STABLE = regex(r"LSO|lso\b|[a-z]_offset|[Ss]table|read_(?:un)?committed\W.{0,200}read_(?:un)?committed\b")
_TAIL = regex(r"\s(?:key|payload):(?:\s|$)")
_ESCAPE = regex(r"\\([\\`*_{}\[\]()#+\-.!|<>~&$\"':=,])")
_SHOWS_MARKDOWN = regex(r"\\[|\[\]_]")
_ENTITY = regex(r"&(?:gt|lt|quot|amp|apos|nbsp|#x?[0-9a-fA-F]{1,6});")
_SHOWS_ESCAPES = regex(rf"{_SHOWS_MARKDOWN.pattern}|{_ENTITY.pattern}|\*\*|`")
_DECODED = regex(r"\s(?:key|payload):\s*(?:\{[“”]|\\[\[{]|\{&quot;|&lt;DELETE|\w{1,20}\\_\w{1,20}::)")
"""A decoder's text that can't have been printed like this."""
_EMPHASIS = regex(r"\*\*|`|</?(?:b|i|em|strong|code|mark|u|span)\b[^<>]{0,200}>|\x1b\[[0-9;?]*[A-Za-z]")
_CLOSERS = " \t`*\"'\u201d\u2019|\\"
_CLOSING = regex(r"(?:</\w{1,12}>|<br ?/?>|\x1b\[[0-9;?]{0,12}[A-Za-z])$")
LONGEST_TAG = 20
_OPENING = regex(r"[`\"'“”|]|\*\*|<\w")
_LETTERS = str.maketrans(LETTERS)


@dataclass(frozen=True, slots=True)
class Printed:
    """A line as the tool printed it: what it tells, its fields if it has any, whether `...` stands between them."""

    kind: ToolLineKind
    text: str
    fields: Mapping[str, str] = field(default_factory=dict)
    is_elided: bool = False


@remembered
def as_printed(text: str) -> Printed | None:
    """Return the line of a tool that a pasted line holds; None where it holds none."""
    if text.startswith(BEGINNINGS) and (untouched := _untouched(text)) is not None:
        return untouched
    if not _HINT.search(text):
        return _named(text) or _offsets(text) or _note(text)
    found = _printed(text)
    if found is None or _was_escaped(text, found):
        found = _printed(unescaped(text if found is None else found.text)) or found
    return found or _named(text) or _offsets(text) or _note(text)


def _offsets(text: str) -> Printed | None:
    """A line that tells a last stable offset beside the end of the log."""
    text = unescaped(text) if "\\" in text else text
    is_told = _STABLE.search(text) is not None and (is_of_statistics(text) or tells_stable_offset(text))
    return Printed(ToolLineKind.ANSWER, text) if is_told else None


def _named(text: str) -> Printed | None:
    """A line that tells the state of an id by names and values."""
    is_told = _STATE.search(text) is not None and named_cells(text) is not None
    return Printed(ToolLineKind.LISTED, text) if is_told else None


def _untouched(text: str) -> Printed | None:
    """A line exactly as some release prints it, which nearly all lines are."""
    if not text.isascii() or "\\" in text or "&" in text or has_closing_tag(text):
        return None
    if (line := exact_line(text)) is None:
        return None
    return Printed(kind_of_dump_line(line), text, line.fields())


def has_closing_tag(text: str) -> bool:
    """Whether a line ends with HTML of a page, or a terminal's colour, that no content holds: by its declared size."""
    found = _CLOSING.search(text[-LONGEST_TAG:]) if text.endswith((">", "m", "K")) else None
    return found is not None and is_longer_by(text, len(found[0]))


def bare(text: str) -> str | None:
    """Return a line without the decoration before a tool's line; None where more than decoration stands there."""
    at, limit = 0, min(len(text), LONGEST_PREFIX)
    state = STATE_TEXT.search(text)
    begin = state.start() - len(state[1]) if state and text.endswith(state[1], 0, state.start()) else -1
    while at < limit:
        if at == begin or ANCHOR.match(text, at) or (begin < 0 and FRAME.match(text, at)):
            return _closed(text[:at], text[at:])
        decoration = _DECORATION.match(text, at)
        if decoration is None:
            return None
        at = decoration.end()
    return None


def undecorated(text: str) -> str:
    """Return a line of any text without quote marks, comment signs, prompts and the like before it."""
    at, limit = 0, min(len(text), LONGEST_PREFIX)
    while at < limit and (decoration := _DECORATION.match(text, at)):
        at = decoration.end()
    return text[at:]


def _printed(text: str) -> Printed | None:
    line = bare(text)
    if line is None:
        return None
    if line.startswith(STATED) or FRAME.match(line) or STATE_TEXT.search(line):
        kind = kind_of(line)
        return Printed(kind, line) if kind else None
    row = row_of(line, begin_of_row(line))
    kind = kind_of_row(line, row)
    return Printed(kind, line, dict(row.fields), row.is_elided) if kind else None


def _note(text: str) -> Printed | None:
    line = text.strip()
    return Printed(ToolLineKind.NOTE, line) if is_note(line) else None


def _closed(prefix: str, line: str) -> str:
    """Drop what closes a decoration again: the second quotation mark, the last bar of a table row."""
    if _OPENING.search(prefix) or not _TAIL.search(line) or has_closing_tag(line):
        while (shorter := _CLOSING.sub("", line[-LONGEST_TAG:].rstrip(_CLOSERS))) != line[-LONGEST_TAG:]:
            line = line[:-LONGEST_TAG] + shorter
    return line


def _was_escaped(text: str, found: Printed) -> bool:
    """Whether a line that already reads as a tool's shows that it was escaped nevertheless."""
    if text.isascii() and not any(sign in text for sign in ("\\", "&", "**", "`")):
        return False
    if found.kind is ToolLineKind.DUMPING:
        return "\\_\\_" in text or ("\\" in text and "/" in text) or not text.isascii()
    head, _ = _head_and_content(text)
    return not head.isascii() or _SHOWS_ESCAPES.search(head) is not None or _DECODED.search(text) is not None


def unescaped(text: str) -> str:
    """Undo escapes and letters of word processors before a record's content; in it only where it shows them itself."""
    head, content = _head_and_content(text)
    shows = _DECODED.search(content)
    if _SHOWS_MARKDOWN.search(head) or (shows and "\\" in shows[0]):
        content = _ESCAPE.sub(r"\1", content)
    if _ENTITY.search(head) or (shows and "&" in shows[0]):
        content = without_entities(content)
    if shows and not shows[0].isascii():
        content = content.translate(_LETTERS)
    head = _EMPHASIS.sub("", without_entities(_ESCAPE.sub(r"\1", head)).translate(_LETTERS))
    return head + content


def _head_and_content(text: str) -> tuple[str, str]:
    """What stands before a record's key and payload, and from there on."""
    tail = _TAIL.search(text)
    return (text[: tail.start()], text[tail.start() :]) if tail else (text, "")
