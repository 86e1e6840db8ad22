"""Tables of Delta Lake and Iceberg: appended to run by run, and read back by other libraries with the declared types.

Needs the network: a Spark that these libraries are made for, the libraries, and readers that know nothing of Spark.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.evidence import ROOT, fixtures

pytestmark = pytest.mark.cluster
PACKAGES = {
    "delta": "io.delta:delta-spark_4.1_2.13:4.4.0",
    "iceberg": "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
}
SPARK = ("pyspark==4.1.4", "py4j==0.10.9.9")
READERS = ("deltalake", "pyiceberg")


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install Spark and the readers into a folder of their own."""
    folder = tmp_path_factory.mktemp("libraries")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder)]
    subprocess.run([*pip, "--no-deps", *SPARK], check=True)
    subprocess.run([*pip, *READERS], check=True)
    return folder


@pytest.mark.parametrize("format", PACKAGES)
def test_runs_are_appended_and_read_back_with_the_declared_types(java_home, libraries, tmp_path, format):
    cases = [fixtures() / "k39-fenced/broker-1", fixtures() / "k39-open"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.spark.lake", format, tmp_path / "out", PACKAGES[format], *cases],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(libraries), str(ROOT)]), "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["new"] == [True, True, False]
    for table, rows in told["rows"].items():
        found = told["tables"][table]
        assert (found["rows"], found["runs"]) == (sum(rows), sorted(row for row in rows if row))
        assert found["other_types"] == {}
