"""What is missing for Spark is told in one line that names the cure."""

import socket
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

import kafkatx.spark
from kafkatx.spark import installed
from kafkatx.terms.errors import UsageError


def java(folder: Path, version: str) -> Path:
    """Make a JAVA_HOME whose `java` says of itself what one of that version does."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2024-01-16' >&2\n")
    program.chmod(0o755)
    return folder


@pytest.mark.parametrize("name", ["diagnose", "read", "register"])
def test_without_pyspark_a_public_name_says_what_to_install(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(UsageError, match=r"^Spark needs pyspark: pip install 'kafkatx\[spark\]'$"):
        getattr(kafkatx.spark, name)


def test_pandas_is_asked_for_too(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match=r"^Spark needs pandas: pip install 'kafkatx\[spark\]'$"):
        installed.require_pyspark()


def test_a_pyspark_without_python_data_sources_is_too_old(monkeypatch):
    monkeypatch.setattr("pyspark.__version__", "3.5.9")
    with pytest.raises(
        UsageError, match=r"^PySpark 3\.5\.9 is too old, 4\.0 is needed: pip install 'kafkatx\[spark\]'$"
    ):
        installed.require_pyspark()


def test_a_name_that_is_not_public_is_none():
    assert not hasattr(kafkatx.spark, "nothing")
    errors = ["SparkBugError", "SparkFailedError", "WorkerLacksFileError"]
    assert dir(kafkatx.spark) == [*errors, "diagnose", "export", "read", "register"]


def test_a_client_of_connect_that_is_not_whole_is_told_with_the_cure(monkeypatch):
    monkeypatch.setitem(sys.modules, "grpc", None)
    with pytest.raises(UsageError, match=r"needs Spark Connect's client \(grpc.*\): pip install 'pyspark\[connect\]'$"):
        installed.require_connect("sc://127.0.0.1")


@pytest.fixture
def client(monkeypatch):
    """Let the client of Spark Connect be there, and no proxy."""
    for name in ("grpc", "grpc_status", "google"):
        if name not in sys.modules:
            monkeypatch.setitem(sys.modules, name, module := ModuleType(name))
            module.__spec__ = ModuleSpec(name, None)
    for name in installed.PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_a_server_of_connect_that_is_not_there_is_not_tried_for_minutes(client):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"sc://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(UsageError, match=rf"^--master {url}: nobody answers there \(Connection refused\)$"):
            installed.require_connect(url)


def test_a_server_of_connect_behind_a_proxy_is_left_to_the_client(client, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    installed.require_connect("sc://server.invalid")


def test_a_server_of_connect_that_answers_will_do(client):
    with socket.create_server(("127.0.0.1", 0)) as server:
        installed.require_connect(f"sc://127.0.0.1:{server.getsockname()[1]}/;token=x")


def test_no_java_at_all(monkeypatch, tmp_path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match=r"^Spark needs Java 17 .*, and there is none: install one, or set JAVA_HOME"):
        installed.require_java()


def test_a_java_home_without_java_is_named_since_path_does_not_count_then(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(java(tmp_path / "good", "21.0.2") / "bin"))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    with pytest.raises(UsageError, match=r"and JAVA_HOME=\S+/gone has none: "):
        installed.require_java()


@pytest.mark.parametrize(("version", "told"), [("1.8.0_392", "is Java 8"), ("11.0.2", "is Java 11")])
def test_a_java_too_old_is_named(version, told, monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(java(tmp_path, version)))
    with pytest.raises(UsageError, match=rf"^Spark needs Java 17 .*, and \S+/bin/java {told}: install one"):
        installed.require_java()


def test_a_program_that_only_says_where_to_get_a_java_is_none(monkeypatch, tmp_path):
    program = java(tmp_path, "17") / "bin" / "java"
    program.write_text("#!/bin/sh\necho 'Unable to locate a Java Runtime.' >&2\nexit 1\n")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(UsageError, match=r"and \S+/bin/java does not start: "):
        installed.require_java()


@pytest.mark.parametrize(
    ("spark", "release", "runs"),
    [
        ("4.0.1", 17, True),
        ("4.0.1", 21, True),
        ("4.1.4", 25, False),
        ("4.2.1", 25, True),
        ("4.3.0", 17, True),
        ("4.3.0", 11, False),
        ("4.3.0", None, False),
    ],
)
def test_each_spark_runs_on_its_javas(spark, release, runs, monkeypatch):
    monkeypatch.setattr("pyspark.__version__", spark)
    assert installed.runs_spark(release) is runs
