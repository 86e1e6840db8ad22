"""The clusters that rules are tested with."""

from tests.rules.conftest import classic, either, v2

__all__ = ["classic", "either", "v2"]
