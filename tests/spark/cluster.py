"""Starts a cluster of two executors whose Python has no kafkatx, ships it, and tells as JSON what workers found.

`python tests/spark/cluster.py CASE...`, outside the checkout: what executors import must not come from the current
folder. Each worker diagnoses the first case by itself; all of them together diagnose all cases, cut small.
"""

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.segments import batches as walks
from kafkatx.spark.diagnosis import diagnose as diagnose_on
from kafkatx.spark.session import session
from kafkatx.spark.shipping import archive, ship

CASE, CASES = sys.argv[1], sys.argv[1:]
TINY = 400


def place() -> str:
    import kafkatx

    return kafkatx.__file__


def findings() -> int:
    """Diagnose on a worker. This function travels by value, being the program's; what it calls travels by name."""
    return len(diagnose([CASE]).findings)


def told(work: Callable[[], Any]) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def tell(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            yield pa.RecordBatch.from_pydict({"told": [json.dumps(work())]})

    return tell


def on_workers(spark: Any, work: Callable[[], Any]) -> list[Any]:
    rows = spark.range(0, 4, 1, 4).mapInArrow(told(work), "told string").collect()
    return [json.loads(row.told) for row in rows]


def is_alike(spark: Any) -> bool:
    """Whether the cluster says what this process says."""
    walks.STRETCH_BYTES = TINY
    return document(diagnose_on(spark, CASES, stretch_bytes=TINY), "") == document(diagnose(CASES), "")


def main() -> None:
    with session("local-cluster[2,1,1024]") as spark:
        try:
            before = on_workers(spark, findings)
        except Exception as error:
            before = str(error)
        ship(spark)
        places = on_workers(spark, place)
        ship(spark)
        found = on_workers(spark, findings)
        alike = is_alike(spark)
    told_by_name = {"before": before, "archive": archive().name, "places": places, "findings": found, "alike": alike}
    print(json.dumps(told_by_name))


main()
