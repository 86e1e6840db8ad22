"""`kafkatx dump FILE...`: what kafka-dump-log shows, of damaged files too, offline and without Java."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from kafkatx.cli.destination import output
from kafkatx.cli.dump_tool import ToolOptions
from kafkatx.cli.grouping import grouped
from kafkatx.cli.options import AsOption, Format, FormatOption, JsonOption, OutOption, QuietOption, as_option
from kafkatx.cli.progress import Bar, progress
from kafkatx.terms.errors import NothingReadableError, UsageError

if TYPE_CHECKING:
    from kafkatx.outputs.dump_options import DumpOptions

GATHERED = 1 << 16
"""Bytes written at once."""


@grouped
def dump(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE...",
            help="Log segments, indexes, snapshots, checkpoints; a folder stands for all files in it.",
            show_default=False,
        ),
    ] = None,
    *,
    tool: ToolOptions,
    as_kind: AsOption = None,
    output_format: FormatOption = Format.text,
    json_output: JsonOption = False,
    out: OutOption = None,
    quiet: QuietOption = False,
) -> None:
    """Show every field of every file, batch and record, in the lines of kafka-dump-log (4.3) or as JSON lines.

    Without the tool's own options everything is shown: records, keys and values, internal topics decoded. With any of
    them the output is what the tool prints for exactly those. Damage is told on standard error and never ends a dump.

    Examples:
      kafkatx dump /var/lib/kafka/data/payments-0
      kafkatx dump payments-0/00000000000000000000.log --json
      kafkatx dump --files payments-0/00000000000000000000.log --print-data-log
    """
    paths = [*(tool.files_option.split(",") if tool.files_option else []), *(files or [])]
    if not paths:
        raise UsageError("nothing to dump: name a file, for example kafkatx dump orders-0/00000000000000000000.log")
    write(as_option(paths, as_kind), tool.options(), output_format is Format.json or json_output, out, quiet)


def write(paths: list[str], options: DumpOptions, as_json: bool, out: str | None, quiet: bool) -> None:
    """Dump the files to standard output or FILE; raises UsageError, NothingReadableError, OutputError."""
    from kafkatx.outputs.dump import Dump

    with output(out, paths) as stream, progress(quiet or stream.isatty()) as bar:
        options = replace(options, escape=stream.isatty())
        dump = Dump(options, as_json, _complaining(quiet, bar), bar)
        gathered: list[bytes] = []
        size = 0
        for piece in dump.encoded(paths):
            gathered.append(piece)
            size += len(piece)
            if size > GATHERED:
                _write(stream, gathered)
                gathered, size = [], 0
        _write(stream, gathered)
    if not dump.shown:
        raise NothingReadableError("nothing of what was given could be read as one of a broker's files")


def _write(stream: TextIO, pieces: list[bytes]) -> None:
    """Write UTF-8 whatever the locale says: keys and values are what they are."""
    data = b"".join(pieces)
    buffer = getattr(stream, "buffer", None)
    if buffer is None:
        stream.write(data.decode("utf-8", "replace"))
        return
    stream.flush()
    buffer.write(data)
    buffer.flush()


def _complaining(quiet: bool, bar: Bar | None) -> Callable[[str], None]:
    """Return what writes a line to standard error, above a bar that stands there."""
    from kafkatx.terms.printable import printable

    def complain(text: str) -> None:
        if bar is not None:
            bar.complain(printable(text))
        elif not quiet:
            sys.stderr.write(f"{printable(text)}\n")

    return complain
