"""`spark.read.format("kafkatx")`: the same rows by options alone, and a clear word where they make no sense."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from pyspark.errors import PySparkException

import kafkatx.spark
from kafkatx.spark.request import OF_ALL_FILES
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


@pytest.mark.parametrize("name", OF_ALL_FILES)
def test_a_table_that_follows_from_all_files(source, name):
    given = [fixtures() / "k39-hanging", OTHER]
    found, expected = source(name).load(list(map(str, given))).toArrow().combine_chunks(), here(given, name)
    assert found.schema == expected.schema
    assert sorted(map(repr, found.to_pylist())) == sorted(map(repr, expected.to_pylist()))
    assert found.num_rows or name == "not_checkable"


def test_a_large_file_is_many_tasks(source, tmp_path):
    segment(tmp_path / "orders-0", [batch(number, b"a" * 50) for number in range(40)])
    wanted = KafkatxSource({"table": "batches", "path": str(tmp_path), "stretch_bytes": "500"})
    planned = wanted.reader(wanted.schema()).partitions()
    assert len(planned[0].value.sources) > 5
    found = source("batches", columns="base_offset", stretch_bytes=500).load(str(tmp_path))
    assert found.toArrow()["base_offset"].to_pylist() == [*range(40)]


def test_files_are_listed_when_an_action_runs(source, tmp_path):
    segment(tmp_path / "orders-0", [batch(0, b"a")])
    frame = source("batches", columns="base_offset").load(str(tmp_path))
    segment(tmp_path / "orders-1", [batch(0, b"a")])
    assert frame.count() == 2


@pytest.fixture(params=["true", "false"])
def pushing(spark, request):
    """Whether Spark pushes filters down; there is the same answer."""
    name = "spark.sql.python.filterPushdown.enabled"
    before = spark.conf.get(name, "false")
    spark.conf.set(name, request.param)
    yield request.param == "true"
    spark.conf.set(name, before)


TEN = datetime(2026, 11, 21, 10, tzinfo=UTC)
FILTERS: dict[str, Callable[[Any], bool]] = {
    "topic = 'events' AND partition IN (0, 1)": lambda row: row["topic"] == "events" and row["partition"] in (0, 1),
    "timestamp >= '2026-11-21T10:00:00Z' AND producer_id > 0 AND record_offset < 20": lambda row: (
        row["timestamp"] >= TEN and (row["producer_id"] or 0) > 0 and row["record_offset"] < 20
    ),
    "topic <> 'events' OR partition = 1": lambda row: row["topic"] != "events" or row["partition"] == 1,
    "topic <=> 'accounts' AND timestamp IS NOT NULL": lambda row: row["topic"] == "accounts",
}


def test_filters_choose_the_same_rows_pushed_down_or_not(source, pushing):
    names = ["topic", "partition", "record_offset", "timestamp", "producer_id"]
    rows = here(CASE, "records").select(names).to_pylist()
    for text, is_met in FILTERS.items():
        frame = source("records", columns=",".join(names)).load(str(CASE)).where(text)
        plan = frame._jdf.queryExecution().executedPlan().toString()
        assert frame.toArrow().to_pylist() == [row for row in rows if is_met(row)]
        is_taken = pushing and " OR " not in text and "record_offset" not in text
        assert (" Filter (" not in plan) == is_taken


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
        ({"table": "transactions", "topic": "orders"}, "the rows of transactions are of no topic"),
        ({"table": "batches", "transactional_id": "a"}, "the rows of batches have no transactional_id: leave it out"),
        ({"table": "batches", "partition": "first"}, "partition 'first' is none: write one, or a list"),
        ({"table": "settings", "until": "5"}, "the rows of settings have no time: leave until out"),
        ({"table": "batches", "until": "tomorrow"}, "until 'tomorrow' is no time"),
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
