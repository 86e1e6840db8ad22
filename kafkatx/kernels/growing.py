"""Arrays that grow by doubling: room for rows that a fold yields, without a Python object a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = Any
"""A numpy array, most often of rows. numpy's types know no fields: each expression over them fits every overload, and
to try them all took mypy 135 s of 144.
"""


LARGE_BYTES = 1 << 20
"""A table above this grows by an eighth: the system clears each page of room, be it used or not, and moves it for next
to nothing."""


class Growing:
    """A structured array with room behind its filled part."""

    def __init__(self, dtype: np.dtype[Any], room: int = 256) -> None:
        self.rows: Array = np.zeros(room, dtype)
        self.filled = 0

    def make_room(self, rows: int = 1) -> None:
        """Have room for at least `rows` more rows."""
        if self.filled + rows > len(self.rows):
            # No view of the rows outlives a call, so the block may move; large ones are remapped, not copied.
            more = len(self.rows) // 8 if self.rows.nbytes > LARGE_BYTES else len(self.rows)
            self.rows.resize(max(len(self.rows) + more, self.filled + rows), refcheck=False)

    def done(self) -> Array:
        """Return the filled part; the room behind it is given back."""
        self.rows.resize(self.filled, refcheck=False)
        return self.rows


def with_length(array: Array, length: int, fill: Any = None) -> Array:
    """Return `array` grown to at least `length` rows (doubling); new rows are zero, or `fill`."""
    if len(array) >= length:
        return array
    grown = np.zeros(max(2 * len(array), length), array.dtype)
    if fill is not None:
        grown[:] = fill
    grown[: len(array)] = array
    return grown


def joined(parts: Sequence[Array]) -> Array:
    """Return rows of one type one after the other: copied whole, where numpy would copy them column by column."""
    whole = np.dtype(("V", parts[0].dtype.itemsize))
    found: Array = np.concatenate([part.view(whole) for part in parts])
    return found.view(parts[0].dtype)


def chosen(rows: Array, which: Array) -> Array:
    """Return the rows that a mask, or their numbers, name: copied whole, as `joined` does."""
    found: Array = rows.view(np.dtype(("V", rows.dtype.itemsize)))[which]
    return found.view(rows.dtype)
