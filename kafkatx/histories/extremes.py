"""Which rows hold the least and the greatest value of their group."""

from __future__ import annotations

import numpy as np

from kafkatx.kernels.growing import Array


def extremes(values: Array, *groups: Array) -> Array:
    """Return the places of the least and the greatest value of each group, those of the least first.

    Args:
        values: one a row.
        groups: columns beside it; rows that are alike in all of them are a group, without any all rows are one.
    """
    if not len(values):
        return np.zeros(0, np.int64)
    order = np.lexsort((values, *groups))
    is_new = np.zeros(len(order), bool)
    is_new[0] = True
    for group in groups:
        is_new[1:] |= group[order[1:]] != group[order[:-1]]
    firsts = np.flatnonzero(is_new)
    lasts = np.append(firsts[1:], len(order)) - 1
    found: Array = order[np.append(firsts, lasts)]
    return found
