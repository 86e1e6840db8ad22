"""Where results are written to."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
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
