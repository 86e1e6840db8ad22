"""A frame of lz4 or zstd without compression, by the codec's own library: called by its address where compiled.

What can't be had by one call (damage, more than one frame, more bytes than there is room for) is -1; who asked then
reads it with care (segments/compression.py), and says what is wrong.
"""

from __future__ import annotations

import threading
import types
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from kafkatx.kernels.codec_libraries import (
    LZ4_CONTEXT,
    LZ4_DECOMPRESS,
    LZ4_RESET,
    READ,
    ROOM,
    ZSTD_CONTEXT,
    ZSTD_DECOMPRESS,
    ZSTD_FRAME_SIZE,
    addresses,
)
from kafkatx.kernels.engine import Faster, kernel_with_wheel

ZSTD_HEADER = 6
"""Bytes of a zstd frame from which its window is known."""
SINGLE_SEGMENT, WIDEST_WINDOW = 0x20, 17 << 3
"""In a zstd frame's header: that there is no window, and the descriptor of 128 MiB, as much as readers allow."""
ZSTD_TIMES = 16
"""Room that a zstd frame that does not tell its size is given through Python, in sizes of its own."""


def _lz4_by_wheel(data: Any, calls: Any, start: int, end: int, out: Any, at: int, room: int) -> int:
    import lz4.frame

    try:
        whole, read = lz4.frame.decompress(memoryview(data)[start:end], return_bytes_read=True)
    except (RuntimeError, EOFError):
        return -1
    return _put(whole, out, at, room) if read == end - start else -1


def _zstd_by_wheel(data: Any, calls: Any, start: int, end: int, out: Any, at: int, room: int) -> int:
    import zstandard

    frame = memoryview(data)[start:end]
    if not _is_narrow(frame, 0, len(frame)):
        return -1
    try:
        size = zstandard.frame_content_size(frame)
        if size > room:
            return -1
        size = size if size >= 0 else min(room, ZSTD_TIMES * len(frame))
        whole = _zstd_contexts.of_thread.decompress(frame, max_output_size=size, allow_extra_data=False)
    except (zstandard.ZstdError, MemoryError):
        return -1
    return _put(whole, out, at, room) if whole else -1  # zstandard looks no further behind a frame that is empty


def _put(whole: bytes, out: Any, at: int, room: int) -> int:
    if len(whole) > room:
        return -1
    memoryview(out)[at : at + len(whole)] = whole
    return len(whole)


class _ZstdContexts(threading.local):
    """A context of zstd for each thread: making one costs more than a batch, and no two threads may share one."""

    @cached_property
    def of_thread(self) -> Any:
        import zstandard

        return zstandard.ZstdDecompressor()


_zstd_contexts = _ZstdContexts()


def _is_narrow(data: Any, start: int, end: int) -> bool:
    """Whether a zstd frame has a window as every reader allows it."""
    if end - start < ZSTD_HEADER:
        return False
    return bool(data[start + 4] & SINGLE_SEGMENT or data[start + 5] <= WIDEST_WINDOW)


def _lz4_by_address() -> Faster | None:
    return _called(_lz4_called, bytes.fromhex("04224d18604082 03000080 616263 00000000"))


def _zstd_by_address() -> Faster | None:
    return _called(_zstd_called, bytes.fromhex("28b52ffd2003190000616263"))


@kernel_with_wheel(_lz4_by_wheel, _lz4_by_address)
def lz4_frame(data: Any, calls: Any, start: int, end: int, out: Any, at: int, room: int) -> int:
    """Write the lz4 frame data[start:end] without compression to out[at : at + room]; its size, -1: not by one call.

    `calls` are this thread's addresses (`codec_libraries.addresses`).
    """
    return -1


@kernel_with_wheel(_zstd_by_wheel, _zstd_by_address)
def zstd_frame(data: Any, calls: Any, start: int, end: int, out: Any, at: int, room: int) -> int:
    """As `lz4_frame`, of zstd."""
    return -1


def _lz4_called(data: Any, calls: Any, start: int, end: int, out: Any, at: int, room: int) -> int:
    """Nothing is left to read when it returns 0; how much it wrote and read then stands where it was told how much."""
    calls[ROOM] = room
    calls[READ] = end - start
    told = _address_of(out, at), _address_of(calls, ROOM), _address_of(data, start), _address_of(calls, READ)
    left = _call(calls[LZ4_DECOMPRESS], (calls[LZ4_CONTEXT], told[0], told[1], told[2], told[3], np.int64(0)))
    if left == 0 and calls[READ] == end - start:
        return int(calls[ROOM])
    _call(calls[LZ4_RESET], (calls[LZ4_CONTEXT],))
    return -1


def _zstd_called(data: Any, calls: Any, start: int, end: int, out: Any, at: int, room: int) -> int:
    """What is no size is an error: a number of size_t just below 0."""
    size = np.int64(end - start)
    if size < ZSTD_HEADER or (data[start + 4] & SINGLE_SEGMENT == 0 and data[start + 5] > WIDEST_WINDOW):
        return -1
    source = _address_of(data, start)
    if _call(calls[ZSTD_FRAME_SIZE], (source, size)) != size:
        return -1
    target = _address_of(out, at)
    written = _call(calls[ZSTD_DECOMPRESS], (calls[ZSTD_CONTEXT], target, np.int64(room), source, size))
    return int(written) if 0 <= written <= room else -1


_call: Any = None
_address_of: Any = None


def _called(function: Callable[..., int], example: bytes) -> Faster:
    """The form that calls by address, tried with a frame that says "abc"."""
    name = f"{function.__name__}_by_address"
    made = types.FunctionType(
        function.__code__, {**function.__globals__, "_call": _calling(), "_address_of": _addressing()}, name
    )
    made.__module__, made.__qualname__ = __name__, name

    def agrees(candidate: Callable[..., int]) -> bool:
        calls, out = addresses(), np.zeros(16, np.uint8)
        needed = LZ4_DECOMPRESS if function is _lz4_called else ZSTD_DECOMPRESS
        data = np.frombuffer(example, np.uint8)  # to read only, as what is compiled for
        return not calls[needed] or (candidate(data, calls, 0, len(data), out, 1, 9), bytes(out[1:4])) == (3, b"abc")

    return Faster(made, agrees)


def _calling() -> Any:
    """An intrinsic (address, tuple of int64): what the C function there returns for these, a pointer or size each.

    Raises:
        ImportError: numba is not there.
    """
    from llvmlite import ir
    from numba import types as of
    from numba.core import cgutils
    from numba.extending import intrinsic

    word = ir.IntType(64)

    def called(typing: Any, address: Any, given: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            takes = ir.FunctionType(word, [word] * signature.args[1].count)
            function = builder.inttoptr(values[0], takes.as_pointer())
            return builder.call(function, cgutils.unpack_tuple(builder, values[1]))

        return of.int64(of.int64, given), generate

    return intrinsic(called)


def _addressing() -> Any:
    """An intrinsic (array, place): the address of what stands there.

    Raises:
        ImportError: numba is not there.
    """
    from llvmlite import ir
    from numba import types as of
    from numba.extending import intrinsic

    def addressed(typing: Any, array: Any, at: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            begin = context.make_array(signature.args[0])(context, builder, values[0]).data
            return builder.ptrtoint(builder.gep(begin, [values[1]]), ir.IntType(64))

        return of.int64(array, of.int64), generate

    return intrinsic(addressed)
