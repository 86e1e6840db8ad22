"""Diagnoses directories on Spark in a process of its own and says what each step cost; JSON on stdout.

    python -m tests.benchmarks.spark_run MASTER DIRECTORY ...

The session is the product's own (heap 1 GiB); an event log is added, from which the times of tasks come. The first
directory is only there to warm up: workers are forked, kernels loaded and the JVM has compiled what it runs often.
"""

import json
import os
import sys
import tempfile
import time
from collections import defaultdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from kafkatx.outputs.diagnosis_json import document
from tests.benchmarks.python_workers import PythonWorkers


def main(master: str, directories: list[Path]) -> dict[str, Any]:
    """Start Spark, diagnose each directory, stop; returns the figures."""
    with tempfile.TemporaryDirectory() as events:
        settings = {"enabled": "true", "dir": f"file://{events}", "compress": "false", "rolling.enabled": "false"}
        given = " ".join(f"--conf spark.eventLog.{name}={value}" for name, value in settings.items())
        os.environ["PYSPARK_SUBMIT_ARGS"] = f"{given} pyspark-shell"
        began = time.perf_counter()
        from kafkatx.spark.session import session

        with session(master) as spark:
            spark.range(1).count()
            start_s = time.perf_counter() - began
            runs = [_diagnosed(spark, directory) for directory in directories]
        (log,) = Path(events).iterdir()
        stages = _stages(log)
    for run in runs:
        since, until = run.pop("span_ms")
        run["stages"] = [stage for stage in stages if since <= stage["at_ms"] <= until]
    return {"master": master, "start_s": start_s, "runs": runs}


def _diagnosed(spark: Any, directory: Path) -> dict[str, Any]:
    from kafkatx.spark.diagnosis import diagnose

    since, began = time.time() * 1000, time.perf_counter()
    with PythonWorkers() as workers:
        diagnosis = diagnose(spark, [directory])
    wall_s = time.perf_counter() - began
    text = json.dumps(document(diagnosis, "measured"), sort_keys=True)
    return {
        "directory": str(directory),
        "wall_s": wall_s,
        "workers": [[peak.resident, peak.anonymous] for peak in workers.peaks.values()],
        "document": sha256(text.encode()).hexdigest(),
        "span_ms": (since, time.time() * 1000),
    }


def _stages(log: Path) -> list[dict[str, Any]]:
    """Stages that ran: when each was submitted, and the seconds of each of its tasks, longest first."""
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
                wall_s = (info["Completion Time"] - info["Submission Time"]) / 1000
                found[info["Stage ID"]] = {"at_ms": info["Submission Time"], "wall_s": wall_s}
    return [stage | {"task_s": sorted(tasks[number], reverse=True)} for number, stage in sorted(found.items())]


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], [Path(path) for path in sys.argv[2:]])))
