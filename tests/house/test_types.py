"""The package passes mypy strict."""

from tests.house.tools import output_of


def test_mypy_strict_has_nothing_to_say():
    code, output = output_of("-m", "mypy")
    assert code == 0, output
