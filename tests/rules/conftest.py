"""Clusters to write scenarios with; `either` runs a test under the classic protocol and under transactions v2."""

from pathlib import Path

import pytest

from tests.rules.cluster import Cluster


@pytest.fixture
def classic(tmp_path: Path) -> Cluster:
    return Cluster(tmp_path)


@pytest.fixture
def v2(tmp_path: Path) -> Cluster:
    return Cluster(tmp_path, v2=True)


@pytest.fixture(params=[False, True], ids=["classic", "v2"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Cluster:
    return Cluster(tmp_path, v2=request.param)
