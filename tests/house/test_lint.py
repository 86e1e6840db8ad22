"""Code is linted and formatted by ruff, as pyproject.toml says."""

import pytest

from tests.house.tools import output_of


@pytest.mark.parametrize("command", [["check"], ["format", "--check"]], ids=" ".join)
def test_ruff_has_nothing_to_say(command):
    code, output = output_of("-m", "ruff", *command, ".")
    assert code == 0, output
