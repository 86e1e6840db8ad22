"""`kafkatx collect PATH...`: the evidence that decides, as a list or packed to be passed on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from kafkatx.cli import completion
from kafkatx.cli.destination import console_for, output, outside
from kafkatx.cli.grouping import grouped
from kafkatx.cli.options import (
    Colour,
    ColourOption,
    Format,
    FormatOption,
    JsonOption,
    Paths,
    QuietOption,
    ReadingOptions,
    ReleaseOption,
    as_option,
    release_option,
)
from kafkatx.cli.progress import progress
from kafkatx.terms.errors import NothingReadableError, OutputError, UsageError

if TYPE_CHECKING:
    from kafkatx.stages.collected import Collected


@grouped
def collect(
    paths: Paths,
    transactional_id: Annotated[
        str | None,
        typer.Option(
            "--id",
            "--transactional-id",
            metavar="TXID",
            autocompletion=completion.transactional_ids,
            help="All about this transactional.id; default: about every finding of diagnose.",
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option("--out", "-o", metavar="FILE.tgz", help="Pack it into FILE; default: only list it."),
    ] = None,
    redact: Annotated[
        bool,
        typer.Option(
            "--redact",
            help="Replace topics, ids, clients, groups, hosts and payloads by stand-ins; FILE.mapping.json, which "
            "stays with you, says which is which.",
        ),
    ] = False,
    max_bytes: Annotated[
        int, typer.Option("--max-bytes", metavar="N", help="Refuse to take more than N bytes.", min=1)
    ] = 1 << 30,
    *,
    reading: ReadingOptions,
    kafka_version: ReleaseOption = None,
    output_format: FormatOption = Format.text,
    json_output: JsonOption = False,
    color: ColourOption = Colour.auto,
    quiet: QuietOption = False,
) -> None:
    """List, or pack, the evidence that decides: for a colleague, a ticket, or a second look elsewhere.

    Diagnoses what is given, then takes only what the findings (or an id) rest on: the id's partition of
    __transaction_state, the partitions that it wrote, checkpoints, the brokers' logs from an hour before to an hour
    behind, lines and logs that name the id, settings. Diagnoses that by itself, and takes more until the findings are
    the same. What would decide and is not there is listed with the command that gets it.

    The evidence is only read. Passwords and other secrets are hidden in texts that are packed. --redact replaces names
    and payloads too, in files of brokers, logs and settings alike; offsets, epochs, sequences and times stay, so the
    bundle diagnoses alike. Look at it before you pass it on: a name that nothing shows to be one stays in free text.

    Examples:
      kafkatx collect /var/lib/kafka/data server.log app.log
      kafkatx collect /var/lib/kafka/data --id payments-eu-1 --out case.tgz
      kafkatx collect /var/lib/kafka/data app.log --out case.tgz --redact
    """
    from kafkatx.local.collecting.collection import collect as run
    from kafkatx.stages.collected import Collected

    if redact and out is None:
        raise UsageError("--redact goes with --out FILE.tgz")
    paths = as_option(paths, reading.as_kind)
    target, as_json = _target(out, paths), json_output or output_format is Format.json
    try:
        with progress(quiet) as tick:
            found = run(
                paths,
                transactional_id=transactional_id,
                out=target,
                redact=redact,
                most_bytes=max_bytes,
                progress=tick,
                release=release_option(kafka_version),
                **reading.values(),
            )
    except NothingReadableError:
        if as_json:
            with output(None, paths) as stream:
                _write(Collected(), stream, as_json, color)
        raise
    if out is not None and found.out is not None:
        found.out = out
    with output(None, paths) as stream:
        _write(found, stream, as_json, color)


def _target(out: str | None, paths: list[str]) -> Path | None:
    """The path of the bundle; raises UsageError inside the evidence, OutputError for a folder."""
    if out is None:
        return None
    target = outside(out, paths)
    if target.is_dir():
        raise OutputError(f"--out {out} is a folder; name a file, like {out.rstrip('/')}/case.tgz")
    return target


def _write(found: Collected, stream: TextIO, as_json: bool, colour: Colour) -> None:
    if as_json:
        from kafkatx import __version__
        from kafkatx.outputs.collect_json import to_json

        stream.write(to_json(found, __version__))
    else:
        from kafkatx.outputs.collect_text import print_collected

        print_collected(console_for(stream, colour), found)
