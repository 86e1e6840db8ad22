"""What is asked for is checked before anything is read."""

from datetime import UTC, datetime, timedelta, timezone

import pyarrow as pa
import pytest

from kafkatx.spark.request import TIMES, milliseconds, request
from kafkatx.tables.catalogue import TABLES
from kafkatx.tables.columns import TIME
from kafkatx.terms.errors import UsageError


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ({"table": "batch"}, "there is no table 'batch'; the tables are files, batches"),
        ({"table": "batches", "columns": ["Topic"]}, "batches has no column 'Topic'; its columns are capture"),
        ({"table": "batches", "columns": []}, "batches has columns, and none is named"),
        ({"table": "settings", "since": 0}, "the rows of settings have no time"),
        ({"table": "transactions", "topic": "orders"}, "the rows of transactions are of no topic"),
        ({"table": "batches", "since": "yesterday"}, "since 'yesterday' is no time"),
    ],
)
def test_what_is_not_there_can_not_be_asked_for(asked, answer):
    with pytest.raises(UsageError, match=answer):
        request(**asked)


def test_columns_are_those_asked_for_in_their_order():
    assert request("batches", ["size", "topic", "size"]).schema.names == ["size", "topic"]
    assert request("batches", "size").schema.names == ["size"]
    assert request("batches").schema == TABLES["batches"].schema


def test_columns_of_times_are_times():
    for table, columns in TIMES.items():
        assert {TABLES[table].schema.field(name).type for name in columns} == {TIME}


def test_a_time_is_iso_or_milliseconds():
    assert milliseconds("2026-11-21T10:29:00.132Z") == 1_795_256_940_132
    assert milliseconds("1795256940132") == milliseconds(1_795_256_940_132) == 1_795_256_940_132
    assert milliseconds("20261121") == milliseconds("2026-11-21") == 1_795_219_200_000
    assert milliseconds("2026-11-21T10:29+05:30") == milliseconds("2026-11-21T04:59")
    in_india = datetime(2026, 11, 21, 10, 29, tzinfo=timezone(timedelta(hours=5.5)))
    assert milliseconds(in_india) == milliseconds(datetime(2026, 11, 21, 4, 59)) == milliseconds("2026-11-21T04:59")


def test_rows_are_chosen_by_the_latest_of_their_times():
    given = pa.RecordBatch.from_pydict(
        {
            "valid_from": pa.array([1000, 1000, None, None, 3000], pa.int64())
            .cast(pa.timestamp("ms", tz="UTC"))
            .cast(TIME),
            "valid_to": pa.array([1500, 2000, 2500, None, None], pa.int64())
            .cast(pa.timestamp("ms", tz="UTC"))
            .cast(TIME),
            "id": list("abcde"),
        }
    )
    assert request("findings", since=2000).chosen(given)["id"].to_pylist() == ["b", "c", "e"]
    assert request("findings").chosen(given) is given


@pytest.mark.parametrize(("since", "kept"), [(-1, 1), (0, 1), (253_402_300_800_000, 0), (1 << 70, 0)])
def test_times_that_no_calendar_has_choose_all_or_none(since, kept):
    given = pa.RecordBatch.from_pydict({"timestamp": pa.array([datetime(2026, 11, 21, tzinfo=UTC)], TIME)})
    assert request("records", since=since).chosen(given).num_rows == kept


def test_events_of_a_log_are_chosen_by_the_topic_of_each():
    given = pa.RecordBatch.from_pydict({"topic": ["orders", None, "Orders"]})
    assert request("log_events", topic="orders").chosen(given)["topic"].to_pylist() == ["orders"]
    assert request("log_events", topic=["orders", "Orders"]).chosen(given).num_rows == 2
