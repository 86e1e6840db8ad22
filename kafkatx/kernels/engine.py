"""Runs a kernel as plain Python on small inputs and compiled by numba on large ones. The only module that knows numba.

A kernel is written once. Until a run has handled `COMPILE_ABOVE_ROWS` rows its function is called as it is; after that the same
function, compiled, goes on over the same arrays. So a small incident never waits for a compiler. `forced()` pins one of the two.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Generic, Literal, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")
Mode = Literal["interpreted", "compiled"]

COMPILE_ABOVE_ROWS = 8_192
"""Rows handled by interpreted kernels before a run compiles them: about a fifth of a second of interpretation, which is what
loading the compiled form costs."""

_forced: ContextVar[Mode | None] = ContextVar("kafkatx_kernel_mode", default=None)


class _Work:
    """Rows handled so far by interpreted kernels of this process."""

    rows = 0


def count_rows(rows: int) -> None:
    """Add to the work done; callers of kernels report what a call yielded."""
    _Work.rows += rows


def is_compiled() -> bool:
    """Whether the next kernel call runs compiled."""
    mode = _forced.get()
    return mode == "compiled" if mode else _Work.rows >= COMPILE_ABOVE_ROWS


@contextmanager
def forced(mode: Mode) -> Iterator[None]:
    """Pin the mode for the calls inside (tests, benchmarks)."""
    token = _forced.set(mode)
    try:
        yield
    finally:
        _forced.reset(token)


class Kernel(Generic[P, R]):
    """One loop over data in its two forms.

    `plain` is the function as written (or, where a wheel does the same work, that wheel's function); `compiled` is made on first use.
    """

    def __init__(self, function: Callable[P, R], plain: Callable[P, R] | None = None) -> None:
        self.function = function
        self.plain = plain or function
        self._compiled: Callable[P, R] | None = None
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__

    @property
    def compiled(self) -> Callable[P, R]:
        """The function compiled by numba, its callees too; cached on disk where the package's folder or the user's cache is writable."""
        if self._compiled is None:
            self._compiled = _compile(self.function)
        return self._compiled

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run in the current mode."""
        chosen = self.compiled if is_compiled() else self.plain
        return chosen(*args, **kwargs)


def kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Declare a kernel."""
    return Kernel(function)


def kernel_with_wheel(wheel: Callable[P, R]) -> Callable[[Callable[P, R]], Kernel[P, R]]:
    """Declare a kernel whose plain form is a wheel's function; a test holds the two equal."""
    return lambda function: Kernel(function, wheel)


def _compile(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function with the kernels it calls replaced by their compiled forms (numba refuses to call plain ones)."""
    import numba

    python = cast(types.FunctionType, function)
    names = dict(python.__globals__)
    for name in python.__code__.co_names:
        if isinstance(names.get(name), Kernel):
            names[name] = names[name].compiled
    linked = types.FunctionType(python.__code__, names, python.__name__, python.__defaults__)
    linked.__module__, linked.__qualname__ = python.__module__, python.__qualname__
    try:
        return cast("Callable[P, R]", numba.njit(cache=True, nogil=True)(linked))
    except RuntimeError:  # no folder that a cache could be written to: compile for this process only
        return cast("Callable[P, R]", numba.njit(nogil=True)(linked))


def data_view(buffer: Any) -> Any:
    """Return the form of a byte buffer that the current mode indexes fastest: a uint8 array when compiled, else a memoryview."""
    import numpy as np

    return np.frombuffer(buffer, np.uint8) if is_compiled() else memoryview(buffer)
