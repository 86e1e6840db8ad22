"""Over Spark Connect, with a server of its own: tables, streams and the diagnosis are those of this machine."""

import json
import subprocess
import sys
from importlib.util import find_spec

import pytest

import kafkatx
from kafkatx.outputs.diagnosis_json import document
from tests.evidence import fixtures
from tests.spark.tables import here

CASE = fixtures() / "k39-fenced" / "broker-1"
pytestmark = [
    pytest.mark.services,
    pytest.mark.skipif(find_spec("grpc") is None, reason="needs pip install 'pyspark[connect]'"),
]


def test_what_is_read_and_found_is_the_same(java_home, tmp_path, monkeypatch):
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    command = [sys.executable, "-m", "tests.spark.connected", str(CASE), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    told, diagnosis = json.loads(done.stdout.splitlines()[-1]), kafkatx.diagnose([CASE])
    assert told["session"].startswith("pyspark.sql.connect")
    assert told["read"] == here(CASE, "batches").num_rows
    assert told["markers"] == here(CASE, "markers").num_rows
    assert sorted(told["findings"]) == sorted(one.finding.rule for one in diagnosis.findings)
    assert told["diagnosis"] == document(diagnosis, "")
