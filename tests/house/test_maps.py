"""A folder with many modules tells in its docstring which of them does what, docs/architecture.md how all is laid."""

import ast
import re
from pathlib import Path

import pytest

from tests.evidence import ROOT

MANY = 24
"""Modules of a folder that nobody takes in at a glance."""
MOST_LINES = 350
"""Of a page that is read in a quarter of an hour; details stand in docstrings."""
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text()


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


def test_the_page_about_the_code_names_what_is_there():
    files = {
        path.relative_to(ROOT).as_posix() for part in ("kafkatx", "tests", "docs") for path in (ROOT / part).rglob("*")
    }
    named = set(re.findall(r"`([\w./]+\.(?:py|tsv|txt)|[\w.]+(?:/[\w.]+)*/)`", ARCHITECTURE))
    assert not [
        name for name in sorted(named) if not any(f"/{file}".endswith(f"/{name.rstrip('/')}") for file in files)
    ]


def test_the_page_about_the_code_stays_short():
    assert len(ARCHITECTURE.splitlines()) <= MOST_LINES
