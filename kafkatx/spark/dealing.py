"""Numbers that a shuffle of Spark deals one by one: each to a partition of its own.

A shuffle by a column sends a row to the partition that the column's hash names (Murmur3 with seed 42, modulo their
number). That has been so since Spark 2, in classic sessions as in Connect; nothing but balance hangs on it.

Source  org.apache.spark.sql.catalyst.expressions.Murmur3Hash, org.apache.spark.unsafe.hash.Murmur3_x86_32.hashLong.
"""

from __future__ import annotations

from typing import Any

import numpy as np

SEED = 42


def keys_of_partitions(count: int) -> Any:
    """Return int64 keys, one for each of `count` partitions, in their order."""
    keys = np.full(count, -1, np.int64)
    first = 0
    while (left := np.flatnonzero(keys < 0)).size:
        tried = np.arange(first, first + 4 * max(count, 256), dtype=np.int64)
        first += len(tried)
        places = partition_of(tried, count)
        found, at = np.unique(places, return_index=True)
        new = np.isin(found, left)
        keys[found[new]] = tried[at[new]]
    return keys


def partition_of(keys: Any, count: int) -> Any:
    """Return the partitions that a shuffle into `count` sends rows with these keys (int64) to."""
    with np.errstate(over="ignore"):
        low, high = (keys & 0xFFFFFFFF).astype(np.uint32), ((keys >> 32) & 0xFFFFFFFF).astype(np.uint32)
        mixed = _mixed(_mixed(np.full(len(keys), SEED, np.uint32), low), high) ^ np.uint32(8)
        mixed = (mixed ^ (mixed >> np.uint32(16))) * np.uint32(0x85EBCA6B)
        mixed = (mixed ^ (mixed >> np.uint32(13))) * np.uint32(0xC2B2AE35)
        mixed ^= mixed >> np.uint32(16)
    return mixed.view(np.int32).astype(np.int64) % count


def _mixed(hashed: Any, word: Any) -> Any:
    word = word * np.uint32(0xCC9E2D51)
    word = (word << np.uint32(15)) | (word >> np.uint32(17))
    hashed = hashed ^ (word * np.uint32(0x1B873593))
    hashed = (hashed << np.uint32(13)) | (hashed >> np.uint32(19))
    return hashed * np.uint32(5) + np.uint32(0xE6546B64)
