"""The bounds of pyproject.toml are true: the lowest versions that it admits say what the newest say.

Needs the network and takes minutes, so it is run by hand: `pytest -m packaging`. `KAFKATX_PYTHONS` names other
interpreters than the one that runs the tests, separated as in PATH.
"""

import json
import os
import re
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from tests.evidence import ROOT, fixtures
from tests.packaging.processes import ended, run

pytestmark = pytest.mark.packaging
PYTHONS = os.environ.get("KAFKATX_PYTHONS", sys.executable).split(os.pathsep)
VERSION = re.compile(r"\d+(?:\.\d+)*(?:\.?post\d+)?")
"""A release; registries list names of older days as well that are no versions."""
OLDEST_PYTHON = (3, 11)
"""The one for which every lower bound has a wheel; later ones begin at a later version of some."""

CASE, CODECS = fixtures() / "k39-fenced", fixtures() / "k39-codecs"
CALLS = (
    ("diagnose", CASE),
    ("diagnose", CASE, "--json", "--verify"),
    ("diagnose", CASE, "--log-zone", "Asia/Kolkata", "--json"),
    ("diagnose", CASE, "--fail-on", "error", "--quiet"),
    ("history", CASE, "--all", "--json"),
    ("locate", CASE, "payments-0:3", "--json"),
    ("verify", CODECS, "--records", "--json"),
    ("dump", CODECS, "--json"),
    ("collect", CASE, "--json"),
    ("explain", "-1"),
)
"""What must end alike and print the same, byte for byte."""
MESSAGES = (("--help",), ("diagnose", "--help"), ("export", "-h"), ("diagnose",), ("diagnose", "--nonsense"))
"""What the command line's library words, which differs by its release: these must end alike."""


def requirements() -> list[Requirement]:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    return [Requirement(line) for line in declared]


def lower_bound(requirement: Requirement) -> Version:
    (found,) = (Version(one.version) for one in requirement.specifier if one.operator == ">=")
    return found


def lowest(python: Path, requirement: Requirement) -> Version:
    """Return the lowest version within the bounds of which there is a wheel for an interpreter."""
    printed = run(python, "-m", "pip", "index", "versions", "--only-binary=:all:", requirement.name, folder=ROOT)
    listed = re.search(r"^Available versions: (.*)$", printed, re.MULTILINE)
    assert listed, printed
    known = [Version(one) for one in listed[1].split(", ") if VERSION.fullmatch(one)]
    admitted = sorted(version for version in known if version in requirement.specifier)
    return next(version for version in admitted if has_wheel(python, f"{requirement.name}=={version}"))


def has_wheel(python: Path, pinned: str) -> bool:
    """Whether a version can be installed as it is; listings name versions of other interpreters as well."""
    words = ("install", "--quiet", "--dry-run", "--ignore-installed", "--no-deps", "--only-binary=:all:", pinned)
    code, _ = ended(python, "-m", "pip", *words, folder=ROOT)
    return code == 0


@pytest.fixture(scope="module", params=PYTHONS, ids=lambda path: Path(path).parent.parent.name)
def pythons(request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the interpreters of two environments with the wheel in it: of the lowest and of the newest versions."""
    folder = tmp_path_factory.mktemp("bounds")
    made = {name: folder / name / "bin" / "python" for name in ("lowest", "newest")}
    for name, python in made.items():
        run(request.param, "-m", "venv", folder / name, folder=folder)
        pins = [f"{one.name}=={lowest(python, one)}\n" for one in requirements()] if name == "lowest" else []
        constraints = folder / f"{name}.txt"
        constraints.write_text("".join(pins))
        words = ("install", "--quiet", "--only-binary=:all:", "--constraint", constraints, wheel)
        run(python, "-m", "pip", *words, folder=folder)
        print(name, run(python, "-m", "pip", "freeze", folder=folder))
    return made


def printed_by(python: Path, words: tuple[str | Path, ...], folder: Path) -> tuple[int, str]:
    code, printed = ended(python.parent / "kafkatx", *words, folder=folder)
    assert code != 70, printed
    return code, printed


def test_each_lower_bound_is_a_version_that_is_to_be_had(pythons):
    installed = json.loads(run(pythons["lowest"], "-m", "pip", "list", "--format", "json", folder=ROOT))
    versions = {one["name"].lower(): Version(one["version"]) for one in installed}
    chosen = {one.name: versions[one.name] for one in requirements()}
    bounds = {one.name: lower_bound(one) for one in requirements()}
    number = run(pythons["lowest"], "-c", "import sys; print(*sys.version_info[:2])", folder=ROOT)
    if tuple(map(int, number.split())) == OLDEST_PYTHON:
        assert chosen == bounds
    assert all(chosen[name] >= bounds[name] for name in bounds)


@pytest.mark.parametrize("words", CALLS, ids=lambda words: " ".join(getattr(word, "name", word) for word in words))
def test_the_lowest_versions_say_what_the_newest_say(pythons, words, tmp_path):
    assert printed_by(pythons["lowest"], words, tmp_path) == printed_by(pythons["newest"], words, tmp_path)


@pytest.mark.parametrize("words", MESSAGES, ids=" ".join)
def test_help_and_wrong_usage_end_alike(pythons, words, tmp_path):
    codes = {name: printed_by(python, words, tmp_path)[0] for name, python in pythons.items()}
    assert codes["lowest"] == codes["newest"] in (0, 2)


def test_an_export_holds_the_same_rows(pythons, tmp_path):
    rows = []
    for name, python in pythons.items():
        code, printed = printed_by(python, ("export", CASE, "--out", name, "--json", "--quiet"), tmp_path)
        assert code == 0, printed
        rows.append({table["name"]: table["rows"] for table in json.loads(printed)["tables"]})
    assert rows[0] == rows[1]


def test_compiled_kernels_say_what_plain_python_says(pythons, tmp_path):
    program = (
        "import sys, kafkatx; from kafkatx.kernels import engine; from kafkatx.outputs.diagnosis_json import to_json\n"
        "with engine.forced(sys.argv[1]): print(to_json(kafkatx.diagnose([sys.argv[2]]), '1'))\n"
    )
    plain = run(pythons["newest"], "-c", program, "interpreted", CASE, folder=tmp_path)
    for python in pythons.values():
        assert run(python, "-c", program, "compiled", CASE, folder=tmp_path) == plain
