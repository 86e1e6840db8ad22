"""Transactional.ids of one length by the hundred thousand, spread over `__transaction_state` or in one partition."""

import numpy as np

from tests.benchmarks.layouts import Array

PREFIX = b"orders-"
DIGITS = np.frombuffer(b"0123456789abcdefghijklmnopqrstuvwxyz", dtype="u1")
PLACES = 6
NAMES_AT_ONCE = 1 << 20


def names(count: int, partitions: int, only: int | None = None) -> Array:
    """`count` distinct ids; with `only` all of them belong to that partition of `partitions`."""
    if only is None:
        return _numbered(0, count)
    found = []
    for first in range(0, len(DIGITS) ** PLACES, NAMES_AT_ONCE):
        candidates = _numbered(first, NAMES_AT_ONCE)
        found.append(candidates[partition_of(candidates, partitions) == only])
        if sum(map(len, found)) >= count:
            break
    return np.concatenate(found)[:count]


def partition_of(ids: Array, partitions: int) -> Array:
    """The partition of `__transaction_state` that each id belongs to: Java's String.hashCode, its sign cut off."""
    values = np.zeros(len(ids), dtype="u4")
    for column in ids.view("u1").reshape(len(ids), -1).T:
        values = values * np.uint32(31) + column
    return np.where(values == 1 << 31, 0, np.abs(values.view("i4").astype("i8"))) % partitions


def _numbered(first: int, count: int) -> Array:
    number, width = first + np.arange(count), len(PREFIX) + PLACES
    text = np.empty((count, width), dtype="u1")
    text[:, : len(PREFIX)] = np.frombuffer(PREFIX, dtype="u1")
    for place in range(width - 1, len(PREFIX) - 1, -1):
        text[:, place] = DIGITS[number % len(DIGITS)]
        number = number // len(DIGITS)
    return text.view(f"S{width}").reshape(-1)
