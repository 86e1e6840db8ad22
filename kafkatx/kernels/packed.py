"""Rows that wait are held in few bytes: of each column what it differs by from the least value of some thousand rows.

Offsets and times of neighbours lie near each other, most other columns say the same in all rows of a partition.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kafkatx.kernels.growing import Array
from kafkatx.terms.records import dataclass

ROWS_OF_A_BASE = 4_096
ABSENT = -1
"""What kernels write where there is nothing (kernels/rows.py); among large numbers it would widen a column."""
LARGEST_STEP = 1 << 62
"""Columns whose values lie farther apart are held as they are."""


@dataclass(frozen=True, slots=True)
class _Column:
    """One column: `bases`, a value for each ROWS_OF_A_BASE rows, and `steps` above it (None: all 0).

    Where absence is told apart step 0 is ABSENT, and others are one more than they are.
    """

    bases: Array
    steps: Array | None
    has_absent: bool

    def of(self, rows: Array) -> Array:
        """Values of rows, as int64."""
        values = self.bases[rows // ROWS_OF_A_BASE]
        if self.steps is None:
            return values
        steps = self.steps[rows]
        values = values + steps
        return np.where(steps == 0, ABSENT, values - 1) if self.has_absent else values

    @property
    def nbytes(self) -> int:
        return int(self.bases.nbytes + (0 if self.steps is None else self.steps.nbytes))


class PackedRows:
    """A structured array of integers as it was, in fewer bytes."""

    def __init__(self, rows: Array) -> None:
        self.dtype: np.dtype[Any] = rows.dtype
        self._length = len(rows)
        self._columns = {name: _packed(rows[name].astype(np.int64)) for name in rows.dtype.names or ()}

    def __len__(self) -> int:
        return self._length

    @property
    def nbytes(self) -> int:
        """Bytes of what is held."""
        return sum(column.nbytes for column in self._columns.values())

    def take(self, rows: Array | None = None) -> Array:
        """Return rows by their numbers; None for all."""
        rows = np.arange(self._length) if rows is None else rows
        found = np.empty(len(rows), self.dtype)
        for first in range(0, len(rows), ROWS_OF_A_BASE):
            some = slice(first, first + ROWS_OF_A_BASE)
            for name, column in self._columns.items():
                found[name][some] = column.of(rows[some])
        return found


def _packed(values: Array) -> _Column:
    """Steps above the least value of each stretch that is there, in as few bytes as the greatest of them takes."""
    begins = np.arange(0, len(values), ROWS_OF_A_BASE)
    least, greatest = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    if greatest - least >= LARGEST_STEP:
        return _Column(np.zeros(len(begins), np.int64), values, False)
    has_absent = least == ABSENT < greatest
    known = np.where(values == ABSENT, greatest, values) if has_absent else values
    bases = np.minimum.reduceat(known, begins) if len(values) else values
    steps = values - np.repeat(bases, np.diff(np.append(begins, len(values))))
    if has_absent:
        steps = np.where(values == ABSENT, 0, steps + 1)
    highest = int(steps.max(initial=0))
    return _Column(bases, steps.astype(_type_of(highest)) if highest else None, has_absent and highest > 0)


def _type_of(highest: int) -> np.dtype[Any]:
    """The smallest type for numbers up to one; of eight bytes a signed one, which numpy adds to others of its kind."""
    smallest = np.min_scalar_type(highest)
    return smallest if smallest.itemsize < np.dtype(np.int64).itemsize else np.dtype(np.int64)
