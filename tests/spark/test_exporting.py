"""An export by Spark holds what this machine reads, is diagnosed like one of its own, and goes on where it ended."""

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest

import kafkatx
import kafkatx.spark
from kafkatx.local.diagnosis import diagnose
from kafkatx.outputs.diagnosis_json import document
from kafkatx.spark import exporting
from kafkatx.spark.diagnosis import diagnose as diagnose_on
from kafkatx.spark.export_steps import TOLD
from kafkatx.spark.failures import SparkFailedError
from kafkatx.spark.writing_session import FOR_WRITING
from kafkatx.stages.canonical import canonical_rows
from kafkatx.stages.exported_rows import CLUSTER, DAY
from kafkatx.stages.file_tables import FILE_TABLES
from kafkatx.tables.catalogue import EXPORTED, TABLES
from kafkatx.tables.exported import EXPORTED_AT, IS_CANONICAL, RUN_ID, plain_schema
from kafkatx.terms.errors import NothingReadableError, UsageError
from tests.evidence import fixtures
from tests.exports import exported

CASES = [fixtures() / name for name in ("c3-stuck-prepare", "k011-legacy-formats", "k33-mixed")]
SMALL = fixtures() / "k39-fenced/broker-1"


@pytest.fixture(scope="module")
def target(spark, tmp_path_factory) -> Path:
    """Export some cases: of three brokers with replicas, of old formats, of a cluster of two releases with logs."""
    folder = tmp_path_factory.mktemp("exported") / "export"
    exporting.export(spark, CASES, folder)
    return folder


def rows_of(table: Any) -> Counter[str]:
    return Counter(json.dumps(row, default=repr, sort_keys=True) for row in table.to_pylist())


def read(target: Path, name: str) -> Any:
    return ds.dataset(target / name, partitioning=None).to_table()


@pytest.mark.parametrize("name", TABLES)
def test_a_table_holds_the_rows_that_this_machine_reads(target, name):
    table = EXPORTED[name]
    here = pa.Table.from_batches(kafkatx.open([str(case) for case in CASES]).table(name), table.schema)
    here = here.combine_chunks().sort_by([(column, "ascending") for column in table.order.columns])
    found = read(target, name)
    assert found.schema.remove_metadata().names == plain_schema(table).names
    assert [one.type for one in found.schema] == [one.type for one in plain_schema(table)]
    canonical = canonical_rows(here.combine_chunks(), table) if table.identity.copies else [True] * here.num_rows
    here = here.append_column(IS_CANONICAL, pa.array(canonical, pa.bool_()))
    assert rows_of(found.select(here.column_names)) == rows_of(here)


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
    first = exporting.export(spark, SMALL, tmp_path / "out", tables=["markers"])
    again = exporting.export(spark, SMALL, tmp_path / "out", tables=["markers"])
    assert (first.is_new, again.is_new) == (True, False)
    before = read(tmp_path / "out", "markers").num_rows
    more = exporting.export(spark, SMALL, tmp_path / "out", tables=["markers"], verify_all=True)
    assert len(more.manifest.runs) == 2
    assert read(tmp_path / "out", "markers").num_rows == 2 * before


def test_what_is_laid_otherwise_is_not_added_to(spark, tmp_path):
    exported([SMALL], tmp_path / "out")
    with pytest.raises(UsageError, match="is an export that is laid otherwise"):
        exporting.export(spark, SMALL, tmp_path / "out")


def test_a_run_that_was_cut_short_goes_on_behind_what_is_there(spark, tmp_path, monkeypatch):
    write, written = exporting.write_files, []

    def then_killed(frame, store, folder):
        write(frame, store, folder)
        written.append(folder)
        if len(written) == 2:
            raise KeyboardInterrupt

    tables = ["markers", "batches", "transactions"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exporting, "write_files", then_killed)
        with pytest.raises(KeyboardInterrupt):
            exporting.export(spark, SMALL, tmp_path / "out", tables=tables)
    assert not (tmp_path / "out/_kafkatx.json").exists()
    monkeypatch.setattr(exporting, "tasks_of_export", None)
    monkeypatch.setattr(exporting, "exported_on", None)
    ended = exporting.export(spark, SMALL, tmp_path / "out", tables=tables)
    assert set(ended.taken_over) == {"batches", "markers"}
    assert not [*(tmp_path / "out").glob("_stage-*")]
    for name in tables:
        here = pa.Table.from_batches(kafkatx.open(str(SMALL)).table(name), TABLES[name].schema)
        assert rows_of(read(tmp_path / "out", name).select(here.column_names)) == rows_of(here)


def test_rows_that_are_missing_in_the_end_are_no_export(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(exporting, "sums", fewer)
    with pytest.raises(SparkFailedError, match=r"rows of \w+ are in"):
        exporting.export(spark, SMALL, tmp_path / "out", tables=["markers"])
    assert not (tmp_path / "out/_kafkatx.json").exists()


def fewer(paths):
    from kafkatx.spark.export_steps import sums

    return [(max(rows - 1, 0), size, digest) for rows, size, digest in sums(paths)]


def test_facts_that_changed_are_refused_by_their_sum_with_the_name_of_the_file(spark, tmp_path):
    exporting.export(spark, SMALL, tmp_path / "out", tables=[])
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


def test_the_session_that_was_given_is_as_it_was(spark, tmp_path):
    settings = dict(FOR_WRITING)
    before = {name: spark.conf.get(name, None) for name in settings}
    exporting.export(spark, SMALL, tmp_path / "out", tables=["markers"])
    assert {name: spark.conf.get(name, None) for name in settings} == before
    assert type(spark).getActiveSession() is spark


def test_evidence_is_only_read(spark, tmp_path):
    shutil.copytree(SMALL, tmp_path / "broker-1")
    with pytest.raises(UsageError, match="inside the evidence"):
        exporting.export(spark, tmp_path / "broker-1", tmp_path / "broker-1/out")
