"""How far an export is: a bar on standard error, on a terminal only, for work longer than a second."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator

READING = 0.8
"""Share of a table's bar that reading it takes; the rest is writing."""
BAR = 20
"""Columns of the bar."""


class ExportBar:
    """One line that is rewritten, without colours or escapes. Silent unless `shows`."""

    def __init__(self, tables: tuple[str, ...], size: int, shows: bool) -> None:
        """Prepare for tables that are each read from `size` bytes of files."""
        self._tables, self._size, self._shows = tables, max(1, size), shows
        self._number = self._before = self._current = self._read = self._written = 0
        self._begin = self._last = time.monotonic()
        self._width = 0

    def begin(self, table: str) -> None:
        """A table is begun."""
        self._number = self._tables.index(table)
        self._before = self._current = self._read = self._written = 0
        self._show()

    def file(self, path: str, size: int) -> None:
        """A file is about to be read."""
        self._before, self._current = self._before + self._current, size
        self._show()

    def read(self, rows: int) -> None:
        """Some more rows were read."""
        self._read += rows
        self._show()

    def wrote(self, rows: int) -> None:
        """Some more rows were written."""
        self._written += rows
        self._show()

    def clear(self) -> None:
        """Take the line away."""
        if self._width:
            sys.stderr.write(f"\r{' ' * self._width}\r")
            sys.stderr.flush()

    def _show(self) -> None:
        """Show where we are, at most five times a second, after the first second."""
        now = time.monotonic()
        if not self._shows or now - self._begin < 1 or now - self._last < 0.2:
            return
        self._last = now
        width = _columns() - 1
        line = self._line()[:width]
        sys.stderr.write("\r" + line.ljust(min(self._width, width)))
        sys.stderr.flush()
        self._width = len(line)

    def _line(self) -> str:
        done = self._done()
        full = int(BAR * done)
        rows = f"{self._written:,} of {self._read:,} rows written" if self._written else f"{self._read:,} rows read"
        where = f"table {self._number + 1} of {len(self._tables)}, {self._tables[self._number]}"
        return f"[{'#' * full}{'.' * (BAR - full)}] {done:3.0%}  {where}: {rows}"

    def _done(self) -> float:
        read = READING * min(1.0, self._before / self._size)
        written = (1 - READING) * self._written / self._read if self._written else 0.0
        return (self._number + max(read, READING if self._written else 0.0) + written) / len(self._tables)


@contextlib.contextmanager
def export_progress(tables: tuple[str, ...], size: int, quiet: bool) -> Iterator[ExportBar]:
    """Yield the bar of an export of `tables` from `size` bytes of files; it is taken away at the end."""
    bar = ExportBar(tables, size, not quiet and sys.stderr.isatty())
    try:
        yield bar
    finally:
        bar.clear()


def _columns() -> int:
    try:
        return int(os.environ.get("COLUMNS") or os.get_terminal_size(sys.stderr.fileno()).columns)
    except (OSError, ValueError):
        return 80
