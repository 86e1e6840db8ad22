"""Failures on a cluster of three executors, told as JSON: `tests.spark.failing MASTER FOLDER NAME...`.

Run with FOLDER as the current one: `/proc/self/cwd` is another place in every process, so that a path below it is
there for the driver, and for an executor only where a test puts it.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

import kafkatx.spark
from kafkatx.outputs.diagnosis_json import document
from kafkatx.spark.failures import SparkFailedError
from kafkatx.spark.session import session
from kafkatx.stages import packing
from kafkatx.stages.judging import NothingToDiagnoseError

HERE = "/proc/self/cwd"
DEADLY = "deadly"
"""A file whose path holds this ends the worker that opens it (tests/spark/deadly/sitecustomize.py)."""


def links(target: str, where: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return what makes a link in an executor's own folder, in all but the executor 0."""

    def make(batches: Iterator[Any]) -> Iterator[Any]:
        for _ in batches:
            if Path.cwd().name != "0" and not Path(where).exists():
                Path(where).symlink_to(target)
            yield pa.RecordBatch.from_pydict({"name": [Path.cwd().name]})

    return make


def on_no_worker(spark: Any, folder: Path) -> Any:
    return kafkatx.spark.diagnose(spark, f"{HERE}/broker-1")


def on_all_but_one(spark: Any, folder: Path) -> Any:
    made = spark.range(0, 24, 1, 24).mapInArrow(links(str(folder / "broker-1"), "broker-1"), "name string").collect()
    assert len({row.name for row in made}) > 1
    packing.SMALLEST_TASK = 1  # tasks for all of them, however little there is to read
    return kafkatx.spark.diagnose(spark, [f"{HERE}/broker-1"])


def gone_meanwhile(spark: Any, folder: Path) -> Any:
    """A segment that the listing saw and that nobody has any more when it is read: as retention does it."""
    from kafkatx.spark import diagnosis

    whole = folder / "shrinking/broker-1"
    shutil.copytree(folder / "broker-1", whole)
    taken = sorted(whole.glob("payments-0/*.log"))[0]
    joined = diagnosis.joined_evidence

    def and_then_gone(*given: Any) -> Any:
        found = joined(*given)
        taken.unlink()
        return found

    diagnosis.joined_evidence = and_then_gone
    try:
        return kafkatx.spark.diagnose(spark, whole)
    finally:
        diagnosis.joined_evidence = joined


def killed(spark: Any, folder: Path) -> Any:
    shutil.copytree(folder / "broker-1", folder / DEADLY)
    return kafkatx.spark.diagnose(spark, folder / DEADLY)


def full_disk(spark: Any, folder: Path) -> Any:
    """What is shuffled lies where SPARK_LOCAL_DIRS says, which is small."""
    return kafkatx.spark.diagnose(spark, folder / "broker-1")


SCENES = {scene.__name__: scene for scene in (on_no_worker, on_all_but_one, gone_meanwhile, killed, full_disk)}


def told(scene: Callable[[Any, Path], Any], spark: Any) -> dict[str, Any]:
    try:
        found = document(scene(spark, Path.cwd()), "")
    except NothingToDiagnoseError as error:
        found = document(error.diagnosis, "")
    except SparkFailedError as error:
        where = {name: getattr(error, name) for name in ("stage", "file", "worker", "memory_bytes")}
        return {"error": type(error).__name__, "text": str(error), "code": error.exit_code, **where}
    return {"coverage": {row["path"].rpartition("/broker-1/")[2]: row["status"] for row in found["coverage"]}}


def main() -> None:
    os.chdir(sys.argv[2])
    with session(sys.argv[1]) as spark:
        print(json.dumps({name: told(SCENES[name], spark) for name in sys.argv[3:]}))


if __name__ == "__main__":
    main()
