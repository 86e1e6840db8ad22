"""The session: whose it is, what it is set to, and that nothing of it comes between the lines of a command."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from kafkatx.spark.failures import SparkFailedError
from kafkatx.spark.masters import parse_master
from kafkatx.spark.session import EVERYWHERE, environment, session, settings
from kafkatx.terms.errors import UsageError
from tests.evidence import ROOT
from tests.house.tools import printed_by_kafkatx
from tests.spark.commands import CASE


def told_by_worker(batches):
    import sys

    for _ in batches:
        threads = [os.environ["NUMBA_NUM_THREADS"], os.environ["OMP_NUM_THREADS"], str(pa.cpu_count())]
        yield pa.RecordBatch.from_pydict({"told": [sys.executable, *threads]})


def test_workers_run_this_python_with_one_thread(spark):
    told = spark.range(0, 1, 1, 1).mapInArrow(told_by_worker, "told string").toArrow().column("told").to_pylist()
    assert told == [sys.executable, "1", "1", "1"]


def test_blocks_come_a_few_at_a_time(spark):
    sizes = spark.range(0, 1000, 1, 1).mapInArrow(sizes_of_batches, "size bigint").toArrow().column("size").to_pylist()
    assert max(sizes) == 64


def sizes_of_batches(batches):
    for batch in batches:
        yield pa.RecordBatch.from_pydict({"size": [batch.num_rows]})


def test_the_heap_is_of_one_gibibyte(spark):
    heap = spark.sparkContext._jvm.java.lang.Runtime.getRuntime().maxMemory()
    assert 2**29 < heap <= 2**30


def test_it_is_set_as_declared(spark):
    wanted = settings(parse_master("local[2]"), Path("anywhere")) | {"spark.sql.shuffle.partitions": "4"}
    wanted.pop("spark.sql.warehouse.dir")
    assert {name: spark.conf.get(name, None) for name in wanted} == wanted


def test_variables_are_set_while_spark_starts_and_then_as_before(monkeypatch):
    monkeypatch.setenv("KAFKATX_TEST_A", "1")
    with environment({"KAFKATX_TEST_A": "2", "KAFKATX_TEST_B": "3"}):
        assert (os.environ["KAFKATX_TEST_A"], os.environ["KAFKATX_TEST_B"]) == ("2", "3")
    assert os.environ["KAFKATX_TEST_A"] == "1"
    assert "KAFKATX_TEST_B" not in os.environ


@pytest.mark.parametrize("master", [None, "local[2]"])
def test_a_session_that_is_active_is_used_and_left_as_it_is(spark, master):
    spark.conf.set("spark.sql.shuffle.partitions", "3")
    with session(master) as found:
        assert found is spark
    assert spark.conf.get("spark.sql.shuffle.partitions") == "3"
    spark.conf.set("spark.sql.shuffle.partitions", "4")
    assert spark.range(3).count() == 3


def test_a_session_that_is_active_elsewhere_is_no_silent_answer(spark):
    with pytest.raises(UsageError, match=r"^--master local\[1\]: a Spark session is active already, on local\[2\]; "):
        session("local[1]").__enter__()


def test_a_cluster_decides_for_itself_where_it_listens_and_how_it_is_cut():
    wanted = settings(parse_master("yarn"), Path("anywhere"))
    assert not {"spark.driver.host", "spark.sql.shuffle.partitions", "spark.sql.warehouse.dir"} & set(wanted)
    assert wanted["spark.executorEnv.NUMBA_NUM_THREADS"] == "1"


def test_a_connect_server_is_told_of_the_sql_session_only():
    assert settings(parse_master("sc://a.example"), Path("anywhere")) == EVERYWHERE


CLASSIC_ONLY = {"sparkContext", "rdd", "_jvm", "_jsc", "_jdf", "_sc", "broadcast", "accumulator"}


def test_the_room_uses_nothing_that_spark_connect_lacks():
    trees = (ast.parse(path.read_text()) for path in (ROOT / "kafkatx/spark").glob("*.py"))
    used = {node.attr for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not used & CLASSIC_ONLY


def test_a_client_that_ends_the_process_is_one_line_all_the_same(monkeypatch):
    monkeypatch.setattr("kafkatx.spark.session.require_connect", lambda url: None)
    monkeypatch.setattr("kafkatx.spark.session._found", lambda wanted: None)
    monkeypatch.setattr("kafkatx.spark.session._built", lambda master, wanted: sys.exit(0))
    with pytest.raises(SparkFailedError, match=r"^Spark did not start with --master sc://a\.example: "):
        session("sc://a.example").__enter__()


@pytest.fixture(scope="module")
def told(java_home, tmp_path_factory) -> dict[str, dict[str, Any]]:
    """Run the commands of `commands.py`; return what each wrote and how it ended."""
    folder = tmp_path_factory.mktemp("commands")
    subprocess.run([sys.executable, "-m", "tests.spark.commands", folder], cwd=ROOT, check=True)
    return json.loads((folder / "told.json").read_text())


def test_what_jvm_and_workers_print_does_not_come_between_the_lines(told):
    ended = told["noisy"]
    assert (ended["code"], ended["errors"]) == (0, "")
    assert ended["output"] == printed_by_kafkatx("diagnose", CASE, "--json")


@pytest.mark.parametrize(
    ("job", "code", "line"),
    [
        ("failing", 70, r"ValueError: a bug"),
        ("dying", 5, r".*Python worker exited unexpectedly \(crashed\).*"),
        ("planned wrongly", 70, r"\[UNRESOLVED_COLUMN.*`nothing` cannot be resolved.*"),
        ("killed", 5, r"its JVM ended; its last words: .+"),
    ],
)
def test_a_job_that_fails_is_one_line_and_one_whole_document(told, job, code, line):
    ended = told[job]
    assert ended["code"] == code
    assert (json.loads(ended["output"])["answer"]["state"] == "failed") if code == 5 else ended["output"] == ""
    assert re.fullmatch(rf"kafkatx: Spark failed: {line} \(--debug before the command shows all\)\n", ended["errors"])


def test_a_spark_that_does_not_start_says_why_and_keeps_what_it_printed(java_home):
    code = "from kafkatx.spark.session import session; session('local[1]').__enter__()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYSPARK_SUBMIT_ARGS": "--driver-memory 1k pyspark-shell"},
        capture_output=True,
        text=True,
        check=False,
    )
    (line,) = re.findall(r"^kafkatx\.spark\.failures\.SparkFailedError: (.*)$", done.stderr, re.MULTILINE)
    found = re.fullmatch(r"Spark did not start with --master local\[1\]: (.*) \(all that it printed is in (.*)\)", line)
    assert found
    assert found[1] in Path(found[2]).read_text()
    Path(found[2]).unlink()
