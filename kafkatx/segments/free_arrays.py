"""Arrays that are used again as soon as nobody looks at them: new memory costs as much as what is written to it.

The system clears each page before it gives it. Of a segment of 150 MiB without compression that took as long as half of
its records, and two threads that took and returned a walk's buffers for each stretch spent a third of their time on it,
and on each other.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

MOST_OF_A_SIZE = 8
"""Arrays that a thread keeps of one size: what else is in use at once is made and forgotten."""


class FreeArrays:
    """Gives out arrays of bytes of one size. Whoever holds a view of one (Arrow's buffers are views) keeps it."""

    def __init__(self, size: int, most: int | None = None) -> None:
        """Prepare arrays of `size` bytes; no more than `most` are kept."""
        self.size = size
        self._most = most
        self._made: list[Array] = []

    def take(self) -> Array:
        """One that nobody holds, whatever is in it."""
        for index in range(len(self._made)):
            if sys.getrefcount(self._made[index]) <= _UNHELD:
                return self._made[index]
        array = np.empty(self.size, np.uint8)
        if self._most is None or len(self._made) < self._most:
            self._made.append(array)
        return array


class _OfThread(threading.local):
    def __init__(self) -> None:
        self.by_size: dict[int, FreeArrays] = {}


_kept = _OfThread()


def lent(size: int) -> Array:
    """Return an array of `size` bytes that the walks of a thread use one after the other; few sizes are asked for."""
    arrays = _kept.by_size.get(size)
    if arrays is None:
        arrays = _kept.by_size[size] = FreeArrays(size, MOST_OF_A_SIZE)
    return arrays.take()


def _count_of_one() -> int:
    """What is counted where nobody but a list holds an array."""
    made = [np.empty(0, np.uint8)]
    return sys.getrefcount(made[0])


_UNHELD = _count_of_one()
