"""Python compares keys as Arrow sorts rows, and tables are cut without losing a row."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.outputs.parquet.ordering import RowOrder, pieces
from tests.outputs.parquet.small import LETTERS, letters

ORDER = RowOrder(("word", "number", "at"))
words = st.none() | st.text(max_size=3)
numbers = st.none() | st.integers(-3, 3)
times = st.none() | st.integers(0, 2**40)


def table(rows):
    return pa.Table.from_batches(
        [LETTERS.rows([dict(zip(("word", "number", "at"), row, strict=True)) for row in rows])], LETTERS.schema
    )


@given(st.lists(st.tuples(words, numbers, times), max_size=20))
def test_keys_ascend_where_arrow_has_sorted(rows):
    keys = list(ORDER.keys(ORDER.sort(table(rows))))
    assert keys == sorted(keys)


def test_null_comes_last_and_text_by_its_bytes():
    found = RowOrder(("word",)).sort(table([(None, 1, 1), ("\U0001f600", 1, 1), ("\uffee", 1, 1), ("z", 1, 1)]))
    assert found.column("word").to_pylist() == ["z", "\uffee", "\U0001f600", None]


def test_equal_rows_keep_their_order():
    found = RowOrder(("word",)).sort(pa.Table.from_batches([letters(("b", 1), ("a", 2), ("b", 3), ("a", 4))]))
    assert found.column("number").to_pylist() == [2, 4, 1, 3]


def test_rows_below_a_key_are_counted_with_and_without_their_equals():
    keys = RowOrder(("number",)).keys(pa.Table.from_batches([letters(("a", 1), ("a", 2), ("a", 2), ("a", None))]))
    two = ((False, 2),)
    assert (keys.rows_below(two, inclusive=False), keys.rows_below(two, inclusive=True)) == (1, 3)
    assert keys.rows_below(((True,),), inclusive=True) == 4


@given(st.lists(st.integers(0, 40), max_size=30), st.integers(1, 7), st.integers(1, 60))
def test_pieces_are_all_rows_and_none_too_large(sizes, rows, size):
    whole = pa.table({"payload": pa.array([bytes(length) for length in sizes], pa.binary())})
    found = list(pieces(whole, rows, size))
    assert [value for piece in found for value in piece.column("payload").to_pylist()] == [bytes(n) for n in sizes]
    assert all(1 <= piece.num_rows <= rows for piece in found)
    assert all(piece.num_rows == 1 or piece.nbytes <= size for piece in found)
