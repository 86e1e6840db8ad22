"""A run under classic transactions and one under transactions v2."""

from pathlib import Path

import pytest

from tests.histories.logs.runs import Run
from tests.rules.cluster import Cluster


@pytest.fixture
def classic(tmp_path: Path) -> Run:
    return Run(Cluster(tmp_path / "classic"))


@pytest.fixture
def v2(tmp_path: Path) -> Run:
    return Run(Cluster(tmp_path / "v2", v2=True))
