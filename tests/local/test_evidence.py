"""Tables of recorded cases: whole, typed, streamed, and equal to what the declarations of the formats read."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import kafkatx
from kafkatx.formats.record_batch import CODEC_MASK, MAGIC
from kafkatx.tables.catalogue import TABLES
from kafkatx.terms.errors import UsageError
from tests import declared
from tests.building import batch, data_batch, marker, message, record, segment
from tests.evidence import broker_folders, expectations, fixture_cases, fixtures
from tests.outputs.parquet.exported import whole_tables
from tests.rules.cluster import Cluster

CASES = fixture_cases()
DISK = broker_folders(fixtures() / "k39-fenced")


def rows(path: Any, name: str, **options: Any) -> list[dict[str, Any]]:
    """All rows of a table as mappings; each batch is checked whole on the way."""
    evidence = kafkatx.open(path, **options)
    found = []
    for part in evidence.table(name):
        part.validate(full=True)
        assert part.schema == evidence.schema(name)
        found += part.to_pylist()
    return found


def test_every_table_of_a_case_is_whole_and_of_its_schema():
    """Those of all cases are held to the same where they are compared with Parquet (tests/outputs/parquet)."""
    evidence = kafkatx.open(fixtures() / "k39-fenced")
    assert all(whole_tables(evidence)[name] for name in ("batches", "transactions", "log_events", "findings"))


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name)
def test_every_byte_of_every_segment_is_accounted_for(case):
    found = [row for row in rows(broker_folders(case), "files") if row["kind"] == "log" and row["status"] != "left out"]
    assert found
    assert all(row["accounted_bytes"] == row["bytes"] for row in found)


def test_a_damaged_byte_stands_in_one_row_and_is_still_accounted_for(tmp_path):
    path = segment(tmp_path / "orders-0", [batch(0, b"a"), batch(1, b"b"), batch(2, b"c")])
    data = bytearray(path.read_bytes())
    first = len(batch(0, b"a"))
    data[first + 8 : first + 12] = b"\xff\xff\xff\xff"
    path.write_bytes(bytes(data) + b"\x00\x01")
    (file,) = rows(tmp_path, "files")
    damage = rows(tmp_path, "damage")
    assert file["accounted_bytes"] == file["bytes"]
    assert damage[0]["position"] == first
    assert (damage[0]["topic"], damage[0]["partition"]) == ("orders", 0)


def test_records_of_every_codec_hold_keys_values_and_headers(engine):
    found = rows(fixtures() / "k39-codecs", "records")
    assert {row["topic"] for row in found} >= {"events", "accounts"}
    headers = [header for row in found for header in row["headers"] or []]
    assert headers
    assert all(isinstance(header["key"], str) for header in headers)
    assert any(row["key"] is None for row in found)
    assert any(row["value"] is None for row in found)


@pytest.mark.parametrize("case", ["k39-fenced", "k39-codecs", "k4-tv2-fenced"])
def test_records_equal_what_the_declaration_reads(case, engine):
    found = rows(fixtures() / case, "records")
    files = {row["path"] for row in found}
    assert files
    for path in files:
        expected = [
            (entry.offset, entry.key, entry.value, list(entry.headers), of.producer_id, entry.sequence)
            for of in declared.batches(Path(path).read_bytes())
            if of.magic == MAGIC and not of.attributes & CODEC_MASK
            for entry in declared.records(of.data)
        ]
        mine = {row["record_offset"]: row for row in found if row["path"] == path}
        for offset, key, value, headers, producer_id, sequence in expected:
            row = mine[offset]
            assert (row["key"], row["value"], row["producer_id"], row["sequence"]) == (
                key,
                value,
                producer_id,
                sequence,
            )
            assert [(header["key"], header["value"]) for header in row["headers"]] == headers


def test_a_header_key_that_is_no_text_does_not_stop_the_others(tmp_path):
    headers = ({"key": "trace", "value": b"\xff"}, {"key": "empty", "value": None})
    content = record(0, None, b"", headers=headers).replace(b"trace", b"tr\xffce")
    segment(tmp_path / "orders-0", [batch(0, content=content, records_count=1)])
    (found,) = rows(tmp_path, "records")
    assert found["headers"] == [{"key": "tr\ufffdce", "value": b"\xff"}, {"key": "empty", "value": None}]
    assert (found["key"], found["value"]) == (b"", None)


def test_an_old_message_has_no_producer(tmp_path):
    segment(tmp_path / "orders-0", [message(0, 0), message(1, 1)])
    old, newer = rows(tmp_path, "records")
    assert (old["timestamp"], old["producer_id"], old["is_transactional"]) == (None, None, False)
    assert newer["timestamp"].timestamp() == pytest.approx(0.077)
    assert [row["timestamp_type"] for row in rows(tmp_path, "batches")] == [None, "CreateTime"]


def test_markers_are_those_that_end_transactions(tmp_path):
    segment(
        tmp_path / "orders-0",
        [data_batch(0, 7), marker(1, 7, epoch=3, coordinator_epoch=9), data_batch(2, 7), marker(3, 7, commit=False)],
    )
    found = rows(tmp_path, "markers")
    assert [(row["record_offset"], row["kind"], row["producer_epoch"], row["coordinator_epoch"]) for row in found] == [
        (1, "COMMIT", 3, 9),
        (3, "ABORT", 0, 0),
    ]


def test_rows_of_the_coordinator_are_typed_and_a_tombstone_has_no_producer(tmp_path):
    cluster = Cluster(tmp_path)
    cluster.init("orders-1")
    cluster.begin("orders-1", "orders-0", "payments-3")
    cluster.commit("orders-1")
    cluster.expire("orders-1")
    found = rows(cluster.write(), "transaction_states")
    assert [row["state"] for row in found] == ["Empty", "Ongoing", "PrepareCommit", "CompleteCommit", None]
    assert found[1]["topic_partitions"] == [{"topic": "orders", "partition": 0}, {"topic": "payments", "partition": 3}]
    assert found[0]["topic_partitions"] is None
    assert found[0]["started_at"] is None
    assert (found[4]["is_tombstone"], found[4]["producer_id"], found[4]["producer_epoch"]) == (True, None, None)


def test_transactions_say_outcome_ender_and_partitions():
    (aborted,) = [row for row in rows(DISK, "transactions") if row["outcome"] == "aborted"]
    assert (aborted["transactional_id"], aborted["ended_by"], aborted["verdict"]) == (
        "payments-eu-1",
        "new_instance",
        "likely",
    )
    assert aborted["partitions"] == [
        {"topic": "payments", "partition": 0, "first_offset": 3, "last_offset": 5, "records": 3, "marker_offset": 6},
        {"topic": "payments", "partition": 1, "first_offset": 0, "last_offset": 0, "records": 1, "marker_offset": 1},
    ]
    assert (aborted["path"], aborted["broker_id"]) == (None, None)


def test_an_open_transaction_has_no_ender():
    found = [row for row in rows(fixtures() / "k39-open", "transactions") if row["outcome"] == "open"]
    assert {row["transactional_id"] for row in found} == {"batch-loader-7", "payments-eu-1"}
    assert {(row["ended_by"], row["verdict"], row["decided_at"]) for row in found} == {(None, None, None)}


def test_many_transactions_come_in_several_batches(tmp_path, monkeypatch):
    monkeypatch.setattr("kafkatx.stages.table_interpreted.ROWS", 4)
    whole = rows(fixtures() / "k4-overflow", "transactions")
    assert len(whole) == 19
    monkeypatch.undo()
    assert whole == rows(fixtures() / "k4-overflow", "transactions")


def test_entries_lead_back_to_their_bytes():
    for row in rows(DISK, "aborted_transactions"):
        data = Path(row["path"]).read_bytes()
        assert int.from_bytes(data[row["position"] + 2 : row["position"] + 10], "big") == row["producer_id"]
    states = rows(broker_folders(fixtures() / "k39-codecs"), "producer_states")
    assert states
    for row in states:
        data = Path(row["path"]).read_bytes()
        assert int.from_bytes(data[row["position"] : row["position"] + 8], "big") == row["producer_id"]
        assert row["coordinator_epoch"] is None or row["coordinator_epoch"] >= 0


def test_findings_and_their_evidence_are_the_diagnosis_flattened():
    diagnosis = kafkatx.diagnose(DISK)
    found, places = rows(DISK, "findings"), rows(DISK, "evidence")
    assert [row["id"] for row in found] == [entry.id for entry in diagnosis.findings]
    assert found[0]["steps"][0]["text"] == diagnosis.findings[0].finding.steps[0].text
    assert len(places) == sum(len(entry.evidence) for entry in diagnosis.findings)
    assert {row["finding_id"] for row in places} == {row["id"] for row in found}
    assert all(row["crc_valid"] and row["path"] for row in places)


def test_the_crc_of_data_is_null_until_it_is_asked_for():
    case = fixtures() / "k39-open"
    assert None in {row["crc_valid"] for row in rows(case, "batches")}
    assert {row["crc_valid"] for row in rows(case, "batches", verify_all=True)} == {True}


def test_a_table_is_streamed_file_by_file(tmp_path):
    for number in range(3):
        segment(tmp_path / f"orders-{number}", [batch(0, b"x")])
    stream = kafkatx.open(tmp_path).table("batches")
    assert next(stream).column("partition").to_pylist() == [0]
    segment(tmp_path / "orders-2", [batch(0, b"x"), batch(1, b"y")])
    assert [part.num_rows for part in stream] == [1, 2]


def test_every_copy_of_a_partition_is_there(tmp_path):
    cluster = Cluster(tmp_path, brokers=3)
    cluster.init("orders-1")
    cluster.run("orders-1", "orders-0")
    found = [row for row in rows(cluster.write(), "batches") if row["topic"] == "orders"]
    assert sorted(row["broker_id"] for row in found) == [1, 1, 2, 2, 3, 3]
    assert {row["cluster_id"] for row in found} == {"c1u2s3t4e5rAAAAAAAAAAA"}


def test_a_file_that_can_not_be_read_is_damage_and_nothing_else(tmp_path):
    segment(tmp_path / "orders-0", [batch(0, b"x")])
    gone = segment(tmp_path / "orders-1", [batch(0, b"x")])
    evidence = kafkatx.open(tmp_path)
    gone.unlink()
    assert sum(part.num_rows for part in evidence.table("batches")) == 1
    (damage,) = [row for part in evidence.table("damage") for row in part.to_pylist()]
    assert (damage["kind"], damage["path"]) == ("unreadable", str(gone))


def test_evidence_without_a_segment_has_empty_tables(tmp_path):
    (tmp_path / "notes.txt").write_text("nothing")
    assert [name for name in TABLES if rows(tmp_path, name)] == ["files"]


def test_a_name_that_is_no_table_is_refused_with_those_that_are():
    with pytest.raises(UsageError, match="the tables are files, batches, records"):
        kafkatx.open(fixtures() / "k39-fenced").table("offsets")


def test_a_path_that_does_not_exist_is_refused_at_once():
    with pytest.raises(UsageError):
        kafkatx.open("no-such-folder")


def test_evidence_diagnoses_tells_and_locates():
    evidence = kafkatx.open([fixtures() / "k39-fenced"])
    assert evidence.diagnose().findings[0].finding.rule == "fenced_by_new_instance"
    assert [line.transactional_id for line in evidence.history(transactional_id="payments-eu-1")] == ["payments-eu-1"]
    assert evidence.locate("payments-0:8").found[0].visibility.sees


def test_what_a_diagnosis_may_find_of_a_case_can_be_joined_from_tables():
    case = fixtures() / "k39-open"
    open_ids = {row["transactional_id"] for row in rows(case, "transactions") if row["outcome"] == "open"}
    wanted = {
        entry["transactional_id"] for entry in expectations(case)["must_find"] if entry["rule"] == "open_transaction"
    }
    assert wanted <= open_ids


def test_tables_join_to_one_arrow_table():
    parts = list(kafkatx.open(DISK).table("batches"))
    assert pa.Table.from_batches(parts).num_rows == 50


@pytest.mark.parametrize("name", ["batches", "transactions", "findings"])
def test_who_reads_a_table_may_be_told_of_each_file_before_it_is_read(name):
    told = {}
    found = kafkatx.open(DISK).table(name, lambda path, size: told.update({path: size}))
    assert not told
    assert list(found)
    segments = {str(path): path.stat().st_size for folder in DISK for path in folder.rglob("*.log")}
    assert {path: told[path] for path in segments} == segments


def test_inputs_are_all_files_that_were_met_as_they_are_now():
    states = {state.path: state for state in kafkatx.open(DISK).inputs()}
    files = [path for folder in DISK for path in folder.rglob("*") if path.is_file()]
    assert set(states) == set(map(str, files))
    assert all(states[str(path)].mtime_ns == path.stat().st_mtime_ns for path in files)
