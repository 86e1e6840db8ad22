import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.kernels import interning
from kafkatx.kernels.engine import forced
from kafkatx.kernels.interning import NO_ROOM, code_ranges, hash_of, is_same
from kafkatx.segments.interning import Interner
from tests.building import BOTH_ENGINES

LIKE_NAMES = st.one_of(st.binary(max_size=9), st.integers(0, 40).map(lambda number: b"orders-app-%d-0" % number))


def ranges(values):
    """Values (None: null) laid one behind the other; their places."""
    lengths = np.array([-1 if value is None else len(value) for value in values], np.int64)
    starts = np.cumsum(np.append(0, lengths.clip(0)))[:-1]
    return memoryview(b"".join(value or b"" for value in values)), starts, lengths


def codes_of(values):
    """What a dictionary says of them, in order of first sight."""
    known = {}
    return [-1 if value is None else known.setdefault(value, len(known)) for value in values], [*known]


@BOTH_ENGINES
@given(calls=st.lists(st.lists(st.one_of(st.none(), LIKE_NAMES), max_size=60), max_size=4))
def test_codes_are_those_of_a_dictionary(calls, engine):
    interner, found = Interner(), []
    for values in calls:
        found += interner.codes(*ranges(values)).tolist()
    assert (found, interner.values) == codes_of([value for values in calls for value in values])


@given(calls=st.lists(st.tuples(st.booleans(), st.lists(LIKE_NAMES, max_size=40)), max_size=5))
def test_both_forms_and_single_values_share_what_is_known(calls):
    interner, found = Interner(), []
    for is_compiled, values in calls:
        with forced("compiled" if is_compiled else "interpreted"):
            found += interner.codes(*ranges(values)).tolist()
        found.append(interner.code(b"one alone"))
    assert (found, interner.values) == codes_of([name for _, values in calls for name in (*values, b"one alone")])


def test_many_values_grow_the_table(engine):
    values = [b"id-%d" % (number % 700) for number in range(2_000)]
    assert Interner().codes(*ranges(values)).tolist() == codes_of(values)[0]


@BOTH_ENGINES
@given(data=st.binary(min_size=1, max_size=30))
def test_hashes_do_not_depend_on_the_engine(data, engine):
    assert hash_of(hash_of.view(data), 0, len(data)) == hash_of.plain(data, 0, len(data))
    assert is_same(is_same.view(data), 0, is_same.view(data), 0, len(data))


def test_values_that_hash_alike_are_two(monkeypatch):
    monkeypatch.setattr(interning, "hash_of", lambda data, start, length: 5)
    data, starts, lengths = ranges([b"a", b"b", b"a", b"bb", b"b"])
    found, slots, known, ends = (
        np.empty(5, np.int32),
        np.full(16, -1, np.int32),
        np.zeros(9, np.uint8),
        np.zeros(9, int),
    )
    code_ranges.function(data, starts, lengths, 0, slots, known, ends, 0, found)
    assert found.tolist() == [0, 1, 0, 2, 1]


@pytest.mark.parametrize(
    ("slots", "known", "ends"), [(4, 99, 99), (64, 3, 99), (64, 99, 3)], ids=["slots", "bytes", "values"]
)
def test_what_has_no_room_is_asked_for_again(slots, known, ends, engine):
    data, starts, lengths = ranges([b"a", b"b", b"cc"])
    found = np.full(3, -7, np.int32)
    table = np.full(slots, -1, np.int32), np.zeros(known, np.uint8), np.zeros(ends, np.int64)
    answer = code_ranges(code_ranges.view(data), starts, lengths, 0, *table, 0, found)
    assert (answer, found.tolist()) == ((NO_ROOM, 2, 2), [0, 1, -7])
