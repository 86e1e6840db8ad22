"""Breaks of sequences: gaps without missing offsets, repetitions; the wrap, new epochs and holes are none."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.histories.sequence_breaks import KNOWN_BATCHES, LARGEST, SequenceFold
from kafkatx.kernels.engine import forced
from kafkatx.kernels.rows import BATCH

PRODUCER = 40


def batches(*rows, first_offset=100):
    """One batch for each (sequence, records), of one producer, back to back; others by keywords of a third member."""
    found, offset = np.full(len(rows), -1, BATCH), first_offset
    for row, (sequence, records, *columns) in zip(found, rows, strict=True):
        said = dict(*columns)
        offset += said.pop("skipped", 0)
        row["base_offset"], row["last_offset"], row["record_count"] = offset, offset + records - 1, records
        row["base_sequence"], row["producer_id"], row["producer_epoch"] = sequence, PRODUCER, 3
        row["magic"], row["attributes"], row["max_timestamp"] = 2, 0, 1_000 * offset
        for name, value in said.items():
            row[name] = value
        offset += records
    return found


def breaks(*windows):
    fold = SequenceFold(0)
    for window in windows:
        fold.feed(window)
    return [(int(row["first_offset"]), int(row["missing"])) for row in fold.finish()]


def test_what_follows_is_no_break():
    assert not breaks(batches((0, 10), (10, 5), (15, 1)))


def test_after_the_last_number_comes_0():
    assert not breaks(batches((LARGEST - 4, 5), (0, 3), (3, 3)))
    assert not breaks(batches((LARGEST - 4, 10), (5, 3)))


def test_a_jump_forward_is_a_gap():
    assert breaks(batches((0, 10), (20, 10))) == [(110, 10)]
    assert breaks(batches((LARGEST - 4, 5), (7, 3))) == [(105, 7)]


def test_missing_offsets_are_the_cleaners():
    assert not breaks(batches((0, 10), (20, 10, {"skipped": 10})))
    assert not breaks(batches((0, 10)), batches((20, 10), first_offset=120))


def test_other_producers_in_between_are_no_matter():
    other = {"producer_id": 7, "producer_epoch": 0}
    assert not breaks(batches((0, 10), (0, 2, other), (10, 3), (2, 2, other)))
    assert breaks(batches((0, 10), (0, 2, other), (13, 3))) == [(112, 3)]


def test_a_new_epoch_begins_anew():
    assert not breaks(batches((0, 10), (0, 10, {"producer_epoch": 4}), (10, 1, {"producer_epoch": 4})))
    assert not breaks(batches((0, 10), (30, 10, {"producer_epoch": 4})))


def test_batches_without_a_sequence_are_no_matter():
    none = {"producer_id": -1, "producer_epoch": -1}
    assert not breaks(batches((0, 10), (-1, 3, none), (-1, 3, none), (10, 2)))


def test_the_same_sequences_again_are_a_repetition():
    assert breaks(batches((5, 2), (5, 2), (7, 1))) == [(102, 0)]
    assert breaks(batches((0, 5), (5, 5), (0, 5), (5, 5), (10, 1))) == [(110, 0), (115, 0)]


def test_what_a_leader_does_not_remember_is_no_repetition():
    known = [(2 * number, 2) for number in range(KNOWN_BATCHES + 1)]
    assert breaks(batches(*known[:-1], (0, 2)))
    assert not breaks(batches(*known, (0, 2)))


def test_sequences_that_begin_anew_are_none():
    assert not breaks(batches((40, 7), (0, 3), (3, 3)))


@given(cuts=st.sets(st.integers(0, 9)), lost=st.integers(0, 3))
def test_windows_make_no_difference(cuts, lost):
    rows = [(0, 3), (3, 3), (6 + lost, 2), (6 + lost, 2), (8 + lost, 1), (0, 2, {"producer_epoch": 9}),
            (2 + lost, 2, {"producer_epoch": 9}), (4 + lost, 1, {"producer_epoch": 9}), (9, 1)]  # fmt: skip
    whole = batches(*rows)
    assert breaks(*np.split(whole, sorted(cuts))) == breaks(whole)


def counted(rows):
    """Breaks by a plain look back at each batch of (producer id, epoch, sequence, records, offsets left out before)."""
    seen, found, end, hole = {}, [], None, -1
    for producer, epoch, sequence, records, left_out in rows:
        offset = 100 if end is None else end + left_out
        hole = offset if end is not None and left_out else hole
        end, last = offset + records, (sequence + records - 1) % (LARGEST + 1)
        known = seen.setdefault(producer, [])
        alike = [one for one in known[-KNOWN_BATCHES:] if one[0] == epoch]
        missing = known and (sequence - known[-1][2] - 1) % (LARGEST + 1)
        if any(one[1:3] == (sequence, last) for one in alike):
            found.append((offset, 0))
        elif any((one[2] + 1) % (LARGEST + 1) == sequence for one in alike) or not known or known[-1][0] != epoch:
            pass
        elif missing <= LARGEST // 2 and hole <= known[-1][3]:
            found.append((offset, missing))
        known.append((epoch, sequence, last, end - 1))
    return found


NEAR_THE_END = st.sampled_from([*range(8), *range(LARGEST - 6, LARGEST + 1)])
ROWS = st.lists(
    st.tuples(st.integers(1, 3), st.integers(0, 1), NEAR_THE_END, st.integers(1, 4), st.sampled_from([0, 0, 0, 5])),
    max_size=40,
)


@given(rows=ROWS, cut=st.integers(0, 40), is_compiled=st.booleans())
def test_breaks_are_those_of_a_plain_look_back(rows, cut, is_compiled):
    made = batches(
        *(
            (sequence, records, {"producer_id": producer, "producer_epoch": epoch, "skipped": skipped})
            for producer, epoch, sequence, records, skipped in rows
        )
    )
    if rows:
        made["base_offset"] -= rows[0][-1]
        made["last_offset"] -= rows[0][-1]
    with forced("compiled" if is_compiled else "interpreted"):
        assert breaks(*np.split(made, [min(cut, len(made))])) == counted(rows)


@given(producers=st.integers(1, 90), is_compiled=st.booleans())
def test_producers_are_told_apart_however_many_there_are(producers, is_compiled):
    once = [(0, 2, {"producer_id": 1_000 * number}) for number in range(producers)]
    again = [(3 if number % 7 == 0 else 2, 2, {"producer_id": 1_000 * number}) for number in range(producers)]
    with forced("compiled" if is_compiled else "interpreted"):
        assert len(breaks(batches(*once, *again))) == -(-producers // 7)
