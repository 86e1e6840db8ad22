"""A folder with many modules tells in its docstring which of them does what: a map that lacks one is none."""

import ast
import re
from pathlib import Path

import pytest

from tests.evidence import ROOT

MANY = 24
"""Modules of a folder that nobody takes in at a glance."""


def modules(folder: Path) -> set[str]:
    """Names of the modules in a folder; of `rules/` those that are no rules, since each rule is named by itself."""
    files = [path for path in folder.glob("*.py") if path.stem != "__init__"]
    return {path.stem for path in files if folder.name != "rules" or "\nRULE = " not in path.read_text()}


def named(folder: Path) -> set[str]:
    """Words of a folder's docstring that are names of modules or folders."""
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text())) or ""
    return set(re.findall(r"\b[a-z]\w*\b(?!/)", text))


FOLDERS = sorted(path.parent for path in (ROOT / "kafkatx").rglob("__init__.py"))


@pytest.mark.parametrize(
    "folder",
    [folder for folder in FOLDERS if len(list(folder.glob("*.py"))) > MANY],
    ids=lambda folder: folder.relative_to(ROOT).as_posix(),
)
def test_a_large_folder_has_a_map(folder):
    assert not sorted(modules(folder) - named(folder))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.relative_to(ROOT).as_posix())
def test_a_map_names_nothing_that_is_gone(folder):
    names = {name for name in named(folder) if "_" in name}
    texts = [path.read_text() for path in folder.glob("*.py")]
    known = {path.stem for path in (ROOT / "kafkatx").rglob("*.*")} | {path.name for path in folder.iterdir()}
    assert not [name for name in sorted(names - known) if not any(f"def {name}(" in text for text in texts)]
