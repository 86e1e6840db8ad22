import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.kernels.rows import EVENT
from kafkatx.text.logs.thinning import Thinning, thinned

NAMES = st.lists(st.integers(0, 3), max_size=60)


def events_of(names: list[int]) -> np.ndarray:
    """Events numbered by their position, each with a name."""
    events = np.zeros(len(names), EVENT)
    events["position"] = np.arange(len(names))
    events["node"] = names
    return events


def by_definition(names: list[int], ends: int) -> list[tuple[int, int]]:
    """Position and repeats of what is kept: of each name the first and last `ends`."""
    kept: dict[int, int] = {}
    for name in set(names):
        places = [at for at, other in enumerate(names) if other == name]
        first, last = places[:ends], places[ends:][-ends:]
        kept |= dict.fromkeys((*first, *last), 0)
        kept[first[-1]] = len(places) - len(first) - len(last)
    return sorted(kept.items())


def told(events: np.ndarray) -> list[tuple[int, int]]:
    return [(int(event["position"]), int(event["repeats"])) for event in events]


@given(names=NAMES, ends=st.integers(1, 4))
def test_the_first_and_the_last_of_each_name_are_kept_and_the_rest_counted(names, ends):
    assert told(thinned(events_of(names), ends)) == by_definition(names, ends)


@given(names=NAMES, ends=st.integers(1, 4), cuts=st.lists(st.integers(0, 60), max_size=5))
def test_it_does_not_matter_in_which_pieces_events_come(names, ends, cuts):
    thinning, events = Thinning(kept_at_each_end=ends), events_of(names)
    for piece in np.split(events, sorted({min(cut, len(names)) for cut in cuts})):
        thinning.add(piece)
        thinning.thin()
    assert told(thinning.thin()) == by_definition(names, ends)


@pytest.mark.parametrize("names", [1, 50, 100_000])
def test_memory_is_bounded_however_many_names_there_are(names):
    thinning = Thinning(most_kept=1000)
    for start in range(0, 60_000, 6000):
        thinning.add(events_of(list(range(start, start + 6000))) if names > 1000 else events_of([7] * 6000))
        assert len(thinning.events) <= 1000
    kept = thinning.thin()
    assert len(kept) <= 1000
    assert int(kept["repeats"].sum()) + len(kept) == 60_000


def test_kinds_are_kept_apart():
    events = events_of([1] * 40)
    events["kind"] = np.arange(40) % 2
    assert len(thinned(events, 5)) == 20
