"""`kafkatx report PATH... --out FILE.html`: the diagnosis as one page with pictures."""

from __future__ import annotations

import sys

from kafkatx.cli.destination import output, outside
from kafkatx.cli.grouping import grouped
from kafkatx.cli.options import (
    OutOption,
    Paths,
    QuietOption,
    ReadingOptions,
    ReleaseOption,
    ScopeOptions,
    as_option,
    release_option,
)
from kafkatx.cli.progress import progress
from kafkatx.terms.errors import UsageError


@grouped
def report(
    paths: Paths,
    out: OutOption = None,
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

    Examples:
      kafkatx report /var/lib/kafka/data server.log --out incident.html
      kafkatx report broker-1.tgz --id payments-eu-1 --out payments.html
    """
    from kafkatx import __version__
    from kafkatx.findings.diagnosis import Selection
    from kafkatx.local.diagnosis import diagnose
    from kafkatx.outputs.page.page import write_page
    from kafkatx.outputs.page.pictures import Pictures

    paths, pictures = as_option(paths, reading.as_kind), Pictures()
    if out is not None:
        outside(out, paths)
    elif sys.stdout.isatty():
        raise UsageError("a page is no text for a terminal: write it to a file with --out incident.html")
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
