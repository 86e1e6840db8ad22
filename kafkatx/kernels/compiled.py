"""A kernel as the rest of the package calls it when it is compiled: kept machine code, else what numba makes now."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from functools import cached_property
from typing import Any, Generic, ParamSpec, TypeVar, cast

from kafkatx.kernels.kept_kernels import is_any_kept, is_wanted, keep, kept
from kafkatx.kernels.native_calls import Call, Kinds, is_possible, loaded, taken_apart, told

P = ParamSpec("P")
R = TypeVar("R")


class Compiled(Generic[P, R]):
    """A compiled kernel, by kind of arguments: machine code that was kept or is made now, else numba's own road."""

    def __init__(self, name: str, by_numba: Callable[[bool], Any], compiling: AbstractContextManager[Any]) -> None:
        self.name = name
        self._by_numba, self._compiling = by_numba, compiling
        self._calls: dict[Kinds, Call | None] = {}

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run it, compiled first where nothing is kept."""
        apart = None if kwargs else taken_apart(args)
        if apart is not None:
            kinds, words = apart
            if kinds not in self._calls:
                self._look_for(kinds, args)
            call = self._calls[kinds]
            if call is not None:
                with suppress(OverflowError):  # a number that no word takes
                    return cast("R", call(words))
        return cast("R", self._by_numba(False)(*args, **kwargs))

    @cached_property
    def is_kept(self) -> bool:
        """Whether it was kept, when this was first asked."""
        return is_wanted() and is_any_kept(self.name) and is_possible()

    @property
    def is_native(self) -> bool:
        """Whether it was called, and never by numba's own road."""
        return bool(self._calls) and None not in self._calls.values()

    def _look_for(self, kinds: Kinds, args: tuple[Any, ...]) -> None:
        with self._compiling:
            if kinds not in self._calls:
                self._calls[kinds] = self._native(told(kinds), args) if is_wanted() and is_possible() else None

    def _native(self, kinds: str, args: tuple[Any, ...]) -> Call | None:
        objects = kept(self.name, kinds)
        call = objects and loaded(objects, self.name)
        if call:
            return call
        from kafkatx.kernels.compiling import OTHER_INSIDE, objects_of  # the one place that needs numba

        with suppress(*OTHER_INSIDE):
            objects = objects_of(self._by_numba(True), args)
            call = objects and loaded(objects, self.name)
            if objects and call:
                keep(self.name, kinds, objects)
        return call or None


def bare(dispatcher: Any, name: str) -> Callable[..., Any]:
    """Numba's object for a function, made without what Python calls it by, as something to call; nothing is kept.

    Raises when called:
        TypeError: It can't be called so.
    """
    from kafkatx.kernels.compiling import objects_of

    calls: dict[Kinds, Call | None] = {}

    def called(*args: Any) -> Any:
        apart = taken_apart(args)
        if apart is None:
            raise TypeError(f"{name} is called with arguments of other kinds")
        kinds, words = apart
        if kinds not in calls:
            objects = objects_of(dispatcher, args)
            calls[kinds] = objects and loaded(objects, name)
        call = calls[kinds]
        if call is None:
            raise TypeError(f"{name} can't be called without numba")
        return call(words)

    return called
