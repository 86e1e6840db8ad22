"""Records: the standard library's dataclasses, with slots, that cost next to nothing until one is made.

The library's decorator writes and compiles up to eight functions for a class: half a millisecond, and there are
hundreds of classes, of which a run makes objects of a few. Here a class has its slots at once, shares what compares,
hashes and prints, and sets its first objects' fields one by one; an `__init__` is written for it when that costs less.
To its reader and to a type checker it is the library's decorator: `fields`, `replace`, `asdict`, `copy`, `pickle` and
`match` take a record for what it looks like.

What is asked for without slots, or with an order, is the library's own (dataclasses, Python 3.11). `InitVar` and
`KW_ONLY` are not understood: no class of ours has them.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import MISSING, Field, FrozenInstanceError
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

OURS = frozenset(["frozen", "slots", "kw_only", "eq", "repr", "weakref_slot"])
"""Options that are understood here."""
Fields = dict[str, Any]
"""Fields (`dataclasses.Field`) by name, those of bases first."""
Methods = dict[str, Any]
"""What stands in a class, by name."""
FIRST = 20
"""Objects of a class before its `__init__` is written, which costs what it saves on so many."""

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(kind: type | None = None, /, **options: bool) -> Any:
        """Make a class a dataclass; takes what `dataclasses.dataclass` takes, and makes what that makes."""

        def made(kind: type) -> type:
            is_ours = options.get("slots") and OURS.issuperset(options) and all(map(_is_record, kind.__bases__))
            return (_record if is_ours else dataclasses.dataclass)(kind, **options)

        return made if kind is None else made(kind)


def _is_record(base: type) -> bool:
    """Whether a record can be made of a base: it is one, or has no fields."""
    return hasattr(base, "__record__") or not dataclasses.is_dataclass(base)


def _record(
    kind: type, *, slots: bool, frozen: bool = False, kw_only: bool = False,
    eq: bool = True, repr: bool = True, weakref_slot: bool = False,
) -> type:  # fmt: skip
    own = _declared(kind, kw_only)
    fields = _inherited(kind) | own
    said: Methods = {"__record__": own, "__signature__": _SIGNATURE, "__dataclass_fields__": _FIELDS}
    said["__dataclass_params__"] = _PARAMS
    by_place = said["__match_args__"] = tuple(name for name, one in fields.items() if one.init and not one.kw_only)
    first = said["__init__"] = _first_init(fields, by_place)
    if repr:
        said |= _repr(tuple(name for name, one in fields.items() if one.repr))
    if eq:
        said |= _equality(tuple(name for name, one in fields.items() if one.compare), frozen)
    if frozen:
        said |= _frozen(frozenset(fields)) | _state(tuple(fields))
    written = {name: value for name, value in kind.__dict__.items() if name not in own and name not in _MADE_ANEW}
    given = said | written | {"__slots__": _slots(kind, own) + ("__weakref__",) * weakref_slot}
    made = type(kind)(kind.__name__, kind.__bases__, given)
    made.__qualname__ = kind.__qualname__
    first.record = made
    return made


_MADE_ANEW = frozenset(["__dict__", "__weakref__"])
"""What every class gets by itself."""


def _declared(kind: type, kw_only: bool) -> Fields:
    """The fields that a class declares itself."""
    found: Fields = {}
    written, plain = kind.__dict__, _PLAIN[kw_only]
    for name, hint in written.get("__annotations__", {}).items():
        if "ClassVar" in (told := hint if type(hint) is str else str(hint)) and _is_of_class(told):
            continue
        if (given := written.get(name, MISSING)) is MISSING:
            found[name] = plain
            continue
        one = found[name] = given if isinstance(given, Field) else dataclasses.field(default=given)
        if one.kw_only is MISSING:
            one.kw_only = kw_only
    return found


def _is_of_class(hint: str) -> bool:
    """Whether an annotation is that of a class variable, which is no field."""
    return hint.removeprefix("typing.").startswith("ClassVar")


_PLAIN = tuple(dataclasses.field(kw_only=by_name) for by_name in (False, True))
"""The field of which nothing is said but its type, by place and by name: all such fields are one object."""


def _inherited(kind: type) -> Fields:
    found: Fields = {}
    for base in kind.__mro__[-2:0:-1]:
        found |= base.__dict__.get("__record__", {})
    return found


def _slots(kind: type, own: Fields) -> tuple[str, ...]:
    """A slot for each field that no base has one for."""
    taken = {name for base in kind.__mro__[1:-1] for name in base.__dict__.get("__slots__", ())}
    return tuple(name for name in own if name not in taken)


def _owner(kind: type, name: str) -> Any:
    """The class of a line of bases that has `name` itself."""
    return next(one for one in kind.__mro__ if name in one.__dict__)


def _first_init(fields: Fields, by_place: tuple[str, ...]) -> Any:
    """An `__init__` for the first objects of a class; then one that is written for its `record` takes its place."""
    left = FIRST

    def __init__(self: Any, /, *values: Any, **named: Any) -> None:
        nonlocal left
        left -= 1
        given = dict(zip(by_place, values, strict=False))
        given.update(named)
        if left < 0 or len(given) != len(values) + len(named) or not _is_set(self, fields, given):
            _write_init(first.record)(self, *values, **named)
        elif hasattr(self, "__post_init__"):
            self.__post_init__()

    first: Any = __init__
    return first


def _is_set(self: Any, fields: Fields, given: dict[str, Any]) -> bool:
    """Set the fields of an object to what is given; returns whether it fits, else the one that is written says why."""
    used = 0
    for name, one in fields.items():
        if name in given:
            value, used = given[name], used + one.init
        elif one.default is not MISSING:
            value = one.default
        elif one.default_factory is not MISSING:
            value = one.default_factory()
        elif one.init:
            return False
        else:
            continue
        _set(self, name, value)
    return used == len(given)


_set = object.__setattr__


def _write_init(kind: Any) -> Any:
    """Write the `__init__` of a class, which sets its slots and calls `__post_init__`, and put it there."""
    known: Methods = {"ABSENT": MISSING}
    fields = _inherited(kind) | kind.__record__
    is_frozen = kind.__setattr__ is not object.__setattr__
    body = [line for name, one in fields.items() for line in _assignment(kind, name, one, known, is_frozen)]
    if hasattr(kind, "__post_init__"):
        body.append("self.__post_init__()")
    source = f"def made({', '.join(known)}):\n def __init__({_parameters(fields)}):\n  "
    source += "\n  ".join(body or ["pass"]) + "\n return __init__"
    found: Methods = {}
    exec(source, vars(sys.modules.get(kind.__module__, dataclasses)), found)
    init: Any = found["made"](**known)
    init.__qualname__ = f"{kind.__qualname__}.__init__"
    init.__annotations__ = {name: hint for name, hint in _hints(kind).items() if fields[name].init} | {"return": None}
    kind.__init__ = init
    return init


def _parameters(fields: Fields) -> str:
    """The parameters of an `__init__`, those by name only behind all others."""
    said = {
        name: name if one.default is MISSING and one.default_factory is MISSING else f"{name}=_default_{name}_"
        for name, one in fields.items()
        if one.init
    }
    by_name = [text for name, text in said.items() if fields[name].kw_only]
    by_place = [text for name, text in said.items() if not fields[name].kw_only]
    return ", ".join(["self", *by_place, *["*"][: len(by_name)], *by_name])


def _assignment(kind: Any, name: str, one: Any, known: Methods, is_frozen: bool) -> Iterator[str]:
    """Yield the line that sets a field, if one does; what it uses is added to what is `known`."""
    value = name
    if one.default_factory is not MISSING:
        known[f"_default_{name}_"], known[f"_new_{name}_"] = MISSING, one.default_factory
        value = f"_new_{name}_() if {name} is ABSENT else {name}" if one.init else f"_new_{name}_()"
    elif one.default is not MISSING:
        known[f"_default_{name}_"] = one.default
        value = name if one.init else f"_default_{name}_"
    elif not one.init:
        return
    if is_frozen:
        known[f"_set_{name}_"] = getattr(kind, name).__set__
    yield f"_set_{name}_(self, {value})" if is_frozen else f"self.{name} = {value}"


def _hints(kind: type) -> dict[str, Any]:
    """The annotations of all fields."""
    return {
        name: inspect.get_annotations(base)[name]
        for base in reversed(kind.__mro__)
        for name in base.__dict__.get("__record__", ())
    }


def _repr(names: tuple[str, ...]) -> Methods:
    @recursive_repr()
    def __repr__(self: Any) -> str:
        told = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({told})"

    return {"__repr__": __repr__}


def _equality(names: tuple[str, ...], is_hashed: bool) -> Methods:
    values = _values(names)

    def __eq__(self: Any, other: object) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(values(self))

    return {"__eq__": __eq__, "__hash__": __hash__ if is_hashed else None}


def _values(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """A function that returns the values of these fields of an object."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda one: tuple(getattr(one, name) for name in names)


def _frozen(names: frozenset[str]) -> Methods:
    def __setattr__(self: Any, name: str, value: Any) -> None:
        if name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)

    def __delattr__(self: Any, name: str) -> None:
        if name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        object.__delattr__(self, name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}


def _state(names: tuple[str, ...]) -> Methods:
    """How a frozen record is pickled and copied: its values in order, set past what freezes it."""

    def __getstate__(self: Any) -> list[Any]:
        return [getattr(self, name) for name in names]

    def __setstate__(self: Any, state: list[Any]) -> None:
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    return {"__getstate__": __getstate__, "__setstate__": __setstate__}


class _Signature:
    """The signature of a record whose `__init__` is not written yet."""

    def __get__(self, _: object, kind: type) -> inspect.Signature:
        owner = _owner(kind, "__init__")
        if "__record__" not in owner.__dict__:
            raise AttributeError("__signature__")
        init = owner.__dict__["__init__"]
        _self, *others = inspect.signature(_write_init(owner) if hasattr(init, "record") else init).parameters.values()
        return inspect.Signature(others)


class _OfLibrary:
    """What the library keeps of a dataclass, asked of it when `fields`, `replace` or a class of its own want it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, _: object, kind: type) -> Any:
        owner: Any = _owner(kind, "__record__")
        alike = {"__annotations__": _hints(owner), "__module__": owner.__module__, "__doc__": "As the library has it."}
        alike |= {name: copy(one) for name, one in (_inherited(owner) | owner.__record__).items()}
        options: dict[str, Any] = {"init": False, "repr": False, "eq": False, "match_args": False}
        if self.name == "__dataclass_params__":
            options["frozen"] = owner.__setattr__ is not object.__setattr__
        found: Any = dataclasses.dataclass(**options)(type(owner.__name__, (), alike))
        setattr(owner, self.name, getattr(found, self.name))
        return getattr(owner, self.name)


_SIGNATURE = _Signature()
_FIELDS, _PARAMS = _OfLibrary("__dataclass_fields__"), _OfLibrary("__dataclass_params__")
