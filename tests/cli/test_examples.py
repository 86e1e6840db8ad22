"""Every example of every help text runs, over a small world in which the files lie that they name.

An absolute path means one below the world's root; any other lies in the folder that the example is run in.
"""

import shlex
import shutil
from pathlib import Path

import pytest

from kafkatx.cli.manual import manual_of
from tests.cases.commands import run
from tests.evidence import FIXTURES
from tests.house.generate_docs import commands, program

CASE = FIXTURES / "k39-fenced"
FOUND = 1
"""How a command ends that was asked to fail on what it finds."""
HERE = {
    "server.log": "logs/broker-1/server.log",
    "app.log": "logs/client-payments-a.log",
    "payments-0": "broker-1/payments-0",
}
"""What lies in the folder of the examples, and what it is in the recorded case."""

SAVED = ("monday.json", "tuesday.json")
"""Diagnoses that somebody saved."""


def examples() -> list[str]:
    known = {"": program(), **commands()}
    return list(dict.fromkeys(line for name, one in known.items() for line in manual_of(name, one).examples))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root with a broker's data directory below it, and a folder with some of its files."""
    root = tmp_path_factory.mktemp("world")
    shutil.copytree(CASE / "broker-1", root / "var/lib/kafka/data")
    for name, place in HERE.items():
        copy = shutil.copytree if (CASE / place).is_dir() else shutil.copy
        copy(CASE / place, root / name)
    shutil.make_archive(str(root / "broker-1"), "gztar", CASE, "broker-1")
    (root / "broker-1.tar.gz").rename(root / "broker-1.tgz")
    for saved in SAVED:
        (root / saved).write_bytes(run("diagnose", str(CASE / "broker-1"), "--json").raw)
    return root


@pytest.mark.parametrize("example", examples())
def test_an_example_runs(example: str, world: Path, tmp_path: Path, monkeypatch):
    here = tmp_path / "here"
    shutil.copytree(world, here, ignore=shutil.ignore_patterns("var"))
    monkeypatch.chdir(here)
    program_name, *words = shlex.split(example)
    assert program_name == "kafkatx"
    done = run(*(str(world) + word if word.startswith("/") else word for word in words))
    assert done.code in ((0, FOUND) if "--fail-on" in words else (0,)), done.err
    assert done.err == ""
    assert done.out or "--out" in words
