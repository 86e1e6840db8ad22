"""Lines for a person: marked, hanging under their text, escaped, and without blanks at their ends."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kafkatx.evidence.coverage import Coverage
from kafkatx.terms.printable import printable
from kafkatx.words.evidence_refs import plural

_TRAILING = re.compile(r"[ ]+$", re.MULTILINE)


def print_trimmed(console: Console, *parts: RenderableType) -> None:
    """Print, with every line ending where its text ends."""
    with console.capture() as capture:
        for part in parts:
            console.print(part)
    console.file.write(_TRAILING.sub("", capture.get()))


def shown(text: str, style: str = "") -> Text:
    """Return text of any origin, fit for a terminal."""
    return Text(printable(text), style=style, overflow="fold")


def marked(mark: str, text: str, style: str = "", indent: int = 0, mark_style: str = "") -> RenderableType:
    """Return a line whose continuation hangs under its text."""
    grid = Table.grid(padding=0)
    grid.add_column(no_wrap=True)
    grid.add_column(ratio=1)
    grid.add_row(shown(mark, mark_style or style), shown(text, style))
    return Padding(grid, (0, 0, 0, indent))


def coverage_lines(coverage: Iterable[Coverage]) -> list[Text]:
    """Say what was read and what was left out; JSON names every file."""
    entries = list(coverage)
    lines = [f"Read {segments_read(entries)} of {len(entries):,} files.", *left_out(entries)]
    return [shown(line, "dim") for line in lines]


def segments_read(entries: Iterable[Coverage]) -> str:
    """`3 log segments (4,211 bytes, 17 batches, CRC checked of 9)`."""
    read = [entry for entry in entries if entry.batches]
    size, batches = sum(entry.bytes for entry in read), sum(entry.batches for entry in read)
    checked = sum(entry.checked_batches for entry in read)
    return f"{len(read):,} log segments ({size:,} bytes, {batches:,} batches, CRC checked of {checked:,})"


def left_out(entries: Iterable[Coverage]) -> list[str]:
    """The commonest reasons for which files were left out."""
    reasons = Counter(entry.note for entry in entries if entry.status in ("left out", "unreadable"))
    return [f"Left out: {plural(count, 'file')}, {reason}." for reason, count in reasons.most_common(5)]
