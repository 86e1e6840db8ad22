"""Where results are written to, and how far the work is."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from kafkatx.cli.options import Colour
from kafkatx.cli.streams import standard_output, trimmed
from kafkatx.terms.errors import ClosedPipeError, OutputError, UsageError

if TYPE_CHECKING:
    from rich.console import Console


@contextlib.contextmanager
def output(out: str | None, evidence: list[str]) -> Iterator[TextIO]:
    """Standard output, or FILE written whole or not at all; refuses a FILE inside the evidence, which is read only.

    Raises OutputError where it can't be written.
    """
    if out is None:
        with standard_output() as stream:
            yield stream
        return
    target = outside(out, evidence)
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with draft.open("w", encoding="utf-8") as stream:
            yield stream
        draft.replace(target)
    except OSError as error:
        raise OutputError(f"{out} could not be written: {error.strerror}") from error
    finally:
        draft.unlink(missing_ok=True)


def outside(out: str, evidence: list[str]) -> Path:
    """The absolute path of --out; raises UsageError for a place inside the evidence, which is read only, and a URL."""
    from kafkatx.sources.places import is_url, shown
    from kafkatx.sources.said import of_place

    if "://" in out:
        raise UsageError("--out takes a path of this machine, no URL: write there, then copy it to the store")
    target, read = Path(out).absolute(), [shown(path) for path in map(of_place, evidence) if path != "-"]
    if any(target.resolve().is_relative_to(Path(path).resolve()) for path in read if not is_url(path)):
        raise UsageError(f"--out {out} lies inside the evidence, which is only read; choose another place")
    return target


def console_for(stream: TextIO, colour: Colour) -> Console:
    """Return a console on `stream`: coloured on a terminal unless NO_COLOR is set, else 80 columns wide and trimmed."""
    from rich.console import Console

    class PipeConsole(Console):
        """Says that a pipe was closed, where rich would exit with 1."""

        def on_broken_pipe(self) -> None:
            raise ClosedPipeError

    forced = {Colour.always: True, Colour.never: False, Colour.auto: None}[colour]
    no_colour = colour is Colour.never or (colour is Colour.auto and bool(os.environ.get("NO_COLOR")))
    return PipeConsole(
        file=trimmed(stream),
        force_terminal=forced,
        no_color=no_colour or None,
        width=None if stream.isatty() or "COLUMNS" in os.environ else 80,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=False,
    )


@contextlib.contextmanager
def progress(quiet: bool) -> Iterator[Callable[[str, int], None] | None]:
    """Progress on standard error, on a terminal only, for work longer than a second.

    Yields what to call before each file.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    ticker = _Ticker()
    try:
        yield ticker.tick
    finally:
        ticker.clear()


class _Ticker:
    """One line that is rewritten."""

    def __init__(self) -> None:
        import time

        self._time = time.monotonic
        self._begin = self._last = time.monotonic()
        self._bytes = self._files = 0
        self._shown = False

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def tick(self, path: str, size: int) -> None:
        """Count a file; show where we are at most five times a second, after the first second."""
        from kafkatx.terms.printable import printable

        self._files, self._bytes, now = self._files + 1, self._bytes + size, self._time()
        if now - self._begin > 1 and now - self._last > 0.2:
            self._last, self._shown = now, True
            name = printable(path)[-44:]
            sys.stderr.write(f"\r\x1b[K{self._files:,} files, {self._bytes / 1e6:,.0f} MB  {name}")
            sys.stderr.flush()
