"""An export by Spark holds what this machine reads, is diagnosed like one of its own, and goes on where it ended."""

import hashlib
import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import kafkatx
import kafkatx.spark
from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.spark import exporting
from kafkatx.spark.diagnosis import diagnose as diagnose_on
from kafkatx.spark.export_steps import TOLD
from kafkatx.spark.export_store import ExportStore
from kafkatx.spark.failures import SparkFailedError
from kafkatx.spark.table_writing import check_rows, moved
from kafkatx.spark.writing_session import FOR_WRITING
from kafkatx.stages import export_packing as packing
from kafkatx.stages.divided_parts import Drafting
from kafkatx.stages.exported_rows import CLUSTER, DAY
from kafkatx.stages.file_tables import FILE_TABLES
from kafkatx.stages.stamp import Stamp
from kafkatx.tables.catalogue import EXPORTED, TABLES
from kafkatx.tables.exported import EXPORTED_AT, IS_CANONICAL, RUN_ID, plain_schema
from kafkatx.terms.errors import NothingReadableError, UsageError
from tests.building import data_batch, marker, segment
from tests.evidence import fixtures
from tests.exports import exported, run_all_tables

SMALL = fixtures() / "k39-fenced/broker-1"
CASES = [*(fixtures() / name for name in ("c3-stuck-prepare", "k011-legacy-formats", "k33-mixed")), SMALL]


@pytest.fixture(scope="module")
def target(spark, tmp_path_factory) -> Path:
    """Export some cases: of three brokers with replicas, of old formats, of two releases with logs, of one broker.

    Whatever needs to meet no other rows is written where it is read, however little it is.
    """
    folder = tmp_path_factory.mktemp("exported") / "export"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exporting, "ENOUGH", 1)
        exporting.export(spark, CASES, folder)
    return folder


@pytest.fixture(scope="module")
def of_this_machine(tmp_path_factory) -> Path:
    """The same cases, exported by this machine."""
    return run_all_tables(CASES, tmp_path_factory.mktemp("here") / "export")


def rows_of(table: Any) -> Counter[str]:
    return Counter(json.dumps(row, default=repr, sort_keys=True) for row in table.to_pylist())


def read(target: Path, name: str) -> Any:
    return ds.dataset(target / name, partitioning=None).to_table()


@pytest.mark.parametrize("name", TABLES)
def test_a_table_holds_the_rows_that_this_machine_exports(target, of_this_machine, name):
    table, own = EXPORTED[name], [RUN_ID, EXPORTED_AT]
    found, here = read(target, name), read(of_this_machine, name)
    assert found.schema.equals(here.schema, check_metadata=True)
    assert found.schema.remove_metadata().names == plain_schema(table).names
    assert rows_of(found.drop(own)) == rows_of(here.drop(own))


def test_files_are_written_as_this_machine_writes_them(target, of_this_machine):
    manifest = json.loads((target / "_kafkatx.json").read_text())
    for name, told in manifest["runs"][0]["tables"].items():
        (there,) = {*of_this_machine.glob(f"{name}/*.parquet")}
        for file in told["files"]:
            data = (target / file["path"]).read_bytes()
            assert (len(data), hashlib.sha256(data).hexdigest()) == (file["bytes"], file["sha256"])
            one, other = (pq.ParquetFile(path).metadata for path in (target / file["path"], there))
            assert (one.num_rows, one.created_by) == (file["rows"], other.created_by)
            for group in range(one.num_row_groups):
                column = one.row_group(group).column(0)
                assert (column.compression, column.has_column_index) == ("ZSTD", True)


def test_rows_that_are_said_to_be_in_order_are(target):
    """Such files were written where they were read, or of facts; some of both are there."""
    sorted_ones = set()
    for path in target.glob("*/**/part-*.parquet"):
        file = pq.ParquetFile(path)
        name = path.relative_to(target).parts[0]
        if file.metadata.num_rows and file.metadata.row_group(0).sorting_columns:
            sorted_ones.add(name)
            rows = file.read()
            order = [(column, "ascending") for column in EXPORTED[name].order.columns]
            assert rows.take(pc.sort_indices(rows, sort_keys=order)).equals(rows)
    assert sorted_ones == {"facts", "records", "batches"}


def test_large_logs_are_read_by_several_tasks(spark, tmp_path, monkeypatch):
    """Partitions in order, one with segments that reach into each other, and copies; CRCs are looked at elsewhere."""
    log = [data_batch(at, 7, b"x" * 50, base_sequence=at) for at in range(40)]
    segment(tmp_path / "in/one/orders-0", [*log, marker(40, 7)])
    segment(tmp_path / "in/one/payments-0", log[:25])
    segment(tmp_path / "in/one/payments-0", log[15:], f"{15:020}.log")
    for broker in ("one", "other"):
        segment(tmp_path / "in" / broker / "events-0", log)
    monkeypatch.setattr(packing, "_largest", lambda found, at_once: 700)
    monkeypatch.setattr(exporting, "ENOUGH", 1)
    told: list[Any] = []
    of_strands = exporting.not_in_order
    monkeypatch.setattr(exporting, "not_in_order", lambda one: (told.extend(one), of_strands(told))[1])
    exporting.export(spark, [tmp_path / "in"], tmp_path / "out")
    here = run_all_tables([tmp_path / "in"], tmp_path / "here")
    assert {one.strand.partition.rpartition("/")[2] for one in told if one.strand.of > 4} == {"orders-0", "payments-0"}
    for name in FILE_TABLES:
        own = [RUN_ID, EXPORTED_AT, *({"crc_valid"} & {*TABLES[name].schema.names})]
        assert rows_of(read(tmp_path / "out", name).drop(own)) == rows_of(read(here, name).drop(own)), name
    again = exporting.export(spark, [tmp_path / "in"], tmp_path / "out")
    assert not again.is_new


def test_there_is_something_that_makes_each_table():
    assert {*FILE_TABLES, *TOLD} == {*TABLES}


def test_copies_of_a_fact_are_counted_once(target):
    batches = read(target, "batches")
    facts = {
        tuple(row.values()) for row in batches.select(["capture", "topic", "partition", "base_offset"]).to_pylist()
    }
    assert len(facts) == pc.sum(batches.column(IS_CANONICAL)).as_py() < batches.num_rows


def test_folders_are_of_clusters_and_days_and_rows_of_one_run(target):
    found = ds.dataset(target / "markers", partitioning="hive").to_table().to_pylist()
    assert found
    for row in found:
        assert row[CLUSTER] == row["capture"]
        assert str(row[DAY]) == row["timestamp"].strftime("%Y-%m-%d")
    manifest = json.loads((target / "_kafkatx.json").read_text())
    (run,) = manifest["runs"]
    assert {row[RUN_ID] for row in found} == {run["run_id"]}
    assert len({row[EXPORTED_AT] for row in found}) == 1


def test_columns_say_what_they_mean(target):
    (field,) = [one for one in read(target, "markers").schema if one.name == "producer_id"]
    assert field.metadata[b"PARQUET:field_id"]
    told = ds.dataset(target / "markers", partitioning=None).schema.metadata
    assert b"comment" in told[b"org.apache.spark.sql.parquet.row.metadata"]


def test_it_says_here_and_on_spark_what_the_files_say(spark, target):
    raw = document(diagnose(CASES), "")
    assert document(diagnose([target]), "") == raw
    assert document(diagnose_on(spark, target), "") == raw


def test_a_run_that_is_there_is_not_written_again_and_another_one_is_added(spark, tmp_path):
    settings = {name: spark.conf.get(name, None) for name in FOR_WRITING}
    first = exporting.export(spark, SMALL, tmp_path / "out", tables=["markers"])
    again = exporting.export(spark, SMALL, tmp_path / "out", tables=["markers"])
    assert (first.is_new, again.is_new) == (True, False)
    before = read(tmp_path / "out", "markers").num_rows
    more = exporting.export(spark, SMALL, tmp_path / "out", tables=["markers"], verify_all=True)
    assert len(more.manifest.runs) == 2
    assert read(tmp_path / "out", "markers").num_rows == 2 * before
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"_kafkatx.json", "_SUCCESS", "facts", "markers"}
    assert {name: spark.conf.get(name, None) for name in FOR_WRITING} == settings
    assert type(spark).getActiveSession() is spark


def test_what_is_laid_otherwise_is_not_added_to(spark, tmp_path):
    exported([SMALL], tmp_path / "out")
    with pytest.raises(UsageError, match="is an export that is laid otherwise"):
        exporting.export(spark, SMALL, tmp_path / "out")


def test_a_run_that_was_cut_short_goes_on_behind_what_is_there(spark, tmp_path, monkeypatch):
    """It ends between two files that come to their tables; beside them lies what an attempt left that did not count."""
    tables, out, given = ["markers", "batches", "transactions"], tmp_path / "out", []

    def then_killed(store, drafts, folder, stamp):
        given.append(drafts)
        if len(given) == 1:
            return moved(store, drafts, folder, stamp)
        (out / folder / "markers-00000-0-00000.parquet").write_bytes(b"of an attempt that died")
        moved(store, sorted(drafts)[:2], folder, stamp)
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exporting, "moved", then_killed)
        with pytest.raises(KeyboardInterrupt):
            exporting.export(spark, SMALL, out, tables=tables)
    assert not (out / "_kafkatx.json").exists()
    for step in ("tasks_of_export", "exported_on", "tables_written", "facts_written"):
        monkeypatch.setattr(exporting, step, None)
    ended = exporting.export(spark, SMALL, out, tables=tables)
    assert set(ended.taken_over) == {*tables, "facts"}
    assert not [*out.glob("_*.lock"), *out.glob("_stage-*")]
    for name in tables:
        here = pa.Table.from_batches(kafkatx.open(str(SMALL)).table(name), TABLES[name].schema)
        assert rows_of(read(out, name).select(here.column_names)) == rows_of(here)


def test_what_is_missing_in_the_end_is_no_export(tmp_path):
    store, stamp = ExportStore(str(tmp_path)), Stamp("0" * 16, 0, "1")
    draft = Drafting(store.shown("drafts"), 0, stamp).empty(EXPORTED["markers"])
    with pytest.raises(SparkFailedError, match=r"0 of 3 rows of markers are in"):
        check_rows(store, [draft], {"markers": 3})
    (part,) = moved(store, [draft], "drafts", stamp)["markers"]
    assert moved(store, [draft], "drafts", stamp)["markers"] == [part]
    other = replace(draft, name="markers-00001-0-00000.parquet", folder="")
    with pytest.raises(SparkFailedError, match=r"a file of 0 rows of markers is not in"):
        moved(store, [draft, other], "drafts", stamp)


def test_facts_that_changed_are_refused_by_their_sum_with_the_name_of_the_file(spark, target, tmp_path):
    shutil.copytree(target, tmp_path / "out")
    (path,) = (tmp_path / "out/facts").glob("*.parquet")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(UsageError, match=rf"{path} is not as it was exported: its SHA-256"):
        diagnose_on(spark, tmp_path / "out")


@pytest.mark.parametrize("content", ["something", None])
def test_nothing_is_written_where_something_else_is_or_where_nothing_is_evidence(spark, content, tmp_path):
    (tmp_path / "out").mkdir()
    if content:
        (tmp_path / "out/file").write_text(content)
        with pytest.raises(UsageError, match="is no export of kafkatx"):
            exporting.export(spark, SMALL, tmp_path / "out")
        return
    (tmp_path / "empty").mkdir()
    with pytest.raises(NothingReadableError):
        exporting.export(spark, tmp_path / "empty", tmp_path / "out")
    assert not [*(tmp_path / "out").iterdir()]


def test_an_unknown_table_or_format_is_refused(spark, tmp_path):
    with pytest.raises(UsageError, match="there is no table 'x'"):
        exporting.export(spark, SMALL, tmp_path / "out", tables=["x"])
    with pytest.raises(UsageError, match="format 'csv'"):
        exporting.export(spark, SMALL, tmp_path / "out", format="csv")
    with pytest.raises(UsageError, match="Spark lacks the library of delta"):
        exporting.export(spark, SMALL, tmp_path / "out", format="delta")


def test_evidence_is_only_read(spark, tmp_path):
    shutil.copytree(SMALL, tmp_path / "broker-1")
    with pytest.raises(UsageError, match="inside the evidence"):
        exporting.export(spark, tmp_path / "broker-1", tmp_path / "broker-1/out")
