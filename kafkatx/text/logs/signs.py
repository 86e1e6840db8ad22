"""Signs of known defects in the lines of logs: which texts of the catalogue's table an entry shows.

An entry shows a text with its message, or with a line of the stack trace under it: a frame tells as much as the
exception above it. Any other line under it may be somebody's words about it. Which texts make a defect is no reader's
business (findings/known_defects.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkatx.terms.regex import regex
from kafkatx.text.logs.defect_texts import is_quoted, signs_in
from kafkatx.text.logs.entries import Entry
from kafkatx.text.logs.framing import MESSAGE_ONLY

SEPARATOR = "\n"
"""Stands between the texts that one entry shows."""
MOST_LINES = 200
"""Lines of an entry that are looked at."""
LONGEST_LINE = 4_096
_TRACED = regex(
    r"\s{0,40}(?:at |File \"|Caused by: |#\d{1,3} +0x|[\w.$]{1,200}(?:Exception|Error)\b)"
    r"|\s{0,40}\d{1,3}: +(?:0x[0-9a-f]{4,16} - )?[\w<]"
    r"|\s{0,40}\[?\{'?[\w.]{1,80}'?,'?[\w/-]{1,80}'?,(?:\d{1,3},|\[)"
    r"|\s{0,40}[\w.!@/-]{1,200}/[\w.@!/-]{1,120}\.(?:\(\*?\w{1,60}\)\.)?\w{1,80}\("
)
"""A frame or an exception of a trace, of Java, Python, C, Rust, Erlang or Go."""
_PYTHON_FRAME = regex(r"\s{1,40}File \"")


def signs_of(entry: Entry) -> str:
    """Return the texts of known defects that an entry shows, nothing where it shows none."""
    framed = entry.framed
    lines = (framed.logger, framed.message, framed.trace, *_traced(entry.tail[:MOST_LINES]))
    found = signs_in("\n".join(line[:LONGEST_LINE] for line in lines if line))
    if framed.layout == MESSAGE_ONLY:
        found = tuple(sign for sign in found if not is_quoted(framed.message, sign))
    return SEPARATOR.join(found)


def _traced(tail: tuple[str, ...]) -> Iterator[str]:
    """Lines of a stack trace: frames, the source line under a frame of Python, exceptions."""
    is_under_frame = False
    for line in tail:
        begin = line[:64].lstrip()
        if is_under_frame or begin.startswith(("at ", "Caused by: ")) or _TRACED.match(line):
            yield line
        is_under_frame = begin.startswith('File "') and _PYTHON_FRAME.match(line) is not None
