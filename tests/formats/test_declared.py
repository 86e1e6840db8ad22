import json
from contextlib import suppress

import pytest

from kafkatx.formats import record_batch
from kafkatx.formats.control_record import ControlType
from tests import declared
from tests.declared import batches, records, transaction_states
from tests.formats.captures import broker_files, dumped, fields_of, transaction_state_logs
from tests.formats.test_legacy import message

RECORDS = bytes.fromhex("10 00 00 00 02 61 02 78 0010 00 09 06 01 04 79 7a 00")
HEADER = {
    "base_offset": 100,
    "batch_length": record_batch.MINIMUM_BATCH_LENGTH + len(RECORDS),
    "partition_leader_epoch": 3,
    "magic": 2,
    "crc": 0,
    "attributes": 0x10,
    "last_offset_delta": 3,
    "base_timestamp": 1000,
    "max_timestamp": 2000,
    "producer_id": 7,
    "producer_epoch": 1,
    "base_sequence": 2**31 - 2,
    "records_count": 2,
}


def batch(**fields):
    return record_batch.RecordBatchHeader.build(HEADER | fields) + RECORDS


def absent(number):
    return None if number == "-1" else int(number)


def test_records_get_their_offset_time_and_wrapped_sequence_from_the_batch():
    first, second = records(batch())
    assert (first.offset, first.timestamp, first.sequence, first.key, first.value) == (100, 1000, 2**31 - 2, b"a", b"x")
    assert (second.offset, second.timestamp, second.sequence, second.key, second.value) == (103, 995, 1, None, b"yz")
    assert (first.start, first.record_size, second.start, second.record_size) == (0, 9, 9, 9)


def test_with_log_append_time_every_record_has_the_time_of_the_batch():
    assert [record.timestamp for record in records(batch(attributes=0x18))] == [2000, 2000]


def test_a_compressed_batch_is_read_from_its_payload():
    with pytest.raises(ValueError, match="payload"):
        list(records(batch(attributes=0x14)))
    assert list(records(batch(attributes=0x14), RECORDS)) == list(records(batch()))


def test_records_end_at_the_first_that_is_none():
    assert len(list(records(batch(records_count=5)))) == 2
    assert len(list(records(batch()[:-1]))) == 1


def test_the_walk_ends_quietly_at_anything_that_is_no_batch():
    whole = batch() + batch(base_offset=104)
    for end in range(len(whole) + 1):
        assert [found.base_offset for found in batches(whole[:end])] == [100, 104][: end // len(batch())]
    assert len(list(batches(batch() + bytes(500)))) == 1
    assert len(list(batches(batch() + batch(magic=3)))) == 1
    assert len(list(batches(batch() + batch(batch_length=48)))) == 1


def test_a_wrong_checksum_is_said_and_does_not_end_the_walk():
    assert [found.crc_valid for found in batches(batch() + message(1) + message(0))] == [False, True, True]


def test_a_message_of_magic_0_or_1_has_no_producer():
    v0, v1 = batches(message(0) + message(1))
    assert (v0.base_offset, v0.last_offset, v0.max_timestamp, v1.max_timestamp) == (5, 5, None, 9)
    assert v0.producer_id is v0.producer_epoch is v0.base_sequence is v0.leader_epoch is v1.producer_id is None


def test_every_recorded_batch_is_whole_and_has_the_right_checksum():
    for path in broker_files("*/*.log"):
        data = path.read_bytes()
        found = list(batches(data))
        assert sum(batch.size for batch in found) == len(data), path
        assert all(batch.crc_valid for batch in found), path


def test_batches_are_those_that_kafka_dump_log_prints():
    compared = 0
    for path, lines in dumped("*/*.log"):
        printed = [fields_of(line) for line in lines if line.startswith("baseOffset: ")]
        if not printed or "count" not in printed[0]:
            continue
        for line, found in zip(printed, batches(path.read_bytes()), strict=True):
            assert int(line["baseOffset"]) == found.base_offset
            assert int(line["lastOffset"]) == found.last_offset
            assert int(line["count"]) == found.record_count
            assert absent(line["baseSequence"]) == found.base_sequence
            assert absent(line["producerId"]) == found.producer_id
            assert absent(line["producerEpoch"]) == found.producer_epoch
            assert absent(line["partitionLeaderEpoch"]) == found.leader_epoch
            assert (line["isTransactional"] == "true") is record_batch.is_transactional(found.attributes)
            assert (line["isControl"] == "true") is record_batch.is_control(found.attributes)
            assert (int(line["position"]), int(line["size"])) == (found.position, found.size)
            assert (int(line["crc"]), int(line["magic"])) == (found.crc, found.magic)
            assert line["compresscodec"].lower() == record_batch.codec_of(found.attributes).name
            last = record_batch.sequence_after(found.base_sequence or 0, found.last_offset - found.base_offset)
            assert int(line["lastSequence"]) == (-1 if found.base_sequence is None else last)
            compared += 1
    assert compared


def test_markers_are_those_that_kafka_dump_log_prints():
    compared = 0
    for path, lines in dumped("*/*.log"):
        printed = [fields_of(line) for line in lines if " endTxnMarker: " in line and line.startswith("| offset: ")]
        if printed:
            found = [batch for batch in batches(path.read_bytes()) if batch.control_type in (0, 1)]
            assert [(line["offset"], line["endTxnMarker"], line["coordinatorEpoch"]) for line in printed] == [
                (str(batch.base_offset), ControlType(batch.control_type).name, str(batch.coordinator_epoch))
                for batch in found
            ]
            compared += len(found)
    assert compared


def uncompressed_records(path):
    for found in batches(path.read_bytes()):
        if found.magic == 2 and record_batch.codec_of(found.attributes) is record_batch.Codec.none:
            yield from records(found.data)


def test_records_are_those_that_kafka_dump_log_prints():
    compared = 0
    for path, lines in dumped("*/*.log"):
        printed = {
            line["offset"]: line for line in map(fields_of, lines) if "keySize" in line and "baseOffset" not in line
        }
        for record in uncompressed_records(path):
            line = printed.get(str(record.offset))
            if line is None:
                continue
            assert int(line["keySize"]) == (-1 if record.key is None else len(record.key))
            assert int(line["valueSize"]) == (-1 if record.value is None else len(record.value))
            assert int(line.get("CreateTime", record.timestamp)) == record.timestamp
            assert absent(line.get("sequence", "-1")) == record.sequence or "sequence" not in line
            compared += 1
    assert compared


def printed_values(lines):
    """Values that kafka-dump-log 4.1+ prints as JSON, by offset."""
    for line in lines:
        _, _, payload = line.partition(' payload: {"version":')
        if payload:
            with suppress(json.JSONDecodeError):
                yield int(fields_of(line)["offset"]), json.loads('{"version":' + payload)


def test_states_are_those_that_kafka_dump_log_prints():
    compared = 0
    for path, lines in dumped("__transaction_state-*/*.log"):
        states = {state.offset: state for state in transaction_states(path.read_bytes())}
        for offset, printed in printed_values(lines):
            state, data = states[offset], printed["data"]
            assert int(printed["version"]) == state.value_version
            assert (data["producerId"], data["producerEpoch"]) == (state.producer_id, state.producer_epoch)
            assert (data["transactionTimeoutMs"], data["transactionStatus"]) == (state.timeout_ms, state.state)
            assert data["transactionLastUpdateTimestampMs"] == state.updated_at
            assert data["transactionStartTimestampMs"] == (-1 if state.started_at is None else state.started_at)
            assert data.get("previousProducerId") == state.previous_producer_id
            assert data.get("nextProducerId") == state.next_producer_id
            assert data.get("clientTransactionVersion", 0) == (state.client_transaction_version or 0)
            partitions = data["transactionPartitions"]
            assert state.partitions == (
                None
                if partitions is None
                else tuple((topic["topic"], number) for topic in partitions for number in topic["partitionIds"])
            )
            compared += 1
    assert compared


def test_tombstones_have_an_id_and_nothing_else():
    tombstones = [
        state
        for path in transaction_state_logs()
        for state in transaction_states(path.read_bytes())
        if state.is_tombstone
    ]
    assert tombstones
    assert all(
        state.transactional_id and state.producer_id is state.state is state.partitions is None for state in tombstones
    )


def test_a_record_that_is_no_state_is_skipped():
    assert list(transaction_states(batch(producer_id=-1, attributes=0))) == []
    assert list(transaction_states(batch(attributes=0x12) + message(1))) == []
    assert isinstance(next(batches(batch())), declared.Batch)
