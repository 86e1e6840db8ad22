"""One producer id with nearly all data, or one partition of the coordinator's log with all rows: Spark says the same,
with a heap of 1 GiB, and no Python worker takes more than it may.

A fiftieth by default; whole, and for minutes, with `pytest -m benchmark tests/spark/test_skew.py`.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kafkatx.local.diagnosis import diagnose as diagnose_here
from kafkatx.outputs.diagnosis_json import document
from kafkatx.segments import batches as walks
from kafkatx.spark.diagnosis import diagnose as diagnose_on
from tests.benchmarks import cases, skewed
from tests.benchmarks.python_workers import PythonWorkers
from tests.benchmarks.skewed_transactions import Shape, giant_state, whole

SHARE = 50
STRETCH_BYTES = 1 << 20
"""So that a fiftieth, too, is read in some twenty pieces."""
HEAP_BYTES = 1 << 30
WORKER_BYTES = 512 << 20
BYTES_A_TRANSACTION = 700
"""What the worker that judges a capture holds of each of its transactions, at most."""
PLANTED = 6


@dataclass(frozen=True, slots=True)
class Told:
    """A directory diagnosed on both engines, and what it took of Python workers."""

    shape: Shape
    here: dict[str, Any]
    on_spark: dict[str, Any]
    workers: PythonWorkers


def told(spark: Any, directory: Path, shape: Shape, stretch_bytes: int | None = None) -> Told:
    with PythonWorkers() as workers:
        on_spark = document(diagnose_on(spark, directory, stretch_bytes=stretch_bytes), "")
    return Told(shape, document(diagnose_here([directory]), ""), on_spark, workers)


@pytest.fixture(scope="module", params=[whole, giant_state], ids=["hot producer", "giant state partition"])
def fiftieth(request: pytest.FixtureRequest, spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    shape: Shape = request.param(SHARE)
    directory = skewed.write(tmp_path_factory.mktemp("skewed"), shape)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walks, "STRETCH_BYTES", STRETCH_BYTES)
        yield told(spark, directory, shape, STRETCH_BYTES)


def test_spark_says_what_this_machine_says(fiftieth: Told) -> None:
    assert fiftieth.on_spark == fiftieth.here
    assert len(fiftieth.here["findings"]) == PLANTED


def test_the_heap_is_no_larger_than_a_gibibyte(spark: Any) -> None:
    assert spark._jvm.java.lang.Runtime.getRuntime().maxMemory() <= HEAP_BYTES


@pytest.mark.skipif(sys.platform != "linux", reason="memory of workers is read off /proc")
def test_python_workers_stay_small(fiftieth: Told) -> None:
    assert fiftieth.workers.highest.resident < WORKER_BYTES


@pytest.mark.benchmark
@pytest.mark.skipif(sys.platform != "linux", reason="memory of workers is read off /proc")
@pytest.mark.parametrize(
    ("directory", "shape"), [(cases.skewed_of, whole), (cases.giant_state_of, giant_state)], ids=["hot", "giant"]
)
def test_the_whole(spark: Any, directory: Callable[[], Path], shape: Callable[[], Shape]) -> None:
    found = told(spark, directory(), shape())
    assert found.on_spark == found.here
    assert len(found.here["findings"]) == PLANTED
    transactions = found.shape.rounds * (1 + found.shape.others)
    assert found.workers.highest.anonymous < max(WORKER_BYTES, transactions * BYTES_A_TRANSACTION)
    assert found.workers.highest.resident < WORKER_BYTES or found.shape.state_partition is not None
