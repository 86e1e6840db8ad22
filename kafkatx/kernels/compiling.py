"""What is kept of a kernel when numba has compiled it: its object code, and a function that calls it with words.

Numba's own convention for a compiled function is `int32 status = f(result*, error**, arguments...)`, an array being
seven values and more. The function written here takes them out of a row of words (`kernels/native_calls.py`), calls the
kernel and puts what it returns behind them. It is a file of object code of its own, since that of the kernel is ready.

Not kept, and left to numba: a kernel that returns an array, that has the address of one in its code, or that makes
one or copies a slice (what fails there makes its text): such code needs numba's runtime.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafkatx.kernels.native_calls import DESTRUCTOR, ENTRY, HEAD, WORD, Objects, machine, needed_by

OTHER_INSIDE = AttributeError, TypeError, KeyError, ValueError, NotImplementedError, AssertionError, ImportError
"""What may be raised where numba or llvmlite is another one inside than the releases that were looked at."""


def objects_of(dispatcher: Any, args: tuple[Any, ...]) -> Objects | None:
    """Compile a function for arguments as these and return what is to be kept; None where it is none of those.

    Raises:
        Exception: numba's for what it can't compile; AttributeError and the like where it is another numba inside.
    """
    signature = tuple(dispatcher.typeof_pyval(value) for value in args)
    dispatcher.compile(signature)
    made = dispatcher.overloads[signature]
    results = _letters(made.signature.return_type)
    if results is None or made.reload_init or made.library.has_dynamic_globals:
        return None
    kernel, entry = bytes(made.library._get_compiled_object()), _entry(made, args)
    return Objects(kernel, entry, len(args), results, needed_by(kernel, entry))


def _letters(result: Any) -> str | None:
    """Letters of results, None for a type that has none."""
    from numba import types as of

    if isinstance(result, of.BaseTuple):
        letters = [_letters(item) for item in result]
        return f"({''.join(map(str, letters))})" if all(letter and len(letter) == 1 for letter in letters) else None
    if isinstance(result, of.NoneType):
        return ""
    if isinstance(result, of.Boolean):
        return "b"
    if isinstance(result, of.Integer):
        return "u" if not result.signed and result.bitwidth == 64 else "i"
    return None


def _entry(made: Any, args: tuple[Any, ...]) -> bytes:
    """Object code of ENTRY for a compiled function."""
    from llvmlite import binding, ir
    from numba.core.registry import cpu_target

    context, (triple, cpu, features) = cpu_target.target_context, _made_for()
    module = ir.Module(ENTRY)
    module.triple, module.data_layout = triple, str(machine(cpu, features).target_data)
    words, status = ir.IntType(64).as_pointer(), ir.IntType(32)
    entry = ir.Function(module, ir.FunctionType(status, [words]), ENTRY)
    builder = ir.IRBuilder(entry.append_basic_block())
    _Entry(context, builder, entry.args[0]).call(made, args)
    unused = ir.Function(module, ir.FunctionType(ir.VoidType(), [ir.IntType(8).as_pointer()]), DESTRUCTOR)
    ir.IRBuilder(unused.append_basic_block()).ret_void()
    return bytes(machine(cpu, features).emit_object(binding.parse_assembly(str(module))))


def _made_for() -> tuple[str, str, str]:
    """Triple, name of the processor and its features that numba compiles for."""
    from numba.core.registry import cpu_target

    triple, cpu, features = cpu_target.target_context.codegen().magic_tuple()
    return str(triple), str(cpu), str(features)


class _Entry:
    """Writes the instructions that take arguments out of words, call, and put results behind them."""

    def __init__(self, context: Any, builder: Any, words: Any) -> None:
        from llvmlite import ir

        self._ir, self._context, self._builder, self._words = ir, context, builder, words

    def call(self, made: Any, args: tuple[Any, ...]) -> None:
        """Write them all."""
        types, result = made.signature.args, made.signature.return_type
        values = [self._value(self._word(at), of, args[at]) for at, of in enumerate(types)]
        function = self._context.declare_function(self._builder.module, made.fndesc)
        status, returned = self._context.call_conv.call_function(self._builder, function, result, types, values)
        for number, word in enumerate(self._results(returned, result)):
            self._builder.store(word, self._place(len(types) + number))
        self._builder.ret(status.code)

    def _value(self, word: Any, of: Any, example: Any) -> Any:
        """The value that a word stands for, as numba has it."""
        from numba import types

        if isinstance(of, types.Array):
            return self._array(word, of, example)
        if isinstance(of, types.Boolean):
            return self._builder.icmp_signed("!=", word, self._number(0))
        kind = self._context.get_value_type(of)
        return word if kind.width == 64 else self._builder.trunc(word, kind)

    def _array(self, address: Any, of: Any, example: Any) -> Any:
        """An array by the address of its object; nobody counts references to it, whoever calls holds one."""
        from numba.np.arrayobj import populate_array

        made = self._context.make_array(of)(self._context, self._builder)
        shape, strides = (self._read(address, HEAD + WORD * at) for at in (2, 3))
        populate_array(
            made,
            data=self._builder.inttoptr(self._read(address, HEAD), self._context.get_data_type(of.dtype).as_pointer()),
            shape=[self._read(shape, WORD * at) for at in range(of.ndim)],
            strides=[self._read(strides, WORD * at) for at in range(of.ndim)],
            itemsize=self._number(example.itemsize),
            meminfo=self._ir.Constant(self._ir.IntType(8).as_pointer(), None),
        )
        return made._getvalue()

    def _results(self, returned: Any, of: Any) -> Iterator[Any]:
        """What was returned, a word each."""
        from numba import types

        if isinstance(of, types.BaseTuple):
            for number, item in enumerate(of):
                yield from self._results(self._builder.extract_value(returned, number), item)
        elif not isinstance(of, types.NoneType):
            is_signed = isinstance(of, types.Integer) and of.signed
            widen = self._builder.sext if is_signed else self._builder.zext
            yield returned if returned.type.width == 64 else widen(returned, self._ir.IntType(64))

    def _word(self, at: int) -> Any:
        return self._builder.load(self._place(at))

    def _place(self, at: int) -> Any:
        return self._builder.gep(self._words, [self._number(at)])

    def _read(self, address: Any, further: int) -> Any:
        """The word at an address."""
        place = self._builder.add(address, self._number(further))
        return self._builder.load(self._builder.inttoptr(place, self._ir.IntType(64).as_pointer()))

    def _number(self, value: int) -> Any:
        return self._ir.Constant(self._ir.IntType(64), value)
