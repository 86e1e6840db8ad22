"""`kafkatx history PATH...`: what every transactional.id did, as a timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from kafkatx.cli.destination import console_for, output
from kafkatx.cli.grouping import grouped
from kafkatx.cli.options import (
    OutputOptions,
    Paths,
    ReadingOptions,
    ReleaseOption,
    ScopeOptions,
    VerboseOption,
    as_option,
    release_option,
)
from kafkatx.cli.progress import progress

if TYPE_CHECKING:
    from kafkatx.histories.result import Histories


@grouped
def history(
    paths: Paths,
    everything: Annotated[
        bool, typer.Option("--all", help="Every timeline and every event; fold nothing, leave no clock out.")
    ] = False,
    *,
    scope: ScopeOptions,
    reading: ReadingOptions,
    kafka_version: ReleaseOption = None,
    result: OutputOptions,
    verbose: VerboseOption = False,
) -> None:
    """Show what each transactional.id did: what became of it in one line, then its timeline.

    A timeline has starts, epochs and who raised them, transactions, markers and lines of logs, in the order of the
    brokers' clocks. "Aborted by" without "probably" or "possibly" is proved; "(evidence: ...)" says by what.

    Takes what diagnose takes. Of up to 5 ids every timeline is shown, of more a table: choose one with --id. Events
    alike in a row are folded into one line; --all unfolds them. Times are UTC where the date says so.

    Examples:
      kafkatx history /var/lib/kafka/data
      kafkatx history /var/lib/kafka/data server.log --id payments-eu-1 --all
      kafkatx history server.log app.log --since 2026-11-21T10:00:00Z
    """
    from kafkatx.local.history import NoHistoryError
    from kafkatx.local.history import history as run

    limits, nothing = scope.limits() | reading.values() | {"release": release_option(kafka_version)}, None
    told = scope.transactional_id is not None or scope.producer_id is not None
    paths = as_option(paths, reading.as_kind)
    with output(result.out, paths) as stream:
        try:
            with progress(result.quiet) as tick:
                found = run(paths, **limits, progress=tick)
        except NoHistoryError as error:
            if not result.as_json:
                raise
            found, nothing = error.histories, error
        _write(found, stream, result, everything=everything, told=told, verbose=verbose)
    if nothing is not None:
        raise nothing


def _write(found: Histories, stream: TextIO, result: OutputOptions, **shown: bool) -> None:
    if result.as_json:
        from kafkatx import __version__
        from kafkatx.outputs.history_json import write_json

        write_json(stream, found, __version__)
    else:
        from kafkatx.outputs.history_text import print_histories

        print_histories(console_for(stream, result.color), found, **shown)
