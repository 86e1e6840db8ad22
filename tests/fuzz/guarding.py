"""Kernels as large files have them, compiled, over buffers that end at a page nobody may touch.

A compiled kernel that reads behind its input mostly reads on in memory of others, and nobody sees it. Behind these
buffers there is none: the process ends there. With NUMBA_BOUNDSCHECK=1 in the environment each index is checked too, in
front of the buffers and inside them; what was compiled without it must not be taken for it (NUMBA_CACHE_DIR).
"""

from __future__ import annotations

import ctypes
import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from kafkatx.kernels.engine import Kernel

ASKED_BY = "KAFKATX_FUZZ_GUARDED"
"""Environment variable by which a child is told."""
NO_ACCESS = 0


def guarded(buffer: Any) -> np.ndarray:
    """Return a copy whose last byte is the last one before a page without access; shape and type: (n,), uint8."""
    data = np.frombuffer(buffer, np.uint8)
    held = -(-len(data) // mmap.PAGESIZE) * mmap.PAGESIZE
    area = mmap.mmap(-1, held + mmap.PAGESIZE)
    place = ctypes.addressof(ctypes.c_char.from_buffer(area))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mprotect(ctypes.c_void_p(place + held), ctypes.c_size_t(mmap.PAGESIZE), NO_ACCESS):
        raise OSError(ctypes.get_errno(), "mprotect")
    copy = np.frombuffer(area, np.uint8, len(data), held - len(data))
    copy[:] = data
    return copy


@contextmanager
def kernels() -> Iterator[None]:
    """Let every kernel run compiled over guarded buffers, where the environment asks for it."""
    if not os.environ.get(ASKED_BY):
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Kernel, "is_compiled", property(lambda _: True))  # `forced` is for this thread alone
        patch.setattr(Kernel, "view", lambda _, buffer: guarded(buffer))
        yield
