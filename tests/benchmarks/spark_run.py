"""Diagnoses directories on Spark, or on this machine, in a process of its own; JSON of what each cost on stdout.

    python -m tests.benchmarks.spark_run MASTER WARM_UP DIRECTORY ...
    python -m tests.benchmarks.spark_run here WARM_UP DIRECTORY ...

The session is the product's own (heap 1 GiB); an event log is added, from which the times of tasks come. WARM_UP is
diagnosed first and not counted: workers are forked, kernels are loaded, the JVM has compiled what runs often. CPU is
that of this process and all below it. On Spark the table `batches` of each directory is read as well, to nowhere.
"""

import json
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from kafkatx.findings.diagnosis import Diagnosis
from kafkatx.outputs.diagnosis_json import document
from tests.benchmarks.measure import family
from tests.benchmarks.python_workers import PythonWorkers

STEPS = ("decode", "fold", "join", "judge")
"""What is done in Python, in this order; stages of Spark that run something else are left out."""


def here(directories: list[Path]) -> dict[str, Any]:
    """Diagnose each directory by the local engine; returns the figures."""
    from kafkatx.local.diagnosis import diagnose

    began = time.perf_counter()
    runs = [_measured(directory, lambda path: diagnose([path])) for directory in directories]
    return {"master": "here", "start_s": runs[0]["began"] - began, "runs": runs[1:]}


def on_spark(master: str, directories: list[Path]) -> dict[str, Any]:
    """Start Spark, diagnose each directory, stop; returns the figures."""
    with tempfile.TemporaryDirectory() as events:
        settings = {"enabled": "true", "dir": f"file://{events}", "compress": "false", "rolling.enabled": "false"}
        given = " ".join(f"--conf spark.eventLog.{name}={value}" for name, value in settings.items())
        os.environ["PYSPARK_SUBMIT_ARGS"] = f"{given} pyspark-shell"
        began = time.perf_counter()
        from kafkatx.spark import diagnose, read
        from kafkatx.spark.session import session

        with session(master) as spark:
            spark.range(1).count()
            start_s = time.perf_counter() - began
            runs = [_measured(directory, lambda path: diagnose(spark, path)) for directory in directories]
            for run, directory in zip(runs, directories, strict=True):
                since = time.perf_counter()
                read(spark, directory, table="batches").write.format("noop").mode("overwrite").save()
                run["read_s"] = time.perf_counter() - since
        stages = _stages(next(Path(events).iterdir()))
    for run in runs:
        run["stages"] = dict(zip(STEPS, (one for one in stages if _is_of(one, run)), strict=False))
    return {"master": master, "start_s": start_s, "runs": runs[1:]}


def _is_of(stage: dict[str, Any], run: dict[str, Any]) -> bool:
    since, until = run["span_ms"]
    return stage["in_python"] and since <= stage["at_ms"] <= until


def _measured(directory: Path, diagnose: Callable[[Path], Diagnosis]) -> dict[str, Any]:
    since, cpu, began = time.time() * 1000, _cpu_s(), time.perf_counter()
    with PythonWorkers() as workers:
        diagnosis = diagnose(directory)
    wall_s, cpu_s = time.perf_counter() - began, _cpu_s() - cpu
    text = json.dumps(document(diagnosis, "measured"), sort_keys=True)
    return {
        "directory": str(directory),
        "began": began,
        "span_ms": (since, time.time() * 1000),
        "wall_s": wall_s,
        "cpu_s": cpu_s,
        "batches": sum(entry.batches for entry in diagnosis.coverage),
        "bytes": sum(entry.bytes for entry in diagnosis.coverage if entry.batches),
        "workers": [[peak.resident, peak.anonymous] for peak in workers.peaks.values()],
        "document": sha256(text.encode()).hexdigest(),
    }


def _cpu_s() -> float:
    """Seconds of CPU of this process, those below it, and those of them that have ended."""
    ticks = 0
    for pid in family(os.getpid()):
        try:
            line = Path(f"/proc/{pid}/stat").read_text()
        except OSError:  # ended meanwhile
            continue
        ticks += sum(map(int, line.rpartition(")")[2].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _stages(log: Path) -> list[dict[str, Any]]:
    """Stages that ran, in order: when submitted, whether in Python, and the seconds of each task, longest first."""
    tasks: dict[int, list[float]] = defaultdict(list)
    found = {}
    for line in log.read_text().splitlines():
        event = json.loads(line)
        match event["Event"]:
            case "SparkListenerTaskEnd":
                info = event["Task Info"]
                tasks[event["Stage ID"]].append((info["Finish Time"] - info["Launch Time"]) / 1000)
            case "SparkListenerStageCompleted":
                info = event["Stage Info"]
                found[info["Stage ID"]] = {
                    "at_ms": info["Submission Time"],
                    "wall_s": (info["Completion Time"] - info["Submission Time"]) / 1000,
                    "in_python": any("InArrow" in one.get("Scope", "") for one in info["RDD Info"]),
                }
    return [stage | {"task_s": sorted(tasks[number], reverse=True)} for number, stage in sorted(found.items())]


if __name__ == "__main__":
    places = [Path(path) for path in sys.argv[2:]]
    print(json.dumps(here(places) if sys.argv[1] == "here" else on_spark(sys.argv[1], places)))
