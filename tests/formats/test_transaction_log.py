from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.formats import transaction_log
from kafkatx.formats.layout import Malformed
from kafkatx.formats.primitives import TaggedField
from kafkatx.formats.transaction_log import (
    TopicPartitions,
    TransactionLogValue,
    parse_key,
    parse_partitions,
    parse_tagged_fields,
    parse_value,
)
from kafkatx.terms.transaction_states import TransactionState
from tests.declared import batches, build_key, build_value, records
from tests.formats.captures import transaction_state_logs

EMPTY_V0 = bytes.fromhex("0000 0000000000001389 7fff 0000ea60 00 ffffffff 0000018bcfe5687b ffffffffffffffff")
OVERFLOW_V1 = bytes.fromhex(
    "0001 0000000000001389 7fff 0000ea60 02 02 0274 03 00000002 00000000 00 0000018bcfe5687b 0000018bcfe56800 03"
    "00 08 0000000000001388 01 08 0000000000001770 02 02 0002"
)
TAGGED_FIELDS = st.lists(st.builds(TaggedField, st.integers(0, 9), st.binary(max_size=12)), max_size=5).map(tuple)
PARTITION_IDS = st.none() | st.lists(st.integers(-(2**31), 2**31 - 1), max_size=5).map(tuple)


def topics(tagged_fields):
    topic = st.builds(TopicPartitions, st.text(max_size=20), PARTITION_IDS, tagged_fields)
    return st.none() | st.lists(topic, max_size=4).map(tuple)


def values(version):
    tagged_fields = TAGGED_FIELDS if version else st.just(())
    return st.builds(
        TransactionLogValue,
        version=st.just(version),
        producer_id=st.integers(-(2**63), 2**63 - 1),
        producer_epoch=st.integers(-(2**15), 2**15 - 1),
        transaction_timeout_ms=st.integers(-(2**31), 2**31 - 1),
        transaction_status=st.integers(-128, 127),
        transaction_partitions=topics(tagged_fields),
        transaction_last_update_timestamp_ms=st.integers(-(2**63), 2**63 - 1),
        transaction_start_timestamp_ms=st.integers(-(2**63), 2**63 - 1),
        tagged_fields=tagged_fields,
    )


def test_the_empty_value_of_version_0_that_kafka_writes_is_read():
    value = parse_value(EMPTY_V0)
    assert (value.version, value.producer_id, value.producer_epoch) == (0, 5001, 32767)
    assert (value.transaction_timeout_ms, value.transaction_status) == (60000, TransactionState.Empty)
    assert value.transaction_partitions is None
    assert value.transaction_last_update_timestamp_ms == 1700000000123
    assert value.transaction_start_timestamp_ms == -1
    assert (value.client_transaction_version, value.previous_producer_id) == (None, None)
    assert build_value(value) == EMPTY_V0


def test_the_overflow_of_version_1_that_kafka_writes_is_read():
    value = parse_value(OVERFLOW_V1)
    assert value.transaction_status == TransactionState.PrepareCommit
    assert value.transaction_partitions == (TopicPartitions("t", (2, 0)),)
    assert (value.previous_producer_id, value.next_producer_id) == (5000, 6000)
    assert (value.client_transaction_version, value.next_producer_epoch) == (2, None)
    assert value.unknown_tagged_fields == ()
    assert build_value(value) == OVERFLOW_V1


def test_a_null_list_is_not_an_empty_one():
    empty = EMPTY_V0.replace(bytes.fromhex("ffffffff0000018b"), bytes.fromhex("000000000000018b"))
    assert parse_value(empty).transaction_partitions == ()
    assert build_value(parse_value(empty)) == empty
    v1 = parse_value(OVERFLOW_V1)
    null, none = (
        build_value(replace(v1, transaction_partitions=None)),
        build_value(replace(v1, transaction_partitions=())),
    )
    at = transaction_log.PARTITIONS_AT
    assert (null[at], none[at]) == (0, 1)
    assert (parse_value(null).transaction_partitions, parse_value(none).transaction_partitions) == (None, ())


def test_a_classic_client_is_a_version_1_without_the_tag():
    value = replace(parse_value(OVERFLOW_V1), tagged_fields=())
    assert parse_value(build_value(value)).client_transaction_version == 0


@pytest.mark.parametrize(
    ("tag", "name", "size"),
    [
        (0, "previous_producer_id", 8),
        (1, "next_producer_id", 8),
        (2, "client_transaction_version", 2),
        (3, "next_producer_epoch", 2),
    ],
)
def test_a_known_tag_has_its_name_and_the_size_of_its_type(tag, name, size):
    field = TaggedField(tag, (258).to_bytes(size, "big"))
    value = replace(parse_value(OVERFLOW_V1), tagged_fields=(field,))
    assert getattr(value, name) == 258
    assert value.unknown_tagged_fields == ()


def test_unknown_tags_and_their_order_are_kept():
    fields = (TaggedField(9, b"later"), TaggedField(2, b"\x00\x02"), TaggedField(0, b"odd"), TaggedField(9, b""))
    data = build_value(replace(parse_value(OVERFLOW_V1), tagged_fields=fields))
    value = parse_value(data)
    assert value.tagged_fields == fields
    assert value.unknown_tagged_fields == (fields[0], fields[2], fields[3])
    assert (value.client_transaction_version, value.previous_producer_id) == (2, None)
    assert build_value(value) == data


def test_partition_lists_and_tagged_fields_can_be_read_alone():
    assert parse_partitions(0, bytes.fromhex("00000001 0001 74 00000002 00000002 00000000")) == (
        TopicPartitions("t", (2, 0)),
    )
    assert parse_partitions(1, bytes.fromhex("02 0274 03 00000002 00000000 00")) == (TopicPartitions("t", (2, 0)),)
    assert parse_partitions(0, b"\xff\xff\xff\xff") is None
    assert parse_tagged_fields(bytes.fromhex("01 07 02 abcd")) == (TaggedField(7, b"\xab\xcd"),)


@pytest.mark.parametrize("data", [EMPTY_V0, OVERFLOW_V1], ids=["v0", "v1"])
def test_a_value_cut_short_anywhere_or_followed_by_anything_is_malformed(data):
    for size in range(len(data)):
        with pytest.raises(Malformed):
            parse_value(data[:size])
    with pytest.raises(Malformed, match="left over"):
        parse_value(data + b"\x00")


@pytest.mark.parametrize("version", [b"\x00\x02", b"\xff\xff", b"\x7f\xff"])
def test_a_value_of_an_unknown_version_is_not_guessed_at(version):
    with pytest.raises(Malformed, match="version"):
        parse_value(version + EMPTY_V0[2:])


def test_a_key_of_another_version_is_none_of_ours():
    assert parse_key(bytes.fromhex("0000 0003 616263")) == "abc"
    assert parse_key(bytes.fromhex("0001 0003 616263")) is None
    assert parse_key(bytes.fromhex("0000 0000")) == ""


@pytest.mark.parametrize("data", ["", "00", "0000", "0000ffff", "0000000361", "0000000161ff"])
def test_a_damaged_key_is_malformed(data):
    with pytest.raises(Malformed):
        parse_key(bytes.fromhex(data))


@given(st.text(max_size=100))
def test_every_key_comes_back(transactional_id):
    assert parse_key(build_key(transactional_id)) == transactional_id


@given(values(0) | values(1))
def test_every_value_comes_back(value):
    data = build_value(value)
    assert parse_value(data) == value
    assert build_value(parse_value(data)) == data


@given(st.sampled_from([EMPTY_V0, OVERFLOW_V1]), st.data())
def test_a_changed_byte_is_read_and_written_back_or_malformed(data, choice):
    at = choice.draw(st.integers(0, len(data) - 1))
    changed = data[:at] + bytes([choice.draw(st.integers(0, 255))]) + data[at + 1 :]
    with suppress(Malformed):
        rebuilt = build_value(parse_value(changed))
        assert parse_value(rebuilt) == parse_value(changed)
        assert rebuilt == changed or len(rebuilt) < len(changed), "only a number that was not in its shortest form"


def test_every_recorded_key_and_value_is_rebuilt_byte_for_byte():
    seen = {"tombstones": 0, 0: 0, 1: 0}
    for path in transaction_state_logs():
        for batch in batches(path.read_bytes()):
            for record in records(batch.data):
                assert record.key is not None
                transactional_id = parse_key(record.key)
                assert transactional_id is not None
                assert build_key(transactional_id) == record.key
                if record.value is None:
                    seen["tombstones"] += 1
                    continue
                value = parse_value(record.value)
                assert build_value(value) == record.value
                assert value.unknown_tagged_fields == ()
                seen[value.version] += 1
    assert all(seen.values()), seen
