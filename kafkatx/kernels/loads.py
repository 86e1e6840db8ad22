"""Several bytes of a buffer at once, for kernels: a processor's one load in place of one for each byte.

Nothing here looks where a buffer ends, nor for an index that counts from the end: who calls has seen that the bytes
are there. A load past the end of the last page would end the process.
"""

import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from kafkatx.kernels.engine import Faster, kernel_with_wheel

BYTE_BYTES, HALF_BYTES, WORD_BYTES = 1, 4, 8


def _byte_by_wheel(data: Any, at: int) -> int:
    return int(data[at])


def _half_by_wheel(data: Any, at: int) -> int:
    return int.from_bytes(data[at : at + HALF_BYTES], "little", signed=True)


def _word_by_wheel(data: Any, at: int) -> int:
    return int.from_bytes(data[at : at + WORD_BYTES], "little", signed=True)


def _byte_by_load() -> Faster | None:
    return _by_load(_byte_by_wheel, BYTE_BYTES)


def _half_by_load() -> Faster | None:
    return _by_load(_half_by_wheel, HALF_BYTES)


def _word_by_load() -> Faster | None:
    return _by_load(_word_by_wheel, WORD_BYTES)


@kernel_with_wheel(_byte_by_wheel, _byte_by_load, inlined=True)
def byte_at(data: Any, at: int) -> int:
    """One byte."""
    return int(data[at])


@kernel_with_wheel(_half_by_wheel, _half_by_load, inlined=True)
def half_at(data: Any, at: int) -> int:
    """Four bytes, the first the lowest, as a signed number."""
    low = data[at] * 1 + data[at + 1] * 256 + data[at + 2] * 65536
    high = data[at + 3] * 1
    return int(low + (high - 256 if high >= 128 else high) * 16777216)


@kernel_with_wheel(_word_by_wheel, _word_by_load, inlined=True)
def word_at(data: Any, at: int) -> int:
    """Eight bytes, the first the lowest, as a signed number."""
    low = data[at] * 1 + data[at + 1] * 256 + data[at + 2] * 65536 + data[at + 3] * 16777216
    high = data[at + 4] * 1 + data[at + 5] * 256 + data[at + 6] * 65536 + data[at + 7] * 16777216
    return int(low + (high - 4294967296 if high >= 2147483648 else high) * 4294967296)


def _one_load(data: Any, at: int) -> int:
    return int(_loaded(data, at))


_loaded: Any = None


def _by_load(wheel: Callable[[Any, int], int], size: int) -> Faster | None:
    """The form with one load; None where a processor's first byte is the highest."""
    if sys.byteorder != "little":
        return None
    name = f"load_of_{size}"
    function = types.FunctionType(_one_load.__code__, {**_one_load.__globals__, "_loaded": _load(8 * size)}, name)
    function.__module__, function.__qualname__ = __name__, name

    def agrees(candidate: Callable[[Any, int], int]) -> bool:
        data = np.arange(216, 200, -1, dtype=np.uint8)
        return all(candidate(data, at) == wheel(data, at) for at in range(len(data) - size + 1))

    return Faster(function, agrees)


def _load(bits: int) -> Any:
    """An intrinsic (array of bytes, place): the bytes there.

    Raises:
        ImportError: numba is not there.
    """
    from llvmlite import ir
    from numba import types as of
    from numba.extending import intrinsic

    def loaded(typing: Any, data: Any, at: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, values[0])
            place = builder.gep(array.data, [values[1]])
            found = builder.load(builder.bitcast(place, ir.IntType(bits).as_pointer()), align=1)
            if bits == 64:
                return found
            return (builder.zext if bits == 8 else builder.sext)(found, ir.IntType(64))

        return of.int64(data, of.int64), generate

    return intrinsic(loaded)


def _put_by_wheel(words: Any, at: int, value: int) -> int:
    words[at] = value
    return 0


def _put_by_store() -> Faster | None:
    function = types.FunctionType(_one_store.__code__, {**_one_store.__globals__, "_stored": _store()}, "one_store")
    function.__module__, function.__qualname__ = __name__, "one_store"

    def agrees(candidate: Callable[[Any, int, int], int]) -> bool:
        words = np.zeros(3, np.int64)
        candidate(words, 1, -7)
        return words.tolist() == [0, -7, 0]

    return Faster(function, agrees)


@kernel_with_wheel(_put_by_wheel, _put_by_store, inlined=True)
def put_word(words: Any, at: int, value: int) -> int:
    """Write words[at] of an array of int64; returns 0."""
    words[at] = value
    return 0


def _one_store(words: Any, at: int, value: int) -> int:
    return int(_stored(words, at, value))


_stored: Any = None


def _store() -> Any:
    """An intrinsic (array of int64, place, value).

    Raises:
        ImportError: numba is not there.
    """
    from llvmlite import ir
    from numba import types as of
    from numba.extending import intrinsic

    def stored(typing: Any, words: Any, at: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, values[0])
            builder.store(values[2], builder.gep(array.data, [values[1]]))
            return ir.Constant(ir.IntType(64), 0)

        return of.int64(words, of.int64, of.int64), generate

    return intrinsic(stored)


def _ask_by_wheel(data: Any, at: int) -> int:
    return 0


def _ask_by_instruction() -> Faster:
    function = types.FunctionType(_one_load.__code__, {**_one_load.__globals__, "_loaded": _prefetch()}, "one_prefetch")
    function.__module__, function.__qualname__ = __name__, "one_prefetch"
    return Faster(function, lambda candidate: candidate(np.zeros(1, np.uint8), 1 << 40) == 0)


@kernel_with_wheel(_ask_by_wheel, _ask_by_instruction, inlined=True)
def ask_for(data: Any, at: int) -> int:
    """Have the processor fetch what stands there, while others are at work; also behind the end. Returns 0."""
    return 0


def _prefetch() -> Any:
    """An intrinsic (array of bytes, place).

    Raises:
        ImportError: numba is not there.
    """
    from llvmlite import ir
    from numba import types as of
    from numba.core.cgutils import get_or_insert_function
    from numba.extending import intrinsic

    byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    to_read, of_all_caches, of_data = (ir.Constant(number, value) for value in (0, 3, 1))

    def asked(typing: Any, data: Any, at: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            place = builder.gep(context.make_array(signature.args[0])(context, builder, values[0]).data, [values[1]])
            takes = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
            fetch = get_or_insert_function(builder.module, takes, "llvm.prefetch.p0i8")
            builder.call(fetch, [builder.bitcast(place, byte), to_read, of_all_caches, of_data])
            return ir.Constant(ir.IntType(64), 0)

        return of.int64(data, of.int64), generate

    return intrinsic(asked)
