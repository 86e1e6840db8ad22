"""The lines of a page that may tell something, each with what the framer makes of it.

What is named on a page, and what people say on it, is looked for in the same ones, so they are framed once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from kafkatx.terms.events import Level
from kafkatx.text.lines import Line, Page, lines
from kafkatx.text.logs.framing import MESSAGE_ONLY, REMNANT, STRUCTURED, Framed, Framer
from kafkatx.text.told_lines import told_lines
from kafkatx.text.whole_pages import MOST_PAGES

LONGEST = 2400
"""Characters of a line that are looked at: a paragraph may be one."""
_OF_NO_LOGGER = ("", MESSAGE_ONLY, REMNANT)


class FramedPage:
    """Lines of a page, of which every one that may tell something has been framed, in order."""

    def __init__(self, source: Iterable[Line]) -> None:
        self.all_lines = [
            replace(line, text=line.text[:LONGEST]) if len(line.text) > LONGEST else line for line in source
        ]
        self.lines = [*told_lines(self.all_lines)]
        self._framer = Framer([line.text for line in self.lines])
        self.framed: list[Framed] = [self._framer.frame(line.text) for line in self.lines]
        self._layouts = {line.position: _layout(one) for line, one in zip(self.lines, self.framed, strict=True)}

    def frame(self, text: str) -> Framed:
        """Frame a sentence out of one of the lines."""
        return self._framer.frame(text)

    def is_of_logger(self, line: Line) -> bool:
        """Whether a line of the page is one that a logger printed, behind whatever blanks."""
        if self._layouts[line.position] not in _OF_NO_LOGGER:
            return True
        bare = line.text.strip()
        return bare != line.text and self._framer.frame(bare).layout not in _OF_NO_LOGGER


def _layout(framed: Framed) -> str:
    """The layout of a line of a logger; an object without time and level is the answer that somebody was given."""
    is_logged = framed.at >= 0 or framed.of_day >= 0 or framed.level is not Level.unknown
    return framed.layout if framed.layout != STRUCTURED or is_logged else ""


@lru_cache(maxsize=MOST_PAGES)
def framed_page(page: Page) -> FramedPage:
    """Return a page framed; of the same bytes the same."""
    return FramedPage(lines(page))
