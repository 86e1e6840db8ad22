"""The files of a table: row groups of their size, statistics to skip by, no trace of when or how they were written."""

import hashlib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafkatx.stages.parquet_parts import Sizes, row_groups, write_parts
from kafkatx.tables.catalogue import TABLES
from kafkatx.tables.logs import BATCHES
from kafkatx.terms.errors import OutputError
from tests.outputs.parquet.small import COUNTS, LETTERS, counts, letters


def blocks(*sizes):
    first = 0
    for size in sizes:
        yield pa.Table.from_batches([counts(range(first, first + size))])
        first += size


def test_row_groups_have_their_size_however_the_blocks_were_cut():
    groups = list(row_groups(blocks(3, 25, 0, 1, 2), Sizes(group_rows=10)))
    assert [group.num_rows for group in groups] == [10, 10, 10, 1]
    assert [number for group in groups for number in group.column("number").to_pylist()] == list(range(31))
    assert all(group.column("number").num_chunks == 1 for group in groups)


def test_large_values_make_row_groups_of_few_rows():
    tables = (pa.Table.from_batches([letters(("a", n), payload=bytes(1000))]) for n in range(10))
    assert [group.num_rows for group in row_groups(tables, Sizes(group_bytes=4000))] == [4, 4, 2]


def test_a_large_table_is_several_files_each_complete(tmp_path):
    told = []
    parts = write_parts(blocks(*[10] * 6), COUNTS, tmp_path, Sizes(group_rows=10, file_bytes=300), told.append)
    assert told == [10] * 6
    assert [part.name for part in parts] == sorted(path.name for path in tmp_path.iterdir())
    assert len(parts) > 1
    assert sum(part.rows for part in parts) == 60
    for part in parts:
        data = (tmp_path / part.name).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (part.bytes, part.sha256)
        assert pq.read_table(tmp_path / part.name).num_rows == part.rows
    assert pq.read_table(tmp_path).column("number").to_pylist() == list(range(60))


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_an_empty_table_is_one_file_with_its_schema(table, tmp_path):
    (part,) = write_parts([], table, tmp_path)
    assert (part.name, part.rows) == ("part-00000.parquet", 0)
    assert pq.read_table(tmp_path / part.name).schema == table.schema


def test_a_file_says_how_it_is_sorted_and_lets_pages_be_skipped(tmp_path):
    batch = BATCHES.batch(2, {"topic": "orders", "partition": 0, "base_offset": pa.array([1, 2])})
    write_parts([pa.Table.from_batches([batch])], BATCHES, tmp_path)
    group = pq.read_metadata(tmp_path / "part-00000.parquet").row_group(0)
    paths = [group.column(number).path_in_schema for number in range(group.num_columns)]
    assert tuple(paths[one.column_index] for one in group.sorting_columns) == BATCHES.order.columns
    assert not [one for one in group.sorting_columns if one.descending or one.nulls_first]
    assert all(group.column(number).has_offset_index and group.column(number).has_column_index for number in range(3))
    assert {group.column(number).compression for number in range(group.num_columns)} == {"ZSTD"}


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_sorting_columns_are_named_right_behind_nested_ones(table, tmp_path):
    row = dict.fromkeys((column.name for column in table.columns), None)
    write_parts([pa.Table.from_batches([table.rows([row])])], table, tmp_path)
    group = pq.read_metadata(tmp_path / "part-00000.parquet").row_group(0)
    sorted_by = [group.column(one.column_index).path_in_schema for one in group.sorting_columns]
    assert tuple(sorted_by) == table.order.columns


def test_a_filter_on_what_a_table_is_sorted_by_leaves_one_row_group(tmp_path):
    tables = (pa.Table.from_batches([letters(*[(word, n) for n in range(8)])]) for word in "abcd")
    write_parts(tables, LETTERS, tmp_path, Sizes(group_rows=8))
    (fragment,) = pq.ParquetDataset(tmp_path).fragments
    left = fragment.subset(pa.compute.field("word") == "c")
    assert (fragment.num_row_groups, left.num_row_groups) == (4, 1)


def test_the_same_rows_give_the_same_bytes_however_they_came(tmp_path):
    for name, sizes in (("one", (100,)), ("other", (1, 39, 60))):
        (tmp_path / name).mkdir()
        write_parts(blocks(*sizes), COUNTS, tmp_path / name, Sizes(group_rows=30))
    one, other = ((tmp_path / name / "part-00000.parquet").read_bytes() for name in ("one", "other"))
    assert one == other


def test_a_folder_that_takes_no_file_is_an_error_of_the_output(tmp_path):
    with pytest.raises(OutputError, match=r"part-00000\.parquet could not be written"):
        write_parts(blocks(1), COUNTS, tmp_path / "none")
