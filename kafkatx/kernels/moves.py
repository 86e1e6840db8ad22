"""Sixteen bytes at once from one place to another, for kernels that decompress.

As in `loads`, nothing here looks where a buffer ends: who calls has seen that there is room.
"""

import types
from typing import Any

import numpy as np

from kafkatx.kernels.engine import Faster, kernel_with_wheel

AT_ONCE = 16


def _move_by_wheel(out: Any, to: int, data: Any, at: int) -> int:
    out[to : to + AT_ONCE] = bytes(data[at : at + AT_ONCE])
    return 0


def _move_by_register() -> Faster | None:
    function = types.FunctionType(_one_move.__code__, {**_one_move.__globals__, "_moved": _move()}, "one_move")
    function.__module__, function.__qualname__ = __name__, "one_move"

    def agrees(candidate: Any) -> bool:
        data, out = np.arange(40, dtype=np.uint8), np.zeros(40, np.uint8)
        candidate(out, 3, data, 21)
        return bytes(out) == bytes(3) + bytes(range(21, 21 + AT_ONCE)) + bytes(21)

    return Faster(function, agrees)


@kernel_with_wheel(_move_by_wheel, _move_by_register, inlined=True)
def move_16(out: Any, to: int, data: Any, at: int) -> int:
    """Copy data[at : at + 16] to out[to : to + 16], whole, as they were before, also where both are one; returns 0."""
    for place in range(AT_ONCE):
        out[to + place] = data[at + place]
    return 0


def _one_move(out: Any, to: int, data: Any, at: int) -> int:
    return int(_moved(out, to, data, at))


_moved: Any = None


def _move() -> Any:
    """An intrinsic (array of bytes, place, array of bytes, place).

    Raises:
        ImportError: numba is not there.
    """
    from llvmlite import ir
    from numba import types as of
    from numba.extending import intrinsic

    register = ir.VectorType(ir.IntType(8), AT_ONCE)

    def moved(typing: Any, out: Any, to: Any, data: Any, at: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            target, source = (context.make_array(signature.args[n])(context, builder, values[n]) for n in (0, 2))
            from_place, to_place = builder.gep(source.data, [values[3]]), builder.gep(target.data, [values[1]])
            found = builder.load(builder.bitcast(from_place, register.as_pointer()), align=1)
            builder.store(found, builder.bitcast(to_place, register.as_pointer()), align=1)
            return ir.Constant(ir.IntType(64), 0)

        return of.int64(out, of.int64, data, of.int64), generate

    return intrinsic(moved)
