"""Runs a kernel as plain Python on small inputs and compiled by numba on large ones.

A kernel is written once. Until it has handled `COMPILE_ABOVE_ROWS` rows its function is called as it is; after that
the same function, compiled, goes on over the same arrays. So a small incident never waits for a compiler. `forced()`
pins one of the two.

What numba compiles is kept as machine code (`kept_kernels.py`) and called without numba (`native_calls.py`), so numba
is imported where a kernel is not kept yet. Numba's own road, with its own cache, is for what can't be kept
(`compiling.py`), for other systems than Linux, and where numba is told to compile otherwise.
"""

from __future__ import annotations

import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from kafkatx.kernels.compiled import Compiled

P = ParamSpec("P")
R = TypeVar("R")
Mode = Literal["interpreted", "compiled"]

COMPILE_ABOVE_ROWS = 12_000
"""Rows that a kernel handles interpreted before it is compiled: some tenths of a second. Compiling takes seconds, but
only once on a machine."""
LOAD_ABOVE_ROWS = 2_000
"""Same, of a kernel that is kept: some hundredths of a second, which is what loading it costs."""

BARE = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options of numba: without the functions that Python calls a compiled one by, a third of what compiling takes."""
COMPILING = threading.RLock()
"""Held while a kernel is compiled: threads that read ahead come to it at once."""
_forced: ContextVar[Mode | None] = ContextVar("kafkatx_kernel_mode", default=None)


@contextmanager
def forced(mode: Mode) -> Iterator[None]:
    """Pin the mode for the calls inside (tests, benchmarks)."""
    token = _forced.set(mode)
    try:
        yield
    finally:
        _forced.reset(token)


class Faster(NamedTuple):
    """A function that numba compiles in place of a kernel's own on processors that can, and what tries its answers."""

    function: Callable[..., Any]
    agrees: Callable[[Callable[..., Any]], bool]


class Kernel(Generic[P, R]):
    """One loop over data in its two forms.

    `plain` is the function as written (or, where a wheel does the same work, that wheel's function); `compiled` is
    made on first use.
    The one that calls a kernel from outside tells it with `count` how many rows came of it, and hands buffers over by
    `view`.
    """

    def __init__(
        self,
        function: Callable[P, R],
        wheel: Callable[P, R] | None = None,
        faster: Callable[[], Faster | None] | None = None,
        inlined: bool = False,
        lean: bool = False,
    ) -> None:
        self.function = function
        self.options = {"nogil": True, "forceinline": inlined, "_nrt": not lean}
        self.rows = 0
        self.follows: Kernel[Any, Any] | None = None
        self._plain = wheel
        self._faster = faster
        self._compiled: Compiled[P, R] | None = None
        self._by_numba: dict[bool, Any] = {}
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__

    @property
    def plain(self) -> Callable[P, R]:
        """The function as written, linked to the plain forms of the kernels it calls.

        Nobody asks for the mode inside.
        """
        if self._plain is None:
            self._plain = cast("Callable[P, R]", _linked(self.function, lambda kernel: kernel.plain))
        return self._plain

    @property
    def compiled(self) -> Compiled[P, R]:
        """The function compiled, its callees too."""
        if self._compiled is None:
            from kafkatx.kernels.compiled import Compiled

            name = f"{self.function.__module__.rpartition('.')[2]}.{self.function.__qualname__}"
            self._compiled = Compiled(name, self.by_numba, COMPILING)
        return self._compiled

    def by_numba(self, is_bare: bool) -> Any:
        """Numba's object for the function: bare, for code that is kept; else one that numba calls and keeps itself.

        Raises:
            ImportError: numba is not there.
        """
        with COMPILING:
            if is_bare not in self._by_numba:
                faster = self._faster() if self._faster else None
                tried = faster and _tried(faster, self.options, is_bare)
                self._by_numba[is_bare] = tried or _jitted(self.function, self.options, is_bare)
            return self._by_numba[is_bare]

    @property
    def is_compiled(self) -> bool:
        """Whether the next call runs compiled."""
        mode = _forced.get()
        if mode:
            return mode == "compiled"
        return self._is_enough(self.rows) or (self.follows is not None and self.follows.is_compiled)

    def count(self, rows: int, still_to_come: int = 0) -> None:
        """Add to the work done by this kernel in this process; what is certain to come soon counts as done."""
        self.rows += rows
        if self._is_enough(self.rows + still_to_come):
            self.rows = max(self.rows, COMPILE_ABOVE_ROWS)

    def _is_enough(self, rows: int) -> bool:
        return rows >= COMPILE_ABOVE_ROWS or (rows >= LOAD_ABOVE_ROWS and self.compiled.is_kept)

    def view(self, buffer: Any) -> Any:
        """Return the form of a byte buffer that the next call indexes fastest.

        A uint8 array when compiled, else a memoryview; a call that is given one first runs as it is written, whatever
        other threads have counted meanwhile. The array is one to read only, whatever the buffer is: numba compiles
        anew for arrays that can be written.
        """
        if not self.is_compiled:
            return memoryview(buffer)
        import numpy as np

        array = np.frombuffer(buffer, np.uint8)
        array.flags.writeable = False
        return array

    def room(self, buffer: Any) -> Any:
        """Return the form of a byte buffer that the next call fills fastest: as `view` does, to be written into."""
        if not self.is_compiled:
            return memoryview(buffer)
        import numpy as np

        return np.frombuffer(buffer, np.uint8)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run in the current mode."""
        is_compiled = self.is_compiled and not (args and isinstance(args[0], memoryview))
        return (self.compiled if is_compiled else self.plain)(*args, **kwargs)


def kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Declare a kernel."""
    return Kernel(function)


def kernel_inlined(function: Callable[P, R]) -> Kernel[P, R]:
    """Declare a kernel that is a step of a loop: compiled, it stands in the loop itself, where a call costs as much."""
    return Kernel(function, inlined=True, lean=True)


def kernel_lean(function: Callable[P, R]) -> Kernel[P, R]:
    """Declare a kernel that makes no array and no slice of one: compiled, it counts no references to those it is given.

    Numba counts them for each call that it does not see through, in a loop over records for each record.
    """
    return Kernel(function, lean=True)


def kernel_after(other: Kernel[Any, Any]) -> Callable[[Callable[P, R]], Kernel[P, R]]:
    """Declare a kernel that handles what another one yields: it goes on compiled as soon as that one does."""

    def declare(function: Callable[P, R]) -> Kernel[P, R]:
        declared = Kernel(function)
        declared.follows = other
        return declared

    return declare


def kernel_with_wheel(
    wheel: Callable[P, R], faster: Callable[[], Faster | None] | None = None, inlined: bool = False
) -> Callable[[Callable[P, R]], Kernel[P, R]]:
    """Declare a kernel whose plain form is a wheel's function, and for which there may be a faster one to compile.

    A test holds them equal.
    """
    return lambda function: Kernel(function, wheel, faster, inlined, lean=inlined)


def _linked(function: Callable[P, R], form: Callable[[Kernel[Any, Any]], Any]) -> types.FunctionType:
    """Return a copy of a function in which the kernels it calls stand in one of their forms."""
    python = cast(types.FunctionType, function)
    names = dict(python.__globals__)
    for name in python.__code__.co_names:
        if isinstance(names.get(name), Kernel):
            names[name] = form(names[name])
    return types.FunctionType(python.__code__, names, python.__name__, python.__defaults__)


def _tried(faster: Faster, options: dict[str, bool], is_bare: bool) -> Callable[..., Any] | None:
    """Compile it; None where its answers are wrong on this machine, which is for nobody to find out in a diagnosis."""
    compiled = candidate = _jitted(faster.function, options, is_bare)
    if is_bare:
        from kafkatx.kernels.compiled import bare

        candidate = bare(compiled, faster.function.__name__)
    return compiled if faster.agrees(candidate) else None


def _jitted(function: Callable[..., Any], options: dict[str, bool], is_bare: bool) -> Any:
    """Numba's object for a function with the kernels that it calls replaced by theirs: numba refuses plain ones."""
    import numba

    from kafkatx.kernels.kept_kernels import sources

    linked = _linked(function, lambda kernel: kernel.by_numba(is_bare))
    linked.__module__, linked.__qualname__ = function.__module__, function.__qualname__
    if is_bare:
        return numba.njit(**options, **BARE)(linked)
    if Path(linked.__code__.co_filename).is_file():  # from a zip numba would fill the user's cache anew for each copy
        linked.__qualname__ += f"_{sources()}"  # numba keeps a function until its own file changes, whatever it calls
        with suppress(RuntimeError, OSError):  # no folder that a cache could be written to
            return _forgiving(numba.njit(cache=True, **options)(linked))
    return numba.njit(**options)(linked)


def _forgiving(compiled: Any) -> Any:
    """Let calls of a compiled function outlive a cache that fails later: a full disk, a file that is not ours to read.

    Numba lets such errors out of the first call; what it has for this is for Windows only.
    """
    compiled._cache = _ForgivingCache(compiled._cache)
    return compiled


class _ForgivingCache:
    """A cache of numba that rather holds nothing than fails."""

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)

    def load_overload(self, *key: Any) -> Any:
        """Return what is kept, None where it can't be read."""
        import pickle

        with suppress(OSError, EOFError, pickle.UnpicklingError):
            return self._cache.load_overload(*key)
        return None

    def save_overload(self, *entry: Any) -> None:
        """Keep it where that is possible."""
        import pickle

        with suppress(OSError, EOFError, pickle.UnpicklingError):
            self._cache.save_overload(*entry)
