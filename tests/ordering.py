"""In which order tests run: what takes longest comes first, for where they run in several processes."""

from collections.abc import Sequence

import pytest

WITH_SPARK = ("tests/spark/", "tests/stages/test_exported.py")
"""Tests that one process runs: they share one Spark, and one export of all recorded cases."""


def longest_first(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return the tests of Spark, then all others, each in their order."""
    return sorted(items, key=lambda item: not item.nodeid.startswith(WITH_SPARK))
