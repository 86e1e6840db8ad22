"""What an export of all tables costs: CPU of this process, of the JVM and of Python workers apart, step by step.

    python -m tests.benchmarks.spark_export MASTER [MIB] [RUNS]     on Spark, after a small export that warms up
    python -m tests.benchmarks.spark_export here [MIB] [RUNS]       the local engine, in this process
    python -m tests.benchmarks.spark_export bare [MIB] [RUNS]       one decode with pyarrow's writer, nothing else

An ordinary directory of MIB (200) is exported RUNS times (3), after a run that warms up as well: it loads kernels.
Steps are those of the last run; the load is told with each.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kafkatx.stages.file_tables import FILE_TABLES
from kafkatx.stages.file_walk import rows_of_file
from kafkatx.stages.models import joined_evidence
from kafkatx.stages.table_files import sources
from kafkatx.tables.catalogue import TABLES
from tests.benchmarks import cases
from tests.benchmarks.measure import family
from tests.exports import run_all_tables

WARM_UP_MIB = 8
GROUP_ROWS = 131_072
STEPS = ("_read", "_write_facts", "_judge", "_write_tables")
Cost = dict[str, float]


def cpu_s() -> Cost:
    """Seconds of CPU by kind of process: of this one, of JVMs below it, of Python workers below those."""
    found = {"driver": 0.0, "jvm": 0.0, "workers": 0.0}
    for pid in family(os.getpid()):
        try:
            line = Path(f"/proc/{pid}/stat").read_text()
            command = Path(f"/proc/{pid}/cmdline").read_bytes().partition(b"\0")[0]
        except OSError:  # ended meanwhile
            continue
        kind = "driver" if pid == os.getpid() else "jvm" if command.endswith(b"java") else "workers"
        found[kind] += sum(map(int, line.rpartition(")")[2].split()[11:15])) / os.sysconf("SC_CLK_TCK")
    return found


@contextmanager
def measured(what: str, tell: Callable[[str], object] = print) -> Iterator[None]:
    """Tell what a block of code cost."""
    before, began = cpu_s(), time.perf_counter()
    yield
    wall_s, after = time.perf_counter() - began, cpu_s()
    cost = {kind: after[kind] - before[kind] for kind in after}
    parts = ", ".join(f"{kind} {seconds:.1f}" for kind, seconds in cost.items())
    tell(
        f"{what}: {sum(cost.values()):.1f} s CPU ({parts}), {wall_s:.1f} s wall, load {os.getloadavg()[0]:.1f}",
    )


def here(directory: Path, folder: Path) -> None:
    """Export by the local engine."""
    run_all_tables(directory, folder / "export")


def bare(directory: Path, folder: Path) -> None:
    """Decode each file once, with pyarrow's writer behind it: neither sorted nor judged, no sums, no facts."""
    open_: dict[str, tuple[Any, list[Any]]] = {}
    for source in sources(joined_evidence([str(directory)])):
        for name, batch in rows_of_file(source, frozenset(FILE_TABLES)):
            if name not in open_:
                path = folder / f"{name}.parquet"
                open_[name] = (pq.ParquetWriter(path, TABLES[name].schema, compression="zstd"), [])
            writer, held = open_[name]
            held.append(batch)
            if sum(one.num_rows for one in held) >= GROUP_ROWS:
                writer.write_table(pa.Table.from_batches(held))
                held.clear()
    for writer, held in open_.values():
        if held:
            writer.write_table(pa.Table.from_batches(held))
        writer.close()


def on_spark(master: str, directories: list[Path]) -> None:
    """Export each directory in one session, the first to warm up."""
    from kafkatx.spark import export, exporting
    from kafkatx.spark.session import session

    steps: list[str] = []

    def told(name: str) -> Any:
        step = getattr(exporting._Export, name)

        def run(*arguments: Any) -> Any:
            with measured(f"  {name}", steps.append):
                return step(*arguments)

        return run

    for name in STEPS:
        setattr(exporting._Export, name, told(name))
    with session(master) as spark:
        for directory in directories:
            steps.clear()
            with tempfile.TemporaryDirectory() as folder, measured(f"{master}, {directory.name}"):
                export(spark, directory, f"{folder}/export")
    print("\n".join(steps))


def main(engine: str, mib: str = "200", runs: str = "3") -> None:
    """Measure an engine."""
    directory = cases.ordinary_of(int(mib))
    if engine not in ("here", "bare"):
        on_spark(engine, [cases.ordinary_of(WARM_UP_MIB), *[directory] * (int(runs) + 1)])
        return
    pa.set_cpu_count(1)
    for _ in range(int(runs) + 1):
        with tempfile.TemporaryDirectory() as folder, measured(f"{engine}, {directory.name}"):
            (here if engine == "here" else bare)(directory, Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
