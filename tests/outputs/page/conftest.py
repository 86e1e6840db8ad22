"""One browser for all tests of the page in a process; it goes with the last of them."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.outputs.page.browser import chromium


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started
