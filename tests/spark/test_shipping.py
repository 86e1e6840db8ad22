"""The package reaches workers that lack it, whole, and works there from a zip."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest
from pyspark.cloudpickle import dumps

import kafkatx
from kafkatx.spark.shipping import archive, ship, teller
from tests.evidence import ROOT, fixtures
from tests.house.tools import printed_by_kafkatx

ONE_ATTEMPT = "--conf spark.task.maxFailures=1 pyspark-shell"
CASE = str(fixtures() / "k39-fenced")
OTHER_CASES = [str(fixtures() / name) for name in ("c3-storm", "c3-atomicity", "k20-expired", "k011-clean")]


def built_by(code: str, **environment: str) -> str:
    return subprocess.check_output([sys.executable, "-c", code], env=os.environ | environment, cwd=ROOT, text=True)


def test_the_same_package_makes_the_same_bytes():
    code = "from kafkatx.spark.shipping import archive; p = archive(); print(p.name, p.read_bytes().hex())"
    name, content = built_by(code, PYTHONHASHSEED="7", TZ="WEST+11").split()
    assert (name, content) == (archive().name, archive().read_bytes().hex())


def test_it_holds_modules_and_data_and_nothing_that_was_made_of_them():
    names = set(zipfile.ZipFile(archive()).namelist())
    assert {"kafkatx/__init__.py", "kafkatx/terms/catalogue/log_texts.tsv", "kafkatx/spark/shipping.py"} <= names
    made_for_the_page = {".css", ".html", ".js"}
    assert {Path(name).suffix for name in names} == {".py", ".sql", ".tsv", ".txt", ".typed"} | made_for_the_page


def test_it_is_gone_with_the_process():
    path = built_by("from kafkatx.spark.shipping import archive; print(archive())").strip()
    assert not Path(path).exists()


def test_a_diagnosis_from_the_zip_is_that_of_the_package():
    code = f"import sys; sys.path.insert(0, {str(archive())!r}); from kafkatx.cli.app import main; main()"
    command = [sys.executable, "-c", code, "diagnose", CASE, "--json"]
    assert subprocess.check_output(command, text=True) == printed_by_kafkatx("diagnose", CASE, "--json")


@pytest.fixture
def python_without_kafkatx(tmp_path: Path) -> Path:
    """Make a Python that has all that this one has, but kafkatx."""
    venv.create(tmp_path / "venv", symlinks=True)
    python = tmp_path / "venv/bin/python"
    show = "import sysconfig; print(sysconfig.get_path('purelib'))"
    own = Path(subprocess.check_output([python, "-c", show], text=True).strip())
    for folder in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for entry in Path(folder).iterdir():
            if "kafkatx" not in entry.name and entry.suffix != ".pth":
                (own / entry.name).symlink_to(entry)
    return python


def test_a_worker_tells_which_package_it_would_import_and_does_not_import_it(python_without_kafkatx, tmp_path):
    other = tmp_path / "other"
    (other / "kafkatx").mkdir(parents=True)
    (other / "kafkatx/__init__.py").write_text("raise AssertionError('imported')")
    shipped = archive().stem.removeprefix("kafkatx-")

    def told(place: Path) -> str:
        code = "import pickle, sys; print(next(pickle.load(sys.stdin.buffer)(iter([0]))).column(0)[0])"
        command, environment = [python_without_kafkatx, "-c", code], os.environ | {"PYTHONPATH": str(place)}
        return subprocess.check_output(command, input=dumps(teller()), env=environment, cwd=tmp_path).decode().strip()

    assert told(tmp_path / "nowhere") == ""
    assert told(archive()) == shipped
    assert told(other) not in {"", shipped}


def test_this_package_is_told_as_it_would_be_shipped():
    told = built_by("from kafkatx.spark.shipping import *; print(archive().name, next(teller()(iter([0])))[0][0])")
    name, digest = told.split()
    assert name == f"kafkatx-{digest}.zip"


def test_workers_of_this_machine_are_not_asked(spark, monkeypatch):
    monkeypatch.setattr(type(spark), "addArtifacts", None)
    monkeypatch.setattr("kafkatx.spark.shipping.archive", None)
    ship(spark)


@pytest.mark.cluster
def test_executors_without_the_package_get_it_and_say_together_what_one_machine_says(
    java_home, python_without_kafkatx, tmp_path
):
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, ROOT / "tests/spark/cluster.py", CASE, *OTHER_CASES],
        cwd=tmp_path,
        env=kept | {"PYSPARK_PYTHON": str(python_without_kafkatx), "PYSPARK_SUBMIT_ARGS": ONE_ATTEMPT},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert "ModuleNotFoundError: No module named 'kafkatx'" in told["before"]
    assert all(f"/{told['archive']}/kafkatx/" in place for place in told["places"])
    assert told["findings"] == [len(kafkatx.diagnose([CASE]).findings)] * 4
    assert told["alike"]
