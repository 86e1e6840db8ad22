"""What people say of a timeout decides who aborted data of which only a dump is at hand: likely, never proved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document

BEGAN = 1_681_911_840_194
"""A time before transactions v2: an ABORT one epoch up is the coordinator's."""
DUMP = (
    "Dumping /var/lib/kafka/data/lab-0/00000000000000000000.log\n"
    "Log starting offset: 0\n"
    "baseOffset: 0 lastOffset: 1 count: 2 baseSequence: 0 lastSequence: 1 producerId: 7 producerEpoch: 1 "
    "partitionLeaderEpoch: 0 isTransactional: true isControl: false deleteHorizonMs: OptionalLong.empty position: 0 "
    "CreateTime: {last} size: 146 magic: 2 compresscodec: none crc: 411907738 isvalid: true\n"
    "| offset: 0 CreateTime: {began} keySize: 1 valueSize: 9 sequence: 0 headerKeys: [] key: 0 payload: 331070215\n"
    "| offset: 1 CreateTime: {last} keySize: 1 valueSize: 9 sequence: 1 headerKeys: [] key: 1 payload: 331070216\n"
    "baseOffset: 2 lastOffset: 2 count: 1 baseSequence: -1 lastSequence: -1 producerId: 7 producerEpoch: 2 "
    "partitionLeaderEpoch: 0 isTransactional: true isControl: true deleteHorizonMs: OptionalLong.empty position: 146 "
    "CreateTime: {ended} size: 78 magic: 2 compresscodec: none crc: 2549939742 isvalid: true\n"
    "| offset: 2 CreateTime: {ended} keySize: 4 valueSize: 6 sequence: -1 headerKeys: [] endTxnMarker: ABORT "
    "coordinatorEpoch: 0\n"
)
SAID = (
    "The transaction timeout is {ms} in this sample.",
    "We set `transaction.timeout.ms` to {ms}, and then it waits.",
    "`ProducerConfig.TRANSACTION_TIMEOUT_CONFIG` {ms}, five sends, then a sleep of a minute",
    "our producer has transactionTimeout: {ms} since last week",
    "txn timeout is {s} s, nothing else was changed",
    "transaction.timeout.ms = {s} * 1000, the rest is default",
)


def _told(folder: Path, said: str, seconds: float) -> list[dict[str, Any]]:
    times = {"began": BEGAN, "last": BEGAN + 15, "ended": BEGAN + int(seconds * 1_000)}
    path = folder / "page.md"
    path.write_text(f"Why is my data still in the file?\n\n{said}\n\n{DUMP.format(**times)}")
    found: list[dict[str, Any]] = document(diagnose([path]), "0")["findings"]
    return found


@pytest.mark.parametrize("said", SAID, ids=range(len(SAID)))
@pytest.mark.parametrize("timeout", [10, 30, 45])
def test_an_abort_behind_the_timeout_that_is_said_was_one(said: str, timeout: int, tmp_path: Path) -> None:
    found = _told(tmp_path, said.format(ms=timeout * 1_000, s=timeout), timeout + 3.3)
    (only,) = [one for one in found if one["severity"] != "info"]
    assert (only["rule"], only["verdict"]) == ("transaction_timed_out", "likely")


@pytest.mark.parametrize(
    "said", ["The broker is on my laptop.", "The max transaction timeout is 30000 on this broker."]
)
def test_without_such_words_none_is_told(said: str, tmp_path: Path) -> None:
    assert not [one for one in _told(tmp_path, said, 33.3) if one["rule"] == "transaction_timed_out"]


@pytest.mark.parametrize("said", SAID, ids=range(len(SAID)))
def test_an_abort_before_it_was_none(said: str, tmp_path: Path) -> None:
    found = _told(tmp_path, said.format(ms=60_000, s=60), 33.3)
    assert not [one for one in found if one["rule"] == "transaction_timed_out"]


def test_the_timeout_in_a_row_of_state_is_no_saying(tmp_path: Path) -> None:
    row = '| offset: 9 CreateTime: 1 payload: {"version":"0","data":{"producerId":9,"transactionTimeoutMs":30000}}'
    assert not [one for one in _told(tmp_path, row, 33.3) if one["rule"] == "transaction_timed_out"]
