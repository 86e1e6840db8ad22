"""Captures are joined by looks into files; a log that is read for that is not read again."""

from collections import Counter

import pytest

from kafkatx.evidence import log_reading, looking
from kafkatx.evidence.item import Item
from kafkatx.evidence.looking import LooksHere
from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.stages.models import open_evidence
from tests.evidence import fixtures

CASES = [fixtures() / name for name in ("k39-fenced", "k39-unresolved", "k4-clients")]
LINE = (
    "2026-11-21 10:28:59.001 [main] INFO  org.apache.kafka.clients.producer.KafkaProducer - "
    "[Producer clientId=p, transactionalId={}] Aborting incomplete transaction\n"
)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each log was read."""
    seen: Counter[str] = Counter()
    read_log = log_reading.read_log

    def counted(item: Item) -> log_reading.FileFacts:
        seen[item.key] += 1
        return read_log(item)

    monkeypatch.setattr(log_reading, "read_log", counted)
    return seen


def test_logs_that_tell_captures_apart_are_read_once(read):
    told = document(diagnose(CASES), "")
    assert len({finding["capture"] for finding in told["findings"]}) > 1
    assert len(read) > 3
    assert set(read.values()) == {1}


def test_logs_alone_that_share_an_id_are_one_capture_and_read_once(read, tmp_path):
    for name, transactional_id in (("a/x", "orders"), ("b/y", "orders"), ("c/z", "other")):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "app.log").write_text(LINE.format(transactional_id))
    folders = [tmp_path / name for name in ("a/x", "b/y", "c/z")]
    assert [len(capture.others) for capture in open_evidence(folders).captures] in ([1, 2], [2, 1])
    assert set(read.values()) == {1}
    diagnose(folders)
    assert set(read.values()) == {2}


def test_logs_of_the_only_capture_are_not_read_before_it_is_told(read):
    open_evidence(CASES[:1])
    assert not read


def test_what_is_not_kept_is_read_again_and_says_the_same(read, monkeypatch):
    whole = document(diagnose(CASES), "")
    monkeypatch.setattr(looking, "MOST_KEPT", 0)
    read.clear()
    assert document(diagnose(CASES), "") == whole
    assert {times for key, times in read.items() if ".log#" in key} == {2}


def test_what_was_read_is_handed_over_once(tmp_path):
    (tmp_path / "app.log").write_text(LINE.format("orders"))
    (capture,) = open_evidence([tmp_path]).captures
    (item,) = capture.others
    here = LooksHere()
    assert here.ids([item]) == [frozenset({"orders"})]
    first, again = here.log(item), here.log(item)
    assert first is not again
    assert first.facts.strings == again.facts.strings
    assert here.ids([item]) == [frozenset({"orders"})]


def test_ids_of_files_of_settings_count(tmp_path):
    (tmp_path / "client.properties").write_text("transactional.id=orders\nacks=all\n")
    (capture,) = open_evidence([tmp_path]).captures
    assert LooksHere().ids(capture.others) == [frozenset({"orders"})]
