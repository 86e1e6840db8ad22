"""The page of a large cluster is seen at once: run by hand with `pytest -m benchmark tests/benchmarks/test_page.py`."""

import pytest

from tests.benchmarks.page import page
from tests.outputs.page.browser import missing

pytestmark = [pytest.mark.benchmark, pytest.mark.skipif(bool(missing()), reason=missing())]


def test_the_page_of_a_large_cluster_is_seen_at_once() -> None:
    missed = [figure for figure in page() if figure.holds is False]
    assert not missed, "\n".join(map(str, missed))
