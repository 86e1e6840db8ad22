import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.kernels.held_texts import TEXTS_A_WORD, held_in_rows, held_texts, texts_of
from tests.building import BOTH_ENGINES

TEXTS = st.lists(st.text("ab. x", min_size=5, max_size=9).map(str.encode), min_size=1, max_size=8, unique=True)
OTHERS = tuple(f"other {number:04}".encode() for number in range(TEXTS_A_WORD + 3))
"""So many that a row of marks takes more than one number."""


@BOTH_ENGINES
@given(
    texts=TEXTS,
    pieces=st.lists(st.text("ab. x", max_size=12).map(str.encode), max_size=6),
    chosen=st.lists(st.integers(0, 10_000), min_size=6, max_size=6),
)
def test_marks_are_of_the_texts_that_stand_within_their_range(engine, texts, pieces, chosen):
    known = (*texts, *OTHERS)
    ranges, data = [], b""
    for piece, number in zip(pieces, chosen, strict=False):
        stretch = piece + known[number % len(known)][number % 2 :] + piece
        ranges.append((len(data), len(stretch)))
        data += stretch  # the next range begins where this one ends
    spans = np.array([(number % 2, *span, *span) for number, span in enumerate(ranges)], np.int32).reshape(-1, 5)
    rows, marks = held_in_rows(held_texts(known), data, spans, (1, 3), passed=1)
    wanted = [[n for n, text in enumerate(known) if text in data[at : at + size]] for at, size in ranges]
    shown = {number: found for number, found in enumerate(wanted) if found and number % 2 == 0}
    assert dict(zip(rows.tolist(), map(texts_of, marks), strict=True)) == shown


@BOTH_ENGINES
@given(first=st.sampled_from(OTHERS), second=st.sampled_from(OTHERS))
def test_marks_of_a_row_are_those_of_all_its_ranges(engine, first, second):
    spans = np.array([[0, 0, len(first), len(first), len(second)]], np.int32)
    rows, marks = held_in_rows(held_texts(OTHERS), first + second, spans, (1, 3), passed=1)
    assert [texts_of(row) for row in marks] == [sorted({OTHERS.index(first), OTHERS.index(second)})]
    assert rows.tolist() == [0]
