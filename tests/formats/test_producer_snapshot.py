import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.formats import producer_snapshot
from kafkatx.formats.layout import Malformed
from kafkatx.formats.producer_snapshot import ProducerSnapshot, SnapshotHeader
from kafkatx.formats.record_batch import sequence_before
from tests.declared import build_snapshot, is_crc_valid
from tests.formats.captures import broker_files, dumped, fields_of

OPEN = {
    "producer_id": 5001,
    "producer_epoch": 6,
    "last_sequence": 1,
    "last_offset": 41,
    "offset_delta": 3,
    "timestamp": 1700000000123,
    "coordinator_epoch": -1,
    "current_txn_first_offset": 38,
}
ENTRIES = st.lists(
    st.fixed_dictionaries(
        {
            name: st.integers(-(2 ** (8 * size - 1)), 2 ** (8 * size - 1) - 1)
            for name, size in zip(OPEN, (8, 2, 4, 8, 4, 8, 4, 8), strict=True)
        }
    ),
    max_size=5,
)


def test_sizes_are_those_of_kafka():
    assert (producer_snapshot.HEADER_SIZE, producer_snapshot.ENTRY_SIZE) == (10, 46)
    assert producer_snapshot.CRC_COVERS_FROM == 6
    assert len(build_snapshot([])) == 10


def test_a_hand_made_entry_is_written_and_read_field_by_field():
    data = build_snapshot([OPEN])
    assert data[:2] + data[6:] == bytes.fromhex(
        "0001 00000001 0000000000001389 0006 00000001 0000000000000029 00000003"
        "0000018bcfe5687b ffffffff 0000000000000026"
    )
    entry = ProducerSnapshot.parse(data).entries[0]
    assert {name: entry[name] for name in OPEN} == OPEN
    assert sequence_before(entry.last_sequence, entry.offset_delta) == 2**31 - 2


def test_the_checksum_sees_every_changed_byte_behind_it():
    data = build_snapshot([OPEN])
    assert is_crc_valid(data)
    for at in range(2, len(data)):
        assert not is_crc_valid(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])


def test_too_few_bytes_have_no_valid_checksum():
    assert not is_crc_valid(b"")
    assert not is_crc_valid(build_snapshot([])[:9])


def test_a_count_that_is_not_that_of_the_entries_is_malformed():
    data = build_snapshot([OPEN])
    for count in (b"\x00\x00\x00\x00", b"\x00\x00\x00\x02", b"\xff\xff\xff\xff", b"\x80\x00\x00\x00"):
        with pytest.raises(Malformed):
            ProducerSnapshot.parse(data[:6] + count + data[10:])


@given(ENTRIES)
def test_every_snapshot_comes_back(entries):
    data = build_snapshot(entries)
    assert is_crc_valid(data)
    assert ProducerSnapshot.build(ProducerSnapshot.parse(data)) == data
    assert SnapshotHeader.parse_at(data)[0].count == len(entries)


def test_every_recorded_snapshot_is_rebuilt_and_has_the_right_checksum():
    producers = 0
    for path in [*broker_files("*/*.snapshot"), *broker_files("*/*.snapshot.deleted")]:
        data = path.read_bytes()
        snapshot = ProducerSnapshot.parse(data)
        assert ProducerSnapshot.build(snapshot) == data == build_snapshot(snapshot.entries)
        assert snapshot.version == producer_snapshot.VERSION
        assert is_crc_valid(data)
        producers += len(snapshot.entries)
    assert producers


def test_producers_are_those_that_kafka_dump_log_prints():
    compared = 0
    for path, lines in dumped("*/*.snapshot"):
        printed = [fields_of(line) for line in lines if line.startswith("producerId: ")]
        for line, entry in zip(printed, ProducerSnapshot.parse(path.read_bytes()).entries, strict=True):
            assert (int(line["producerId"]), int(line["producerEpoch"])) == (entry.producer_id, entry.producer_epoch)
            assert int(line["coordinatorEpoch"]) == entry.coordinator_epoch
            first = re.sub(r"\D", "", line["currentTxnFirstOffset"])
            assert int(first or -1) == entry.current_txn_first_offset
            if "lastOffset" in line:
                assert int(line["lastOffset"]) == entry.last_offset
                assert int(line["lastSequence"]) == entry.last_sequence
            compared += 1
    assert compared
