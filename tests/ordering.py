"""In which order tests run: what takes longest comes first, for where they run in several processes."""

from collections.abc import Sequence

import pytest

SPARK = "tests/spark/"


def longest_first(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return the tests of Spark, then all others, each in their order."""
    return sorted(items, key=lambda item: not item.nodeid.startswith(SPARK))
