"""Arrays that are used again as soon as nobody looks at them: new memory costs as much as what is written to it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


class FreeArrays:
    """Gives out arrays of bytes of one size. Whoever holds a view of one (Arrow's buffers are views) keeps it."""

    def __init__(self, size: int) -> None:
        """Prepare arrays of `size` bytes."""
        self.size = size
        self._made: list[Array] = []
        self._unheld = 0

    def take(self) -> Array:
        """One that nobody holds."""
        for index in range(len(self._made)):
            if self._holders(index) <= self._unheld:
                return self._made[index]
        self._made.append(np.empty(self.size, np.uint8))
        self._unheld = self._unheld or self._holders(0)
        return self._made[-1]

    def _holders(self, index: int) -> int:
        """How many hold it, this object among them."""
        return sys.getrefcount(self._made[index])
