"""Records of the metadata log: framed, by their declarations, secrets hidden; those of later releases are no error."""

import json
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.formats.control_record import ControlType
from kafkatx.formats.framed_records import FramedRecord
from kafkatx.formats.layout import Malformed
from kafkatx.formats.message_schemas import component
from kafkatx.formats.metadata_log import (
    CREDENTIALS,
    QUORUM_MESSAGES,
    read_metadata_record,
    read_quorum_record,
)
from kafkatx.formats.record_batch import Attributes
from kafkatx.terms.secrets import HIDDEN
from tests import declared
from tests.formats.captures import dumped
from tests.formats.message_writing import random_message
from tests.metadata_records import METADATA, framed, quorum, said

RECORDS = component("cluster_metadata")
VERSIONS = [(one, version) for one in RECORDS for version in range(one.versions.lowest, one.versions.highest + 1)]
SECRET = {"ConfigRecord", "UserScramCredentialRecord"}


@pytest.mark.parametrize(("message", "version"), VERSIONS, ids=lambda value: getattr(value, "name", str(value)))
def test_every_record_is_read_whole(message, version):
    dice = random.Random(version)
    for _ in range(20):
        fields, content = random_message(message, version, dice)
        found = read_metadata_record(framed(message.number, version, content))
        assert (found.number, found.version, found.name) == (message.number, version, message.name)
        assert found.fields == fields or message.name in SECRET
        with pytest.raises(Malformed):
            read_metadata_record(framed(message.number, version, content) + b"\0")


def test_recorded_records_are_what_the_tool_of_their_release_printed():
    compared = 0
    for path, lines in dumped("__cluster_metadata-*/*.log"):
        printed = [json.loads(found[1]) for line in lines if (found := re.search(r" payload: (\{.*\})$", line))]
        values = [
            entry.value
            for of in declared.batches(path.read_bytes())
            if not of.attributes & Attributes.IS_CONTROL
            for entry in declared.records(of.data)
        ]
        for value, wanted in zip(values, printed, strict=True):
            found = read_metadata_record(value)
            assert re.sub(r"(?<!^)([A-Z])", r"_\1", found.name or "").upper() == wanted["type"]
            assert (found.version, found.fields) == (wanted["version"], wanted["data"])
            compared += 1
    assert compared > 500


def test_a_record_that_is_not_declared_is_known_by_its_number():
    assert read_metadata_record(framed(77, 3, b"whatever")) == FramedRecord(77, 3, None, None)


def test_a_version_that_is_not_declared_has_a_name_and_no_fields():
    number = METADATA["TopicRecord"].number
    assert number is not None
    assert read_metadata_record(framed(number, 9, b"\x01")) == FramedRecord(number, 9, "TopicRecord", None)


@pytest.mark.parametrize("data", [b"", b"\x01", b"\x01\x02", b"\x00\x02\x00", b"\x01\x80", framed(2, 0, b"\x05ab")])
def test_what_is_no_record_is_malformed(data):
    with pytest.raises(Malformed):
        read_metadata_record(data)


@given(st.binary(max_size=40))
def test_any_bytes_are_a_record_or_malformed(data):
    for value in (data, b"\x01" + data):
        try:
            found = read_metadata_record(value)
        except Malformed:
            continue
        assert (found.fields is None) or found.name


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("sasl.jaas.config", "Login required password=hunter2;", HIDDEN),
        ("listener.name.x.ssl.keystore.password", "hunter2", HIDDEN),
        ("my.own.token", "hunter2", HIDDEN),
        ("sink.url", "https://me:hunter2@host/", f"https://{HIDDEN}@host/"),
        ("min.insync.replicas", "2", "2"),
        ("retention.ms", "", ""),
        ("sasl.jaas.config", None, None),
    ],
)
def test_a_secret_setting_is_named_and_its_value_is_not(name, value, shown):
    found = read_metadata_record(said("ConfigRecord", resourceType=4, resourceName="1", name=name, value=value)).fields
    assert found == {"resourceType": 4, "resourceName": "1", "name": name, "value": shown}


def test_credentials_are_hidden():
    data = said("UserScramCredentialRecord", name="kim", mechanism=1, salt=b"s", storedKey=b"k", serverKey=b"v")
    found = read_metadata_record(data).fields
    assert found is not None
    assert (found["name"], {found[name] for name in CREDENTIALS}) == ("kim", {HIDDEN})


def test_control_records_of_kraft_are_read_by_the_version_in_them():
    value = quorum("LeaderChangeMessage", leaderId=3, voters=[{"voterId": 3}])
    assert read_quorum_record(ControlType.LEADER_CHANGE, value) == {
        "version": 0, "leaderId": 3, "voters": [{"voterId": 3}], "grantingVoters": [],
    }  # fmt: skip
    later = quorum("LeaderChangeMessage", 1, version=7, leaderId=3, voters=[{"voterId": 3}])
    found = read_quorum_record(ControlType.LEADER_CHANGE, later)
    assert found is not None
    assert found["voters"] == [{"voterId": 3, "voterDirectoryId": "A" * 22}]


def test_what_is_no_control_record_of_kraft_has_no_fields():
    assert read_quorum_record(ControlType.COMMIT, b"\0\0\0\0\0\0") is None
    assert read_quorum_record(ControlType.LEADER_CHANGE, b"\0\0\1") is None
    assert read_quorum_record(ControlType.LEADER_CHANGE, None) is None
    assert read_quorum_record(99, b"\0\0") is None
    assert set(QUORUM_MESSAGES) == {kind for kind in ControlType if kind not in (ControlType.ABORT, ControlType.COMMIT)}
