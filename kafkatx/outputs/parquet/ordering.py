"""An order of rows by columns, as Arrow sorts and as Python compares: ascending, null last, text by its bytes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kafkatx.terms.records import dataclass

Key = tuple[tuple[Any, ...], ...]
"""What a row is compared by: for each column (False, value), or (True,) for null."""


@dataclass(frozen=True, slots=True)
class RowOrder:
    """The order of some columns."""

    columns: tuple[str, ...]

    def sort(self, table: Any) -> Any:
        """Return the rows in order; rows that are equal keep theirs. Arrow puts null last unless told otherwise.

        Rows come from files in the order of their offsets, so mostly they are in order already.
        """
        whole = table.combine_chunks()
        if self._is_kept_by(whole):
            return whole
        keys = [(name, "ascending") for name in self.columns]
        return whole.take(pc.sort_indices(whole, sort_keys=keys))

    def _is_kept_by(self, whole: Any) -> bool:
        """Whether no row of a table comes before the one above it."""
        rows = whole.num_rows
        alike = np.ones(max(rows - 1, 0), bool)
        for name in self.columns:
            if not alike.any():
                return True
            column = whole.column(name)
            upper, lower = column.slice(0, rows - 1), column.slice(1)
            if (alike & _holds(pc.less(lower, upper), lower.is_valid(), upper.is_null())).any():
                return False
            alike &= _holds(pc.equal(lower, upper), lower.is_null(), upper.is_null())
        return True

    def keys(self, table: Any) -> Keys:
        """Return what the rows of a table are compared by."""
        return Keys([_comparable(table.column(name)) for name in self.columns], table.num_rows)


class Keys(Sequence[Key]):
    """The keys of the rows of a table, each made when it is asked for."""

    def __init__(self, columns: list[Any], length: int) -> None:
        self._columns, self._length = columns, length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, row: Any) -> Any:
        values = (column[row].as_py() for column in self._columns)
        return tuple((True,) if value is None else (False, value) for value in values)

    def rows_below(self, bound: Key, inclusive: bool) -> int:
        """How many rows come before a key, or up to it if `inclusive`; the rows are in order."""
        return (bisect_right if inclusive else bisect_left)(self, bound)


def _holds(compared: Any, lower: Any, upper: Any) -> Any:
    """What was found of two columns, and where one of them is null: whether both of these hold."""
    found = compared.to_numpy()
    if compared.null_count:
        found = pc.fill_null(compared, False).to_numpy() | (lower.to_numpy() & upper.to_numpy())
    return found


def _comparable(column: Any) -> Any:
    """The column with values that Python compares as Arrow does: times as numbers."""
    return column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column


def pieces(table: Any, rows: int, size: int) -> Iterator[Any]:
    """Cut a table to pieces of at most `rows` rows and, where a single row is not larger, `size` bytes."""
    for first in range(0, table.num_rows, rows):
        yield from _halved(table.slice(first, rows), size)


def _halved(table: Any, size: int) -> Iterator[Any]:
    if table.num_rows < 2 or table.nbytes <= size:
        yield table
        return
    half = table.num_rows // 2
    yield from _halved(table.slice(0, half), size)
    yield from _halved(table.slice(half), size)
