"""Printed records of the metadata log say what their bytes say; text that is none of them says nothing."""

import json
import random
import re
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.formats.message_schemas import component
from kafkatx.segments.metadata_columns import columns_of
from kafkatx.segments.metadata_log import Said
from kafkatx.tables.cluster_events import CLUSTER_EVENTS
from kafkatx.terms.secrets import HIDDEN
from kafkatx.text.dump.metadata import metadata_said
from kafkatx.text.dump.table import TextRecord
from tests.formats.message_writing import random_message

NOTHING = TextRecord(**{field.name: None for field in fields(TextRecord)})
RECORDS = component("cluster_metadata")
CONFIG = {"resourceType": 2, "resourceName": "orders", "name": "retention.ms", "value": "1"}


def printed(kind, version, data):
    content = json.dumps({"type": kind, "version": version, "data": data}, ensure_ascii=False)
    return replace(NOTHING, printed=f" payload: {content}".replace('": ', '":'))


@pytest.mark.parametrize("message", RECORDS, ids=lambda message: message.name)
def test_every_record_is_read_as_it_was_printed(message):
    dice, kind = random.Random(message.name), re.sub(r"(?<!^)([A-Z])", r"_\1", message.name).upper()
    for version in range(message.versions.lowest, message.versions.highest + 1):
        for _ in range(10):
            data, _ = random_message(message, version, dice)
            found = metadata_said(printed(kind, version, data))
            assert found is not None
            assert (found.kind, found.version) == (message.name, version)
            assert found.fields == data or message.name in ("ConfigRecord", "UserScramCredentialRecord")


def test_control_records_are_told_by_their_type():
    assert metadata_said(replace(NOTHING, control_type=2)) == Said("LeaderChangeMessage", None, None)
    assert metadata_said(replace(NOTHING, control_type=40)) == Said("unknown control(40)", None, None)


def test_a_secret_that_the_tool_printed_is_hidden():
    found = metadata_said(printed("CONFIG_RECORD", 0, CONFIG | {"name": "sasl.jaas.config", "value": "hunter2"}))
    assert found is not None
    assert columns_of(found)["config_value"] == HIDDEN


@pytest.mark.parametrize(
    ("kind", "version", "data"),
    [
        ("NEW_RECORD", 0, {}),
        ("CONFIG_RECORD", 9, CONFIG),
        ("CONFIG_RECORD", True, CONFIG),
        ("CONFIG_RECORD", "0", CONFIG),
        ("CONFIG_RECORD", 0, []),
        ("CONFIG_RECORD", 0, {}),
        ("CONFIG_RECORD", 0, CONFIG | {"more": 1}),
        ("CONFIG_RECORD", 0, CONFIG | {"value": 1}),
        ("CONFIG_RECORD", 0, CONFIG | {"resourceType": 128}),
        ("CONFIG_RECORD", 0, CONFIG | {"resourceType": True}),
        ("FEATURE_LEVEL_RECORD", 0, {"name": None, "featureLevel": 1}),
        (["CONFIG_RECORD"], 0, CONFIG),
    ],
)
def test_what_is_not_of_the_declared_fields_and_types_says_nothing(kind, version, data):
    assert metadata_said(printed(kind, version, data)) is None


@pytest.mark.parametrize(
    "text", [None, "", " payload: x", ' payload: {"type":"CONFIG_RECORD"', ' payload: {"type":"' + "[" * 9]
)
def test_other_text_says_nothing(text):
    assert metadata_said(replace(NOTHING, printed=text)) is None


@given(
    st.recursive(st.none() | st.integers() | st.text(max_size=3), lambda one: st.lists(one, max_size=2), max_leaves=4)
)
def test_what_is_read_fits_into_its_table(value):
    for name in ("isr", "leader", "partitionId", "topicId"):
        found = metadata_said(printed("PARTITION_CHANGE_RECORD", 0, {"partitionId": 1, "topicId": "x", name: value}))
        if found is not None:
            assert CLUSTER_EVENTS.rows([columns_of(found)]).num_rows == 1
