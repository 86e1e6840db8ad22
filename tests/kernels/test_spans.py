import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.kernels.rows import BATCH, PRODUCER, SPAN
from kafkatx.kernels.spans import (
    DONE,
    LOST_END,
    MIXED_EPOCHS,
    NO_DATA,
    OVER_GAP,
    PRODUCERS_FULL,
    SPANS_FULL,
    UNKNOWN_KIND,
    fold_spans,
    new_horizon,
    producer_slot,
)
from tests.building import BOTH_ENGINES

DATA, MARKER, APPEND_TIME, HORIZON_SET = 0x10, 0x30, 0x08, 0x40
COMMIT, ABORT = 1, 0
ABSENT = {"producer_id": -1, "producer_epoch": -1, "base_sequence": -1, "control_type": -1, "coordinator_epoch": -1}


def row(base_offset, *, records=1, **fields):
    """A batch row; its times are its offset."""
    last_offset = base_offset + max(records - 1, 0)
    out = np.zeros((), BATCH)
    content = {"base_offset": base_offset, "last_offset": last_offset, "record_count": records, "size": 100, "magic": 2}
    content |= {"base_timestamp": base_offset, "max_timestamp": last_offset}
    for name, value in (content | ABSENT | fields).items():
        out[name] = value
    return out


def data(base_offset, producer_id, *, epoch=0, **fields):
    return row(base_offset, producer_id=producer_id, producer_epoch=epoch, attributes=DATA, **fields)


def marker(offset, producer_id, kind=COMMIT, *, epoch=0, **fields):
    content = {"producer_epoch": epoch, "attributes": MARKER, "control_type": kind, "coordinator_epoch": 3}
    return row(offset, producer_id=producer_id, **(content | fields))


class Fold:
    """The kernel with room for what a test needs."""

    def __init__(self, spans=100, producers=100, slots=256):
        self.slots = np.full(slots, -1, np.int32)
        self.producers = np.zeros(producers, PRODUCER)
        self.spans = np.zeros(spans, SPAN)
        self.log_extent = new_horizon()
        self.filled = 0

    def feed(self, rows, first=0):
        state = (self.slots, self.producers, self.log_extent, self.spans, self.filled)
        why, number, self.filled = fold_spans(np.array([row.item() for row in rows], BATCH), first, 5, *state)
        return why, number


def fold(*rows):
    folded = Fold()
    assert folded.feed(rows) == (DONE, len(rows))
    return folded


def spans(*rows):
    folded = fold(*rows)
    return folded.spans[: folded.filled]


def test_a_marker_ends_what_its_producer_wrote(engine):
    (span,) = spans(data(10, 7, records=3), data(13, 8), data(14, 7, records=2), marker(16, 7))
    assert (span["producer_id"], span["first_offset"], span["last_offset"], span["records"]) == (7, 10, 15, 5)
    assert (span["batches"], span["bytes"], span["first_timestamp"], span["last_timestamp"]) == (2, 200, 10, 15)
    assert (span["marker_offset"], span["marker_timestamp"], span["marker_epoch"]) == (16, 16, 0)
    assert (span["marker_kind"], span["coordinator_epoch"], span["partition_code"]) == (COMMIT, 3, 5)
    assert (span["previous_marker_offset"], span["flags"]) == (-1, 0)


def test_what_no_marker_ends_stays_with_its_producer(engine):
    folded = fold(data(10, 7), data(11, 8), marker(12, 8))
    assert folded.filled == 1
    assert folded.producers["first_offset"][:2].tolist() == [10, -1]


def test_a_marker_alone_is_a_span_without_data(engine):
    first, second = spans(marker(3, 7, ABORT), marker(4, 7, ABORT, epoch=1))
    assert (first["first_offset"], first["flags"], first["marker_kind"]) == (-1, NO_DATA, ABORT)
    assert (second["previous_marker_offset"], second["previous_marker_timestamp"], second["marker_epoch"]) == (3, 3, 1)
    for name in ("last_offset", "first_timestamp", "last_timestamp", "producer_epoch"):
        assert second[name] == -1
    assert second["records"] == second["bytes"] == second["batches"] == 0


def test_an_emptied_marker_has_no_kind(engine):
    (span,) = spans(marker(3, 7, -1, records=0))
    assert span["marker_kind"] == UNKNOWN_KIND


def test_data_of_two_epochs_in_one_span_are_marked(engine):
    (span,) = spans(data(1, 7), data(2, 7, epoch=1), marker(3, 7, epoch=1))
    assert (span["flags"], span["producer_epoch"]) == (MIXED_EPOCHS, 0)


def test_data_of_another_epoch_behind_a_hole_are_a_span_of_their_own(engine):
    before, behind = spans(data(1, 7, records=2), data(9, 7, epoch=3), marker(10, 7, ABORT, epoch=3))
    assert (before["flags"], before["marker_offset"], before["last_offset"]) == (OVER_GAP | LOST_END, -1, 2)
    assert (behind["flags"], behind["producer_epoch"], behind["first_offset"], behind["marker_offset"]) == (0, 3, 9, 10)


def test_an_epoch_is_one_span_over_a_hole_as_nothing_shows_an_end_there(engine):
    (span,) = spans(data(1, 7), data(9, 7), marker(10, 7))
    assert (span["flags"], span["first_offset"], span["last_offset"]) == (OVER_GAP, 1, 9)


def test_spans_that_end_in_a_hole_take_room_like_any_other(engine):
    folded, rows = Fold(spans=1), [data(1, 7), data(9, 7, epoch=1), marker(10, 7, epoch=1)]
    assert folded.feed(rows) == (SPANS_FULL, 2)
    assert folded.filled == 1


def test_a_hole_inside_a_span_is_marked_and_one_before_it_is_not(engine):
    before, inside = spans(row(1), data(5, 7), marker(6, 7), data(7, 7), data(9, 7), marker(10, 7))
    assert (before["flags"], inside["flags"]) == (0, OVER_GAP)


def test_a_batch_that_the_cleaner_emptied_opens_no_span(engine):
    (span,) = spans(data(1, 7, records=0), marker(2, 7))
    assert span["first_offset"] == -1


def test_with_a_delete_horizon_or_append_time_the_base_timestamp_is_no_time(engine):
    for attributes in (DATA | APPEND_TIME, DATA | HORIZON_SET):
        (span,) = spans(_with(data(5, 7), attributes), marker(6, 7))
        assert span["first_timestamp"] == 50


def _with(batch, attributes):
    batch["attributes"], batch["base_timestamp"], batch["max_timestamp"] = attributes, 10, 50
    return batch


def test_records_outside_transactions_are_counted_before_a_span(engine):
    folded = fold(row(0, records=4), data(4, 7), row(5, records=2), marker(7, 7))
    assert folded.spans["plain_records_before"][0] == 4
    assert folded.log_extent["plain_records"][0] == 6


def test_the_horizon_spans_all_batches(engine):
    batches = [
        row(10, records=2, leader_epoch=1),
        row(15, leader_epoch=2, attributes=APPEND_TIME),
        data(16, 7, epoch=4, records=0),
        marker(17, 7),
        row(20, magic=1, record_count=1),
        row(30, attributes=0x20),
    ]
    log_extent = fold(*batches).log_extent[0]
    assert (log_extent["first_offset"], log_extent["next_offset"], log_extent["first_timestamp"]) == (10, 31, 11)
    assert (log_extent["gaps"], log_extent["last_gap"], log_extent["batches"], log_extent["bytes"]) == (3, 30, 6, 600)
    assert (log_extent["broker_time"], log_extent["create_time"], log_extent["leader_epoch"]) == (30, 20, 2)
    assert (log_extent["records"], log_extent["plain_records"], log_extent["cleaned_batches"]) == (4, 4, 1)
    assert (log_extent["highest_epoch"], log_extent["highest_epoch_producer"], log_extent["highest_epoch_offset"]) == (
        4,
        7,
        16,
    )


def test_the_fold_stops_where_room_is_missing_and_goes_on(engine):
    rows = [data(0, 1), marker(1, 1), data(2, 2), marker(3, 2), data(4, 3), marker(5, 3)]
    full = Fold(spans=2)
    assert full.feed(rows) == (SPANS_FULL, 4)
    crowded = Fold(producers=2)
    assert crowded.feed(rows) == (PRODUCERS_FULL, 4)
    narrow = Fold(slots=4)
    assert narrow.feed(rows) == (PRODUCERS_FULL, 4)
    full.spans = np.concatenate([full.spans, np.zeros(9, SPAN)])
    assert full.feed(rows, 4) == (DONE, 6)
    whole = fold(*rows)
    assert (full.spans[:3] == whole.spans[:3]).all()


@pytest.mark.parametrize("producer_id", [0, 1, 2**31, 2**62, 2**63 - 1, -1, -(2**63)])
def test_every_producer_id_has_a_slot_that_both_engines_agree_on(producer_id):
    producers, slots = np.zeros(4, PRODUCER), np.full(16, -1, np.int32)
    slot = producer_slot.plain(producer_id, slots, producers)
    assert 0 <= slot < 16
    assert producer_slot.compiled(np.int64(producer_id), slots, producers) == slot
    with np.errstate(all="raise"):
        assert producer_slot.plain(np.int64(producer_id), slots, producers) == slot


STEPS = st.lists(
    st.tuples(st.sampled_from("dmpe"), st.integers(0, 3), st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=25
)


def rows_of(steps):
    offset, made = 0, []
    for kind, producer, epoch, hole in steps:
        offset += hole // 2
        if kind == "d":
            made.append(data(offset, producer, epoch=epoch, records=2))
        elif kind == "e":
            made.append(data(offset, producer, epoch=epoch, records=0))
        else:
            made.append(marker(offset, producer, hole % 2, epoch=epoch) if kind == "m" else row(offset))
        offset = int(made[-1]["last_offset"]) + 1
    return made


def simple_spans(rows):
    """The same fold, told in a few lines: (producer, first and last offset, records, marker offset)."""
    open_spans, epochs, ended, hole, behind = {}, {}, [], -1, 0
    for number, batch in enumerate(rows):
        producer, base, last = int(batch["producer_id"]), int(batch["base_offset"]), int(batch["last_offset"])
        hole, behind = base if number and base > behind else hole, last + 1
        if batch["attributes"] == MARKER:
            ended.append((producer, *open_spans.pop(producer, (-1, -1, 0)), base))
        elif batch["attributes"] == DATA and batch["record_count"]:
            if producer in open_spans and hole > open_spans[producer][1] and batch["producer_epoch"] > epochs[producer]:
                ended.append((producer, *open_spans.pop(producer), -1))
            epochs[producer] = epochs[producer] if producer in open_spans else batch["producer_epoch"]
            first, _, records = open_spans.get(producer, (base, last, 0))
            open_spans[producer] = (first, last, records + int(batch["record_count"]))
    return ended


@BOTH_ENGINES
@given(steps=STEPS, cut=st.integers(0, 25))
def test_a_cut_at_any_batch_changes_nothing(engine, steps, cut):
    rows = rows_of(steps)
    whole, parts = fold(*rows), Fold()
    parts.feed(rows[:cut])
    parts.feed(rows[cut:])
    for name in ("spans", "producers", "log_extent", "slots"):
        assert (getattr(parts, name) == getattr(whole, name)).all(), name
    columns = ["producer_id", "first_offset", "last_offset", "records", "marker_offset"]
    assert [tuple(span[columns].tolist()) for span in whole.spans[: whole.filled]] == simple_spans(rows)
