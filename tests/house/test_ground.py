"""The tests' own ground: no local time, both kernel forms, a seed that can be repeated, cases that are whole."""

import time
from pathlib import Path

import pytest
from hypothesis import settings

from kafkatx.kernels.crc32c import crc32c
from tests.conftest import ODD_ZONE
from tests.evidence import broker_folders, expectations, fixture_cases
from tests.golden import compare


def test_tests_run_in_a_zone_that_is_not_utc():
    assert time.tzname[0] == ODD_ZONE[:5]
    assert time.timezone == -(5 * 3600 + 45 * 60)


def test_the_engine_fixture_pins_the_form_of_the_kernels(engine):
    assert crc32c.is_compiled is (engine == "compiled")


def test_hypothesis_can_be_repeated(request):
    assert settings.default.print_blob
    assert request.config.option.hypothesis_seed is not None


def test_a_changed_golden_text_fails_and_names_the_line(tmp_path: Path):
    kept = tmp_path / "kept.txt"
    kept.write_text("one\ntwo\n")
    with pytest.raises(AssertionError, match=r"\+three"):
        compare(kept, "one\nthree\n", update=False)
    assert kept.read_text() == "one\ntwo\n"


def test_an_updated_golden_text_is_written_as_it_is(tmp_path: Path):
    compare(tmp_path / "golden" / "new.txt", "one\r\n", update=True)
    assert (tmp_path / "golden" / "new.txt").read_bytes() == b"one\r\n"


@pytest.mark.parametrize("case", fixture_cases(), ids=lambda case: case.name)
def test_a_recorded_case_is_whole(case: Path):
    known = expectations(case)
    assert known["case"] == case.name
    assert len(broker_folders(case)) == known["brokers"]
    assert any((case / "kafka-dump-log").rglob("*.log.txt"))


def rules_expected_from_disk() -> set[str]:
    wanted = (want for case in fixture_cases() for want in expectations(case).get("must_find", []))
    return {want["rule"] for want in wanted if set(want.get("needs", ["disk"])) <= {"disk"}}


def test_the_cases_cover_every_rule_that_a_disk_can_show():
    assert rules_expected_from_disk() >= {
        "aborted_by_client",
        "atomicity_violation",
        "fenced_by_new_instance",
        "hanging_transaction",
        "open_transaction",
        "producer_epoch_exhausted",
        "read_committed_blocked",
        "stuck_prepare",
        "transaction_timed_out",
        "transactional_id_expired",
        "unstable_transactional_id",
    }


def test_the_cases_cover_both_protocols_and_every_era():
    released = {expectations(case)["kafka"].split(".")[0] for case in fixture_cases()}
    protocols = {expectations(case)["transaction_version"] for case in fixture_cases()}
    assert released == {"0", "1", "2", "3", "4"}
    assert protocols == {0, 2}
