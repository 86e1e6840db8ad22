"""Ratios and limits we hold ourselves to, measured: run by hand with `pytest -m benchmark tests/benchmarks`."""

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.benchmarks import cases, comparisons, generate, peer
from tests.benchmarks.comparisons import Figure

pytestmark = [
    pytest.mark.benchmark,
    pytest.mark.skipif(not peer.is_available(), reason="needs Java, and Maven to fetch the peer once"),
]


def test_kafkas_own_tool_accepts_every_generated_batch(tmp_path: Path) -> None:
    for directory in (generate.tiny(tmp_path / "tiny", 640), generate.ordinary(tmp_path / "ordinary", 4 << 20)):
        text = subprocess.run(peer.dump_log(cases.logs(directory)), capture_output=True, text=True, check=True)
        verdicts = re.findall(r"isvalid: (\w+)", text.stdout)
        assert len(verdicts) > 1000
        assert set(verdicts) == {"true"}
        assert "Found" not in text.stdout + text.stderr
        assert "Mismatch" not in text.stdout + text.stderr


@pytest.mark.parametrize("comparison", comparisons.ALL, ids=lambda comparison: comparison.__name__)
def test_figures_hold(comparison: Callable[[], Iterator[Figure]]) -> None:
    missed = [figure for figure in comparison() if figure.holds is False]
    assert not missed, "\n".join(map(str, missed))
