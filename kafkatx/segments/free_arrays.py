"""Arrays that are used again as soon as nobody looks at them: new memory costs as much as what is written to it."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


KEPT_ARRAYS, KEPT_OWNERS = 3, 4
"""What is left for the next one when an object of this kind goes: so many arrays of each, of so many of one size."""
_left: dict[int, list[list[Array]]] = {}


class FreeArrays:
    """Gives out arrays of bytes of one size. Whoever holds a view of one (Arrow's buffers are views) keeps it.

    The system clears each page before it gives it: of a segment of 150 MiB without compression that took as long as
    half of its records. So arrays may outlive this object, for the next one that wants their size (few are wanted).
    """

    def __init__(self, size: int, is_lasting: bool = False) -> None:
        """Prepare arrays of `size` bytes; lasting ones outlive this object."""
        self.size = size
        self._made: list[Array] = []
        self._is_lasting = is_lasting
        if is_lasting:
            with suppress(KeyError, IndexError):
                self._made = _left[size].pop()

    def __del__(
        self, left: dict[int, list[list[Array]]] = _left, most: tuple[int, int] = (KEPT_ARRAYS, KEPT_OWNERS)
    ) -> None:
        """Leave some for the next one, whoever still holds them; while Python ends, its modules are empty already."""
        if self._is_lasting and self._made:
            of_size = left.setdefault(self.size, [])
            if len(of_size) < most[1]:
                of_size.append(self._made[: most[0]])

    def take(self) -> Array:
        """One that nobody holds."""
        for index in range(len(self._made)):
            if self._holders(index) <= UNHELD:
                return self._made[index]
        self._made.append(np.empty(self.size, np.uint8))
        return self._made[-1]

    def _holders(self, index: int) -> int:
        """How many hold it, this object among them."""
        return sys.getrefcount(self._made[index])


def _of_one() -> int:
    """What is counted where nobody but a list holds an array."""
    made = [np.empty(0, np.uint8)]
    return sys.getrefcount(made[0])


UNHELD = _of_one()
