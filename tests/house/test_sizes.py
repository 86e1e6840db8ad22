"""Long files and functions are worth a second look: this warns, and a long file of the package says why (`Length`)."""

import ast
import warnings
from collections.abc import Iterator
from pathlib import Path

from tests.evidence import ROOT

FILE_LINES = 400
FUNCTION_LINES = 60


def oversized(text: str, name: str) -> Iterator[str]:
    """Yield a line for the file and for each function that is longer than the house likes."""
    if (lines := text.count("\n")) > FILE_LINES:
        yield f"{name}: {lines} lines (over {FILE_LINES})"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
            lines = node.end_lineno - node.lineno + 1
            if lines > FUNCTION_LINES:
                yield f"{name}:{node.lineno} {node.name}: {lines} lines (over {FUNCTION_LINES})"


def python_files() -> list[Path]:
    return sorted(path for room in ("kafkatx", "tests") for path in (ROOT / room).rglob("*.py"))


def test_sizes_are_looked_at():
    for path in python_files():
        for complaint in oversized(path.read_text(), str(path.relative_to(ROOT))):
            warnings.warn(complaint, stacklevel=1)


def test_a_long_file_of_the_package_says_why():
    long = [path for path in (ROOT / "kafkatx").rglob("*.py") if path.read_text().count("\n") > FILE_LINES]
    silent = [path for path in long if "\nLength  " not in (ast.get_docstring(ast.parse(path.read_text())) or "")]
    assert not silent


def test_a_long_function_and_a_long_file_are_seen():
    long_function = "def long():\n" + "    pass\n" * FUNCTION_LINES
    assert list(oversized(long_function, "a.py")) == ["a.py:1 long: 61 lines (over 60)"]
    assert list(oversized("pass\n" * (FILE_LINES + 1), "b.py")) == ["b.py: 401 lines (over 400)"]
    assert not list(oversized("def short():\n    pass\n", "c.py"))
