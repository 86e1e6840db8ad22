"""Calls of compiled kernels by their machine code alone: what numba made is loaded and called without numba.

Loaded     by llvmlite, an engine for each kernel, so that names in one never meet those in another (they are unique
           within a process that compiled, not between two).
Called     `call(int64* words)`, made with the kernel (`kernels/compiling.py`), takes its arguments out of one row of
           words and puts the results behind them: an array is the address of its object, of which `call` reads where
           the data lie, the shape and the strides; a number is itself. So a call costs some microseconds, however many
           arrays there are. Python's lock is released.
Source     PyArrayObject_fields (numpy/ndarraytypes.h, 1.x and 2.x), ELF (System V ABI, symbol table).
"""

from __future__ import annotations

import ctypes
import sys
import threading
from array import array
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

import numpy as np

ENTRY = "kafkatx_call"
"""Name of the function that takes words."""
DESTRUCTOR = "NRT_MemInfo_call_dtor"
"""What numba's counting of references needs and, as no array here is counted, never calls: defined beside ENTRY."""
FLAGS = 1 | 2 | 0x100 | 0x400
"""Of an array's flags those that its type is made of: contiguous as C or as Fortran has it, aligned, writeable."""
NUMBERS = frozenset({np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64})
LARGEST = (1 << 64) - 1
WORD = 8
HEAD = object.__basicsize__
"""Bytes of an object in front of what an array adds: data, number of dimensions, shape, strides (8 bytes each)."""

_LOADING = threading.Lock()
Kinds = tuple[Any, ...]
Call = Callable[[list[int]], Any]


class KernelError(RuntimeError):
    """A compiled kernel ended with an error: a bug of ours. Plain Python would have raised it where it is."""


class Objects(NamedTuple):
    """A compiled kernel for one kind of arguments.

    Object code of it and of ENTRY; how many words the arguments are; a letter for each result, in brackets where they
    are a tuple (`i` a number, `u` one that uses all bits without a sign, `b` a truth; none for None); and the names
    that it needs from the process.
    """

    kernel: bytes
    entry: bytes
    words: int
    results: str
    needed: tuple[str, ...]


def taken_apart(args: tuple[Any, ...]) -> tuple[Kinds, list[int]] | None:
    """The kinds of arguments, which tell compiled forms apart, and their words; None where one is of another kind."""
    kinds: list[Any] = []
    words: list[int] = []
    for value in args:
        kind = type(value)
        if kind is np.ndarray:
            kinds += (value.dtype, value.ndim, value.flags.num & FLAGS)
            words.append(id(value))
        elif kind is int or kind is bool:
            kinds.append(kind)
            words.append(value)
        elif kind in NUMBERS:
            kinds.append(kind)
            words.append(int(value))
        else:
            return None
    return tuple(kinds), words


def told(kinds: Kinds) -> str:
    """Kinds of arguments in words that another process understands."""
    return " ".join(_told(kind) if isinstance(kind, np.dtype) else repr(kind) for kind in kinds)


def _told(dtype: np.dtype[Any]) -> str:
    if dtype.names is None:
        return dtype.str if dtype.subdtype is None else f"{_told(dtype.base)}{dtype.shape}"
    fields = ",".join(f"{name}:{_told(field[0])}@{field[1]}" for name, field in (dtype.fields or {}).items())
    return f"{{{fields}}}{dtype.itemsize}{'a' if dtype.isalignedstruct else ''}"


def loaded(objects: Objects, name: str) -> Call | None:
    """Load a compiled kernel; None where it can't be: it is for another system, or needs what is not in the process."""
    import llvmlite.binding as llvm

    process = ctypes.CDLL(None)
    if not all(hasattr(process, symbol) for symbol in objects.needed):  # LLVM would end the process
        return None
    with _LOADING:
        engine = _engine()
        for content in (objects.entry, objects.kernel):
            engine.add_object_file(llvm.ObjectFileRef.from_data(content))
        engine.finalize_object()
        address = engine.get_function_address(ENTRY)
    return _called(ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(address), engine, objects, name)


def _called(entry: Any, engine: Any, objects: Objects, name: str) -> Call:
    """The function that hands words over and takes results; it holds the engine, whose memory the code is in."""
    room, results = [0] * len(objects.results.strip("()")), objects.results
    count, is_tuple = objects.words, results.startswith("(")
    others = [(number, letter) for number, letter in enumerate(results.strip("()")) if letter != "i"]

    def call(words: list[int], _engine: Any = engine) -> Any:
        block = array("q", words + room)
        status = entry(block.buffer_info()[0])
        if status:
            raise KernelError(f"the compiled kernel {name} ended with status {status}")
        found: list[Any] = block[count:].tolist()
        for number, letter in others:
            found[number] = bool(found[number]) if letter == "b" else found[number] & LARGEST
        return tuple(found) if is_tuple else found[0] if found else None

    return call


def _engine() -> Any:
    import llvmlite.binding as llvm

    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine())


def machine(cpu: str = "", features: str = "") -> Any:
    """What code is made for, or loaded as."""
    import llvmlite.binding as llvm

    _initialise()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    reloc = "static" if target.name.startswith("x86") else "default"
    return target.create_target_machine(cpu, features, opt=2, reloc=reloc, codemodel="jitdefault", jit=True)


@cache
def _initialise() -> None:
    import llvmlite.binding as llvm

    with suppress(RuntimeError):  # releases of today need it no more, and refuse it
        llvm.initialize()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


@cache
def is_possible() -> bool:
    """Whether this process can call kernels so: its objects lie as they are read here, and llvmlite works."""
    if (
        sys.implementation.name != "cpython"
        or sys.platform != "linux"
        or sys.byteorder != "little"
        or sys.maxsize < 2**32
    ):
        return False
    try:
        _engine()
    except (ImportError, AttributeError, TypeError, ValueError, RuntimeError, OSError):
        return False
    return _lies_as_known(np.zeros((3, 8), np.int32)[1:, ::2])


def _lies_as_known(values: np.ndarray[Any, Any]) -> bool:
    data, dimensions, shape, strides = (ctypes.c_int64 * 4).from_address(id(values) + HEAD)
    if data != values.__array_interface__["data"][0] or dimensions & 0xFFFFFFFF != values.ndim:
        return False
    pairs = [tuple((ctypes.c_int64 * values.ndim).from_address(address)) for address in (shape, strides)]
    return pairs == [values.shape, values.strides]


SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")]
)
"""Elf64_Sym."""


def needed_by(*contents: bytes) -> tuple[str, ...]:
    """Names that files of object code leave to others."""
    symbols = [symbol for content in contents for symbol in _symbols(content)]
    defined = {name for name, section in symbols if section != 0}
    return tuple(sorted({name for name, section in symbols if section == 0} - defined))


def _symbols(content: bytes) -> list[tuple[str, int]]:
    """Name and section of each symbol of a file, section 0 where it is not in the file."""
    import llvmlite.binding as llvm

    sections: dict[bytes, bytes] = {}
    for section in llvm.ObjectFileRef.from_data(content).sections():
        sections.setdefault(section.name(), bytes(section.data()))
    names = sections[b".strtab"]
    symbols = np.frombuffer(sections[b".symtab"], SYMBOL)
    found = zip(symbols["name"].tolist(), symbols["section"].tolist(), strict=True)
    return [(names[at : names.index(0, at)].decode(), section) for at, section in found if at]
