"""Orders of rows by groups of which there are few: what is sorted are small numbers, which takes time by rows alone."""

from __future__ import annotations

import numpy as np

from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.growing import Array

MOST_GROUPS = 1 << 16
"""numpy sorts numbers of 16 bits by counting them."""


def ranks(*columns: Array) -> tuple[Array, int]:
    """Return the rank of each row among those of `columns`, the last column first; and how many ranks there are.

    Some may have no row. They are as wide as they have to be, so that few groups can be sorted by counting.
    """
    found, groups = np.zeros(len(columns[0]), np.int64), 1
    for given in reversed(columns):
        column = np.ascontiguousarray(given)
        if not len(column) or column.min() == column.max():
            continue
        place, count = _places(column)
        found = found * count + place
        groups *= count
        if groups > 2 * len(found):  # not all of them are there
            present = distinct(found)
            found, groups = np.searchsorted(present, found), len(present)
    return found.astype(np.uint16 if groups <= MOST_GROUPS else np.int64), groups


def _places(column: Array) -> tuple[Array, int]:
    """The place of each value among those that lie near each other, else among the distinct ones."""
    least, greatest = int(column.min()), int(column.max())
    if greatest - least < MOST_GROUPS:
        return column.astype(np.int64) - least, greatest - least + 1
    values = distinct(column)
    return np.searchsorted(values, column), len(values)


def places_among(values: Array, column: Array) -> Array:
    """Return the place of each of `column` among ascending `values` of its type, -1 of one that is not there."""
    if not len(values):
        return np.full(len(column), -1)
    least, greatest = int(values[0]), int(values[-1])
    if greatest - least < MOST_GROUPS:
        table = np.full(greatest - least + 2, -1, np.int32)
        table[values - least] = np.arange(len(values))
        is_near = (column >= least) & (column <= greatest)
        return table[np.where(is_near, column - least, len(table) - 1)]
    found = np.searchsorted(values, column).clip(max=len(values) - 1)
    return np.where(values[found] == column, found, -1)


def order_of(*columns: Array) -> Array:
    """Return the order of rows by columns, the last column first; rows that are alike stay in order (np.lexsort)."""
    found: Array = np.argsort(ranks(*columns)[0], kind="stable")
    return found
