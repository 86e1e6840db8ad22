"""Spark says of an export what this machine says of what it was made of, which is gone."""

import pytest

from kafkatx.outputs.parquet.parts import DEFAULT_SIZES
from kafkatx.spark.diagnosis import diagnose
from kafkatx.stages.facts import FactKind
from kafkatx.terms.errors import UsageError
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
    with pytest.raises(Exception, match=r"FactsError: not a fact"):
        diagnose(spark, target)
