"""Which tables come sorted of the files they are told in, and whether rows do."""

from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.stages.file_tables import file_rows
from kafkatx.stages.lone_copies import TOLD_IN_ORDER, Ascent, logs_in_order
from kafkatx.stages.models import joined_evidence
from kafkatx.stages.table_files import sources
from kafkatx.tables.catalogue import TABLES
from tests.building import data_batch, segment
from tests.outputs.parquet.small import LETTERS, letters

words = st.lists(st.tuples(st.none() | st.sampled_from("ab\u00e9\U0001f600\uffff"), st.none() | st.integers(0, 2)))


def ascends(batches: list[pa.RecordBatch]) -> bool:
    ascent = Ascent(*LETTERS.key)
    return all(ascent.goes_on_with(batch) for batch in batches)


@given(st.lists(words, max_size=4))
def test_rows_ascend_if_each_is_behind_the_one_before_however_they_are_cut(parts):
    rows = [row for part in parts for row in part]
    expected = all(None not in row for row in rows) and all(one < other for one, other in pairwise(rows))
    assert ascends([letters(*part) for part in parts]) == expected


@given(words, words)
def test_sorted_rows_that_are_alike_nowhere_ascend(one, other):
    rows = sorted({row for row in (*one, *other) if None not in row})
    assert ascends([letters(*rows[: len(one)]), letters(*rows[len(one) :])])


@pytest.mark.parametrize("table", TOLD_IN_ORDER)
def test_rows_that_ascend_by_their_key_are_sorted(table):
    key, order = TABLES[table].key, TABLES[table].order.columns
    assert order[: len(key)] == key


def told(table: str, *folders: Path) -> list[tuple[object, ...]] | None:
    logs = logs_in_order(table, sources(joined_evidence([str(folder) for folder in folders])))
    if logs is None:
        return None
    return [tuple(row[name] for name in TABLES[table].key) for one in file_rows(table, logs) for row in one.to_pylist()]


LOG = [data_batch(at, 7, b"x" * 50, base_sequence=at) for at in range(6)]


@pytest.mark.parametrize("table", TOLD_IN_ORDER)
def test_partitions_and_segments_come_in_the_order_of_the_table(tmp_path, table):
    for topic, numbers in {"orders": (0, 2, 10), "b": (1,)}.items():
        for number in numbers:
            segment(tmp_path / f"{topic}-{number}", LOG[3:], f"{3:020}.log")
            segment(tmp_path / f"{topic}-{number}", LOG[:3], f"{0:020}.log")
    found = told(table, tmp_path)
    assert found is not None
    assert len(found) == 24
    assert found == sorted(found)


def test_copies_are_not_expected_to(tmp_path):
    for broker in ("broker-1", "broker-2"):
        segment(tmp_path / broker / "orders-0", LOG)
    assert told("records", tmp_path) is None
    assert told("records", tmp_path / "broker-1") is not None


def test_nor_is_a_log_in_no_folder_of_a_partition(tmp_path):
    segment(tmp_path / "somewhere", LOG)
    assert told("records", tmp_path) is None


def test_nor_are_other_tables(tmp_path):
    segment(tmp_path / "orders-0", LOG)
    assert told("markers", tmp_path) is None
