"""The rows of tasks are those of this machine: whole tables, chosen rows and columns, in handy sizes."""

from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from kafkatx.evidence.joining import JoinedEvidence
from kafkatx.segments import records
from kafkatx.spark import rows
from kafkatx.spark.failures import WorkerLacksFileError
from kafkatx.spark.planning import files_of, opened_evidence, tasks_of
from kafkatx.spark.request import TIMES, request
from kafkatx.spark.rows import BYTES_AT_ONCE, ROWS_AT_ONCE, in_size, rows_of
from kafkatx.stages import table_segments
from kafkatx.tables.columns import TIME
from tests.building import batch, message, segment
from tests.evidence import fixtures
from tests.spark.tables import OF_FILES, here, in_tasks

CASE, LEGACY = fixtures() / "k39-codecs", fixtures() / "k011-legacy-formats"
GROUPS = fixtures() / "k39-eos-groups"
PAGES = sorted((fixtures() / "pages").glob("*.md"))
TIMED = sorted(TIMES.keys() & set(OF_FILES))


@cache
def evidence() -> JoinedEvidence:
    return opened_evidence([CASE, LEGACY, GROUPS, *PAGES], None)


@cache
def table(name: str) -> Any:
    return here([CASE, LEGACY, GROUPS, *PAGES], name)


@pytest.mark.parametrize("name", OF_FILES)
def test_a_table_is_the_same(name):
    assert in_tasks(evidence(), name) == table(name)


@pytest.mark.parametrize("name", OF_FILES)
def test_all_bytes_may_be_checked(name):
    assert in_tasks([CASE], request(name, verify_all=True)) == here([CASE], name, verify_all=True)


@pytest.mark.parametrize("name", OF_FILES)
def test_some_columns_are_those_of_the_table(name):
    names = table(name).column_names
    for columns in (names[::-2], names[-2::-2]):
        assert in_tasks(evidence(), request(name, columns)) == table(name).select(columns)


@pytest.mark.parametrize("name", TIMED)
def test_rows_since_a_time_are_those_that_have_it(name):
    (column,) = TIMES[name]
    times = sorted(time for time in table(name)[column].to_pylist() if time is not None)
    for since in (times[0], times[len(times) // 2], times[-1], times[-1] + timedelta(milliseconds=1)):
        since = since.replace(microsecond=since.microsecond // 1000 * 1000)
        expected = table(name).filter(pc.greater_equal(table(name)[column], pa.scalar(since, TIME)))
        assert in_tasks(evidence(), request(name, since=since)) == expected.combine_chunks()


def test_rows_of_a_topic_are_those_that_name_it():
    topics, of_files = ["events", "accounts", "orders"], ("batches", "records", "markers", "files", "producer_states")
    for name in (*of_files, "log_events", "offset_commits", "cluster_events"):
        found = in_tasks(evidence(), request(name, topic=topics))
        assert found == table(name).filter(pc.is_in(table(name)["topic"], pa.array(topics)))
        assert len(found)


def test_chosen_rows_without_the_columns_they_are_chosen_by():
    since = datetime(2020, 1, 1, tzinfo=UTC)
    found = in_tasks([CASE], request("records", ["record_offset"], topic="events", since=since))
    expected = here([CASE], "records")
    assert found == expected.filter(pc.equal(expected["topic"], "events")).select(["record_offset"]).combine_chunks()


def test_payloads_are_not_copied_where_they_are_not_wanted(monkeypatch):
    def refuse(*given: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(table_segments, "packed", refuse)
    assert in_tasks([CASE], request("records", ["record_offset", "timestamp"])).num_rows
    with pytest.raises(AssertionError):
        in_tasks([CASE], request("records", ["headers"]))


def test_batches_that_are_all_older_are_not_decompressed(tmp_path, monkeypatch):
    read = []
    walked = records.RecordWalk.chunks_of
    monkeypatch.setattr(
        records.RecordWalk, "chunks_of", lambda walk, chunk: read.extend(chunk.rows) or walked(walk, chunk)
    )
    old, new = batch(1, b"a", max_timestamp=5_000), batch(2, b"b", max_timestamp=7_000, base_timestamp=7_000)
    segment(tmp_path / "orders-0", [message(0, 1), old, new])
    assert in_tasks([tmp_path], request("records", since=6_000))["record_offset"].to_pylist() == [2]
    assert [int(row["base_offset"]) for row in read] == [0, 2]


def test_a_path_that_a_worker_does_not_have_is_told(tmp_path):
    segment(tmp_path / "data" / "orders-0", [batch(0, b"a")])
    wanted = request("batches")
    (task,) = tasks_of(wanted, files_of(wanted, opened_evidence([tmp_path / "data"], None)))
    (tmp_path / "data").rename(tmp_path / "elsewhere")
    with pytest.raises(WorkerLacksFileError, match=r"worker \S+ can't open .*: No such file"):
        list(rows_of(task))


def of_sizes(*sizes):
    for at, size in enumerate(sizes):
        yield pa.RecordBatch.from_pydict({"at": pa.array([at] * size, pa.int64())})


def test_small_batches_are_joined_and_empty_ones_dropped():
    found = list(in_size(of_sizes(10, 0, 20, ROWS_AT_ONCE - 30, 1)))
    assert [batch.num_rows for batch in found] == [ROWS_AT_ONCE, 1]
    assert list(in_size(of_sizes(0, 0))) == []


def test_large_batches_are_cut():
    found = list(in_size(of_sizes(ROWS_AT_ONCE * 3 + 1)))
    assert sum(batch.num_rows for batch in found) == ROWS_AT_ONCE * 3 + 1
    assert max(batch.num_rows for batch in found) <= ROWS_AT_ONCE


def test_rows_are_cut_by_their_bytes_and_stay_in_order(monkeypatch):
    monkeypatch.setattr(rows, "BYTES_AT_ONCE", 1000)
    values = [b"x" * size for size in (10, 2000, 10, 400, 400, 400, 10)]
    found = list(in_size([pa.RecordBatch.from_pydict({"value": values})]))
    assert [value for batch in found for value in batch["value"].to_pylist()] == values
    assert all(batch.nbytes <= 1000 or batch.num_rows == 1 for batch in found)
    assert BYTES_AT_ONCE <= 16 << 20
