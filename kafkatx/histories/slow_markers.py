"""When a transaction waited long for its markers, and which ids do so often."""

from __future__ import annotations

from kafkatx.kernels.growing import Array

SLOW_MS, PERCENT, FEWEST = 1_000, 95, 20
"""Prepare* to Complete*: the 95th percentile of an id with at least that many transactions."""


def is_often(slow: Array, ended: Array) -> Array:
    """Whether more than one in twenty of the transactions of each id that ended waited long, given how many of each."""
    found: Array = (ended >= FEWEST) & (100 * slow > (100 - PERCENT) * ended)
    return found
