"""Walks bytes to rows of batches, for tests of that walk and of kernels that read what such rows tell."""

from typing import Any

import numpy as np

from kafkatx.kernels.batches import CHECK_ALL, seen_producers, walk_batches
from kafkatx.kernels.rows import BATCH

Rows = np.ndarray[Any, np.dtype[Any]]
SMALLEST_BATCH = 26
NO_LIMIT = 2**63 - 1


def walk(
    data: bytes,
    *,
    check: int = CHECK_ALL,
    room: int = 100,
    held: int | None = None,
    last_offset: int = -1,
    limit: int = NO_LIMIT,
    epoch: int = -1,
    at: int = 0,
    file_end: int | None = None,
) -> tuple[Rows, int, int]:
    """Rows, next position and why the walk stopped."""
    rows = np.zeros(room, BATCH)
    view = walk_batches.view(bytes(data)[:held])
    file_end = len(data) if file_end is None else file_end
    state = (last_offset, limit, epoch, check, seen_producers(), rows, 0)
    count, position, why, _, _ = walk_batches(view, at, len(view), 0, file_end, *state)
    return rows[:count], position, why


def batch_rows(data: bytes, check: int = CHECK_ALL) -> Rows:
    """Rows of all batches."""
    return walk(data, check=check, room=len(data) // SMALLEST_BATCH + 1)[0]
