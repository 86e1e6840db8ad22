"""A transaction that Flink took up again past its timeout: told as possible, unless a refusal or rows tell its end."""

from __future__ import annotations

from pathlib import Path

import pytest

import kafkatx
from kafkatx.outputs.diagnosis_json import document

AGED = (
    "2026-03-01 10:00:01,200 WARN  org.apache.flink.streaming.api.functions.sink.TwoPhaseCommitSinkFunction [] - "
    "Transaction KafkaTransactionState [transactionalId={id}, producerId=41, epoch=5] has been open for {age} ms. This "
    "is close to or even exceeding the transaction timeout of {timeout} ms.\n"
)
FENCED = (
    "2026-03-01 10:00:02,300 ERROR org.apache.flink.runtime.taskmanager.Task [] - Sink (1/1) failed\n"
    "org.apache.kafka.common.errors.ProducerFencedException: Producer attempted an operation with an old epoch. Either "
    "there is a newer producer with the same transactionalId, or the producer's transaction has been expired by the "
    "broker.\n"
)
NAMES = ("bill-1", "Source: Custom Source -> Sink: Unnamed-7df1-1")


def _told(folder: Path, text: str) -> list[dict]:
    path = folder / "app.log"
    path.write_text(text)
    return document(kafkatx.diagnose([path]), "t")["findings"]


@pytest.mark.parametrize("name", NAMES)
def test_past_its_timeout_it_may_have_been_aborted(name: str, tmp_path: Path) -> None:
    (found,) = _told(tmp_path, AGED.format(id=name, age=42_000_000, timeout=10_000))
    assert (found["rule"], found["verdict"], found["severity"]) == ("transaction_timed_out", "possible", "warning")
    assert found["transactional_id"] == name
    assert "11.7 h" in found["summary"]
    assert "10 s" in found["summary"]


def test_each_id_is_one_and_its_oldest_is_told(tmp_path: Path) -> None:
    lines = [AGED.format(id=name, age=age, timeout=10_000) for name in NAMES for age in (20_000, 42_000_000)]
    found = _told(tmp_path, "".join(lines))
    assert [(one["transactional_id"], one["count"]) for one in found] == [(name, 2) for name in NAMES]
    assert all("11.7 h" in one["summary"] for one in found)


@pytest.mark.parametrize("age", [0, 7_000, 9_999])
def test_below_its_timeout_nothing_is_lost(age: int, tmp_path: Path) -> None:
    assert not _told(tmp_path, AGED.format(id="bill-1", age=age, timeout=10_000))


def test_a_refusal_below_is_told_with_it_once(tmp_path: Path) -> None:
    found = _told(tmp_path, AGED.format(id="bill-1", age=42_000_000, timeout=10_000) + FENCED)
    assert [(one["rule"], one["verdict"]) for one in found] == [("transaction_timed_out", "likely")]
