"""Distinct values of columns, in order: what numpy's functions of that kind return, of little ones without their price.

`numpy.unique` asks whether a column is a masked one, and loads masked arrays for that: a hundredth of a small
diagnosis.
"""

from __future__ import annotations

from typing import Any

import numpy as np

LARGE = 1 << 14
"""Values from which on numpy's own way (by hashes) is the quicker one."""


def distinct(values: Any) -> Any:
    """Return the distinct values of an array (`numpy.unique`), in ascending order."""
    found = np.asarray(values)
    if found.size == 0:
        return found.flatten()
    if found.size > LARGE or found.dtype.kind not in "biuSU":
        return np.unique(found)
    ordered = np.sort(found, axis=None)
    is_first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return ordered[is_first]


def distinct_of_both(one: Any, other: Any) -> Any:
    """Return the distinct values of two arrays together (`numpy.union1d`)."""
    return distinct(np.concatenate((np.ravel(one), np.ravel(other))))


def in_both(one: Any, other: Any) -> Any:
    """Return the distinct values that two arrays have in common (`numpy.intersect1d`)."""
    return np.intersect1d(distinct(one), distinct(other), assume_unique=True)


def distinct_rows(values: Any) -> Any:
    """Return the distinct rows of an array of two dimensions (`numpy.unique` of axis 0), in ascending order."""
    return np.unique(values, axis=0, return_index=True)[0]
