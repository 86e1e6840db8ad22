"""Which text a file holds, however it is called by now, and how far it may be read while somebody writes to it."""

from __future__ import annotations

import hashlib

from kafkatx.sources.files import OpenFile
from kafkatx.terms.regex import regex

LONGEST_FIRST = 4096
"""Bytes by which a text is known: its first line, or so much of it. Names change where a log is rolled."""
LAST_BYTES = 1 << 16
DIGITS, LETTERS = regex(rb"[0-9]"), regex(rb"[A-Za-z]")
FRONT = 4


def known_by(file: OpenFile) -> str | None:
    """Return what names a text; None while its first line is not whole."""
    head = file.read(0, LONGEST_FIRST)
    line, newline, _ = head.partition(b"\n")
    return hashlib.sha256(line).hexdigest()[:16] if newline or len(head) == LONGEST_FIRST else None


def end_of_text(file: OpenFile, is_quiet: bool) -> int:
    """Return the place up to which a text is whole: behind its last line, if it `is_quiet`.

    Else its last entry is left for later, since more lines of it may follow: what begins as the first line does.
    """
    begin = max(0, file.size - LAST_BYTES)
    tail = file.read(begin, LAST_BYTES)
    whole = tail.rfind(b"\n") + 1
    if is_quiet or not whole:
        return begin + whole if whole else begin
    shape, at = _shape(file.read(0, FRONT)), whole
    while at > 0:
        at = tail.rfind(b"\n", 0, at - 1) + 1
        if _shape(tail[at : at + FRONT]) == shape:
            return begin + at
    return begin + whole


def _shape(front: bytes) -> bytes:
    return LETTERS.sub(b"a", DIGITS.sub(b"0", front))
