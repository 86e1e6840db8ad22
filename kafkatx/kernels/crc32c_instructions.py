"""CRC-32C by the processor's own instructions, where it has them: LLVM's intrinsics, in functions that numba compiles.

A range of bytes is a polynomial over GF(2). Folding multiplies what was read so far by x to the power of the distance
to what comes next, modulo the polynomial, and adds that: by carry-less multiplications of 64 bits, as many side by side
as a register is wide. What is left at the end, 16 bytes, goes through the instruction that takes 8 bytes of a CRC-32C
(Intel, "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", 2009; the constants are worked out
here).

`chosen` names the form for the processor that numba compiles for; none has to be there.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

POLYNOMIAL = 0x1EDC6F41
"""Castagnoli's, without its x^32."""
REGISTERS = 4
"""Ranges that are folded side by side, so that no multiplication waits for the one before."""

Crc = Callable[[Any, int, int, int], int]


class Instruction(NamedTuple):
    """One that takes bytes into a state: LLVM's name; bits of its state, of what it is given, of what counts."""

    name: str
    state: int
    given: int
    read: int


class Form(NamedTuple):
    """One way: what the processor must have for it, bytes of a register that is folded (0: none), two instructions."""

    name: str
    features: frozenset[str]
    register: int
    of_eight: Instruction
    of_one: Instruction


X86_CRC = Instruction("llvm.x86.sse42.crc32.64.64", 64, 64, 64), Instruction("llvm.x86.sse42.crc32.32.8", 32, 8, 8)
ARM_CRC = Instruction("llvm.aarch64.crc32cx", 32, 64, 64), Instruction("llvm.aarch64.crc32cb", 32, 32, 8)
FORMS = (
    Form("folded_by_512", frozenset({"sse4.2", "pclmul", "vpclmulqdq", "avx512f"}), 64, *X86_CRC),
    Form("folded_by_256", frozenset({"sse4.2", "pclmul", "vpclmulqdq", "avx2"}), 32, *X86_CRC),
    Form("folded_by_128", frozenset({"sse4.2", "pclmul"}), 16, *X86_CRC),
    Form("by_sse42", frozenset({"sse4.2"}), 0, *X86_CRC),
    Form("by_armv8", frozenset({"crc"}), 0, *ARM_CRC),
)
"""From the fastest on. Names of features are LLVM's; "crc" is one of AArch64 only ("crc32" is x86's)."""


def chosen(features: Iterable[str]) -> Form | None:
    """The fastest form for a processor with these features, None where it has none."""
    present = frozenset(features)
    return next((form for form in FORMS if form.features <= present), None)


def features_of_numba() -> set[str]:
    """Features that numba compiles for, as LLVM names them: this processor's, or those of NUMBA_CPU_FEATURES.

    They are a part of the key under which numba keeps what it compiled, so what is kept for one processor never runs
    on another.
    """
    from numba.core.registry import cpu_target

    told = cpu_target.target_context.codegen().magic_tuple()[2]
    return {name[1:] for name in told.split(",") if name.startswith("+")}


def function_by(form: Form) -> Crc:
    """Return a function for numba to compile, with the signature of `kernels.crc32c.crc32c`.

    What it calls stands among its globals: numba keeps compiled functions by what a function closes over, too, and
    that is another object in each process.
    """
    globals_of_form = {
        **_by_instructions.__globals__,
        "_folded": _folded_by(form.register) if form.register else _nothing_to_fold(),
        "_eight_bytes": _taken_by(form.of_eight),
        "_one_byte": _taken_by(form.of_one),
        "_AT_ONCE": np.uintp(form.register * REGISTERS or 1 << 62),
    }
    function = types.FunctionType(_by_instructions.__code__, globals_of_form, form.name)
    function.__module__, function.__qualname__ = __name__, form.name
    return function


def _by_instructions(data: Any, start: int, end: int, crc: int) -> int:
    """CRC-32C of data[start:end]; `function_by` says what the functions in it are."""
    state = np.uint32(crc ^ 0xFFFFFFFF)
    at, stop = np.uintp(data.ctypes.data + start), np.uintp(data.ctypes.data + end)
    whole = (stop - at) // _AT_ONCE * _AT_ONCE
    if whole:
        state = _folded(at, whole, state)
        at += whole
    while at + np.uintp(8) <= stop:
        state = _eight_bytes(state, at)
        at += np.uintp(8)
    while at < stop:
        state = _one_byte(state, at)
        at += np.uintp(1)
    return int(state ^ np.uint32(0xFFFFFFFF))


_AT_ONCE = np.uintp(1 << 62)
_folded: Any = None
_eight_bytes: Any = None
_one_byte: Any = None


def _power(bits: int) -> int:
    """The power of x to `bits` modulo the polynomial, reflected as CRC-32C is, for a product that is one bit short."""
    value = 1
    for _ in range(bits):
        value <<= 1
        if value >> 32:
            value ^= 1 << 32 | POLYNOMIAL
    return int(f"{value:032b}"[::-1], 2) << 1


def _folded_by(width: int) -> Any:
    """An intrinsic (address, size, state): the state after `size` bytes, four registers of `width` bytes or a multiple.

    Raises:
        ImportError: numba is not there.
    """
    from numba import types as of
    from numba.extending import intrinsic

    def folded(typing: Any, address: Any, size: Any, state: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return _Folding(builder, width).state_after(*values)

        return of.uint32(of.uintp, of.uintp, of.uint32), generate

    return intrinsic(folded)


def _nothing_to_fold() -> Any:
    """What stands in place of folding where `_AT_ONCE` is out of reach."""
    import numba

    return numba.njit(lambda address, size, state: state)


def _taken_by(instruction: Instruction) -> Any:
    """An intrinsic (state, address): the state after the bytes there that the instruction takes."""
    from llvmlite import ir
    from numba import types as of
    from numba.core.cgutils import get_or_insert_function
    from numba.extending import intrinsic

    state_type, given, read = (ir.IntType(bits) for bits in instruction[1:])

    def taken(typing: Any, state: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            before, start = values
            bytes_there = builder.load(builder.inttoptr(start, read.as_pointer()), align=1)
            take = ir.FunctionType(state_type, [state_type, given])
            crc = get_or_insert_function(builder.module, take, instruction.name)
            after = builder.call(crc, [builder.zext(before, state_type), builder.zext(bytes_there, given)])
            return builder.trunc(after, ir.IntType(32))

        return of.uint32(of.uint32, of.uintp), generate

    return intrinsic(taken)


class _Folding:
    """Writes the instructions that fold a range of bytes, for one width of registers."""

    def __init__(self, builder: Any, width: int) -> None:
        from llvmlite import ir

        self._ir, self._builder, self._width = ir, builder, width
        self._register = ir.VectorType(ir.IntType(64), width // 8)

    def state_after(self, address: Any, size: Any, state: Any) -> Any:
        """Four registers are folded by their distance, those into one, its lanes of 16 bytes into one of these."""
        begin = [self._loaded(address, index) for index in range(REGISTERS)]
        begin[0] = self._builder.xor(begin[0], self._with_first(state))
        one, *others = self._looped(begin, address, self._builder.add(address, size))
        for other in others:
            one = self._fold(one, other, 8 * self._width)
        left, *lanes = [self._lane(one, index) for index in range(self._width // 16)]
        for lane in lanes:
            left = self._fold(left, lane, 128)
        return self._reduced(left)

    def _looped(self, begin: list[Any], address: Any, stop: Any) -> list[Any]:
        """Fold the registers over what comes after them, four at a time, up to `stop`."""
        build, at_once = self._builder, self._width * REGISTERS
        before, start = build.block, self._further(address, at_once)
        loop, after = build.append_basic_block("loop"), build.append_basic_block("after")
        build.cbranch(build.icmp_unsigned("<", start, stop), loop, after)

        build.position_at_end(loop)
        at, registers = build.phi(start.type), [build.phi(self._register) for _ in begin]
        folded = [
            self._fold(register, self._loaded(at, index), 8 * at_once) for index, register in enumerate(registers)
        ]
        following = self._further(at, at_once)
        build.cbranch(build.icmp_unsigned("<", following, stop), loop, after)
        for phi, first, later in zip((at, *registers), (start, *begin), (following, *folded), strict=True):
            phi.add_incoming(first, before)
            phi.add_incoming(later, loop)

        build.position_at_end(after)
        ends = [build.phi(self._register) for _ in begin]
        for phi, first, later in zip(ends, begin, folded, strict=True):
            phi.add_incoming(first, before)
            phi.add_incoming(later, loop)
        return ends

    def _fold(self, what: Any, onto: Any, bits: int) -> Any:
        """Move a register by so many bits, and add what stands there."""
        ir, lanes = self._ir, what.type.count // 2
        size = "" if lanes == 1 else f".{lanes * 128}"
        multiply = self._function(f"llvm.x86.pclmulqdq{size}", what.type, what.type, what.type, ir.IntType(8))
        by = ir.Constant(what.type, [_power(bits + 32), _power(bits - 32)] * lanes)
        low, high = (self._builder.call(multiply, [what, by, ir.Constant(ir.IntType(8), half)]) for half in (0, 0x11))
        return self._builder.xor(self._builder.xor(low, high), onto)

    def _reduced(self, left: Any) -> Any:
        """The state after 16 bytes that nothing came before."""
        int64 = self._ir.IntType(64)
        crc = self._function(X86_CRC[0].name, int64, int64, int64)
        state: Any = self._ir.Constant(int64, 0)
        for half in (0, 1):
            state = self._builder.call(crc, [state, self._builder.extract_element(left, self._index(half))])
        return self._builder.trunc(state, self._ir.IntType(32))

    def _with_first(self, state: Any) -> Any:
        """A register of zeros with the state in its first bytes."""
        zeros = self._ir.Constant(self._register, [0] * self._register.count)
        return self._builder.insert_element(zeros, self._builder.zext(state, self._ir.IntType(64)), self._index(0))

    def _lane(self, register: Any, which: int) -> Any:
        """Sixteen bytes of a register."""
        mask = self._ir.Constant(self._ir.VectorType(self._ir.IntType(32), 2), [2 * which, 2 * which + 1])
        return self._builder.shuffle_vector(register, self._ir.Constant(self._register, self._ir.Undefined), mask)

    def _loaded(self, address: Any, register: int) -> Any:
        at = self._further(address, self._width * register)
        return self._builder.load(self._builder.inttoptr(at, self._register.as_pointer()), align=1)

    def _further(self, address: Any, distance: int) -> Any:
        return self._builder.add(address, self._ir.Constant(address.type, distance))

    def _index(self, number: int) -> Any:
        return self._ir.Constant(self._ir.IntType(32), number)

    def _function(self, name: str, result: Any, *arguments: Any) -> Any:
        from numba.core.cgutils import get_or_insert_function

        return get_or_insert_function(self._builder.module, self._ir.FunctionType(result, arguments), name)
