"""Lines of a text that may tell something: settings that a program prints at its start give values and tell nothing.

A client and a broker print every setting that they have when they start, a hundred to three hundred of them: most lines
of most logs that are no longer than a page. They are read as what they are (text/settings/printed.py); who asks what a
line is like, names or says need not ask it of them.

Shape   behind a line that ends with `Config values:` lines of a tab, a name, ` = ` and the value, as no page has
        changed them (AbstractConfig.logAll); any other line ends the block.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafkatx.terms.regex import regex
from kafkatx.text.lines import Line

_HEADINGS = ("Config values:", "Config values: ")
"""How a line ends that a block begins below: log4j prints the blank before the end of line that comes with it."""
_VALUE = regex(r"\t[a-z][A-Za-z0-9_.-]{1,120} = [^<>&\\`{}\"']{0,400}")
"""A value without the signs that pages, programs and JSON put around or into what they quote."""


class ValuesBlock:
    """Whether lines, asked one after the other, are values in a block."""

    def __init__(self) -> None:
        self._is_open = False

    def takes(self, text: str) -> bool:
        """Whether the next line is one."""
        if self._is_open and _VALUE.fullmatch(text):
            return True
        self._is_open = text.endswith(_HEADINGS)
        return False


def told_lines(source: Iterable[Line]) -> Iterator[Line]:
    """Yield the lines that may tell something, each as it stands."""
    block = ValuesBlock()
    return (line for line in source if not block.takes(line.text))
