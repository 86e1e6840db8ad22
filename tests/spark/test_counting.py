"""A capture whose plain transactions are counted says on Spark what it says on this machine."""

from functools import partial
from pathlib import Path
from typing import Any

from kafkatx.findings.diagnosis import Selection
from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.spark.diagnosis import _collected
from kafkatx.spark.judging import judged
from kafkatx.spark.pipeline import captures_on
from kafkatx.stages.fact_batches import DDL
from kafkatx.stages.judging import united
from kafkatx.stages.models import Telling, open_evidence
from tests.benchmarks import generate


def test_workers_count_what_is_plain(spark: Any, tmp_path: Path) -> None:
    directory = generate.spread(tmp_path / "spread", 2 * 64 * 8, coordinators=2)
    given = open_evidence([directory])
    judge = partial(judged, telling=Telling(held_up_to=0), selection=Selection())
    found = _collected(captures_on(spark, given.captures, judge, DDL, is_light=False))
    assert document(united(found, []), "") == document(diagnose([directory]), "")
