"""Which rows hold the least and the greatest value of their group."""

from __future__ import annotations

import numpy as np

from kafkatx.kernels.distinct import distinct
from kafkatx.kernels.growing import Array
from kafkatx.kernels.ordering import ranks


def extremes(values: Array, *groups: Array) -> Array:
    """Return the places of the least and the greatest value of each group, those of the least first.

    Of alike ones the least is the first of them, the greatest the last.

    Args:
        values: one a row.
        groups: columns beside it; rows that are alike in all of them are a group, without any all rows are one.
    """
    if not len(values):
        return np.zeros(0, np.int64)
    group, count = ranks(*groups) if groups else (np.zeros(0, np.uint16), 1)
    if count == 1:
        return np.array([values.argmin(), len(values) - 1 - values[::-1].argmax()])
    least, greatest = np.full(count, values.max(), values.dtype), np.full(count, values.min(), values.dtype)
    np.minimum.at(least, group, values)
    np.maximum.at(greatest, group, values)
    firsts, lasts = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
    places = np.flatnonzero(values == least[group])[::-1]
    firsts[group[places]] = places
    places = np.flatnonzero(values == greatest[group])
    lasts[group[places]] = places
    found: Array = np.append(firsts[firsts >= 0], lasts[lasts >= 0])
    return found


class Extremes:
    """The rows of a table that are extremes, of tables that come in pieces: of each only its own extremes are kept."""

    def __init__(self, *columns: tuple[str, ...]) -> None:
        """Look for extremes of columns, each with the columns that make its groups."""
        self._columns = columns
        self._kept: list[Array] = []

    def add(self, rows: Array) -> None:
        """Look at the next rows."""
        self._kept.append(self._of(rows))

    def rows(self) -> Array:
        """Return the rows that are extremes among all, each once."""
        return self._of(np.concatenate(self._kept))

    def _of(self, rows: Array) -> Array:
        found = (extremes(rows[name], *(rows[group] for group in groups)) for name, *groups in self._columns)
        return rows[distinct(np.concatenate(list(found)))]
