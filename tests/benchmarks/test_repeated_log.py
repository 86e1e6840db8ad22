"""What a recorded log becomes that is repeated."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from tests.benchmarks import repeated_log
from tests.evidence import FIXTURES

TIME = re.compile(r"(?m)^\[?(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[,.]\d{3})")
SIZE = 300_000


@pytest.mark.parametrize("kind", repeated_log.KINDS)
def test_each_repetition_is_later_and_says_the_same(kind: str, tmp_path: Path) -> None:
    text = repeated_log.write(tmp_path / "a.log", SIZE, kind).read_text()
    recorded = (FIXTURES / repeated_log.KINDS[kind]).read_text().rstrip("\n") + "\n"
    rounds = len(text) // len(recorded)
    assert len(text) == rounds * len(recorded) >= SIZE
    assert TIME.sub("", text) == rounds * TIME.sub("", recorded)
    times = [sorted(TIME.findall(text[at * len(recorded) : (at + 1) * len(recorded)])) for at in range(rounds)]
    assert all(before[-1] < after[0] for before, after in pairwise(times))
    assert text.startswith(recorded)
