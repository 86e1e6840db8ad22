"""Runs `kafkatx diagnose --engine spark` with jobs of the test's own, one after the other in one JVM.

`python -m tests.spark.commands FOLDER` leaves in FOLDER what each wrote and its exit code. A process of its own, since
a JVM writes to whatever standard output was when it began.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

import kafkatx
import kafkatx.spark
from kafkatx.cli.app import main
from tests.evidence import fixtures

CASE = str(fixtures() / "k39-fenced")
Batches = Iterator[pa.RecordBatch]


def noisy(batches: Batches) -> Batches:
    print("printed by a worker")
    print("printed on standard error", file=sys.stderr)
    yield from batches


def failing(batches: Batches) -> Batches:
    raise ValueError("a bug\nof two lines")
    yield from batches


def dying(batches: Batches) -> Batches:
    os._exit(3)
    yield from batches


def job(work: Callable[[Batches], Batches]) -> Callable[[Any], Any]:
    return lambda spark: spark.range(0, 1, 1, 1).mapInArrow(work, "id bigint").collect()


def planned_wrongly(spark: Any) -> None:
    spark.range(1).select("nothing")


def killed(spark: Any) -> None:
    os.kill(spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid(), 9)
    spark.range(1).count()


JOBS: dict[str, Callable[[Any], Any]] = {
    "noisy": job(noisy),
    "failing": job(failing),
    "dying": job(dying),
    "planned wrongly": planned_wrongly,
    "killed": killed,
}
"""The last one ends the JVM."""


def run(name: str, folder: Path) -> dict[str, Any]:
    """Run the command with a job in front of the local diagnosis."""

    def on_spark(spark: Any, paths: list[str], **options: Any) -> Any:
        JOBS[name](spark)
        read_by = {name: options.pop(name) for name in ("stretch_bytes", "thorough")}
        assert read_by == {"stretch_bytes": None, "thorough": False}
        return kafkatx.diagnose(paths, **options)

    vars(kafkatx.spark)["diagnose"] = on_spark
    for stream, number in ((sys.stdout, 1), (sys.stderr, 2)):
        stream.flush()
        os.dup2(os.open(folder / f"{name}.{number}", os.O_CREAT | os.O_WRONLY), number)
    sys.argv[1:] = ["diagnose", CASE, "--json", "--engine", "spark", "--master", "local[1]"]
    try:
        main()
    except SystemExit as end:
        code = end.code
    output, errors = ((folder / f"{name}.{number}").read_text() for number in (1, 2))
    return {"code": code, "output": output, "errors": errors}


if __name__ == "__main__":
    into = Path(sys.argv[1])
    (into / "told.json").write_text(json.dumps({name: run(name, into) for name in JOBS}))
