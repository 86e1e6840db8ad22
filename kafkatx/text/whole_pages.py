"""Pages that somebody wrote by hand around what tools printed: small, so they are looked at whole.

What a page says, names, and which releases it tells holds for each log on it. Who asks is told the same for the same
bytes, and is told it once worked out: a page may have a hundred parts, and each of them asks.
"""

from __future__ import annotations

from kafkatx.sources.files import OpenFile
from kafkatx.terms.secrets import without_secrets
from kafkatx.text.lines import Page

LARGEST_PAGE = 1 << 16
"""Bytes of a page; what is larger is a log and nothing else."""
MOST_PAGES = 64
"""Pages whose answers are kept."""
MOST_QUOTED, BEFORE = 160, 60
"""Characters of a line that are quoted, and of them before what it is quoted for."""


def page_of(file: OpenFile) -> Page | None:
    """Return a file as a page; None where it is too large for one."""
    return Page(file.read(0, file.size)) if file.size <= LARGEST_PAGE else None


def quoted_at(text: str, at: int) -> str:
    """Return the words around a place in a line, without secrets."""
    front = without_secrets(text[:at])
    text, at = front + without_secrets(text[at:]), len(front)
    begin = max(0, min(at - BEFORE, len(text) - MOST_QUOTED))
    begin = text.find(" ", begin) + 1 if begin else 0
    return text[begin : begin + MOST_QUOTED].strip()
