import json
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.formats import transaction_log
from kafkatx.formats.layout import Malformed
from kafkatx.formats.message_schemas import Message, Versions, by_name, by_number, component, parse
from kafkatx.formats.messages import read_message, read_uvarint
from tests.formats.captures import dumped, transaction_state_logs
from tests.formats.message_writing import random_message, uvarint

COMPONENTS = (
    "group_coordinator",
    "share_coordinator",
    "transaction_coordinator",
    "cluster_metadata",
    "remote_log_metadata",
    "control_records",
    "consumer_protocol",
)
MESSAGES = [message for name in COMPONENTS for message in component(name)]
VERSIONS = [(m, version) for m in MESSAGES for version in range(m.versions.lowest, m.versions.highest + 1)]


def named(case):
    return case.name if isinstance(case, Message) else str(case)


@pytest.mark.parametrize(("message", "version"), VERSIONS, ids=named)
def test_every_message_comes_back_and_ends_where_it_ends(message, version):
    dice = random.Random(f"{message.name} {version}")
    for _ in range(30):
        value, data = random_message(message, version, dice)
        found, behind = read_message(message, version, b"xy" + data + b"z", 2)
        assert found == value
        assert list(found) == [field.name for field in message.fields if field.name in found]
        assert behind == len(data) + 2


@given(case=st.sampled_from(VERSIONS), seed=st.integers(), cut=st.integers(0, 30), byte=st.integers(0, 255))
def test_broken_bytes_are_malformed_or_read_and_nothing_else(case, seed, cut, byte):
    message, version = case
    dice = random.Random(seed)
    data = bytearray(random_message(message, version, dice)[1])
    if data:
        data[dice.randrange(len(data))] = byte
    try:
        _, behind = read_message(message, version, bytes(data[: len(data) - cut]))
    except Malformed:
        return
    assert behind <= len(data)


@pytest.mark.parametrize(("message", "version"), VERSIONS, ids=named)
def test_a_message_cut_short_anywhere_is_malformed(message, version):
    data = random_message(message, version, random.Random(1))[1]
    for size in range(len(data)):
        with pytest.raises(Malformed):
            read_message(message, version, data[:size])


def test_an_unknown_version_is_malformed():
    with pytest.raises(Malformed, match="TransactionLogValue has no version 2"):
        read_message(by_name("transaction_coordinator")["TransactionLogValue"], 2, bytes(100))


def test_a_known_tag_with_other_content_is_skipped():
    message = by_name("share_coordinator")["ShareUpdateValue"]
    plain = bytes(16) + b"\x01"
    whole = plain + uvarint(1) + uvarint(0) + uvarint(4) + (5).to_bytes(4, "big")
    odd = plain + uvarint(1) + uvarint(0) + uvarint(3) + b"abc"
    assert read_message(message, 0, whole)[0]["deliveryCompleteCount"] == 5
    assert "deliveryCompleteCount" not in read_message(message, 0, odd)[0]
    assert read_message(message, 0, odd)[1] == len(odd)


@pytest.mark.parametrize("value", [0, 1, 127, 128, 16_383, 16_384, 2**32 - 1])
def test_a_uvarint_comes_back(value):
    assert read_uvarint(uvarint(value), 0) == (value, len(uvarint(value)))


def test_a_uvarint_of_six_bytes_is_malformed():
    with pytest.raises(Malformed):
        read_uvarint(b"\x80\x80\x80\x80\x80\x00", 0)


def test_keys_and_values_of_coordinators_belong_together():
    for name in ("group_coordinator", "share_coordinator", "transaction_coordinator"):
        assert by_number(name, "key").keys() == by_number(name, "value").keys()
        for number, key in by_number(name, "key").items():
            assert by_number(name, "value")[number].name == key.name.removesuffix("Key") + "Value"
            assert key.versions == Versions(0, 0)


def test_every_type_that_a_recorded_dump_names_is_declared():
    seen = set()
    for _, lines in dumped("__*/*.log"):
        for kind in re.findall(r'payload: \{"type":"([A-Z_]+)"', "\n".join(lines)):
            seen.add(kind)
    assert seen
    declared = {re.sub(r"(?<!^)([A-Z])", r"_\1", m.name).upper() for m in component("cluster_metadata")}
    assert seen <= declared


def test_the_two_declarations_of_a_transaction_value_agree():
    """The construct one (formats/transaction_log.py) and the one by schema read every recorded value alike."""
    from tests.declared import batches, records

    message, compared = by_name("transaction_coordinator")["TransactionLogValue"], set()
    for path in transaction_state_logs():
        for batch in batches(path.read_bytes()):
            for record in records(batch.data) if not batch.attributes & 0x27 else ():
                if record.value is None:
                    continue
                by_construct = transaction_log.parse_value(record.value)
                fields, behind = read_message(message, by_construct.version, record.value, 2)
                assert behind == len(record.value)
                assert fields["producerId"] == by_construct.producer_id
                assert fields["transactionStartTimestampMs"] == by_construct.transaction_start_timestamp_ms
                assert fields.get("previousProducerId", -1) == (
                    -1 if by_construct.previous_producer_id is None else by_construct.previous_producer_id
                )
                assert fields.get("clientTransactionVersion", 0) == (by_construct.client_transaction_version or 0)
                partitions = by_construct.transaction_partitions
                assert json.dumps(fields["transactionPartitions"]) == json.dumps(
                    None
                    if partitions is None
                    else [{"topic": p.topic, "partitionIds": list(p.partition_ids or ())} for p in partitions]
                )
                compared.add(by_construct.version)
    assert compared == {0, 1}


@pytest.mark.parametrize(
    "text", ["key 0 A 0\n   odd int32", "key 0 A 2+\n  x int32", "value 0 A 0\n  x int32 tag", "key zero A 0"]
)
def test_a_declaration_that_is_none_is_refused(text):
    with pytest.raises(ValueError, match=r".+"):
        parse(text)
