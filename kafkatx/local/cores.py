"""On how many cores this machine reads: on all that the process may run on, where there is enough to be read.

Few       what is less than two stretches (segments/batches.py) is read in less time than threads take to get ready.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from kafkatx.evidence.captures import Capture
from kafkatx.segments.batches import STRETCH_BYTES
from kafkatx.sources.ahead import Ahead

WORTH_THREADS = 2 * STRETCH_BYTES
"""Bytes of segments."""


def cores() -> int:
    """How many cores the process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def readers(captures: Iterable[Capture]) -> Ahead:
    """Threads for the segments of captures, none where one core is all there is, or the segments are small."""
    sizes = (item.size for one in captures for items in one.segments().values() for _, item in items)
    count = cores()
    return Ahead(count if count > 1 and sum(sizes) >= WORTH_THREADS else 0)
