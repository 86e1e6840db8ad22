"""Lines for a person: marked, hanging under their text, escaped, and without blanks at their ends."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kafkatx.evidence.coverage import Coverage
from kafkatx.evidence.item import Kind
from kafkatx.terms.printable import printable
from kafkatx.terms.regex import regex
from kafkatx.words.plurals import plural

LEFT_OUT = ("left out", "unreadable")
_TRAILING = regex(r"[ ]+$", re.MULTILINE)


def print_trimmed(console: Console, *parts: RenderableType) -> None:
    """Print, with every line ending where its text ends."""
    with console.capture() as capture:
        for part in parts:
            is_whole = isinstance(part, Text) and bool(part.no_wrap)
            console.print(part, soft_wrap=is_whole)
    console.file.write(_TRAILING.sub("", capture.get()))


def shown(text: str, style: str = "") -> Text:
    """Return text of any origin, fit for a terminal."""
    return Text(printable(text), style=style, overflow="fold")


def marked(mark: str | Text, text: str, style: str = "", indent: int = 0, mark_style: str = "") -> RenderableType:
    """Return a line whose continuation hangs under its text."""
    grid = Table.grid(padding=0)
    grid.add_column(no_wrap=True)
    grid.add_column(ratio=1)
    grid.add_row(mark if isinstance(mark, Text) else shown(mark, mark_style or style), shown(text, style))
    return Padding(grid, (0, 0, 0, indent))


def unbroken(text: str, style: str = "", indent: int = 0) -> Text:
    """Return a line that is never broken, so that what is on it can be copied whole."""
    return Text(" " * indent + printable(text), style=style, no_wrap=True, overflow="ignore")


def coverage_lines(coverage: Iterable[Coverage], *, verbose: bool = False) -> Iterator[RenderableType]:
    """Say in one line what was read; with `verbose` in one more for each file. JSON has all."""
    entries = list(coverage)
    why = "" if verbose else " (--verbose lists them)"
    yield shown(f"{what_was_read(entries)}{why}.", "dim")
    yield from file_lines(entries) if verbose else ()


def what_was_read(entries: list[Coverage]) -> str:
    """`Read 28 of 81 files: 120,411 bytes, 96 batches; 1 left out`, without a full stop."""
    read = [entry for entry in entries if entry.is_evidence]
    paths = {entry.path for entry in read}
    seen_twice = {(entry.path, entry.bytes) for entry in entries if entry.kind == Kind.SNAPSHOT}
    size = sum(
        one.bytes
        for one in entries
        if one.path in paths and not (one.kind == Kind.ANSWERS and (one.path, one.bytes) in seen_twice)
    )
    batches = sum(entry.batches for entry in read)
    captures = len({entry.capture for entry in read if entry.capture is not None})
    left = {entry.path for entry in entries if entry.status in LEFT_OUT} - paths
    told = [
        plural(size, "byte"),
        plural(batches, "batch", "batches") if batches else "",
        plural(captures, "capture") if captures > 1 else "",
    ]
    of = plural(len({entry.path for entry in entries}), "file")
    rest = f"; {len(left):,} left out" if left else ""
    return f"Read {len(paths):,} of {of}: {', '.join(filter(None, told))}{rest}"


def file_lines(coverage: Iterable[Coverage]) -> Iterator[RenderableType]:
    """Say of each file what it was taken for, and what became of it."""
    for entry in coverage:
        note = "; ".join(filter(None, (entry.note, entry.verified)))
        yield marked("- ", f"{entry.path}: {entry.kind}, {entry.status}{f' ({note})' if note else ''}", "dim")
