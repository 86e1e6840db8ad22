import pytest

from kafkatx.formats import control_record
from kafkatx.formats.control_record import ControlRecordKey, ControlType, EndTxnMarker
from tests.declared import batches
from tests.formats.captures import broker_files


def test_sizes_are_those_of_kafka():
    assert (control_record.KEY_SIZE, control_record.END_TXN_MARKER_SIZE) == (4, 6)


@pytest.mark.parametrize(
    ("key", "control_type"), [("00000000", 0), ("00000001", 1), ("00010002ffff", 2), ("00000063", 99)]
)
def test_a_key_tells_its_type_whatever_follows(key, control_type):
    assert control_record.type_of(bytes.fromhex(key)) == control_type


def test_a_key_that_is_too_short_tells_no_type():
    assert control_record.type_of(None) is None
    assert control_record.type_of(b"\x00\x00\x00") is None


def test_a_longer_marker_of_a_later_version_still_tells_its_coordinator_epoch():
    assert control_record.coordinator_epoch_of(bytes.fromhex("0001 00000007 00")) == 7
    assert control_record.coordinator_epoch_of(bytes.fromhex("0000 000000")) is None
    assert control_record.coordinator_epoch_of(None) is None


def test_only_abort_and_commit_end_a_transaction():
    assert [kind for kind in range(-1, 9) if control_record.ends_transaction(kind)] == [
        ControlType.ABORT,
        ControlType.COMMIT,
    ]


def test_keys_and_markers_are_built_as_they_are_read():
    assert ControlRecordKey.build({"version": 0, "type": ControlType.COMMIT}) == b"\x00\x00\x00\x01"
    assert EndTxnMarker.build({"version": 0, "coordinator_epoch": 5}) == b"\x00\x00\x00\x00\x00\x05"


def test_every_recorded_marker_is_a_batch_of_one_record_of_known_size():
    markers = {ControlType.ABORT: 0, ControlType.COMMIT: 0}
    for path in broker_files("*/*.log"):
        for batch in batches(path.read_bytes()):
            if batch.control_type in markers:
                markers[ControlType(batch.control_type)] += 1
                assert batch.record_count == 1
                assert batch.coordinator_epoch is not None
                assert batch.size in (control_record.MARKER_BATCH_SIZE, control_record.MARKER_BATCH_SIZE + 2)
    assert all(markers.values())
