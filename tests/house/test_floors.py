"""Imports go down only: the floors of pyproject.toml."""

from tests.evidence import ROOT
from tests.house.tools import output_of

LINT_IMPORTS = "from importlinter.cli import lint_imports_command; lint_imports_command(['--no-cache'])"


def test_imports_go_down_only():
    code, output = output_of("-c", LINT_IMPORTS)
    assert code == 0, output


def test_every_room_says_what_it_holds():
    silent = [path for path in ROOT.glob("kafkatx/*/__init__.py") if not path.read_text().startswith('"""')]
    assert not silent
