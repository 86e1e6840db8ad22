import google_crc32c
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.formats import record_batch
from kafkatx.formats.layout import Malformed
from kafkatx.formats.record_batch import Codec, RecordBatchHeader

MARKER = bytes.fromhex(
    "000000000000000700000042000000030200000000003000000000"
    "0000018bcfe5687b0000018bcfe5687b0000000000001389000"
    "6ffffffff00000001"
)


def test_sizes_and_positions_are_those_of_kafka():
    assert record_batch.HEADER_SIZE == 61
    assert record_batch.LOG_OVERHEAD == 12
    assert record_batch.MAGIC_AT == 16
    assert record_batch.CRC_COVERS_FROM == 21
    assert record_batch.MINIMUM_BATCH_LENGTH == 49
    assert record_batch.SMALLEST_READ == 18


def test_a_hand_made_header_is_read_field_by_field():
    header = RecordBatchHeader.parse(MARKER)
    assert (header.base_offset, header.batch_length, header.partition_leader_epoch, header.magic) == (7, 66, 3, 2)
    assert (header.attributes, header.last_offset_delta, header.records_count) == (0x30, 0, 1)
    assert header.base_timestamp == header.max_timestamp == 1700000000123
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (5001, 6, -1)
    assert RecordBatchHeader.build(header) == MARKER


@pytest.mark.parametrize("size", range(61))
def test_a_header_cut_short_anywhere_is_malformed(size):
    with pytest.raises(Malformed):
        RecordBatchHeader.parse(MARKER[:size])


@pytest.mark.parametrize(
    ("attributes", "codec", "append_time", "transactional", "control", "horizon"),
    [
        (0x00, Codec.none, False, False, False, False),
        (0x14, Codec.zstd, False, True, False, False),
        (0x0B, Codec.lz4, True, False, False, False),
        (0x20, Codec.none, False, False, True, False),
        (0x38, Codec.none, True, True, True, False),
        (0x70, Codec.none, False, True, True, True),
        (0x54, Codec.zstd, False, True, False, True),
        (0x07, None, False, False, False, False),
    ],
)
def test_attribute_bits_have_their_meaning(attributes, codec, append_time, transactional, control, horizon):
    assert record_batch.codec_of(attributes) is codec
    assert record_batch.is_log_append_time(attributes) is append_time
    assert record_batch.is_transactional(attributes) is transactional
    assert record_batch.is_control(attributes) is control
    assert record_batch.has_delete_horizon(attributes) is horizon


def test_sequences_wrap_to_zero_and_absent_ones_stay_absent():
    assert record_batch.sequence_after(2**31 - 1, 1) == 0
    assert record_batch.sequence_after(2**31 - 2, 3) == 1
    assert record_batch.sequence_before(0, 1) == 2**31 - 1
    assert record_batch.sequence_after(-1, 5) == -1
    assert record_batch.sequence_before(-1, 0) == -1


@given(st.integers(0, 2**31 - 1), st.integers(0, 2**31 - 1))
def test_a_sequence_comes_back_by_the_same_delta(sequence, delta):
    later = record_batch.sequence_after(sequence, delta)
    assert 0 <= later < 2**31
    assert record_batch.sequence_before(later, delta) == sequence


@given(st.binary(min_size=61, max_size=61))
def test_any_61_bytes_come_back(data):
    assert RecordBatchHeader.build(RecordBatchHeader.parse(data)) == data


def test_the_leader_epoch_is_not_covered_by_the_crc():
    body = MARKER[record_batch.CRC_COVERS_FROM :]
    at = RecordBatchHeader.offset_of("partition_leader_epoch")
    other = MARKER[:at] + b"\x00\x00\x00\x09" + MARKER[at + 4 :]
    assert google_crc32c.value(other[record_batch.CRC_COVERS_FROM :]) == google_crc32c.value(body)
