"""On Spark texts are cut and logs are read by tasks; the driver is told ids, and plans."""

from typing import Any

import pytest

from kafkatx.evidence import log_reading, looking
from kafkatx.local.diagnosis import diagnose as diagnose_here
from kafkatx.outputs.diagnosis_json import document
from kafkatx.spark.diagnosis import diagnose as diagnose_on
from kafkatx.spark.looking import looks_in_tasks
from kafkatx.spark.reading import read
from kafkatx.stages.logs import log_items
from kafkatx.stages.models import joined_evidence
from tests.evidence import FIXTURES, fixtures

CASES = [fixtures() / name for name in ("k39-fenced", "k39-unresolved")]
PAGE = FIXTURES / "pages" / "timeout_above_the_limit.md"


@pytest.fixture
def driver_reads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let everything fail in this process that reads a log or cuts a text; workers are others."""
    from kafkatx.text.logs import reading
    from kafkatx.text.pages import parts

    def refuse(*given: Any) -> None:
        raise AssertionError(given)

    monkeypatch.setattr(reading, "read_log", refuse)
    monkeypatch.setattr(parts, "parts", refuse)
    monkeypatch.setattr(log_reading, "lines", refuse)
    monkeypatch.setattr(looking.LooksHere, "each", refuse)
    monkeypatch.setattr(looking.LooksHere, "ids", refuse)


@pytest.mark.parametrize("paths", [[PAGE], [*CASES, PAGE]], ids=["a page", "a page beside two captures"])
def test_the_driver_reads_no_log_and_no_text(spark, request, paths):
    here = document(diagnose_here(paths), "")
    request.getfixturevalue("driver_reads_nothing")
    assert document(diagnose_on(spark, paths), "") == here
    assert spark._jsparkSession.sharedState().cacheManager().isEmpty()


def test_tables_are_planned_without_reading_texts(spark, driver_reads_nothing):
    assert read(spark, [CASES[0], PAGE], table="log_events", columns=["path"]).count() > 0


def test_what_was_read_of_logs_is_kept_until_it_is_forgotten(spark):
    with looks_in_tasks(spark) as looker:
        found = joined_evidence(CASES, None, looker)
        logs = [item for capture in found.captures for item in log_items(capture)]
        assert len(logs) > 2
        assert all(map(looker.has_read, logs))
        assert looker.ids(logs) == looking.LooksHere().ids(logs)
    assert not any(map(looker.has_read, logs))
