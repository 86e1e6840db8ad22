"""Aborts of recorded clients: all of them are counted, their reason is told where it stands, and one chain is one."""

import shutil
from pathlib import Path

import pytest

from kafkatx.findings.diagnosis import Diagnosis
from kafkatx.findings.finding import Finding
from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.answer import totals
from tests.evidence import fixtures

SILENT, PRICES = fixtures() / "k4-silent-failure", fixtures() / "k39-client-aborts"
SECOND_BATCH = "Failed to send record to quotes-0, continuing"
CHECK = "Price check failed, rolling back the batch"


def of(found: Diagnosis, rule: str, name: str) -> Finding:
    (finding,) = (
        one.finding for one in found.findings if one.finding.rule == rule and one.finding.transactional_id == name
    )
    return finding


@pytest.fixture(scope="module")
def silent() -> Diagnosis:
    return diagnose([SILENT])


def test_every_record_that_an_id_lost_in_silence_is_counted(silent: Diagnosis):
    found = of(silent, "silent_failure", "quotes-1")
    assert found.facts["lost"]["records"] == 8
    assert [(one["first_offset"], one["last_offset"]) for one in found.facts["lost"]["data"]] == [(5, 8), (15, 18)]
    assert found.facts["lost"]["others"] is None
    assert found.count == of(silent, "aborted_by_client", "quotes-1").count == 2


def test_what_its_log_does_not_cover_is_said(tmp_path: Path):
    (tmp_path / "config").mkdir()
    for path in (SILENT / "logs").glob("client-*.log"):
        lines = path.read_text().splitlines(keepends=True)
        second = [number for number, line in enumerate(lines) if SECOND_BATCH in line][1:]
        (tmp_path / path.name).write_text("".join(lines[: second[0]] if second else lines))
    found = of(diagnose([SILENT / "broker-1", tmp_path]), "silent_failure", "quotes-1")
    assert (found.facts["lost"]["records"], found.facts["lost"]["others"]) == (4, 1)
    assert "1 more transaction of the id was aborted" in found.summary


def test_a_limit_an_abort_and_its_silence_are_one_chain(silent: Diagnosis):
    by_id = {one.id: one for one in silent.findings}
    (told,) = (one for one in silent.findings if one.finding.rule == "silent_failure" and one.finding.count == 2)
    abort = by_id[told.caused_by or ""]
    limit = by_id[abort.caused_by or ""]
    assert [one.finding.rule for one in (abort, limit)] == ["aborted_by_client", "misconfiguration"]
    assert totals(silent).startswith("2 root causes;")


def test_a_limit_is_told_by_its_bytes_and_each_send_once(silent: Diagnosis):
    found = of(silent, "misconfiguration", "quotes-1")
    assert (found.count, found.facts["largest"], found.facts["limit"]) == (2, 4090, 2000)
    remedy = found.remedies[0]
    assert (remedy.config, remedy.current, remedy.proposed) == ("max.request.size", "2000", "at least 4090")


def test_an_abort_with_a_reason_is_not_told_to_be_left_alone(silent: Diagnosis):
    for found in (one.finding for one in silent.findings if one.finding.rule == "aborted_by_client"):
        assert not any("Nothing to do" in remedy.text for remedy in found.remedies), found.summary


def said_of(folder: Path, change: tuple[str, str] | None = None) -> Finding:
    """What is said of the recorded aborts, with the lines before them changed."""
    case = shutil.copytree(PRICES, folder / "case")
    log = case / "logs" / "client-pricing.log"
    if change is not None:
        assert change[0] in log.read_text()
        log.write_text(log.read_text().replace(*change))
    return of(diagnose([case]), "aborted_by_client", "pricing-feed-0")


def test_what_the_application_logged_before_its_aborts_is_quoted(tmp_path: Path):
    found = said_of(tmp_path)
    assert f'logged "{CHECK}" just before 9 of them' in found.summary
    (step,) = (step for step in found.steps if CHECK in step.text)
    lines = (PRICES / "logs" / "client-pricing.log").read_text().splitlines()
    assert all(CHECK in lines[(place.line or 0) - 1] for place in step.places)
    assert not any("Look at what the application logged" in remedy.text for remedy in found.remedies)


@pytest.mark.parametrize(
    "change",
    [
        ("[main] WARN  com.example.pricing.PriceFeed", "[pool-1] WARN  com.example.pricing.PriceFeed"),
        ("com.example.pricing.PriceFeed", "org.apache.kafka.clients.Metadata"),
        (f"{CHECK}\n", f"{CHECK}\n    for batch 7\n"),
        ("2026-11-21 10:39:38.276 [main] WARN", "2026-11-21 10:39:12.276 [main] WARN"),
    ],
    ids=["of another thread", "of Kafka's own", "not on the line before", "much earlier"],
)
def test_other_lines_before_an_abort_are_no_reason(tmp_path: Path, change: tuple[str, str]):
    found = said_of(tmp_path, change)
    announced = found.facts["announced"]
    assert (announced or {"count": 0})["count"] == (8 if "10:39:12" in change[1] else 0)


def test_where_nothing_was_written_nothing_is_sent_again():
    found = of(diagnose([fixtures() / "k28-sequence"]), "aborted_by_client", "meters-1")
    assert "It had written no record" in found.summary
    assert not any("again, unless" in remedy.text for remedy in found.remedies)
