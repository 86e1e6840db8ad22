"""`kafkatx compare BEFORE AFTER`: what is new, gone, changed between two diagnoses: did the fix hold?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from kafkatx.cli.destination import console_for, output
from kafkatx.cli.diagnose import FailOn
from kafkatx.cli.grouping import grouped
from kafkatx.cli.options import OutputOptions, ReadingOptions, ReleaseOption, as_option, release_option
from kafkatx.cli.progress import progress
from kafkatx.cli.saved import saved_diagnosis
from kafkatx.terms.errors import NothingReadableError, UsageError

if TYPE_CHECKING:
    from kafkatx.outputs.comparing.compared import Comparison
    from kafkatx.outputs.comparing.document import DiagnosisDocument

_TAKES = "evidence as for diagnose, in one path, or what diagnose --json wrote of it; - for standard input."


@grouped
def compare(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help=f"The earlier one: {_TAKES}", show_default=False)],
    after: Annotated[
        str, typer.Argument(metavar="AFTER", help="The later one: the same, in either form.", show_default=False)
    ],
    fail_on: Annotated[
        FailOn,
        typer.Option(
            "--fail-on",
            help="Exit with 1 if a finding that is new, has happened again or became more severe is at least this "
            "severe.",
        ),
    ] = FailOn.never,
    *,
    reading: ReadingOptions,
    kafka_version: ReleaseOption = None,
    result: OutputOptions,
) -> None:
    """Say what is new, gone or changed between two diagnoses: did the fix hold?

    BEFORE and AFTER are evidence each, which is diagnosed as diagnose does it, or documents that diagnose --json saved:
    one may be the one, one the other. Findings are matched by the incident that they are about, not by their place in
    the list or the paths of files.

    That something is gone is no proof: the later evidence may begin after it, or lack the files that told it. So each
    finding that is gone says whether the later evidence covers it. "The fix held" is said only where the same
    partitions, read on, show that what stood there has ended: an open or hanging transaction, readers that waited.
    What happened once, like a fencing, stays in evidence of that time; what happens again is listed as such.

    Options about reading are for evidence; a saved diagnosis is taken as it was made.

    Examples:
      kafkatx compare monday.json /var/lib/kafka/data
      kafkatx compare monday.json tuesday.json --fail-on warning
    """
    from kafkatx.outputs.comparing.compared import compare as run

    if before == after == "-":
        raise UsageError("standard input can be BEFORE or AFTER, not both: save one to a file")
    options = {"release": release_option(kafka_version), **reading.values()}
    nothing: NothingReadableError | None = None
    with output(result.out, [before, after]) as stream:
        told = []
        for path in (before, after):
            try:
                told.append(_diagnosis(path, reading.as_kind, result.quiet, options))
            except NothingReadableError as error:
                nothing = nothing or error
                if not result.as_json:
                    raise
                told.append(_empty())
        found = run(*told)
        _write(found, stream, result)
    if nothing is not None:
        raise nothing
    if fail_on is not FailOn.never and _is_worse(found, fail_on.value):
        raise typer.Exit(1)


def _diagnosis(path: str, kind: str | None, quiet: bool, options: dict[str, Any]) -> DiagnosisDocument:
    """What a saved diagnosis says, or the diagnosis of evidence; raises NothingReadableError for neither."""
    from kafkatx.outputs.comparing.document import document_of

    if (saved := saved_diagnosis(path)) is not None:
        return saved
    from kafkatx.local.diagnosis import diagnose

    with progress(quiet) as tick:
        return document_of(diagnose(as_option([path], kind), progress=tick, **options))


def _empty() -> DiagnosisDocument:
    from kafkatx.outputs.comparing.document import DiagnosisDocument

    return DiagnosisDocument()


def _write(found: Comparison, stream: TextIO, result: OutputOptions) -> None:
    if result.as_json:
        from kafkatx import __version__
        from kafkatx.outputs.comparing.as_json import to_json

        stream.write(to_json(found, __version__))
    else:
        from kafkatx.outputs.comparing.as_text import print_comparison

        print_comparison(console_for(stream, result.color), found)


def _is_worse(found: Comparison, name: str) -> bool:
    from kafkatx.terms.verdicts import Severity

    return any(one.finding.severity >= Severity[name] for one in found.worsened)
