"""`kafkatx locate PATH... TOPIC-PARTITION:OFFSET`: what is at an offset, and who sees it."""

from __future__ import annotations

from typing import Annotated

import typer

from kafkatx.cli.destination import console_for, output
from kafkatx.cli.grouping import grouped
from kafkatx.cli.options import (
    OutputOptions,
    ReadingOptions,
    ReleaseOption,
    VerboseOption,
    as_option,
    release_option,
)
from kafkatx.cli.progress import progress
from kafkatx.terms.errors import UsageError

Words = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH... TOPIC-PARTITION:OFFSET",
        help="Data directories and files as for diagnose; last the offset, like orders-0:118 or orders-0@118.",
        show_default=False,
    ),
]


@grouped
def locate(
    words: Words,
    show_payloads: Annotated[
        bool, typer.Option("--show-payloads", help="Show key, value and headers of the record.")
    ] = False,
    *,
    reading: ReadingOptions,
    kafka_version: ReleaseOption = None,
    result: OutputOptions,
    verbose: VerboseOption = False,
) -> None:
    """Say whether a read_committed consumer sees the record at an offset, and why: for "my record is missing".

    The first line is the answer: visible, hidden (aborted, or behind an open transaction), a marker, or not in the log.
    Then the record, its batch, the file and byte (or line) where it stands, its writer and its transaction.

    Offsets of __transaction_state are decoded. Keys and values are only shown with --show-payloads.

    Examples:
      kafkatx locate /var/lib/kafka/data payments-0:3
      kafkatx locate /var/lib/kafka/data server.log payments-0@3 --show-payloads
    """
    from kafkatx.local.location import NoSuchPartitionError, parse_place
    from kafkatx.local.location import locate as run

    *paths, last = words
    place = parse_place(last)
    if not paths:
        raise UsageError("which evidence? Name data directories or files before the offset")
    options, nothing = reading.values() | {"release": release_option(kafka_version)}, None
    paths = as_option(paths, reading.as_kind)
    with output(result.out, paths) as stream:
        try:
            with progress(result.quiet) as tick:
                found = run(paths, place, show_payloads=show_payloads, progress=tick, **options)
        except NoSuchPartitionError as error:
            if not result.as_json:
                raise
            found, nothing = error.locations, error
        if result.as_json:
            from kafkatx import __version__
            from kafkatx.outputs.locate_json import to_json

            stream.write(to_json(found, __version__))
        else:
            from kafkatx.outputs.locate_text import print_locations

            print_locations(console_for(stream, result.color), found, verbose=verbose)
    if nothing is not None:
        raise nothing
