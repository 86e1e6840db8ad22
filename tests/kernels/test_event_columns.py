from itertools import accumulate

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.kernels.event_columns import number_at, number_pairs, topic_length
from kafkatx.text.logs.filling import number, topic_partition
from tests.building import BOTH_ENGINES

PRINTED = st.one_of(
    st.integers(-(10**20), 10**20).map(str),
    st.text("0123456789-()[] SomeOptinalIt", max_size=12),
    st.tuples(st.sampled_from(["Some(", "OptionalInt[", "Optional[", "("]), st.integers(0, 10**12)).map(
        lambda pair: f"{pair[0]}{pair[1]}{']' if pair[0].endswith('[') else ')'}"
    ),
)
PARTITIONS = st.one_of(
    st.tuples(st.text("ab-._9", max_size=6), st.integers(0, 10**11)).map(lambda pair: f"{pair[0]}-{pair[1]}"),
    st.text("ab-9 ", max_size=8),
)


def laid(texts: list[str]) -> tuple[bytes, list[tuple[int, int]]]:
    """Texts behind each other, with the place and length of each."""
    ends = [*accumulate(map(len, texts))]
    return "".join(texts).encode() or b"\0", [
        (end - len(text), len(text)) for end, text in zip(ends, texts, strict=True)
    ]


@BOTH_ENGINES
@given(texts=st.lists(PRINTED, min_size=1, max_size=8))
def test_numbers_are_read_as_the_slow_path_reads_them(engine, texts):
    data, places = laid(texts)
    for text, (start, length) in zip(texts, places, strict=True):
        if is_common(text):
            assert number_at(number_at.view(data), start, length) == number(text)


def is_common(text: str) -> bool:
    """Whether Kafka prints numbers so: digits, maybe as an option; a bracket alone is nobody's."""
    bare = text.strip()
    return (bare.lstrip("-").isdigit() and len(bare) < 19) or bare.startswith(("Some(", "Optional[", "OptionalInt["))


@BOTH_ENGINES
@given(texts=st.lists(PARTITIONS, min_size=1, max_size=8))
def test_partitions_are_split_as_the_slow_path_splits_them(engine, texts):
    data, places = laid(texts)
    for text, (start, length) in zip(texts, places, strict=True):
        size = topic_length(topic_length.view(data), start, length)
        topic, partition = (text[:size], int(text[size + 1 :])) if size >= 0 else (text, -1)
        assert (topic, partition if partition < 1 << 31 else -1) == topic_partition(text)


@BOTH_ENGINES
@given(pairs=st.lists(st.tuples(st.integers(-1, 6), st.integers(-1, 3)), max_size=40))
def test_pairs_are_numbered_in_order_of_first_sight(engine, pairs):
    first, second = np.array([*pairs, (0, 0)], np.int32).T.copy()[:, : len(pairs)]
    numbers, examples, sizes = (np.empty(len(pairs), np.int32) for _ in range(3))
    count = number_pairs(first, second, np.full(128, -1, np.int32), numbers, examples, sizes)
    known = [*dict.fromkeys(pairs)]
    assert numbers.tolist() == [known.index(pair) for pair in pairs]
    assert [pairs[place] for place in examples[:count].tolist()] == known
    assert sizes[:count].tolist() == [pairs.count(pair) for pair in known]
