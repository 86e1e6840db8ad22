"""One row of each fact is canonical: the best copy, however the rows were cut into blocks."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.outputs.parquet.ordering import RowOrder
from kafkatx.stages.canonical import with_canonical
from kafkatx.tables.catalogue import TABLES
from kafkatx.tables.log_events import LOG_EVENTS
from kafkatx.tables.logs import BATCHES
from kafkatx.tables.offset_commits import OFFSET_COMMITS
from tests.building import batch, segment
from tests.exports import run_all_tables

COPIED = [table for table in TABLES.values() if table.identity.copies]


def canonical(table, rows, *cuts):
    """The rows that are canonical, of rows in any order that come in blocks cut at some places."""
    whole = RowOrder(table.order.columns).sort(pa.Table.from_batches([table.rows(rows)]))
    bounds = sorted({0, *(cut % (len(rows) + 1) for cut in cuts), len(rows)})
    blocks = [whole.slice(begin, end - begin) for begin, end in pairwise(bounds)]
    found = [
        pair for block, told in with_canonical(blocks, table) for pair in zip(block.to_pylist(), told, strict=True)
    ]
    assert [row for row, _ in found] == whole.to_pylist()
    return [row for row, counts in found if counts.as_py()]


def of(partition, offset, path, **more):
    return {"capture": "c", "topic": "t", "partition": partition, "base_offset": offset, "path": path, **more}


def test_of_replicas_one_row_counts_and_of_compacted_ones_the_fuller():
    rows = [of(0, 0, "a", record_count=2), of(0, 0, "b", record_count=3), of(0, 3, "a", record_count=1), of(1, 0, "b")]
    assert [(row["partition"], row["base_offset"], row["path"]) for row in canonical(BATCHES, rows)] == [
        (0, 0, "b"), (0, 3, "a"), (1, 0, "b"),
    ]  # fmt: skip


def test_of_replicas_that_diverged_the_later_leader_stands():
    rows = [of(0, 0, "a", leader_epoch=3, record_count=9), of(0, 0, "b", leader_epoch=4, record_count=1)]
    assert [row["path"] for row in canonical(BATCHES, rows)] == ["b"]


def test_captures_are_never_one():
    assert len(canonical(BATCHES, [of(0, 0, "a"), {**of(0, 0, "a"), "capture": "d"}])) == 2


def test_lines_said_twice_are_two_and_copies_of_them_are_none_more():
    rows = [
        {"capture": "c", "path": path, "event_time": 5, "text": "x", "occurrence": at, "position": at}
        for path in ("app.log", "copy.log")
        for at in (0, 1)
    ]
    assert [(row["path"], row["occurrence"]) for row in canonical(LOG_EVENTS, rows)] == [("app.log", 0), ("app.log", 1)]


def test_what_has_no_place_counts_by_itself():
    rows = [{"capture": "c", "group_id": "g", "topic": "t", "partition": 0, "path": "a", "position": n} for n in (1, 2)]
    assert len(canonical(OFFSET_COMMITS, rows)) == 2


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 3), st.integers(0, 3) | st.none(), st.sampled_from("ab"))),
    st.lists(st.integers(0, 50), max_size=4),
)
def test_each_fact_has_one_canonical_row_wherever_blocks_are_cut(told, cuts):
    rows = [of(*one[:2], one[3], record_count=one[2], position=at) for at, one in enumerate(told)]
    if rows:
        found = canonical(BATCHES, rows, *cuts)
        keys = [(row["partition"], row["base_offset"]) for row in found]
        assert sorted(keys) == sorted({(row["partition"], row["base_offset"]) for row in rows})
        for row in found:
            best = max(
                (one["record_count"] for one in rows if _same(one, row) and one["record_count"] is not None),
                default=None,
            )
            assert row["record_count"] == best
        assert found == canonical(BATCHES, rows)


def _same(one, other):
    return (one["partition"], one["base_offset"]) == (other["partition"], other["base_offset"])


@pytest.mark.parametrize("table", COPIED, ids=lambda table: table.name)
def test_canonical_rows_can_be_told_of_every_table(table):
    row = dict.fromkeys(table.schema.names)
    assert len(canonical(table, [row, row, {**row, "path": "a"}])) == 3
    assert list(with_canonical([], table)) == []


def test_an_export_counts_replicas_once(tmp_path):
    for broker in ("one", "two"):
        segment(tmp_path / "data" / broker / "orders-0", batch(0, b"a", b"b") + batch(2, b"c"))
    target = run_all_tables(tmp_path / "data", tmp_path / "tables")
    for name, rows in (("batches", 2), ("records", 3)):
        told = pq.read_table(target / name)["is_canonical"].to_numpy()
        assert (len(told), int(np.count_nonzero(told))) == (2 * rows, rows)
