"""Records of a metadata log: each offset says something or is damage, equal ones are read once."""

import pytest

from kafkatx.kernels.batches import CHECK_ALL
from kafkatx.segments import metadata_log
from kafkatx.segments.metadata_columns import FIELDS, columns_of, fields_text
from kafkatx.segments.metadata_log import MetadataWalk, Said
from kafkatx.sources.files import OpenFile
from tests import declared
from tests.building import batch, segment
from tests.formats.captures import broker_files
from tests.metadata_records import METADATA, QUORUM, control, framed, noted, quorum, said

NO_OP = said("NoOpRecord")


def read(path):
    """(offset, what it says) of every record, and the walk."""
    found = []
    with OpenFile(str(path)) as file:
        walk = MetadataWalk(file, check=CHECK_ALL)
        for chunk in walk.chunks():
            for part in walk.records_of(chunk):
                assert len(part.records) == len(part.codes)
                rows = zip(part.records["offset"].tolist(), part.codes.tolist(), strict=True)
                found += [(offset, part.said[code]) for offset, code in rows]
    return found, walk


def test_every_recorded_record_says_what_4_3_knows(engine):
    kinds = set()
    for path in [*broker_files("__cluster_metadata-0/*.log"), *broker_files("*.checkpoint")]:
        found, walk = read(path)
        offsets = [entry.offset for of in declared.batches(path.read_bytes()) for entry in declared.records(of.data)]
        assert ([offset for offset, _ in found], walk.damage) == (offsets, []), path
        assert all(one.fields is not None for _, one in found)
        kinds |= {one.kind for _, one in found}
    assert kinds >= {"LeaderChangeMessage", "TopicRecord", "PartitionRecord", "ProducerIdsRecord", "FeatureLevelRecord"}
    assert kinds <= METADATA.keys() | QUORUM.keys()


def test_equal_records_are_read_once(engine, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(
        metadata_log,
        "read_metadata_record",
        lambda data, real=metadata_log.read_metadata_record: asked.append(data) or real(data),
    )
    path = segment(tmp_path, noted(0, *[NO_OP] * 50, said("TopicRecord", name="orders"), NO_OP))
    found, _ = read(path)
    assert (len(found), len(asked)) == (52, 2)
    assert [one.kind for _, one in found[-2:]] == ["TopicRecord", "NoOpRecord"]


def test_what_later_releases_write_is_unknown_and_no_damage(engine, tmp_path):
    later = [framed(99, 4, b"?"), framed(2, 9, b"?")]
    found, walk = read(segment(tmp_path, [noted(0, *later), control(2, 17, b"\0\0")]))
    assert found == [
        (0, Said("unknown(99)", None, None)),
        (1, Said("TopicRecord", 9, None)),
        (2, Said("unknown control(17)", None, None)),
    ]
    assert walk.damage == []


def test_what_is_no_record_is_damage_and_the_rest_is_read(engine, tmp_path):
    data = noted(0, NO_OP, b"\x07", None, NO_OP) + control(4, 2, b"\0\0\1") + noted(5, NO_OP)
    found, walk = read(segment(tmp_path, data))
    assert [offset for offset, _ in found] == [0, 3, 5]
    assert [(one.kind, one.expected) for one in walk.damage] == [("entry", "a record of cluster metadata")] * 3
    assert [one.found for one in walk.damage] == [f"a record at offset {offset} that is none" for offset in (1, 2, 4)]


def test_control_records_say_who_leads_and_how_far_a_snapshot_is(engine, tmp_path):
    head = quorum("SnapshotHeaderRecord", 0, lastContainedLogTimestamp=77)
    lead = quorum("LeaderChangeMessage", 0, leaderId=3)
    found, _ = read(segment(tmp_path, [control(0, 3, head), control(1, 2, lead), control(2, 0, b"\0\0\0\0\0\0")]))
    assert [(one.kind, one.fields and one.fields.get("leaderId")) for _, one in found] == [
        ("SnapshotHeaderRecord", None),
        ("LeaderChangeMessage", 3),
        ("unknown control(0)", None),
    ]
    assert columns_of(found[1][1]) == {"node_id": 3}


def test_a_file_of_anything_else_is_damage_and_no_error(engine, tmp_path):
    found, walk = read(segment(tmp_path, [batch(0, b"value", b""), batch(2, b"\x01\x02")]))
    assert found == []
    assert len(walk.damage) == 3


def test_columns_name_fields_that_the_schemas_have():
    known = METADATA | QUORUM
    for kind, columns in FIELDS.items():
        names = {field.name for field in known[kind].fields}
        assert set(columns.values()) <= names, kind


@pytest.mark.parametrize(
    ("one", "columns"),
    [
        (Said("TopicRecord", 0, {"name": "orders", "topicId": "x"}), {"topic": "orders", "topic_id": "x"}),
        (Said("FenceBrokerRecord", 0, {"id": 3, "epoch": 9}), {"node_id": 3, "broker_epoch": 9}),
        (Said("AccessControlEntryRecord", 0, {"id": "x"}), {}),
        (
            Said("PartitionChangeRecord", 0, {"partitionId": 1, "topicId": "x", "leader": -1}),
            {"partition": 1, "topic_id": "x", "leader": -1},
        ),
        (
            Said("ConfigRecord", 0, {"resourceType": 2, "resourceName": "orders", "name": "a", "value": "b"}),
            {"resource_type": "topic", "resource": "orders", "topic": "orders", "config": "a", "config_value": "b"},
        ),
        (
            Said("ConfigRecord", 0, {"resourceType": 99, "resourceName": "", "name": "a", "value": None}),
            {"resource_type": "unknown(99)", "resource": "", "config": "a", "config_value": None},
        ),
        (Said("unknown(99)", None, None), {}),
    ],
)
def test_columns_are_filled_by_what_a_record_says(one, columns):
    assert columns_of(one) == columns


def test_fields_are_json_that_every_reader_takes():
    assert (
        fields_text(Said("TopicRecord", 0, {"name": "größe\n", "topicId": None}))
        == '{"name":"größe\\n","topicId":null}'
    )
    quota = Said("ClientQuotaRecord", 0, {"key": "rate", "value": float("inf"), "remove": False})
    assert fields_text(quota) == '{"key":"rate","value":"inf","remove":false}'
    assert fields_text(Said("unknown(99)", None, None)) is None
