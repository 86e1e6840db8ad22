"""On a cluster nothing is left out silently: what a worker lacks or dies of is named, what is gone everywhere too."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.evidence import ROOT, fixtures

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="needs /proc"),
]
SCENES = ("on_no_worker", "gone_meanwhile", "on_all_but_one", "killed")


@pytest.fixture(scope="module")
def told(java_home, tmp_path_factory) -> dict[str, Any]:
    """Run all scenes on one cluster."""
    folder = tmp_path_factory.mktemp("failing")
    command = [sys.executable, "-m", "tests.spark.failing", "local-cluster[3,1,1024]", str(folder), *SCENES]
    return run(folder, command)


def run(folder: Path, command: list[str], **more: str) -> dict[str, Any]:
    shutil.copytree(fixtures() / "k39-fenced/broker-1", folder / "broker-1")
    place = os.pathsep.join([str(ROOT / "tests/spark/deadly"), str(ROOT)])
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": place, "PYSPARK_PYTHON": sys.executable} | more,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("scene", ["on_no_worker", "on_all_but_one"])
def test_a_path_that_a_worker_lacks_is_named_with_the_worker(told, scene):
    found = told[scene]
    assert (found["error"], found["code"]) == ("WorkerLacksFileError", 5)
    assert found["file"].startswith("/proc/self/cwd/broker-1")
    assert f"worker {found['worker']} can't open {found['file']}: no such file" in found["text"].replace("No", "no")


def test_what_is_gone_for_the_driver_too_is_coverage(told):
    coverage = told["gone_meanwhile"]["coverage"]
    assert coverage["payments-0/00000000000000000000.log"] == "unreadable"
    assert "read" in coverage.values()


def test_of_a_worker_that_is_killed_file_stage_and_memory_are_named(told):
    found = told["killed"]
    assert (found["error"], found["code"]) == ("SparkFailedError", 5)
    assert found["stage"] in ("looking into files", "reading files")
    assert found["file"].endswith(".log")
    assert "/deadly/" in found["file"]
    assert found["memory_bytes"] > 10_000_000
    assert found["worker"]


def test_a_full_disk_is_told_as_what_it_is(java_home, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    mounted = f"mount -t tmpfs -o size=16k none {small}"
    if subprocess.run(["unshare", "-rm", "sh", "-c", mounted], capture_output=True, check=False).returncode:
        pytest.skip("no file systems may be mounted here")
    python = shlex.join([sys.executable, "-m", "tests.spark.failing", "local[1]", str(tmp_path), "full_disk"])
    command = ["unshare", "-rm", "sh", "-c", f"{mounted} && exec {python}"]
    found = run(tmp_path, command, SPARK_LOCAL_DIRS=str(small))["full_disk"]
    assert (found["error"], found["code"]) == ("SparkFailedError", 5)
    assert "No space left on device" in found["text"]
