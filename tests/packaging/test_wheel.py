"""The built packages are whole: they install into an empty environment outside the checkout and work there."""

import json
import re
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from tests.evidence import FIXTURES, ROOT
from tests.packaging.processes import run


@pytest.fixture(scope="module")
def scripts(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into an environment of its own and return the folder of its programs.

    Its dependencies are those of the environment that runs the tests, by a .pth file: no network, no second download.
    """
    folder = tmp_path_factory.mktemp("elsewhere") / "venv"
    venv.create(folder, with_pip=True, symlinks=True)
    python = folder / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel, folder=folder)
    own = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", folder=folder).strip())
    parents = dict.fromkeys([sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    (own / "dependencies.pth").write_text("".join(f"{parent}\n" for parent in parents))
    return folder / "bin"


def data_files() -> set[str]:
    """Return what the package holds beside its modules."""
    files = (path for path in (ROOT / "kafkatx").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(ROOT)) for path in files if path.suffix not in {".py", ".pyc", ".nbi", ".nbc"}}


def test_the_wheel_holds_the_data_files_and_the_mark_of_types(wheel: Path):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert "kafkatx/py.typed" in names
    assert data_files() <= names
    assert [name for name in names if name.endswith("licenses/LICENSE")]


def test_the_wheel_holds_nothing_but_the_package_and_its_man_page(wheel: Path):
    names = zipfile.ZipFile(wheel).namelist()
    beside = [name for name in names if not re.match(r"kafkatx/|[^/]+\.dist-info/", name)]
    assert [name.partition(".data/")[2] for name in beside] == ["data/share/man/man1/kafkatx.1"]


def test_the_sdist_holds_all_that_the_tests_need(built: Path):
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "LICENSE", "pyproject.toml", ".ci/run", "tests/conftest.py", "docs/architecture.md"} <= names
    fixtures = {str(path.relative_to(ROOT)) for path in FIXTURES.rglob("*") if path.is_file()}
    assert fixtures <= names


def test_the_installed_package_is_the_one_that_runs(scripts: Path, tmp_path: Path):
    place = run(scripts / "python", "-c", "import kafkatx.cli; print(kafkatx.cli.__file__)", folder=tmp_path)
    assert Path(place.strip()).is_relative_to(scripts.parent)


def test_the_installed_program_diagnoses_a_recorded_case(scripts: Path, tmp_path: Path):
    case = FIXTURES / "k39-fenced"
    printed = run(scripts / "kafkatx", "diagnose", case, "--format", "json", "--quiet", folder=tmp_path)
    found = {(finding["rule"], finding["transactional_id"]) for finding in json.loads(printed)["findings"]}
    assert ("fenced_by_new_instance", "payments-eu-1") in found


def test_the_installed_program_explains_an_exception(scripts: Path, tmp_path: Path):
    assert "ProducerFencedException" in run(scripts / "kafkatx", "explain", "ProducerFencedException", folder=tmp_path)
