"""Work packed to tasks of about the same number of bytes, in the order given; nothing is read for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

SMALLEST_TASK, LARGEST_TASK = 4 << 20, 64 << 20
AT_ONCE = 32
"""Tasks that an evidence of some size is cut into at least, so that there is something to do for each core."""
MOST_TASKS = 20_000
"""Tasks that any evidence is cut into at most, however large they become: a scheduler keeps some kilobytes of each."""
COST_OF_FILE = 64 << 10
"""What opening a file costs, in bytes that could have been read instead."""


def grouped(units: Iterable[T], cost: Callable[[T], int], at_once: int = AT_ONCE) -> Iterator[list[T]]:
    """Group units so that each group has the bytes of a task; a larger unit is one by itself.

    Args:
        units: what is not to be apart.
        cost: about how many bytes a unit makes a task read.
        at_once: how many tasks are run at a time, about.
    """
    found = [(unit, cost(unit)) for unit in units]
    total = sum(added for _, added in found)
    limit = max(min(max(total // max(at_once, 1), SMALLEST_TASK), LARGEST_TASK), total // MOST_TASKS)
    group: list[T] = []
    filled = 0
    for unit, added in found:
        if group and filled + added > limit:
            yield group
            group, filled = [], 0
        group.append(unit)
        filled += added
    if group:
        yield group
