"""What results are written to: lines without trailing spaces where nobody looks at a screen, pipes that close early.

A pipe that closes early (`| head -1`) is no error and ends a command quietly. Typer and rich turn it into exit code 1,
which means something else here; so it becomes an exception of ours before they see it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sys
from collections.abc import Iterator
from typing import TextIO, cast

from kafkatx.terms.errors import ClosedPipeError, OutputError
from kafkatx.terms.regex import regex

_TRAILING = regex(r"[ \t]+(?=(?:\x1b\[[0-9;]*m)*$)", re.MULTILINE)


class TrimmedLines:
    """A text stream that drops spaces at the ends of lines; everything else is that of the stream below it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write whole lines."""
        self._stream.write(_TRAILING.sub("", text))
        return len(text)

    def __getattr__(self, name: str) -> object:
        """Return what the stream below has."""
        return getattr(self._stream, name)


def trimmed(stream: TextIO) -> TextIO:
    """Return a stream that writes lines without trailing spaces, unless a terminal shows them."""
    return stream if stream.isatty() else cast("TextIO", TrimmedLines(stream))


@contextlib.contextmanager
def standard_output() -> Iterator[TextIO]:
    """Yield standard output, written to the end behind.

    Raises ClosedPipeError or OutputError where it takes no more.
    """
    try:
        yield sys.stdout
        sys.stdout.flush()
    except OSError as error:
        if error.filename is not None:
            raise
        discard_output()
        if error.errno == errno.EPIPE:
            raise ClosedPipeError from error
        raise OutputError(f"standard output could not be written: {error.strerror}") from error


def discard_output() -> None:
    """Let standard output go nowhere: what is still buffered could not be written at the end either."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
