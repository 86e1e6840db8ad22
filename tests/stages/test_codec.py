"""What is encoded comes back as it was, and bytes of anybody's making give facts or our error, never anything else."""

import contextlib
import json
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.evidence.coverage import Coverage
from kafkatx.evidence.item import Item, Kind
from kafkatx.evidence.plans import PartitionPlan, partition_plans
from kafkatx.formats.file_names import PartitionFolder
from kafkatx.kernels.rows import BATCH, STATE
from kafkatx.segments.damage import Damage
from kafkatx.stages import codec
from kafkatx.stages.codec import decode, encode
from kafkatx.stages.fact_types import ENUMS, FIELDS, OBJECTS, States
from kafkatx.stages.facts import FactsError
from kafkatx.stages.models import open_captures
from kafkatx.text.events import Thrown, Trace
from tests.evidence import broker_folders, fixtures

ANY_TEXT = st.text(st.characters(codec=None, categories=None))
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), ANY_TEXT, st.binary(),
    st.sampled_from([member for kind in ENUMS.values() for member in kind]),
    st.builds(Damage, ANY_TEXT, ANY_TEXT, st.integers(), st.integers(), ANY_TEXT, ANY_TEXT),
    st.builds(Trace, st.lists(st.builds(Thrown, ANY_TEXT, ANY_TEXT)).map(tuple)),
    st.sets(st.one_of(st.integers(), st.integers())),
)  # fmt: skip
KEYS = st.one_of(st.integers(), ANY_TEXT, st.binary(), st.tuples(ANY_TEXT, st.integers()))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner), st.lists(inner).map(tuple), st.dictionaries(KEYS, inner)),
    max_leaves=20,
)
TREES = st.recursive(
    st.one_of(st.none(), st.integers(-3, 3), st.sampled_from([*"ltsdbueoa", *OBJECTS, *ENUMS, "batch", "LOG"])),
    lambda inner: st.lists(inner, max_size=6),
    max_leaves=12,
)


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal, of equal types, all the way down."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return same([*one.items()], [*other.items()])
    return bool(one == other)


def whole(tree: Any, *buffers: bytes) -> bytes:
    """The bytes of a fact with any tree."""
    text = json.dumps([tree, [len(one) for one in buffers]]).encode()
    plain = len(text).to_bytes(4, "little") + text + b"".join(buffers)
    return framed(plain)


def framed(plain: bytes, size: int | None = None) -> bytes:
    compressed = pa.Codec("zstd").compress(plain, asbytes=True)
    return (len(plain) if size is None else size).to_bytes(8, "little") + compressed


@given(VALUES)
def test_any_value_comes_back(value):
    assert same(decode(encode(value), object), value)


@given(st.binary(max_size=STATE.itemsize * 5), st.binary(max_size=BATCH.itemsize * 20))
def test_any_rows_come_back(states, batches):
    states = np.frombuffer(states[: len(states) // STATE.itemsize * STATE.itemsize], STATE)
    batches = np.frombuffer(batches[: len(batches) // BATCH.itemsize * BATCH.itemsize], BATCH)
    found = decode(encode(States(states, [b"\xff"], [[("t", 1)]], [])), States)
    assert all((found.rows[name] == states[name]).all() for name in STATE.names)
    found = decode(encode(batches), BATCH)
    assert all((found[name] == batches[name]).all() for name in BATCH.names)


def test_plans_come_back_and_equal_ones_are_equal_bytes():
    for found in open_captures(broker_folders(fixtures() / "k39-fenced")):
        for plan in partition_plans(found):
            data = encode(plan)
            assert decode(data, PartitionPlan) == plan
            assert encode(decode(data, PartitionPlan)) == data
        assert encode({3, 1, 2}) == encode({2, 1, 3})


def test_numbers_of_numpy_are_numbers():
    assert same(decode(encode([np.int64(7), np.bool_(True)]), object), [7, True])


@pytest.mark.parametrize("value", [object(), range(3), np.zeros(3), np.zeros(2, [("x", "i4")]), b"".join, 1j])
def test_what_is_no_kind_of_fact_is_a_bug_when_it_is_encoded(value):
    with pytest.raises(TypeError, match="is no kind of fact"):
        encode([value])


@given(st.binary())
def test_any_bytes_are_refused(data):
    with pytest.raises(FactsError):
        decode(data, object)


@given(TREES, st.binary(max_size=9))
def test_any_tree_gives_a_value_or_our_error(tree, buffer):
    try:
        value = decode(whole(tree, buffer), object)
    except FactsError:
        return
    plain = (type(None), int, str, list, tuple, set, dict, bytes, np.ndarray)
    assert type(value) in {*plain, *FIELDS, *ENUMS.values()}


@given(st.integers(0, 10_000), st.integers(0, 255))
def test_a_changed_byte_gives_a_value_or_our_error(at, byte):
    item = Item("a", "a", "a", Kind.LOG, 3, PartitionFolder("t", 0))
    size = int.from_bytes(encode(item)[:8], "little")
    plain = bytearray(pa.Codec("zstd").decompress(encode(item)[8:], size))
    plain[at % len(plain)] = byte
    with contextlib.suppress(FactsError):
        assert isinstance(decode(framed(bytes(plain)), Item), Item)


HOSTILE = {
    "a pickle": pickle.dumps("x"),
    "a size that is not true": framed(b"\0" * 20, 19),
    "more than may be": (codec.LARGEST + 1).to_bytes(8, "little") + b"x",
    "a bomb": framed(b"\0" * 20, codec.LARGEST),
    "a class of Python": whole(["o", "object"]),
    "a module": whole(["o", "os.system", "true"]),
    "a field too many": whole(["o", "Thrown", "a", "b", "c"]),
    "a field too few": whole(["o", "Thrown", "a"]),
    "a field of another type": whole(["o", "Thrown", "a", 7]),
    "true where a number is": whole(["o", "ExpectedNext", True, 1, 1]),
    "a member that there is not": whole(["e", "Kind", "NONE"]),
    "an attribute of an enumeration": whole(["e", "Kind", "__class__"]),
    "rows longer than the bytes": whole(["a", "batch", 2, 0], bytes(100)),
    "less than no rows": whole(["a", "batch", -1, 0], b""),
    "rows of no known type": whole(["a", "object", 0, 0], b""),
    "a buffer that there is not": whole(["b", 1], b""),
    "a buffer before the first": whole(["b", -1], b"", b"x"),
    "a buffer behind the end": framed((13).to_bytes(4, "little") + b'[["b",0],[9]]'),
    "bytes behind the end": framed((6).to_bytes(4, "little") + b"[1,[]]x"),
    "a tag that there is not": whole(["x"]),
    "no tag": whole([]),
    "a key without a value": whole(["d", 1]),
    "a key that is a list": whole(["d", ["l"], 1]),
    "an object of JSON": whole({"o": 1}),
    "depth": framed((200_005).to_bytes(4, "little") + b"[" * 100_000 + b"]" * 100_000 + b",[]]]"),
    "a large number": whole(["a", "batch", 10**30, 0], b""),
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_hostile_bytes_are_refused(data):
    with pytest.raises(FactsError, match="not a fact"):
        decode(data, object)


def test_a_fact_of_another_type_is_refused():
    fact = encode(Thrown("a", "b"))
    assert decode(fact, Thrown) == Thrown("a", "b")
    for declared in (Trace, BATCH, list[Thrown], tuple[Thrown, Thrown], int | None, dict[str, int]):
        with pytest.raises(FactsError, match="Thrown where"):
            decode(fact, declared)


def test_every_field_of_every_class_can_be_checked():
    entry = Coverage(None, None, 1, "a", "log", 3)
    assert decode(encode(replace(entry, first_offset=7)), Coverage).first_offset == 7
    for at in range(len(FIELDS[Coverage])):
        tree = ["o", "Coverage", *(None for _ in FIELDS[Coverage])]
        tree[2 + at] = ["l"]
        with pytest.raises(FactsError):
            decode(whole(tree), Coverage)
