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


def test_rules_look_for_nothing_in_texts():
    """What a text says its reader tells (text/error_messages/sayings.py): a rule asks for codes, kinds and columns."""
    searching = [path for path in (ROOT / "kafkatx" / "rules").rglob("*.py") if "\nimport re\n" in path.read_text()]
    assert not searching
