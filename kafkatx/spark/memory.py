"""A Python worker lives on between steps: what one freed goes back to the system, what is loaded is left out of looks.

Freed    Arrow's pool and the C library keep what was freed for what comes: 100 MiB of a worker, once it had read ten
         stretches of 64 MiB and folded what comes of them.
Loaded   Spark has a worker look for garbage behind every task (`gc.collect()` in pyspark/daemon.py). Modules, classes
         and loaded kernels are 200,000 objects that never go, and to look at them costs 0.1 s a task.
"""

from __future__ import annotations

import ctypes
import gc
from functools import cache
from typing import Any

import pyarrow as pa

LOADED = 20_000
"""Objects that a worker has more than before, once its garbage is gone, when it is worth leaving them out."""


def leave_out_loaded() -> None:
    """Leave what this worker holds out of later looks for garbage, if it is much more than what is left out already.

    What is left out still goes when nothing refers to it; only a ring of references would stay. As a worker loads once,
    that is done once or twice in its life.
    """
    if len(gc.get_objects()) > LOADED:
        gc.collect()
        if len(gc.get_objects()) > LOADED:
            gc.freeze()


def give_back() -> None:
    """Return what is free to the system, where its C library can (glibc's malloc_trim); some milliseconds."""
    pa.default_memory_pool().release_unused()
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


@cache
def _malloc_trim() -> Any:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # another C library
        return None
