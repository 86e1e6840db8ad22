"""How far the work is: one bar for all commands, with bytes read of bytes in all.

It stands on standard error, on a terminal only, and only where the work takes longer than a second; rich, which draws
it, is not loaded before. Names of files are made fit for a terminal, and the cursor stays visible, so that a program
that is killed leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

AFTER = 1.0
"""Seconds of work before a bar is shown."""
NAME = 36
"""Columns of what is being read; of a longer name the end is shown."""


class Bar:
    """A bar that is told of files before they are read (terms/progress.py)."""

    def __init__(self) -> None:
        """Prepare a bar that is not shown yet."""
        self._total = self._before = self._current = self._within = 0
        self._path = ""
        self._says = "looking for evidence"
        self._display: Progress | None = None
        self._is_over, self._lock = False, threading.RLock()

    def expect(self, size: int) -> None:
        """Learn that so many bytes more are going to be read."""
        self._total += size
        self._update()

    def __call__(self, path: str, size: int) -> None:
        """Learn that a file is read next: what came before it is done."""
        self._enter(path, size)
        self.say(path)

    def was_read(self, path: str, begin: int, end: int) -> None:
        """Learn of a read; it counts if it goes on in the file announced last: a look at its end is none."""
        if path == self._path and begin <= self._within < end:
            self._within = min(end, self._current)
            self._update()

    def _enter(self, path: str, size: int) -> None:
        self._before, self._current = self._before + self._current, size
        self._path, self._within = path, 0

    def say(self, text: str) -> None:
        """Show what is being done, or read."""
        self._says = text
        self._update()

    def complain(self, text: str) -> None:
        """Write a line to standard error, above the bar where there is one."""
        if self._display is None:
            sys.stderr.write(f"{text}\n")
        else:
            self._display.console.print(text, markup=False, highlight=False, soft_wrap=True)

    def show(self) -> None:
        """Draw the bar from now on, unless the work is over."""
        with self._lock:
            if self._display is None and not self._is_over:
                self._display = _display()
                self._display.add_task("", total=None)
                self._update()
                self._display.start()

    def close(self) -> None:
        """Take the bar away."""
        with self._lock:
            self._is_over = True
            if self._display is not None:
                self._display.stop()
                self._display = None

    def _update(self) -> None:
        with self._lock:
            if self._display is not None:
                task, total = self._display.task_ids[0], self._total or None
                done = min(self._before + self._within, self._total)
                self._display.update(task, completed=done, total=total, description=_shortened(self._says))


class ExportBar(Bar):
    """The bar of an export: each table is read from all files, so the total is known before the first one."""

    def __init__(self, tables: tuple[str, ...], size: int) -> None:
        """Prepare for tables that are each read from `size` bytes of files."""
        super().__init__()
        self._tables, self._size, self._number, self._rows = tables, size, 0, (0, 0)
        self.expect(size * len(tables))

    def file(self, path: str, size: int) -> None:
        """A file is read next. A plain function, since the total is known."""
        self._enter(path, size)
        self._before = min(self._before, self._size * (self._number + 1) - size)
        self._update()

    def begin(self, table: str) -> None:
        """A table is begun: those before it are done, whatever was read of them."""
        self._number, self._rows = self._tables.index(table), (0, 0)
        self._stand_before(self._number)
        self.say(f"{table}, table {self._number + 1} of {len(self._tables)}")

    def _stand_before(self, number: int) -> None:
        self._enter("", 0)
        self._before = self._size * number

    def read(self, rows: int) -> None:
        """Some more rows were read."""
        self._rows = (self._rows[0] + rows, 0)
        self.say(f"{self._tables[self._number]}: {self._rows[0]:,} rows read")

    def wrote(self, rows: int) -> None:
        """Some more rows were written."""
        self._rows = (self._rows[0], self._rows[1] + rows)
        self._stand_before(self._number + 1)
        self.say(f"{self._tables[self._number]}: {self._rows[1]:,} of {self._rows[0]:,} rows written")


@contextlib.contextmanager
def progress(quiet: bool) -> Iterator[Bar | None]:
    """Yield what to call before each file, None where nobody looks at a bar; it is taken away at the end."""
    bar = Bar() if is_watched(quiet) else None
    with shown(bar) if bar is not None else contextlib.nullcontext():
        yield bar


@contextlib.contextmanager
def export_progress(tables: tuple[str, ...], size: int, quiet: bool) -> Iterator[ExportBar]:
    """Yield the bar of an export of `tables` from `size` bytes of files; it is taken away at the end."""
    bar = ExportBar(tables, size)
    with shown(bar) if is_watched(quiet) else contextlib.nullcontext():
        yield bar


@contextlib.contextmanager
def shown(bar: Bar) -> Iterator[None]:
    """Show the bar as soon as the work has taken a second, and until it ends."""
    from kafkatx.sources.files import observed

    timer = threading.Timer(AFTER, bar.show)
    timer.daemon = True
    timer.start()
    try:
        with observed(bar.was_read):
            yield
    finally:
        timer.cancel()
        bar.close()


def is_watched(quiet: bool) -> bool:
    """Whether somebody looks at standard error and wants to see how far it is."""
    return not quiet and sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")


def _shortened(text: str) -> str:
    from kafkatx.terms.printable import printable

    visible = printable(text)
    return visible if len(visible) <= NAME else f"...{visible[3 - NAME :]}"


def _display() -> Progress:
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        DownloadColumn(),
        TimeElapsedColumn(),
        console=_console(),
        expand=True,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
        refresh_per_second=5,
    )


def _console() -> Console:
    from rich.console import Console

    class WithCursor(Console):
        """Never hides the cursor: nobody would show it again after a kill."""

        def show_cursor(self, show: bool = True) -> bool:
            return False

    return WithCursor(file=sys.stderr, markup=False, highlight=False, emoji=False)
