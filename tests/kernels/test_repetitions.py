import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.kernels.repetitions import NAMES, OTHER, group_same, keep_ends
from kafkatx.kernels.rows import EVENT

EVENTS = st.lists(
    st.tuples(
        st.sampled_from((*NAMES, "detail_code", "line")),
        st.sampled_from((-1, 0, 1, (1 << 31) - 1)),
        st.sampled_from((OTHER, 3)),
        st.sampled_from((0, 5, (1 << 31) - 3)),
    ),
    max_size=40,
)


def made(told: list[tuple[str, int, int, int]]) -> np.ndarray:
    """Events of which each has one column of its own."""
    events = np.zeros(len(told), EVENT)
    for event, (name, value, kind, repeats) in zip(events, told, strict=True):
        event["kind"] = kind
        event[name] = value % 4 if name == "kind" else value
        event["repeats"] = repeats
    return events


def kept(form, events, by_kind, ends):
    count = len(events)
    slots = np.full(1 << (2 * count + 1).bit_length(), -1, np.int32)
    room = [np.zeros(count, np.int32) for _ in range(4)]
    keep, repeats = np.zeros(count, np.bool_), np.zeros(count, np.int32)
    found = form(events, by_kind, ends, slots, *room, keep, repeats)
    return found, keep.tolist(), repeats[keep].tolist()


@pytest.mark.parametrize("by_kind", [False, True])
@given(told=EVENTS, ends=st.integers(1, 3))
def test_sorting_and_counting_keep_the_same(by_kind, told, ends):
    events = made(told)
    wanted = kept(keep_ends.plain, events, by_kind, ends)
    assert kept(keep_ends.compiled, events, by_kind, ends) == wanted


@given(told=EVENTS)
def test_the_kernel_numbers_groups_as_it_does_plain(told):
    events, answers = made(told), []
    for form in (group_same.plain, group_same.compiled):
        slots = np.full(1 << (2 * len(events) + 1).bit_length(), -1, np.int32)
        room = [np.zeros(len(events), np.int32) for _ in range(3)]
        answers.append((form(events, False, slots, *room), [array.tolist() for array in room]))
    assert answers[0] == answers[1]
