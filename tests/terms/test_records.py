"""Records are the library's dataclasses: whatever is declared, both make classes that nobody can tell apart."""

from __future__ import annotations

import copy
import dataclasses
import gc
import inspect
import pickle
import pkgutil
import subprocess
import sys
from importlib import import_module
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kafkatx
from kafkatx.terms.records import FIRST, dataclass

field, replace = dataclasses.field, dataclasses.replace
NAMES = ("alpha", "beta", "gamma", "_delta", "self_", "value")
DEFAULTS = {
    "none": lambda: dataclasses.MISSING,
    "plain": lambda: 4,
    "factory": lambda: field(default_factory=list),
    "by name": lambda: field(kw_only=True),
    "by name, given": lambda: field(default=7, kw_only=True),
    "set behind": lambda: field(init=False, default=1),
    "made behind": lambda: field(init=False, default_factory=dict),
    "not compared": lambda: field(default=2, compare=False),
    "not shown": lambda: field(default=3, repr=False),
    "of the class": lambda: 8,
}
OPTIONS = st.fixed_dictionaries(
    {"slots": st.just(True)},
    optional={name: st.booleans() for name in ("frozen", "kw_only", "eq", "repr", "weakref_slot")},
)
SHAPES = st.lists(st.sampled_from(sorted(DEFAULTS)), max_size=len(NAMES)).map(
    lambda kinds: sorted(kinds, key=lambda kind: kind != "none")
)


def declared(decorate: Any, kinds: list[str], options: dict[str, bool], base: type = object) -> Any:
    names = [f"{name}{'_' if base is not object else ''}" for name in NAMES]
    written = {name: DEFAULTS[kind]() for name, kind in zip(names, kinds, strict=False)}
    hints = {name: "ClassVar[int]" if value == 8 else "list[int]" for name, value in written.items()}
    body: dict[str, Any] = {"__annotations__": hints, "__module__": __name__}
    body |= {name: value for name, value in written.items() if value is not dataclasses.MISSING}
    return decorate(**options)(type("Thing", (base,), body))


def outcome(function: Any, *values: Any, **named: Any) -> Any:
    try:
        return function(*values, **named)
    except (TypeError, AttributeError) as error:
        return type(error), str(error)


def told(kind: Any, *values: Any, **named: Any) -> Any:
    """All that can be seen of an object made of some values, or the error."""
    one = outcome(kind, *values, **named)
    if isinstance(one, tuple):
        return one
    names = [each.name for each in dataclasses.fields(one)]
    another = kind(*values, **named)
    shown = repr(one) if type(one).__repr__ is not object.__repr__ else ""
    hashed = outcome(hash, one) if type(one).__eq__ is not object.__eq__ else ""
    return (
        [(name, getattr(one, name, None)) for name in names], shown, hashed, one == another, one == 5,
        outcome(setattr, one, names[0], 9) if names else None, outcome(delattr, one, names[0]) if names else None,
    )  # fmt: skip


def described(kind: Any) -> Any:
    fields = [
        (one.name, one.type, one.default, one.default_factory, one.init, one.repr, one.compare, one.kw_only, one.hash)
        for one in dataclasses.fields(kind)
    ]
    slots, frozen = kind.__dict__["__slots__"], kind.__dataclass_params__.frozen
    hints = {name: hint for name, hint in inspect.get_annotations(kind.__init__).items() if name != "return"}
    return fields, slots, frozen, kind.__match_args__, inspect.get_annotations(kind), hints, kind.__hash__ is None


def shape(signature: inspect.Signature) -> Any:
    return [(one.name, one.kind, one.default is one.empty) for one in signature.parameters.values()]


@given(SHAPES, OPTIONS, st.lists(st.integers(0, 2), max_size=4), st.sets(st.sampled_from(NAMES)), st.booleans())
def test_a_record_is_what_the_library_makes(kinds, options, values, named, is_inherited):
    bases: list[Any] = [object, object]
    if is_inherited:
        bases = [declared(one, ["none", "plain"], options) for one in (dataclass, dataclasses.dataclass)]
        kinds = [kind for kind in kinds if kind != "none"]
        options = {name: value for name, value in options.items() if name != "weakref_slot"}
    ours = declared(dataclass, kinds, options, bases[0])
    library = declared(dataclasses.dataclass, kinds, options, bases[1])
    given_by_name = dict.fromkeys(named, 5)
    for _ in range(2):
        assert told(ours, *values, **given_by_name) == told(library, *values, **given_by_name)
        assert shape(inspect.signature(ours)) == shape(inspect.signature(library))
        assert described(ours) == described(library)


@dataclass(frozen=True, slots=True)
class Place:
    topic: str
    partition: int = 0
    seen: list[int] = field(default_factory=list, compare=False)

    def __post_init__(self) -> None:
        assert self.topic


@dataclass(frozen=True, slots=True, kw_only=True)
class Offset(Place):
    offset: int


@dataclass(slots=True)
class Counter:
    kinds: ClassVar[int] = 3
    many: int = 0


@dataclasses.dataclass(frozen=True)
class Named(Place):
    name: str = ""


@pytest.mark.parametrize("before", [0, 3, FIRST - 1, FIRST, 2 * FIRST])
def test_the_first_objects_and_all_others_are_alike(before):
    made = [Offset("orders", 1, offset=5) for _ in range(before)]
    one = Offset("orders", 1, offset=5)
    assert all(one == other and hash(one) == hash(other) for other in made)
    assert repr(one) == "Offset(topic='orders', partition=1, seen=[], offset=5)"
    assert replace(one, offset=6).offset == 6
    assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == copy.copy(one) == one
    assert dataclasses.asdict(one) == {"topic": "orders", "partition": 1, "seen": [], "offset": 5}
    with pytest.raises(TypeError, match=r"Offset.__init__\(\) missing 1 required keyword-only argument: 'offset'"):
        Offset("orders")
    with pytest.raises(AssertionError):
        Offset("", offset=1)


def test_records_match_and_have_nothing_but_their_slots():
    match Offset("orders", 2, offset=1):
        case Offset(topic, partition):
            assert (topic, partition) == ("orders", 2)
    assert not hasattr(Offset("orders", offset=1), "__dict__")
    counter = Counter()
    counter.many += 1
    assert counter == Counter(1)
    assert Counter.kinds == 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(counter)


def test_the_library_builds_on_a_record():
    one = Named("orders", name="a")
    assert [each.name for each in dataclasses.fields(one)] == ["topic", "partition", "seen", "name"]
    assert repr(one) == "Named(topic='orders', partition=0, seen=[], name='a')"


def test_nothing_is_written_for_a_class_until_objects_are_made():
    @dataclass(frozen=True, slots=True)
    class Quiet:
        number: int

    first = Quiet.__dict__["__init__"]
    assert Quiet(1).number == 1
    assert Quiet.__dict__["__init__"] is first
    for _ in range(FIRST):
        Quiet(1)
    assert Quiet.__dict__["__init__"] is not first


def test_every_record_of_the_package_can_be_made():
    for module in pkgutil.walk_packages(kafkatx.__path__, "kafkatx."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    gc.unfreeze()  # a command that ran in this process took what was loaded out of the looks for cycles
    classes = [one for one in gc.get_objects() if issubclass(type(one), type)]  # a proxy of what is gone is not asked
    records = [one for one in classes if "__record__" in one.__dict__]
    own = [one for one in records if one.__module__.startswith("kafkatx.")]
    assert len(own) > 400
    for one in own:
        names = [each.name for each in dataclasses.fields(one) if each.init]
        taken = inspect.signature(one).parameters
        assert sorted(taken) == sorted(names), one


def test_another_process_takes_a_record_as_it_was_sent():
    code = "import pickle, sys; print(pickle.loads(sys.stdin.buffer.read()))"
    sent = pickle.dumps(_stamp())
    done = subprocess.run([sys.executable, "-c", code], input=sent, capture_output=True, check=True)
    assert done.stdout.decode().strip() == repr(_stamp())


def _stamp() -> Any:
    from kafkatx.text.logs.stamps import Stamp

    return Stamp(1, 2)
