"""The runner measures the child and nothing else, and says when a command failed."""

import sys

import pytest

from tests.benchmarks import measure

WORK = "x = bytearray(96 << 20); sum(range(5_000_000))"


def test_anonymous_memory_of_the_child_is_seen() -> None:
    plain = measure.run([sys.executable, "-c", "sum(range(5_000_000))"])
    heavy = measure.run([sys.executable, "-c", WORK])
    assert heavy.peak_bytes - plain.peak_bytes > 90 << 20


@pytest.mark.skipif(sys.platform != "linux", reason="descendants are found through /proc")
def test_memory_of_grandchildren_counts() -> None:
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {WORK!r}], check=True)"
    assert measure.run([sys.executable, "-c", parent]).peak_bytes > 96 << 20


def test_cpu_of_the_child_is_counted() -> None:
    burn = "import time\nwhile time.process_time() < 0.2: pass"
    assert measure.run([sys.executable, "-c", burn]).cpu_s >= 0.2


def test_a_failing_command_has_no_figures() -> None:
    with pytest.raises(measure.CommandFailed, match=r"exit code 3(.|\n)*no such thing"):
        measure.run([sys.executable, "-c", "import sys; print('no such thing', file=sys.stderr); sys.exit(3)"])


def test_cheapest_takes_least_cost_but_highest_peak() -> None:
    usages = [measure.Usage(2.0, 3.0, 10), measure.Usage(1.0, 4.0, 5)]
    assert measure.cheapest(usages) == measure.Usage(1.0, 3.0, 10)
