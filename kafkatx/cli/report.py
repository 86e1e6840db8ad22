"""`kafkatx report PATH... --out FILE.html`: the diagnosis as one page with pictures."""

from __future__ import annotations

from typing import Annotated

import typer

from kafkatx.cli.common import output, outside, progress
from kafkatx.cli.grouping import grouped
from kafkatx.cli.options import Paths, QuietOption, ReadingOptions, ReleaseOption, ScopeOptions, as_option


@grouped
def report(
    paths: Paths,
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="The page to write, like incident.html.")],
    *,
    scope: ScopeOptions,
    reading: ReadingOptions,
    kafka_version: ReleaseOption = None,
    quiet: QuietOption = False,
) -> None:
    """Write the diagnosis as one page for an incident review: what diagnose says, with pictures of what happened when.

    Takes what diagnose takes. The page loads nothing from elsewhere, opens from a mail and prints to paper. It has the
    answer, what to do, what to bring next, every finding with its evidence, a timeline for each transactional.id,
    the offsets of each partition with what readers don't see, what could not be checked, and what was read.

    Ids and partitions of findings are drawn first; of a large cluster the others are a table.

    Example: kafkatx report /data/kafka server.log --out incident.html
    """
    from kafkatx import __version__
    from kafkatx.cli.diagnose import release_option
    from kafkatx.findings.diagnosis import Selection
    from kafkatx.local.diagnosis import diagnose
    from kafkatx.outputs.page.page import write_page
    from kafkatx.outputs.page.pictures import Pictures

    paths, pictures = as_option(paths, reading.as_kind), Pictures()
    outside(out, paths)
    with progress(quiet) as tick:
        found = diagnose(
            paths,
            selection=Selection(None, 0, **scope.limits()),
            release=release_option(kafka_version),
            progress=tick,
            show=pictures.add,
            **reading.values(),
        )
    with output(out, paths) as stream:
        write_page(stream, found, pictures, __version__)
