"""Where the codecs' libraries have the functions that kernels call: lz4's and zstd's own, inside the wheels.

Wheels export them because of how they are linked, which nobody promises: where one is missing, its address is 0 and
what is compressed so is read through Python. Each thread has contexts of its own, as both libraries demand.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

LZ4_DECOMPRESS, LZ4_RESET, LZ4_CONTEXT, ZSTD_FRAME_SIZE, ZSTD_DECOMPRESS, ZSTD_CONTEXT, ROOM, READ = range(8)
"""What stands where in the addresses of a thread; the last two are for what lz4 is told, and tells, by address."""
ADDRESSES = READ + 1
LZ4F_VERSION = 100
"""The version of its interface that a context is asked for (lz4frame.h)."""

Addresses = np.ndarray[Any, np.dtype[np.int64]]


def addresses() -> Addresses:
    """Addresses of functions and contexts for the thread that asks; 0 where there is none."""
    return _of_thread.addresses


class _OfThread(threading.local):
    @cached_property
    def addresses(self) -> Addresses:
        made = np.zeros(ADDRESSES, np.int64)
        lz4, zstd = _lz4(), _zstd()
        if lz4 is not None and (context := _lz4_context(lz4)):
            made[LZ4_DECOMPRESS] = _address(lz4.LZ4F_decompress)
            made[LZ4_RESET] = _address(lz4.LZ4F_resetDecompressionContext)
            made[LZ4_CONTEXT] = context
            weakref.finalize(self, lz4.LZ4F_freeDecompressionContext, ctypes.c_void_p(context))
        if zstd is not None and (context := zstd.ZSTD_createDCtx()):
            made[ZSTD_FRAME_SIZE] = _address(zstd.ZSTD_findFrameCompressedSize)
            made[ZSTD_DECOMPRESS] = _address(zstd.ZSTD_decompressDCtx)
            made[ZSTD_CONTEXT] = context
            weakref.finalize(self, zstd.ZSTD_freeDCtx, ctypes.c_void_p(context))
        return made


_of_thread = _OfThread()


@cache
def _lz4() -> Any:
    """Library of lz4, None where its functions are not to be seen."""
    names = "decompress", "createDecompressionContext", "resetDecompressionContext", "freeDecompressionContext"
    return _with_functions("lz4.frame", "_frame.*", [f"LZ4F_{name}" for name in names])


@cache
def _zstd() -> Any:
    """Library of zstd: the wheel's form for cffi shows its functions, the one that Python loads does not."""
    names = "findFrameCompressedSize", "decompressDCtx", "createDCtx", "freeDCtx"
    library = _with_functions("zstandard", "_cffi.*", [f"ZSTD_{name}" for name in names])
    if library is not None:
        library.ZSTD_createDCtx.restype = ctypes.c_void_p
    return library


def _with_functions(package: str, pattern: str, names: list[str]) -> Any:
    """The library in a package that has functions of these names; the package itself is found and not imported."""
    found = find_spec(package)
    if found is None or found.origin is None:
        return None
    for path in sorted(Path(found.origin).parent.glob(pattern)):
        try:
            library = ctypes.CDLL(str(path))
        except OSError:
            continue
        if all(hasattr(library, name) for name in names):
            return library
    return None


def _lz4_context(library: Any) -> int:
    context = ctypes.c_void_p()
    failed = library.LZ4F_createDecompressionContext(ctypes.byref(context), LZ4F_VERSION)
    return 0 if failed else context.value or 0


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0
