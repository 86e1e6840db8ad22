"""Memory back to the system: a Python worker lives on between steps, and what one freed would count against the next.

Arrow's pool and the C library keep what was freed for what comes: 100 MiB of a worker, once it had read ten stretches
of 64 MiB and folded what comes of them.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import pyarrow as pa


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
