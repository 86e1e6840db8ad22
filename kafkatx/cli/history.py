"""`kafkatx history PATH...`: what every transactional.id did, as a timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from kafkatx.cli.common import console_for, output, progress
from kafkatx.cli.grouping import grouped
from kafkatx.cli.options import Colour, OutputOptions, Paths, ReadingOptions, ScopeOptions

if TYPE_CHECKING:
    from kafkatx.histories.result import Histories


@grouped
def history(
    paths: Paths,
    everything: Annotated[bool, typer.Option("--all", help="Every timeline, every event; fold nothing.")] = False,
    *,
    scope: ScopeOptions,
    reading: ReadingOptions,
    result: OutputOptions,
) -> None:
    """Tell what a transactional.id did: instances, epochs and who raised them, transactions, markers, gaps.

    Takes what diagnose takes; lines of logs stand between what the data tell, at the brokers' time.

    Without --id a table of all ids comes first; of few ids the timelines follow. Long stretches of the same are told as
    one.
    """
    from kafkatx.local.history import NoHistoryError
    from kafkatx.local.history import history as run

    limits, nothing = scope.limits() | reading.values(), None
    told = scope.transactional_id is not None or scope.producer_id is not None
    with output(result.out, paths) as stream:
        try:
            with progress(result.quiet) as tick:
                found = run(paths, **limits, progress=tick)
        except NoHistoryError as error:
            if not result.as_json:
                raise
            found, nothing = error.histories, error
        _write(found, stream, result.as_json, result.color, everything, told)
    if nothing is not None:
        raise nothing


def _write(found: Histories, stream: TextIO, as_json: bool, colour: Colour, everything: bool, told: bool) -> None:
    if as_json:
        from kafkatx import __version__
        from kafkatx.outputs.history_json import write_json

        write_json(stream, found, __version__)
    else:
        from kafkatx.outputs.history_text import print_histories

        print_histories(console_for(stream, colour), found, everything=everything, told=told)
