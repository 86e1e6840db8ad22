"""What people say beside open transactions and aborts: that readers wait, another one reads on, or it was meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.terms.errors import NothingReadableError

PRODUCERS = """$ kafka-transactions.sh --bootstrap-server b:9092 describe-producers --topic pay --partition 4 | sort
{rows}
ProducerId	ProducerEpoch	LatestCoordinatorEpoch	LastSequence	LastTimestamp	CurrentTransactionStartOffset
"""
ROW = "{producer_id}  	2            	17                    	61          	1707383421870	{begin}"
SKIPPED = """[2022-03-15 21:10:52,330] INFO [Transaction Marker Channel Manager 2]: Couldn't find leader endpoint for \
partitions Set(stock-3) while trying to send transaction markers for stock-sync, these partitions are likely deleted \
already and hence can be skipped (kafka.coordinator.transaction.TransactionMarkerChannelManager)
"""
ABORTED = "\n".join(
    (
        "baseOffset: 22 lastOffset: 22 count: 1 baseSequence: 0 lastSequence: 0 producerId: 5 producerEpoch: 0 "
        "partitionLeaderEpoch: 0 isTransactional: true isControl: false position: 0 CreateTime: 1671650185531 size: 98 "
        "magic: 2 compresscodec: NONE crc: 2864438883 isvalid: true",
        "| offset: 22 CreateTime: 1671650185531 keysize: -1 valuesize: 2 sequence: 0 headerKeys: [] payload: k1",
        "baseOffset: 23 lastOffset: 23 count: 1 baseSequence: -1 lastSequence: -1 producerId: 5 producerEpoch: {epoch} "
        "partitionLeaderEpoch: 0 isTransactional: true isControl: true position: 98 CreateTime: 1671650185562 size: 78 "
        "magic: 2 compresscodec: NONE crc: 2431180806 isvalid: true",
        "| offset: 23 CreateTime: 1671650185562 keysize: 4 valuesize: 6 sequence: -1 headerKeys: [] {marker}",
        "",
    )
)


def _told(tmp_path: Path, text: str) -> dict[str, Any]:
    page = tmp_path / "page.md"
    page.write_text(text)
    return document(diagnose([page]), "test")


def _severities(told: dict[str, Any]) -> dict[str, str]:
    return {finding["rule"]: finding["severity"] for finding in told["findings"]}


@pytest.mark.parametrize(
    "said",
    [
        "readers of pay-4 with read_committed have been silent since noon",
        "lag of the committed reader on pay-4 grows since noon",
        "the committed consumer stands at offset 77, transactions are on",
        "pay-4 is stuck for all read_committed consumers",
        "read_committed console consumer prints nothing",
    ],
)
def test_an_open_transaction_matters_where_readers_are_said_to_wait(tmp_path, said):
    rows = ROW.format(producer_id=48810077, begin=77)
    quiet = _told(tmp_path, f"what does this table tell of the transaction?\n\n{PRODUCERS.format(rows=rows)}")
    loud = _told(tmp_path, f"{said}\n\n{PRODUCERS.format(rows=rows)}")
    assert (quiet["answer"]["state"], _severities(quiet)) == ("clear", {"open_transaction": "info"})
    assert (loud["answer"]["state"], _severities(loud)) == ("findings", {"open_transaction": "warning"})
    assert said[:20] in str(loud["findings"][0]["evidence"])


@pytest.mark.parametrize(
    "said",
    [
        "the read_committed consumer receives nothing for ten minutes and then a burst, with each checkpoint",
        "a read_committed consumer gets nothing until the transaction ends, by design",
    ],
)
def test_a_wait_that_ends_is_none(tmp_path, said):
    told = _told(tmp_path, f"{said}\n\n{PRODUCERS.format(rows=ROW.format(producer_id=48810077, begin=77))}")
    assert _severities(told)["open_transaction"] == "info"


def test_of_several_that_are_open_nobody_knows_which_one_readers_wait_for(tmp_path):
    rows = "\n".join(ROW.format(producer_id=number, begin=number) for number in (70, 80))
    told = _told(tmp_path, f"read_committed readers are stuck\n\n{PRODUCERS.format(rows=rows)}")
    assert _severities(told)["open_transaction"] == "info"


def test_a_marker_left_out_where_readers_of_its_topic_wait_hangs(tmp_path):
    likely = _told(tmp_path, f"read_committed consumers of stock-3 stopped at 21:10\n\n{SKIPPED}")
    other = _told(tmp_path, f"read_committed consumers of pay-1 stopped at 21:10\n\n{SKIPPED}")
    assert [(one["rule"], one["verdict"]) for one in likely["findings"]] == [("hanging_transaction", "likely")]
    assert [one["verdict"] for one in other["findings"] if one["rule"] == "hanging_transaction"] == ["possible"]


def test_ticks_around_a_field_are_none_of_it(tmp_path):
    marker, bare = "`endTxnMarker: ABORT` coordinatorEpoch: 0", "endTxnMarker: ABORT coordinatorEpoch: 0"
    text = ABORTED.replace("isControl: true position", "`isControl: true` position")
    ticked = _told(tmp_path, "   > " + text.format(epoch=1, marker=marker).replace("\n", "\n   > "))
    plain = _told(tmp_path, ABORTED.format(epoch=1, marker=bare))
    assert list(_severities(plain)) == ["fenced_by_new_instance"]
    assert _severities(ticked) == _severities(plain)


@pytest.mark.parametrize(
    ("said", "severity"),
    [
        ("what is this?", "warning"),
        ("the test rolls back the second one, on purpose", "info"),
        ("an intentional rollback, then this", "info"),
        ("the abort was not intended", "warning"),
    ],
)
def test_an_abort_that_was_meant_is_worth_knowing(tmp_path, said, severity):
    text = ABORTED.format(epoch=0, marker="endTxnMarker: ABORT coordinatorEpoch: 0")
    assert _severities(_told(tmp_path, f"{said}\n\n{text}")) == {"aborted_by_client": severity}


@pytest.mark.parametrize(
    ("beside", "first"),
    [
        ("kafka-console-consumer with read_committed has no problem.", "client_bug"),
        ("The java console consumer reads over that offset without trouble.", "client_bug"),
        ("kcat runs through to the end.", "client_bug"),
        ("kafka-console-consumer with read_committed does not get over it either.", "hanging_transaction"),
        ("The console consumer is stuck as well.", "hanging_transaction"),
    ],
)
def test_another_reader_that_reads_on_speaks_for_the_client(tmp_path, beside, first):
    told = _told(tmp_path, f"Our read_committed consumer is stuck at one offset since the morning.\n{beside}\n")
    assert told["findings"][0]["candidates"][0]["rule"] == first


@pytest.mark.parametrize(
    "record",
    [
        "Message{offset: 1187, key: <<0, 0, 0, 1>>, value: <<0, 0, 0, 0, 0, 3>>, partition: 2}",
        r"offset=1187 key=b'\x00\x00\x00\x01' value=b'\x00\x00\x00\x00\x00\x03'",
    ],
)
def test_a_marker_that_is_handed_out_is_known(tmp_path, record):
    told = _told(tmp_path, f"our reader of a transactional topic gets one more message after each:\n\n    {record}\n")
    assert told["findings"][0]["candidates"][0]["rule"] == "client_bug"


def test_a_key_of_four_bytes_is_no_marker(tmp_path):
    record = "Message{offset: 1187, key: <<0, 0, 0, 1>>, value: <<7, 1, 2>>, partition: 2}"
    with pytest.raises(NothingReadableError):
        _told(tmp_path, f"our reader of a transactional topic gets this:\n\n    {record}\n\nall is well\n")
