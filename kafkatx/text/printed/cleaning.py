"""Lines as they stand up to the first one that is no line of what was dumped; from there on pasting is undone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

from kafkatx.text.lines import Line
from kafkatx.text.printed.pasted import as_printed
from kafkatx.text.printed.tool_lines import unpasted


def cleaned(source: Iterator[Line], is_printed: Callable[[str], object]) -> Iterator[Line]:
    """Yield lines; undoing what pasting did costs ten times as much as reading, and most dumps were not pasted.

    Args:
        source: lines of a file.
        is_printed: whether a line is one that the tool prints of what was dumped.
    """
    for line in source:
        if not is_printed(line.text) and as_printed(line.text) is not None:
            yield from unpasted(chain([line], source))
            return
        yield line
