"""A stream in order: equal to sorting it whole, however little memory there is; nothing is left on disk."""

import os

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kafkatx.outputs.parquet.ordering import RowOrder
from kafkatx.outputs.parquet.runs import SortRoom
from kafkatx.outputs.parquet.sorting import in_order
from kafkatx.terms.errors import OutputError
from tests.outputs.parquet.small import LETTERS, letters

ORDER = RowOrder(LETTERS.order.columns)
TINY = SortRoom(held=200, block=60, merged=120, block_rows=3)
rows = st.lists(st.tuples(st.none() | st.sampled_from("abc"), st.none() | st.integers(0, 3)), max_size=12)


def sorted_by_parts(batches, folder, room=TINY):
    return pa.concat_tables(
        [LETTERS.schema.empty_table(), *in_order(iter(batches), LETTERS.schema, ORDER, folder, room)]
    ).combine_chunks()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(rows, max_size=12))
def test_it_equals_sorting_the_whole_whatever_the_memory(tmp_path, parts):
    batches = [letters(*part) for part in parts]
    expected = ORDER.sort(pa.Table.from_batches(batches, LETTERS.schema))
    assert sorted_by_parts(batches, tmp_path) == expected
    assert not list(tmp_path.iterdir())


def test_what_fits_into_memory_never_touches_the_disk(tmp_path):
    assert sorted_by_parts([letters(("b", 1), ("a", 1))], tmp_path / "none", SortRoom()).num_rows == 2


def test_a_stream_that_comes_in_order_is_one_run(tmp_path):
    seen = []
    for block in in_order((letters(("a", n), ("a", n)) for n in range(50)), LETTERS.schema, ORDER, tmp_path, TINY):
        seen += [(len(list(tmp_path.iterdir())), number) for number in block.column("number").to_pylist()]
    assert seen == [(1, n) for n in range(50) for _ in range(2)]


def test_blocks_are_small_but_for_a_single_large_row(tmp_path):
    batches = [letters(("b", 1), payload=bytes(1000)), *(letters(("a", n), ("c", -n)) for n in range(20))]
    blocks = list(in_order(iter(batches), LETTERS.schema, ORDER, tmp_path, TINY))
    assert [block.num_rows for block in blocks if block.nbytes > TINY.block] == [1]
    assert sum(block.num_rows for block in blocks) == 41


def test_batches_without_rows_are_nothing(tmp_path):
    empty = LETTERS.batch(0, {})
    assert sorted_by_parts([empty, letters(("a", 1)), empty], tmp_path).num_rows == 1
    assert sorted_by_parts([empty], tmp_path).num_rows == 0
    assert sorted_by_parts([], tmp_path).num_rows == 0


def test_a_disk_that_takes_no_runs_is_an_error_of_the_output(tmp_path):
    with pytest.raises(OutputError, match=f"run-000000.arrow could not be written: {os.strerror(2)}"):
        sorted_by_parts([letters(*[("a", 1)] * 9)] * 2, tmp_path / "none")
