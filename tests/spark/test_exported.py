"""Spark says of an export what this machine says of what it was made of, which is gone."""

import pytest

from kafkatx.local.diagnosis import diagnose as diagnose_here
from kafkatx.spark.diagnosis import diagnose
from kafkatx.stages.facts import FactKind, FactsError
from kafkatx.stages.parquet_parts import DEFAULT_SIZES
from kafkatx.terms.errors import UsageError
from tests.cases.cutting import image
from tests.days import Days
from tests.evidence import fixtures
from tests.exports import exported, exported_together, rewritten, said
from tests.repeats import together

CASE = fixtures() / "k39-fenced"


@pytest.mark.parametrize("cases", together())
def test_recorded_cases(spark, cases):
    raw, target = exported_together(cases)
    assert said(diagnose, spark, target) == raw


def test_an_export_beside_other_paths_is_refused(spark, tmp_path):
    with pytest.raises(UsageError, match=r"give either exports or what they were made of"):
        diagnose(spark, [exported([CASE], tmp_path / "export"), CASE])


@pytest.mark.parametrize("rank", [FactKind.BLOCK, FactKind.PLACED])
def test_facts_that_somebody_changed_are_refused_by_the_tasks(rank, spark, tmp_path):
    target = exported([CASE], tmp_path / "export", DEFAULT_SIZES)
    rewritten(target, lambda row: {**row, "payload": b"?" * 99} if row["rank"] == rank else row)
    with pytest.raises(FactsError, match=r"^not a fact"):
        diagnose(spark, target)


@pytest.mark.parametrize("case", ["k39-hanging", "k20-expired"])
def test_runs_that_share_a_capture_are_one_here_too(case, spark, tmp_path):
    days = Days(image(case), 3)
    for day in range(3):
        exported(days.write(day, tmp_path / "data", 1), tmp_path / "export")
    assert said(diagnose, spark, [tmp_path / "export"]) == said(diagnose_here, [tmp_path / "export"])
