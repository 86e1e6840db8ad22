"""The lines of a page that may tell something, each with what the framer makes of it, and its author's sentences.

What is named on a page, and what people say on it, is looked for in the same ones, so they are framed once, and cut
into sentences once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import pairwise

from kafkatx.terms.events import Level
from kafkatx.terms.regex import regex
from kafkatx.text.lines import Line, Page, lines
from kafkatx.text.logs.end_of_reading import is_end_of_reading
from kafkatx.text.logs.framing import MESSAGE_ONLY, REMNANT, STRUCTURED, Framed, Framer
from kafkatx.text.logs.sentences import Sentence, paragraphs, sentences_of
from kafkatx.text.logs.source_code import is_of_code
from kafkatx.text.printed.pasted import as_printed
from kafkatx.text.told_lines import told_lines
from kafkatx.text.whole_pages import MOST_PAGES

LONGEST = 2400
"""Characters of a line that are looked at: a paragraph may be one."""
LONGEST_SENTENCE = 1200
_FRAME = regex(r"\s*(?:at [\w.$/<>@-]{3,250}[(:]|\.\.\. \d+ more|File \")")
_PROGRAM = regex(r"\s+#|\s*(?://|\*/|/\*|[$%] \w|\{\s*\")|.*\S \| \S")
"""A line of a program, of a shell, of JSON or of a table."""
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
        self._own: dict[int, bool] = {}
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

    def is_own(self, line: Line) -> bool:
        """Whether a line is nobody's but its author's; of each it is found out when it is asked."""
        if (is_own := self._own.get(line.position)) is None:
            is_filled = bool(line.text.strip()) and line.position not in self._over
            is_own = is_filled and not (self.is_of_logger(line) or _is_printed(line.text))
            self._own[line.position] = is_own
        return is_own

    @cached_property
    def sentences(self) -> list[Sentence]:
        """The sentences that its author wrote, each over all lines that it is written on."""
        texts = [line.text for line in self.lines]

        def is_told(number: int) -> bool:
            is_shown = _PROGRAM.match(texts[number]) is not None or is_of_code(texts, number)
            return not is_shown and self.is_own(self.lines[number])

        cut = [one for found in paragraphs(texts, is_told) for one in sentences_of(texts, *found)]
        return [replace(one, text=one.text[:LONGEST_SENTENCE]) for one in cut]

    @cached_property
    def _over(self) -> frozenset[int]:
        """Lines that say that reading has come to its end."""
        pairs = pairwise(self.lines)
        return frozenset(below.position for line, below in pairs if is_end_of_reading(line.text, below.text))


def _is_printed(text: str) -> bool:
    """Whether a line is one of a stack trace, or a tool's."""
    return _FRAME.match(text) is not None or as_printed(text) is not None


def _layout(framed: Framed) -> str:
    """The layout of a line of a logger; an object without time and level is the answer that somebody was given."""
    is_logged = framed.at >= 0 or framed.of_day >= 0 or framed.level is not Level.unknown
    return framed.layout if framed.layout != STRUCTURED or is_logged else ""


@lru_cache(maxsize=MOST_PAGES)
def framed_page(page: Page) -> FramedPage:
    """Return a page framed; of the same bytes the same."""
    return FramedPage(lines(page))
