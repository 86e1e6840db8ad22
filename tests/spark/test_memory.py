"""A worker's memory goes back to the system between steps, and what it loaded is not looked at behind every task."""

import gc
import json
import subprocess
import sys

import pyarrow as pa
import pytest

from kafkatx.spark import memory
from kafkatx.spark.memory import LOADED, give_back
from kafkatx.spark.workers import InWorker

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


LEFT_OUT = """
import gc, json, weakref
from kafkatx.spark.memory import LOADED, leave_out_loaded

class Ring:
    def __init__(self):
        self.self = self

told = {}
loaded = [[number] for number in range(2 * LOADED)]
garbage = Ring()
gone = weakref.ref(garbage)
del garbage
leave_out_loaded()
told["looked at"], told["left out"] = len(gc.get_objects()), gc.get_freeze_count()
told["garbage of before"] = gone() is not None
garbage = Ring()
gone = weakref.ref(garbage)
del garbage
gc.collect()
told["garbage of after"] = gone() is not None
few = [[number] for number in range(LOADED // 2)]
before = gc.get_freeze_count()
leave_out_loaded()
told["few more"] = gc.get_freeze_count() - before
many = [Ring() for number in range(2 * LOADED)]
before = gc.get_freeze_count()
del many
leave_out_loaded()
told["much garbage more"] = gc.get_freeze_count() - before
told["garbage left"] = sum(isinstance(one, Ring) for one in gc.get_objects())
print(json.dumps(told))
"""


def test_what_was_loaded_is_left_out_and_garbage_never_is():
    command = [sys.executable, "-c", LEFT_OUT]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert told.pop("looked at") < 100
    assert told.pop("left out") > 2 * LOADED
    assert set(told.values()) == {0}, told


def objects_looked_at(batches):
    for _ in batches:
        yield pa.RecordBatch.from_pydict({"looked_at": [len(gc.get_objects())], "left_out": [gc.get_freeze_count()]})


def test_a_worker_of_spark_looks_at_little_between_tasks(spark):
    step = InWorker(objects_looked_at, "counting objects")
    for _ in range(3):
        told = spark.range(0, 4, 1, 4).mapInArrow(step, "looked_at bigint, left_out bigint").collect()
    assert all(one.looked_at <= LOADED < one.left_out for one in told), told
