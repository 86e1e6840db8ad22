"""`spark.read.format("kafkatx")`: the same rows by options alone, and a clear word where they make no sense."""

import json
from typing import Any

import pytest
from pyspark.errors import PySparkException

import kafkatx.spark
from kafkatx.spark.source import KafkatxSource, asked, paths_of
from kafkatx.terms.errors import UsageError
from tests.building import batch, segment
from tests.evidence import fixtures
from tests.spark.tables import OF_FILES, here

CASE, OTHER = fixtures() / "k39-codecs", fixtures() / "k011-legacy-formats"


@pytest.fixture
def source(spark: Any) -> Any:
    """The reader of a table, options beside."""
    kafkatx.spark.register(spark)
    return lambda table, **options: spark.read.format("kafkatx").options(table=table, **options)


@pytest.mark.parametrize("name", OF_FILES)
def test_a_table(source, name):
    found = source(name).load([str(CASE), str(OTHER)]).toArrow().combine_chunks()
    assert found == here([CASE, OTHER], name)


def test_options_narrow_it(source):
    frame = source("records", columns="record_offset, topic", topic="events", since="2026-01-01", verify_all=True)
    found = frame.load(str(CASE)).toArrow()
    assert found.schema.names == ["record_offset", "topic"]
    assert set(found["topic"].to_pylist()) == {"events"}


def test_a_topic_keeps_its_case(source, tmp_path):
    for name in ("orders-0", "Orders-0", "ORDERS-0"):
        segment(tmp_path / name, [batch(0, b"a")])
    found = source("batches", topic="Orders", columns="topic").load(str(tmp_path)).toArrow()
    assert found["topic"].to_pylist() == ["Orders"]
    found = source("batches", topic=json.dumps(["Orders", "ORDERS"]), columns="topic").load(str(tmp_path)).toArrow()
    assert sorted(found["topic"].to_pylist()) == ["ORDERS", "Orders"]


def test_captures_can_be_forced(source):
    frame = source("batches", captures=json.dumps({str(CASE): "eu"}), columns="capture").load(str(CASE))
    assert set(frame.toArrow()["capture"].to_pylist()) == {"eu"}


def test_a_schema_of_the_caller_is_kept_to(source):
    found = source("batches").schema("last_offset bigint, base_offset bigint").load(str(CASE)).toArrow()
    expected = here(CASE, "batches")
    assert found.combine_chunks() == expected.select(["last_offset", "base_offset"])
    assert found["last_offset"] != found["base_offset"]


@pytest.mark.parametrize("schema", ["base_offset int", "base_offset timestamp", "record_offset bigint"])
def test_a_schema_that_is_not_the_tables_is_refused(source, schema):
    with pytest.raises(PySparkException, match="UsageError: batches has"):
        source("batches").schema(schema).load(str(CASE)).collect()


def test_a_table_without_files_is_empty(source, tmp_path):
    assert source("batches").load(str(tmp_path)).collect() == []


def test_no_task_has_no_rows(tmp_path):
    from pyspark.sql.datasource import InputPartition

    wanted = KafkatxSource({"table": "batches", "path": str(tmp_path)})
    reader = wanted.reader(wanted.schema())
    assert reader.partitions() == []
    assert list(reader.read(InputPartition(None))) == []
    assert list(reader.read(None)) == []


def test_what_can_not_be_asked_for_is_said_by_spark_too(source):
    with pytest.raises(PySparkException, match="UsageError: there is no table 'batch'"):
        source("batch").load(str(CASE))


@pytest.mark.parametrize(
    ("options", "answer"),
    [
        ({}, "which table"),
        ({"table": "batches", "topics": "orders"}, "there is no option topics; the options are table, columns"),
        ({"table": "transactions"}, r"kafkatx.spark.read\(spark, paths, table='transactions'\)"),
        ({"table": "batches", "columns": "topic,,"}, "batches has no column ''"),
        ({"table": "batches", "verify_all": "yes"}, "write true or false"),
        ({"table": "batches", "topic": "[orders"}, "is no JSON list"),
    ],
)
def test_options_that_make_no_sense(options, answer):
    with pytest.raises(UsageError, match=answer):
        asked(options)


def test_names_of_options_have_no_case():
    assert asked({"Table": "batches", "VERIFY_ALL": "True"}).verify_all


@pytest.mark.parametrize(
    ("options", "found"), [({"path": "/a"}, ["/a"]), ({"paths": '["/a", "/b,c"]'}, ["/a", "/b,c"])]
)
def test_paths_are_one_or_a_list(options, found):
    assert paths_of(options) == found


@pytest.mark.parametrize(("options", "answer"), [({}, "load"), ({"paths": "/a"}, "no JSON list")])
def test_paths_that_are_missing(options, answer):
    with pytest.raises(UsageError, match=answer):
        paths_of(options)
