"""`kafkatx history PATH...`: what every transactional.id did, as a timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from kafkatx.cli.common import (
    AsOfOption,
    CaptureOption,
    Colour,
    ColourOption,
    Format,
    FormatOption,
    IdOption,
    JsonOption,
    LogZoneOption,
    OutOption,
    PartitionOption,
    Paths,
    ProducerOption,
    QuietOption,
    SinceOption,
    TopicOption,
    UntilOption,
    VerifyOption,
    capture_option,
    console_for,
    output,
    progress,
    time_option,
    zone_option,
)

if TYPE_CHECKING:
    from kafkatx.histories.result import Histories


def history(
    paths: Paths,
    everything: Annotated[bool, typer.Option("--all", help="Every timeline, every event; fold nothing.")] = False,
    transactional_id: IdOption = None,
    producer_id: ProducerOption = None,
    topic: TopicOption = None,
    partition: PartitionOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    as_of: AsOfOption = None,
    verify: VerifyOption = False,
    capture: CaptureOption = None,
    log_zone: LogZoneOption = None,
    output_format: FormatOption = Format.text,
    json_output: JsonOption = False,
    out: OutOption = None,
    color: ColourOption = Colour.auto,
    quiet: QuietOption = False,
) -> None:
    """Tell what a transactional.id did: instances, epochs and who raised them, transactions, markers, gaps.

    Takes what diagnose takes; lines of logs stand between what the data tell, at the brokers' time.

    Without --id a table of all ids comes first; of few ids the timelines follow. Long stretches of the same are told as
    one.
    """
    from kafkatx.local.history import NoHistoryError
    from kafkatx.local.history import history as run

    limits = {
        "transactional_id": transactional_id,
        "producer_id": producer_id,
        "topic": topic,
        "partition": partition,
        "since": time_option("--since", since),
        "until": time_option("--until", until),
        "as_of": time_option("--as-of", as_of),
        "log_zone_ms": zone_option(log_zone),
    }
    forced, nothing = capture_option(capture), None
    as_json = json_output or output_format is Format.json
    with output(out, paths) as stream:
        try:
            with progress(quiet) as tick:
                found = run(paths, **limits, verify_all=verify, captures=forced, progress=tick)  # type: ignore[arg-type]
        except NoHistoryError as error:
            if not as_json:
                raise
            found, nothing = error.histories, error
        _write(found, stream, as_json, color, everything, transactional_id is not None or producer_id is not None)
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
