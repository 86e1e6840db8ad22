"""A worker's memory goes back to the system between steps."""

import subprocess
import sys

import pytest

from kafkatx.spark import memory
from kafkatx.spark.memory import give_back

FREED = """
from pathlib import Path
from kafkatx.spark.memory import give_back

def resident():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))

kept = [bytes(50_000) for _ in range(2_000)]
last = bytes(50_000)  # lies above them, so that the C library keeps what is freed below
full = resident()
del kept
give_back()
print(full - resident())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read off /proc")
def test_what_was_freed_is_the_systems_again():
    printed = subprocess.run([sys.executable, "-c", FREED], capture_output=True, text=True, check=True).stdout
    assert int(printed) > 80_000


def test_another_c_library_keeps_what_it_has(monkeypatch):
    class Other:
        def __init__(self, _: object) -> None: ...

    memory._malloc_trim.cache_clear()
    monkeypatch.setattr(memory.ctypes, "CDLL", Other)
    give_back()
    memory._malloc_trim.cache_clear()
