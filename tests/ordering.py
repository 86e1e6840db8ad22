"""In which order tests run: what takes longest comes first, for where they run in several processes."""

from collections.abc import Sequence

import pytest

WITH_SPARK = ("tests/spark/", "tests/stages/test_exported.py")
"""Tests that one process runs: they share one Spark, and one export of recorded cases."""

LONG = ("tests/house/test_types.py", "tests/cases/test_any_cut.py")
"""Files of a minute or of half a one, mypy first: as its last one such a file would keep the other process waiting."""

OF_ALL_TEXTS = ("tests/cases/test_told_pages.py", "tests/cases/test_what_to_bring.py")
"""Tests that one process runs: they share what is told of the texts (tests/cases/told_texts.py)."""

PORTIONED = "tests/fuzz/"
"""Tests of which each is long and needs nothing of the others: processes take them by turns."""


def longest_first(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Return the tests of Spark, then those of LONG, then all others, each in their order."""
    return sorted(items, key=_rank)


def _rank(item: pytest.Item) -> int:
    if item.nodeid.startswith(WITH_SPARK):
        return 0
    file = item.nodeid.partition("::")[0]
    return 1 + (LONG.index(file) if file in LONG else len(LONG))
