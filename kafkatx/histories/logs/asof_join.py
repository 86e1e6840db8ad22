"""Neighbours in time among those of one key, for many keys and times at once.

One sort lays keys and questions together; each question's neighbours are the places before and behind it.
"""

from __future__ import annotations

import numpy as np

from kafkatx.kernels.growing import Array


def nearest(keys: Array, wanted: Array, times: Array, limits: Array) -> Array:
    """Number of the one of `keys` that equals each wanted one and is nearest to its time, else -1."""
    if not len(keys):
        return np.full(len(wanted), -1)
    before, after = asof_join(keys, wanted, times, limits)
    far = np.iinfo(np.int64).max
    back = np.where(before >= 0, limits - times[before], far)
    ahead = np.where(after >= 0, times[after] - limits, far)
    return np.where(ahead < back, after, before)


def asof_join(keys: Array, wanted: Array, times: Array, limits: Array) -> tuple[Array, Array]:
    """For each wanted key and limit the numbers of the last of `keys` not after it, and of the first one after it.

    Keys below 0 are nobody's; -1 where there is none.
    """
    all_keys = np.concatenate([keys, wanted]).astype(np.int64)
    all_times = np.concatenate([times, limits]).astype(np.int64)
    is_wanted = np.arange(len(all_keys)) >= len(keys)
    order = np.lexsort((is_wanted, all_times, all_keys))
    places = np.arange(len(order))
    before = np.maximum.accumulate(np.where(is_wanted[order], -1, places))
    after = np.minimum.accumulate(np.where(is_wanted[order], len(order), places)[::-1])[::-1]
    asked = np.empty(len(wanted), np.int64)
    asked[order[is_wanted[order]] - len(keys)] = places[is_wanted[order]]
    return _number(order, all_keys, wanted, before[asked]), _number(order, all_keys, wanted, after[asked])


def _number(order: Array, keys: Array, wanted: Array, places: Array) -> Array:
    """Numbers behind places in the order, -1 where there is none or its key is another."""
    inside = (places >= 0) & (places < len(order))
    numbers = order[places.clip(0, max(len(order) - 1, 0))] if len(order) else places
    found: Array = np.where(inside & (wanted >= 0) & (keys[numbers] == wanted), numbers, -1) if len(order) else places
    return found
