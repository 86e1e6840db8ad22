"""What groups committed and what controllers noted, as tables: null where nothing is said, damage beside them."""

import gzip
import json
from typing import Any

import pytest

import kafkatx
from tests.building import TRANSACTIONAL, batch, marker, record, segment
from tests.evidence import fixtures
from tests.metadata_records import control, framed, noted, quorum, said
from tests.offset_commits import commits, key, value

OFFSETS, METADATA = "__consumer_offsets-4", "__cluster_metadata-0"
SNAPSHOT = "00000000000000000042-0000000007.checkpoint"
TOPIC_ID = bytes(range(16))


def rows(path: Any, name: str) -> list[dict[str, Any]]:
    evidence = kafkatx.open(path)
    found = []
    for part in evidence.table(name):
        part.validate(full=True)
        assert part.schema == evidence.schema(name)
        found += part.to_pylist()
    return found


def test_a_commit_says_who_committed_what_when_and_where_it_lies(engine, tmp_path):
    first = commits(0, (key("a", "orders", 3), value(7, "where", 1000, 4, TOPIC_ID)), partition_leader_epoch=9)
    path = segment(tmp_path / OFFSETS, [first, commits(1, (key("a"), value(8)), partition_leader_epoch=9)])
    found, plain = rows(tmp_path, "offset_commits")
    assert {name: found[name] for name in ("group_id", "topic", "partition", "committed_offset", "metadata")} == {
        "group_id": "a", "topic": "orders", "partition": 3, "committed_offset": 7, "metadata": "where",
    }  # fmt: skip
    assert (found["path"], found["position"], plain["position"]) == (str(path), 0, len(first))
    assert (found["offsets_partition"], found["record_offset"], found["leader_epoch"]) == (4, 0, 5)
    assert found["committed_at"].timestamp() == 1.0
    assert (found["topic_id"], plain["topic_id"], plain["metadata"]) == ("AAECAwQFBgcICQoLDA0ODw", None, None)
    assert (found["is_transactional"], found["producer_id"], found["producer_epoch"]) == (False, None, None)
    assert (found["expires_at"], found["value_version"], plain["value_version"]) == (None, 4, 3)


def test_a_commit_of_an_old_version_has_what_it_has(tmp_path):
    segment(tmp_path / OFFSETS, [commits(n, (key(), value(n, version=n))) for n in range(3)])
    found = rows(tmp_path, "offset_commits")
    assert [row["expires_at"] and row["expires_at"].timestamp() for row in found] == [None, 2.0, None]
    assert [row["leader_epoch"] for row in found] == [None, None, None]


def test_a_removed_commit_is_a_tombstone_without_an_offset(engine, tmp_path):
    segment(tmp_path / OFFSETS, commits(0, (key("a"), None)))
    (found,) = rows(tmp_path, "offset_commits")
    assert (found["is_tombstone"], found["group_id"]) == (True, "a")
    assert {found[name] for name in ("committed_offset", "committed_at", "metadata", "value_version")} == {None}


def test_a_commit_in_a_transaction_has_its_producer_whatever_became_of_it(tmp_path):
    of = {"attributes": TRANSACTIONAL, "producer_id": 7, "producer_epoch": 2}
    segment(tmp_path / OFFSETS, [commits(0, (key(), value()), **of), marker(1, 7, epoch=2, commit=False)])
    (found,) = rows(tmp_path, "offset_commits")
    assert (found["is_transactional"], found["producer_id"], found["producer_epoch"]) == (True, 7, 2)
    assert [row["kind"] for row in rows(tmp_path, "markers")] == ["ABORT"]


def test_names_that_are_no_text_are_marked(engine, tmp_path):
    segment(tmp_path / OFFSETS, commits(0, (key(b"a\xff", b"b"), value()), (key("b"), value())))
    assert [row["group_id"] for row in rows(tmp_path, "offset_commits")] == ["a\ufffd", "b"]


def test_other_topics_have_no_commits(tmp_path):
    segment(tmp_path / "orders-0", commits(0, (key(), value())))
    assert rows(tmp_path, "offset_commits") == rows(tmp_path, "cluster_events") == []


def test_records_that_can_not_be_read_are_damage(engine, tmp_path):
    segment(tmp_path / OFFSETS, commits(0, (key(), value()), (None, value())))
    segment(tmp_path / METADATA, noted(0, said("NoOpRecord"), b"\x09"))
    snapshot = segment(tmp_path / METADATA, noted(0, b"\x09"), SNAPSHOT)
    assert len(rows(tmp_path, "offset_commits")) == len(rows(tmp_path, "cluster_events")) == 1
    damage = {(row["path"], row["kind"], row["position"], row["expected"]) for row in rows(tmp_path, "damage")}
    log = "00000000000000000000.log"
    assert damage == {
        (str(tmp_path / OFFSETS / log), "entry", 0, "a key of a group's record"),
        (str(tmp_path / METADATA / log), "entry", 0, "a record of cluster metadata"),
        (str(snapshot), "entry", 0, "a record of cluster metadata"),
    }


def test_what_a_console_consumer_printed_of_the_topic_are_commits(tmp_path):
    lines = [
        "[etl,orders,1]::OffsetAndMetadata(offset=5, leaderEpoch=Optional[2], metadata=x, "
        "commitTimestamp=1795256939889, expireTimestamp=None)",
        "[etl,orders,0]::NULL",
    ]
    (tmp_path / "page.txt").write_text("\n".join(lines) + "\n")
    found, gone = rows(tmp_path, "offset_commits")
    assert (found["group_id"], found["topic"], found["partition"], found["committed_offset"]) == ("etl", "orders", 1, 5)
    assert (found["leader_epoch"], found["metadata"], gone["is_tombstone"]) == (2, "x", True)
    assert (found["record_offset"], found["timestamp"], found["is_transactional"]) == (None, None, None)


def test_an_event_says_what_its_record_says_and_no_more(engine, tmp_path):
    topic = said("TopicRecord", name="orders", topicId=TOPIC_ID)
    partition = said(
        "PartitionRecord", partitionId=2, topicId=TOPIC_ID, replicas=[1, 2], isr=[1], leader=1, leaderEpoch=4
    )
    change = said("PartitionChangeRecord", partitionId=2, topicId=TOPIC_ID, leader=-1)
    segment(tmp_path / METADATA, noted(0, topic, partition, change, partition_leader_epoch=6))
    first, second, third = rows(tmp_path, "cluster_events")
    assert (first["kind"], first["topic"], first["topic_id"]) == ("TopicRecord", "orders", "AAECAwQFBgcICQoLDA0ODw")
    assert (second["topic"], second["replicas"], second["isr"], second["leader_epoch"]) == (None, [1, 2], [1], 4)
    assert (third["leader"], third["replicas"], third["leader_epoch"]) == (-1, None, None)
    assert [row["record_offset"] for row in (first, second, third)] == [0, 1, 2]
    assert {row["controller_epoch"] for row in (first, second, third)} == {6}
    assert (first["is_snapshot"], first["snapshot_offset"], first["record_version"]) == (False, None, 0)
    assert json.loads(first["fields"]) == {"name": "orders", "topicId": "AAECAwQFBgcICQoLDA0ODw"}


def test_a_snapshot_tells_a_state_up_to_an_offset(tmp_path):
    header = control(0, 3, quorum("SnapshotHeaderRecord", lastContainedLogTimestamp=5))
    segment(tmp_path / METADATA, [header, noted(1, said("FeatureLevelRecord", name="kraft", featureLevel=1))], SNAPSHOT)
    found = rows(tmp_path, "cluster_events")
    assert [row["kind"] for row in found] == ["SnapshotHeaderRecord", "FeatureLevelRecord"]
    assert {(row["is_snapshot"], row["snapshot_offset"]) for row in found} == {(True, 42)}
    assert (found[1]["feature"], found[1]["feature_level"]) == ("kraft", 1)


def test_secrets_reach_no_column(tmp_path):
    secret = said(
        "ConfigRecord", resourceType=4, resourceName="1", name="listener.name.x.ssl.key.password", value="hunter2"
    )
    scram = said("UserScramCredentialRecord", name="kim", salt=b"hunter2", storedKey=b"hunter2", serverKey=b"hunter2")
    segment(tmp_path / METADATA, noted(0, secret, scram))
    found = rows(tmp_path, "cluster_events")
    assert (found[0]["config"], found[0]["config_value"]) == ("listener.name.x.ssl.key.password", "[hidden]")
    assert "hunter2" not in str(found)
    assert "aHVudGVyMg" not in str(found)


def test_records_of_later_releases_are_rows_without_fields(tmp_path):
    segment(tmp_path / METADATA, noted(0, framed(88, 1, b"x"), framed(2, 7, b"x")))
    found = rows(tmp_path, "cluster_events")
    assert [(row["kind"], row["record_version"], row["fields"]) for row in found] == [
        ("unknown(88)", None, None),
        ("TopicRecord", 7, None),
    ]
    assert rows(tmp_path, "damage") == []


def test_a_compressed_batch_is_read_as_well(tmp_path):
    content = gzip.compress(record(0, said("NoOpRecord")))
    segment(tmp_path / METADATA, batch(0, content=content, records_count=1, attributes=1))
    assert [row["kind"] for row in rows(tmp_path, "cluster_events")] == ["NoOpRecord"]


@pytest.mark.parametrize("case", ["k39-eos-groups", "k25-eos-groups", "k4-clients"])
def test_commits_in_transactions_are_of_producers_that_the_coordinator_knows(case):
    path = fixtures() / case
    found = [row for row in rows(path, "offset_commits") if row["is_transactional"]]
    known = {(row["producer_id"], row["producer_epoch"]) for row in rows(path, "transaction_states")}
    assert found
    assert {(row["producer_id"], row["producer_epoch"]) for row in found} <= known


def test_blocks_of_producer_ids_hold_the_ids_that_were_handed_out():
    path = fixtures() / "k39-eos-groups"
    ends = [row["next_producer_id"] for row in rows(path, "cluster_events") if row["kind"] == "ProducerIdsRecord"]
    used = {row["producer_id"] for row in rows(path, "transaction_states")} - {None}
    assert ends
    assert max(used) < max(ends)
