"""Runs every comparison and prints it as Markdown for docs/performance.md.

python -m tests.benchmarks.report [NAME ...]     names of comparisons (default all), or `peer` for the peer alone
python -m tests.benchmarks.report page           the page of a large cluster in a browser
python -m tests.benchmarks.report start_up       small commands (left) and a Python that does nothing
python -m tests.benchmarks.report dump_printing  `dump` (left) and kafka-dump-log for the same lines
python -m tests.benchmarks.report dump_text      reading the text of a dump, and doing so line by line
python -m tests.benchmarks.report readers        records to Arrow columns against readers in Rust, Go and Cython
python -m tests.benchmarks.report verifying      `verify` (left) and the peer's shallow and deep runs
python -m tests.benchmarks.report cores          two cores (left) and one; `diagnose` of 4 GiB and reading its bytes
python -m tests.benchmarks.report spark          local[2] (left) and local[1], and both against the local engine
"""

import os
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from tests.benchmarks import (
    cases,
    comparisons,
    dumps,
    internal_topics,
    page,
    peer,
    readers,
    reading,
    spark_comparisons,
    start_up,
)
from tests.benchmarks.comparisons import Figure
from tests.benchmarks.measure import CommandFailed

ALONE = {
    "peer": comparisons.peer_figures,
    "spark": spark_comparisons.spark,
    "internal": internal_topics.internal,
    "page": page.page,
    "readers": readers.readers,
    "start_up": start_up.start_up,
    "dump_printing": dumps.dump_printing,
    "dump_text": dumps.dump_text,
    "verifying": reading.verifying,
    "cores": reading.cores,
}
"""Comparisons that are no part of comparisons.ALL, which the tests assert."""
NAMED = {comparison.__name__: comparison for comparison in comparisons.ALL} | ALONE
ALSO = ("verifying", "cores", "dump_printing", "dump_text", "readers", "start_up")
EVERY = [*(comparison.__name__ for comparison in comparisons.ALL), *ALSO]
"""What runs where nothing is asked for: everything but what needs a browser, Spark or a load of its own."""
VERDICT = {True: "yes", False: "NO", None: ""}


def main(names: list[str]) -> None:
    """Print the machine, then the table, a line as soon as it is known."""
    for line in _preamble(names):
        print(line)
    print("| what | ours | other | relation | wanted | holds |\n| --- | --- | --- | --- | --- | --- |", flush=True)
    for name in names or EVERY:
        for figure in _figures(name):
            print(_row(figure), flush=True)


def _figures(name: str) -> Iterator[Figure]:
    """The figures of a comparison; where a command fails a line that says so, and the report goes on."""
    try:
        yield from NAMED[name]()
    except CommandFailed as failure:
        reason = " ".join(str(failure).split()).replace("|", "/")
        print(f"{name}: {failure}", file=sys.stderr)
        yield Figure(f"{name}: not measured", reason[:80], "", "", "", False)


def _preamble(names: list[str]) -> Iterator[str]:
    load = ", ".join(f"{part:.1f}" for part in os.getloadavg())
    yield f"- Machine: {os.cpu_count()} cores, {_processor()}, {_memory()}, {platform.platform()}; load {load}."
    wanted = ["numpy", "numba", "pyarrow", "google-crc32c", *(["pyspark"] if "spark" in names else [])]
    libraries = ", ".join(f"{name} {version(name)}" for name in wanted)
    yield f"- Versions: Python {platform.python_version()}, {libraries}, {peer.java_version()}."
    if not names or "readers" in names:
        yield f"- Readers are built with {readers.versions() or 'nothing: there is no Rust and no Go here'}."
    if names == ["readers"]:
        yield f"- In process, one thread, bytes in memory; least CPU of {cases.runs()} times {readers.PASSES} passes."
    elif names == ["start_up"]:
        yield f"- Whole processes, least CPU of {start_up.RUNS} runs in turn; bytecode present."
    elif names != ["spark"]:
        yield f"- Peer: `DumpLogSegments --files ...`, shallow, Kafka {peer.VERSION}, heap 256 MB."
        yield "- Ours: `kafkatx diagnose DIR --format json --quiet`. Output of both to /dev/null."
        yield f"- Whole processes, least CPU and least wall of {cases.runs()} runs in turn; files in the page cache."
    yield ""


def _row(figure: Figure) -> str:
    cells = (figure.what, figure.ours, figure.other, figure.relation, figure.wanted, VERDICT[figure.holds])
    return f"| {' | '.join(cells)} |"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.processor()
    )


def _memory() -> str:
    return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"


if __name__ == "__main__":
    main(sys.argv[1:])
