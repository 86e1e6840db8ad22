"""Conditions on rows: what Spark pushes down is taken over whole, or not at all."""

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import datasource as spark

from kafkatx.spark.conditions import Condition, chosen, of_filter
from kafkatx.spark.request import request
from kafkatx.tables.catalogue import TABLES
from kafkatx.tables.columns import TIME

SCHEMA = TABLES["records"].schema
IDS = [-5, 0, 7, None, 8, 7]
HOW: dict[str, Any] = {
    "GreaterThan": lambda one, other: one > other,
    "GreaterThanOrEqual": lambda one, other: one >= other,
    "LessThan": lambda one, other: one < other,
    "LessThanOrEqual": lambda one, other: one <= other,
    "EqualTo": lambda one, other: one == other,
    "EqualNullSafe": lambda one, other: one == other,
}


def rows(ids: list[int | None]) -> Any:
    return pa.RecordBatch.from_pydict({"producer_id": pa.array(ids, pa.int64())})


@given(st.lists(st.none() | st.integers(-3, 3)), st.integers(-3, 3), st.sampled_from(sorted(HOW)))
def test_what_is_compared_is_what_is_left(ids, value, name):
    condition = of_filter(getattr(spark, name)(("producer_id",), value), SCHEMA)
    assert condition is not None
    kept = chosen(rows(ids), [condition])["producer_id"].to_pylist()
    assert kept == [one for one in ids if one is not None and HOW[name](one, value)]


def test_lists_and_absence():
    pushed = [spark.In(("producer_id",), (7, None)), spark.IsNotNull(("producer_id",)), spark.IsNull(("producer_id",))]
    found = [chosen(rows(IDS), [of_filter(one, SCHEMA)])["producer_id"].to_pylist() for one in pushed]
    assert found == [[7, 7], [-5, 0, 7, 8, 7], [None]]


def test_all_conditions_are_met():
    kept = chosen(rows(IDS), [Condition("producer_id", ">", (0,)), Condition("producer_id", "<", (8,))])
    assert kept["producer_id"].to_pylist() == [7, 7]


@pytest.mark.parametrize(
    "pushed",
    [
        spark.Not(spark.EqualTo(("topic",), "a")),
        spark.StringStartsWith(("topic",), "a"),
        spark.EqualTo(("record_offset",), 4),
        spark.EqualTo(("headers", "key"), "a"),
        spark.EqualTo(("producer_id",), True),
        spark.EqualTo(("producer_id",), 1 << 70),
        spark.EqualTo(("topic",), 5),
        spark.EqualNullSafe(("topic",), None),
        spark.GreaterThan(("timestamp",), datetime(2026, 11, 21)),
        spark.In(("partition",), (1, "2")),
    ],
)
def test_what_is_not_tested_here_is_left_to_spark(pushed):
    assert of_filter(pushed, SCHEMA) is None


def test_a_time_that_is_pushed_down_trusts_no_header():
    later = spark.GreaterThan(("timestamp",), datetime(2026, 11, 21, 10, 0, 0, 1500, UTC))
    found = request("records", ["record_offset"]).where([of_filter(later, SCHEMA)])
    assert found.since is None
    assert "timestamp" in found.wanted
    times = pa.array([1_795_255_200_001_500, 1_795_255_200_001_501, None], TIME)
    assert found.chosen(pa.RecordBatch.from_pydict({"timestamp": times})).num_rows == 1


def test_files_of_other_partitions_are_not_read():
    wanted = request("batches", partition=[1, "2"], topic="orders")
    assert [wanted.has_file(*place) for place in (("orders", 2), ("orders", 3), ("other", 1), ("orders", None))] == [
        True,
        False,
        False,
        False,
    ]
    assert request("log_events", partition=1).has_file(None, None)
    unknown = request("batches").where([Condition("topic", "unknown")])
    assert (unknown.has_file(None, 0), unknown.has_file("orders", 0)) == (True, False)
