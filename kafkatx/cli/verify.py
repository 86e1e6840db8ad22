"""`kafkatx verify PATH... [--records]`: what is whole, what is damaged, with file and position."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from kafkatx.cli.destination import console_for, output
from kafkatx.cli.grouping import grouped
from kafkatx.cli.options import (
    AsOption,
    BrokerPaths,
    CaptureOption,
    OutputOptions,
    VerboseOption,
    as_option,
    capture_option,
)
from kafkatx.cli.progress import progress
from kafkatx.terms.errors import NothingReadableError

if TYPE_CHECKING:
    from kafkatx.evidence.verification import Verification

DAMAGE_FOUND = 1


@grouped
def verify(
    paths: BrokerPaths,
    records: Annotated[
        bool, typer.Option("--records", help="Read every record too, also those in compressed batches.")
    ] = False,
    capture: CaptureOption = None,
    as_kind: AsOption = None,
    *,
    result: OutputOptions,
    verbose: VerboseOption = False,
) -> None:
    """Read every batch: check CRC, lengths, order and indexes, and say what is whole and what is damaged.

    Exit codes: 0 all is whole, 1 damage, 2 wrong usage, 3 nothing readable. A torn end of a partition's last segment,
    as a killed broker leaves it, is reported and is no damage.

    Examples:
      kafkatx verify /var/lib/kafka/data
      kafkatx verify /var/lib/kafka/data/payments-0 --records
    """
    from kafkatx.local.verification import verify as run

    paths, forced = as_option(paths, as_kind), capture_option(capture)
    with output(result.out, paths) as stream:
        with progress(result.quiet) as tick:
            found = run(paths, records=records, captures=forced, progress=tick)
        _write(found, stream, result, verbose=verbose)
    if not found.has_read:
        raise NothingReadableError(
            "nothing that could be verified was found; give data directories or files of a broker"
        )
    if found.damage:
        raise typer.Exit(DAMAGE_FOUND)


def _write(found: Verification, stream: TextIO, result: OutputOptions, *, verbose: bool) -> None:
    if result.as_json:
        from kafkatx import __version__
        from kafkatx.outputs.verify_json import to_json

        stream.write(to_json(found, __version__))
    else:
        from kafkatx.outputs.verify_text import print_verification

        print_verification(console_for(stream, result.color), found, verbose=verbose)
