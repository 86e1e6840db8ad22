"""A manual on a terminal: wrapped at its width, coloured where it is one, brackets and examples as they are written."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterator

from kafkatx.cli.manual import INDENT, Manual, Paragraph, Row

NARROWEST, WIDEST = 40, 120
"""Columns; longer lines than that nobody reads."""
LEFT = 28
"""Columns of the names at most; a longer one has a line of its own."""
BOLD, CYAN, PLAIN = "\x1b[1m", "\x1b[36m", "\x1b[0m"


def help_text(manual: Manual) -> str:
    """Return the manual for standard output as it is now."""
    columns = shutil.get_terminal_size((80, 24)).columns
    return rendered(manual, columns, is_coloured=_is_coloured())


def rendered(manual: Manual, columns: int, *, is_coloured: bool = False) -> str:
    """Return the manual in lines of up to `columns`, without a line end at the end."""
    width = min(max(columns, NARROWEST), WIDEST)
    return "\n".join(_Page(width, is_coloured).lines(manual))


def _is_coloured() -> bool:
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not plain


class _Page:
    """Lines of one width, with or without colours."""

    def __init__(self, width: int, is_coloured: bool) -> None:
        self.width, self.is_coloured = width, is_coloured

    def lines(self, manual: Manual) -> Iterator[str]:
        """Yield usage, paragraphs, and each section under its heading."""
        usage = self._wrapped(manual.usage, first="Usage: ", margin="       ")
        yield from (line.replace("Usage:", self._painted("Usage:", BOLD), 1) for line in usage)
        for paragraph in manual.paragraphs:
            yield from self._paragraph(paragraph)
        for section in manual.sections:
            yield ""
            yield self._painted(f"{section.title}:", BOLD)
            left = 2 + max(len(row.name) for row in section.rows if len(row.name) <= LEFT or row is section.rows[0])
            for row in section.rows:
                yield from self._row(row, min(left, LEFT) + 2)

    def _paragraph(self, paragraph: Paragraph) -> Iterator[str]:
        """Prose below an empty line; what keeps its lines stands below the prose that leads to it."""
        if paragraph.is_verbatim:
            yield from (f"{INDENT}{line}" for line in paragraph.lines)
        else:
            yield from ["", *self._wrapped(paragraph.text)]

    def _row(self, row: Row, left: int) -> Iterator[str]:
        """A name and, in the column at `left`, its text; the text begins below a name that is too long."""
        name, margin = self._painted(row.name, CYAN), " " * left
        text = self._wrapped(row.text, margin, margin)
        if len(row.name) + 4 > left:
            yield f"  {name}"
        else:
            first = text.pop(0) if text else margin
            yield f"  {name}{first[2 + len(row.name) :]}".rstrip()
        yield from text

    def _wrapped(self, text: str, first: str = "", margin: str = "") -> list[str]:
        return textwrap.wrap(text, self.width, initial_indent=first, subsequent_indent=margin, break_on_hyphens=False)

    def _painted(self, text: str, colour: str) -> str:
        return f"{colour}{text}{PLAIN}" if self.is_coloured else text
