"""Memory that the walks of one thread use one after the other.

A file that is read in stretches is walked over again and again, and the system clears each page that it gives anew: two
threads that take and return a walk's buffers for each stretch spent a third of their time on that, and on each other.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

MOST_OF_A_SIZE = 2
"""Arrays that a thread keeps of one size: what else is in use at once is made and forgotten. Few sizes are asked for.
"""


class _OfThread(threading.local):
    def __init__(self) -> None:
        self.made: dict[int, list[Array]] = {}


_kept = _OfThread()


def lent(size: int) -> Array:
    """Return an array of `size` bytes, whatever is in them; whoever holds a view of it keeps it."""
    made = _kept.made.setdefault(size, [])
    for number in range(len(made)):
        if sys.getrefcount(made[number]) <= _UNHELD:
            return made[number]
    array = np.empty(size, np.uint8)
    if len(made) < MOST_OF_A_SIZE:
        made.append(array)
    return array


def _count_of_one() -> int:
    """What is counted where nobody but a list holds an array."""
    made = [np.empty(0, np.uint8)]
    return sys.getrefcount(made[0])


_UNHELD = _count_of_one()
