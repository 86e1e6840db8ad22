"""Headers of batches read one by one, where what lies between them is not needed: the kernel asks the system itself.

From Python a call for each header costs as much as reading everything; from a compiled kernel it costs a microsecond,
as much as copying 8 KiB. Only what the page cache holds is taken (`RWF_NOWAIT`, Linux 4.14): a disk reads what lies
between two headers anyway, and is read by blocks.
"""

from __future__ import annotations

import os
import sys
import types
from functools import cache
from typing import Any

import numpy as np

from kafkatx.kernels.batches import HEADER_SIZE, LOG_OVERHEAD, MORE_DATA, walk_batches
from kafkatx.kernels.bytes import int32_at
from kafkatx.kernels.engine import Faster, kernel, kernel_with_wheel

STEP_BYTES = HEADER_SIZE + 17
"""What is read at each step: a header, and all of a marker, which is needed whole."""
BASE, LENGTH, VECTOR, CALL, DESCRIPTOR, FLAGS = range(6)
"""Places in a request of `read_at`: the struct iovec (where to, how many bytes), its own address, the address of
preadv2(2), a file's descriptor, flags of the call.
"""


@cache
def address_of_preadv2() -> int:
    """Where preadv2(2) lies in this process; 0 where the system has none, or can't read only what is at hand."""
    if not hasattr(os, "RWF_NOWAIT") or sys.maxsize < 1 << 32:  # of 32 bits, a position is too short
        return 0
    import ctypes

    try:
        return ctypes.cast(ctypes.CDLL(None).preadv2, ctypes.c_void_p).value or 0
    except (OSError, AttributeError):
        return 0


def request_of(call: int, descriptor: int, flags: int) -> np.ndarray[Any, Any]:
    """Return a request to read from a file by the function at the address `call`; `aimed` says where to."""
    request = np.array([0, 0, 0, call, descriptor, flags], np.int64)
    request[VECTOR] = request.ctypes.data
    return request


def aimed(request: np.ndarray[Any, Any], buffer: memoryview) -> np.ndarray[Any, Any]:
    """Let a request fill `buffer`, which must stay where it is while the request is used."""
    request[BASE] = np.frombuffer(buffer, np.uint8).ctypes.data
    return request


def _read_by_python(data: Any, request: Any, count: int, position: int) -> int:
    """Same, by os.preadv."""
    try:
        return os.preadv(int(request[DESCRIPTOR]), [data[:count]], position, int(request[FLAGS]))
    except OSError:
        return -1


def _read_by_call() -> Faster | None:
    """The form that calls what lies at an address."""
    globals_of_form = {**_one_call.__globals__, "_called": _call()}
    function = types.FunctionType(_one_call.__code__, globals_of_form, "read_by_call")
    function.__module__, function.__qualname__ = __name__, "read_by_call"
    return Faster(function, _agrees)


@kernel_with_wheel(_read_by_python, _read_by_call, inlined=True)
def read_at(data: Any, request: Any, count: int, position: int) -> int:
    """Read the `count` bytes at a file's `position` into `data`, which the request is aimed at.

    Returns how many there were; fewer, or -1, where the system does not give them at once. This form never has any.
    """
    return -1


def _one_call(data: Any, request: Any, count: int, position: int) -> int:
    request[LENGTH] = count
    return int(_called(request[CALL], request[DESCRIPTOR], request[VECTOR], position, request[FLAGS]))


_called: Any = None


def _call() -> Any:
    """An intrinsic (address of preadv2, descriptor, address of one iovec, position, flags): what the call returns.

    Raises:
        ImportError: numba is not there.
    """
    from llvmlite import ir
    from numba import types as of
    from numba.extending import intrinsic

    def called(typing: Any, call: Any, descriptor: Any, vector: Any, position: Any, flags: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            number, word = ir.IntType(32), ir.IntType(64)
            kind = ir.FunctionType(word, [number, word, number, word, number])
            function = builder.inttoptr(values[0], kind.as_pointer())
            descriptor, flags = (builder.trunc(values[at], number) for at in (1, 4))
            return builder.call(function, [descriptor, values[2], number(1), values[3], flags])

        return of.int64(of.int64, of.int64, of.int64, of.int64, of.int64), generate

    return intrinsic(called)


def _agrees(candidate: Any) -> bool:
    """Whether a compiled form reads what os.pread reads, from a file in memory; not where the system allows none."""
    try:
        descriptor = os.memfd_create("kafkatx")
    except (AttributeError, OSError):
        return False
    try:
        os.write(descriptor, bytes(range(200)))
        buffer = memoryview(bytearray(STEP_BYTES))
        request = aimed(request_of(address_of_preadv2(), descriptor, 0), buffer)
        view = np.frombuffer(buffer, np.uint8)
        view.flags.writeable = False
        return all(
            candidate(view, request, STEP_BYTES, at) == len(found) and bytes(buffer[: len(found)]) == found
            for at in (0, 3, 150, 200)
            for found in [os.pread(descriptor, STEP_BYTES, at)]
        )
    finally:
        os.close(descriptor)


@kernel
def step_batches(
    data: Any,
    request: Any,
    position: int,
    stop: int,
    file_end: int,
    last_offset: int,
    offset_limit: int,
    leader_epoch: int,
    check: int,
    seen: Any,
    out: Any,
    row: int,
) -> tuple[int, int, int, int, int]:
    """Walk as `walk_batches` does, from batch to batch of a file; what begins at byte `stop` or behind is left.

    Returns (rows filled so far, position of the next batch, why it stopped, last offset, leader epoch). It stops with
    MORE_DATA before `stop` where the bytes are not at hand, or a batch that is needed whole is larger than `data`.
    """
    while position < stop:
        wanted = max(0, min(STEP_BYTES, file_end - position, len(data)))
        if read_at(data, request, wanted, position) < wanted:
            break
        known = row
        row, at, why, last_offset, leader_epoch = walk_batches(
            data, 0, wanted, position, file_end, last_offset, offset_limit, leader_epoch, check, seen, out, row
        )
        if row == known and why == MORE_DATA:
            wanted = LOG_OVERHEAD + int32_at(data, 8)
            if wanted > len(data) or read_at(data, request, wanted, position) < wanted:
                break
            row, at, why, last_offset, leader_epoch = walk_batches(
                data, 0, wanted, position, file_end, last_offset, offset_limit, leader_epoch, check, seen, out, row
            )
        position += at
        if why != MORE_DATA or row == known:
            return row, position, why, last_offset, leader_epoch
    return row, position, MORE_DATA, last_offset, leader_epoch
