"""Modules out of one file are what Python's importer makes of them, and never older than their sources."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PACKAGE = Path(__file__).parents[2] / "kafkatx"
TOLD = """
import inspect, json, sys, types
import kafkatx.__main__ as command
command._leave = lambda code: None
try:
    command.run()
except SystemExit:
    pass
found = {name: one for name, one in sys.modules.items() if name.startswith("kafkatx") and name != "kafkatx.__main__"}
said = "__file__", "__cached__", "__package__", "__name__", "__doc__"
print(json.dumps({
    name: [type(one.__loader__).__name__, [*(getattr(one, each) for each in said), list(getattr(one, "__path__", [])),
           getattr(one, "PROGRAM", ""), one.__spec__.has_location, inspect.getsource(one), sorted(vars(one)),
           sorted({each.__code__.co_filename for each in vars(one).values()
                   if isinstance(each, types.FunctionType) and each.__module__ == name})]]
    for name, one in found.items()
}))
"""
SECOND_NS = 10**9
"""Python's own bytecode knows the time of a source in seconds."""
LOADED_BEFORE = 5
"""Modules that find the others."""


@pytest.fixture
def package(tmp_path) -> Path:
    shutil.copytree(PACKAGE, tmp_path / "kafkatx", ignore=shutil.ignore_patterns("__pycache__", "spark", "rules"))
    return tmp_path / "kafkatx"


def started(package: Path, *options: str) -> tuple[str, dict[str, Any]]:
    """What `--version` of a copy of the package prints, and its modules: kind of loader, all that is said of each."""
    left_out = ("PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE")
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    environment |= {"PYTHONPATH": str(package.parent), "XDG_CACHE_HOME": str(package.parent / "cache")}
    done = subprocess.run(
        [sys.executable, *options, "-c", TOLD, "--version"],
        capture_output=True, text=True, check=True, env=environment, cwd=package.parent,
    )  # fmt: skip
    printed, modules = done.stdout.splitlines()
    return printed, json.loads(modules)


def kinds(modules: dict[str, Any]) -> dict[str, set[str]]:
    """Names of modules by the kind of their loaders."""
    found: dict[str, set[str]] = {"_Loader": set(), "SourceFileLoader": set()}
    for name, (kind, _) in modules.items():
        found[kind].add(name)
    return found


def kept(package: Path) -> Path:
    (path,) = (package / "terms" / "__pycache__").glob("modules.*")
    return path


def test_what_is_kept_is_what_python_imports(package):
    printed, first = started(package)
    again, second = started(package)
    assert printed == again
    assert kinds(first)["_Loader"] == set()
    assert len(kinds(second)["SourceFileLoader"]) <= LOADED_BEFORE < len(kinds(second)["_Loader"])
    assert {name: said for name, (_, said) in first.items()} == {name: said for name, (_, said) in second.items()}


@pytest.mark.parametrize("has_same_size", [True, False])
def test_a_changed_source_is_never_run_as_it_was(package, has_same_size):
    started(package)
    module = package / "cli" / "program.py"
    state = module.stat()
    for number, name in enumerate(("kafkaty", "kafkatz") if has_same_size else ("other", "another-one"), 1):
        text = module.read_text()
        before = text.partition('PROGRAM = "')[2].partition('"')[0]
        module.write_text(text.replace(f'PROGRAM = "{before}"', f'PROGRAM = "{name}"'))
        os.utime(module, ns=(0, state.st_mtime_ns + number * SECOND_NS))
        for loader in ("SourceFileLoader", "_Loader"):
            kind, said = started(package)[1]["kafkatx.cli.program"]
            assert (kind, name in said) == (loader, True)


def test_code_that_was_moved_says_where_its_source_is_now(package):
    started(package)
    moved = shutil.move(package, package.parent / "elsewhere" / "kafkatx")
    for _ in range(2):
        _, modules = started(Path(moved))
        paths = {path for _, said in modules.values() for path in said[-1] if "/kafkatx/" in path}
        assert paths
        assert paths <= {said[0] for _, said in modules.values()}
    assert len(kinds(modules)["_Loader"]) > LOADED_BEFORE


def test_another_release_takes_nothing_of_this_one(package):
    started(package)
    source = package / "__init__.py"
    state = source.stat()
    source.write_text(source.read_text().replace('__version__ = "0', '__version__ = "9'))
    os.utime(source, ns=(0, state.st_mtime_ns + SECOND_NS))
    printed, modules = started(package)
    assert " 9" in printed
    assert kinds(modules)["_Loader"] == set()


@pytest.mark.parametrize("damage", ["cut", "empty", "index", "code", "no length"])
def test_damage_costs_time_and_nothing_else(package, damage):
    printed, first = started(package)
    path = kept(package)
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "big") + 8
    made = {
        "cut": content[: size + 10], "empty": b"", "index": content[:20] + bytes(20) + content[40:],
        "code": content[:size] + bytes(len(content) - size), "no length": b"\xff" * 8 + content[8:],
    }  # fmt: skip
    path.write_bytes(made[damage])
    again, second = started(package)
    assert again == printed
    assert second.keys() == first.keys()
    assert kinds(second)["_Loader"] == (set() if damage not in ("cut", "code") else kinds(second)["_Loader"])
    assert len(kinds(started(package)[1])["SourceFileLoader"]) <= LOADED_BEFORE


def test_a_file_that_others_may_write_is_not_run(package):
    started(package)
    kept(package).chmod(0o666)
    _, modules = started(package)
    assert kinds(modules)["_Loader"] == set()


def test_nothing_is_kept_where_no_bytecode_is_written(package):
    started(package, "-B")
    assert not [*package.rglob("modules.*")]
