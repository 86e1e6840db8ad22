import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkatx.kernels.rows import INITIALISATION, LATEST, NOT_PRINTED, ODDITY, STATE, TRANSACTION
from kafkatx.kernels.transactions import (
    AFTER_HOLE,
    COMPLETE_ABORT,
    COMPLETE_COMMIT,
    DONE,
    EMPTY,
    EPOCH_DECREASED,
    EPOCH_JUMPED,
    ILLEGAL_STATE,
    ILLEGAL_TRANSITION,
    LEGAL,
    LIST_CHANGED,
    NO_PARTITIONS,
    NO_ROOM,
    NO_START,
    NOTHING,
    ONGOING,
    PREPARE_ABORT,
    PREPARE_COMMIT,
    START_CHANGED,
    TOMBSTONE,
    fold_states,
)
from tests.building import BOTH_ENGINES

EMPTY_LIST = 0
HAS_LIST = (ONGOING, PREPARE_COMMIT, PREPARE_ABORT)


def row(offset, state, *, who=0, started_at=100, **fields):
    """A coordinator row; its times are derived from its offset."""
    out = np.zeros((), STATE)
    listed = 1 if state in HAS_LIST else -1 if state == EMPTY else EMPTY_LIST
    content = {"offset": offset, "timestamp": 1000 + offset, "updated_at": 2000 + offset, "producer_id": 7}
    content |= {"state": state, "id_code": who, "started_at": -1 if state == EMPTY else started_at}
    content |= {"partitions_code": listed, "timeout_ms": 60000, "client_transaction_version": -1}
    content |= {"previous_producer_id": -1, "next_producer_id": -1, "next_producer_epoch": -1, "leader_epoch": 4}
    for name, value in (content | fields).items():
        out[name] = value
    return out


def tombstone(offset, *, who=0):
    fields = {"producer_id": -1, "producer_epoch": -1, "started_at": -1, "partitions_code": -1, "updated_at": -1}
    return row(offset, -1, who=who, is_tombstone=1, timeout_ms=-1, **fields)


class Fold:
    """The kernel with room for what a test needs."""

    def __init__(self, room=50, ids=5):
        self.transactions = np.zeros(room, TRANSACTION)
        self.initialisations = np.zeros(room, INITIALISATION)
        self.oddities = np.zeros(room, ODDITY)
        self.latest = np.zeros(ids, LATEST)
        self.latest["state"], self.latest["transaction_row"] = NOTHING, -1
        self.last_of = np.full(ids, -1, np.int64)
        self.carry = np.full(2, -1, np.int64)
        self.filled = (0, 0, 0)

    def feed(self, rows, first=0):
        at, inits, odd = self.filled
        state = (LEGAL, self.carry, self.latest, self.last_of, self.transactions, at, self.initialisations, inits)
        why, number, *filled = fold_states(
            np.array([row.item() for row in rows], STATE), first, 9, EMPTY_LIST, *state, self.oddities, odd
        )
        self.filled = tuple(filled)
        return why, number

    def tables(self):
        tables = (self.transactions, self.initialisations, self.oddities)
        return [table[:count] for table, count in zip(tables, self.filled, strict=True)]


def fold(*rows):
    folded = Fold()
    assert folded.feed(rows) == (DONE, len(rows))
    return folded.tables()


CLASSIC = [
    row(0, EMPTY),
    row(1, ONGOING),
    row(2, ONGOING, partitions_code=2),
    row(3, PREPARE_COMMIT, partitions_code=2),
    row(4, COMPLETE_COMMIT),
]


def test_a_transaction_is_told_from_its_first_row_to_its_completion(engine):
    (txn,), (init,), oddities = fold(*CLASSIC)
    assert (txn["producer_id"], txn["producer_epoch"], txn["started_at"], txn["timeout_ms"]) == (7, 0, 100, 60000)
    assert (txn["begin_offset"], txn["begin_timestamp"], txn["grown_at"]) == (1, 1001, 2002)
    assert (txn["decision"], txn["decision_offset"], txn["decided_at"]) == (PREPARE_COMMIT, 3, 2003)
    assert (txn["decision_timestamp"], txn["partitions_code"], txn["decision_leader_epoch"]) == (1003, 2, 4)
    assert (txn["completion_offset"], txn["completion_timestamp"], txn["completed_producer_id"]) == (4, 1004, 7)
    assert (txn["next_state"], txn["flags"], txn["state_partition"], txn["id_code"]) == (NOTHING, 0, 9, 0)
    assert (init["offset"], init["previous_state"], init["is_contiguous"]) == (0, NOTHING, 0)
    assert [odd["kind"] for odd in oddities] == [LIST_CHANGED]


def test_the_row_behind_a_transaction_is_noted(engine):
    (first, second), _, _ = fold(*CLASSIC, row(5, ONGOING, started_at=200, producer_epoch=0))
    assert (first["next_state"], first["next_offset"], first["next_producer_id"]) == (ONGOING, 5, 7)
    assert (second["begin_offset"], second["decision"], second["completion_offset"]) == (5, -1, -1)


def test_a_tombstone_behind_a_transaction_is_noted_as_such(engine):
    (txn,), inits, oddities = fold(*CLASSIC, tombstone(5))
    assert (txn["next_state"], txn["next_offset"]) == (TOMBSTONE, 5)
    assert inits["is_tombstone"].tolist() == [0, 1]
    assert inits["previous_state"].tolist() == [NOTHING, COMPLETE_COMMIT]
    assert ILLEGAL_TRANSITION not in oddities["kind"]


def test_where_compaction_left_only_the_completion_the_decision_is_its(engine):
    (txn,), _, oddities = fold(row(4, COMPLETE_ABORT, producer_epoch=1))
    assert (txn["begin_offset"], txn["decision_offset"]) == (-1, -1)
    assert (txn["decision"], txn["decided_at"], txn["completion_epoch"]) == (PREPARE_ABORT, 2004, 1)
    assert len(oddities) == 0


def test_a_completion_written_twice_is_one_transaction(engine):
    transactions, _, oddities = fold(*CLASSIC, row(5, COMPLETE_COMMIT))
    assert len(transactions) == 1
    assert set(oddities["kind"]) == {LIST_CHANGED}


def test_two_ids_do_not_touch_each_other(engine):
    transactions, inits, _ = fold(row(0, EMPTY), row(1, EMPTY, who=1), row(2, ONGOING, who=1), row(3, ONGOING))
    assert transactions["id_code"].tolist() == [1, 0]
    assert inits["id_code"].tolist() == [0, 1]


def test_a_hole_between_the_rows_of_an_id_is_marked(engine):
    (whole,), _, _ = fold(row(0, ONGOING), row(1, PREPARE_COMMIT))
    (cut,), _, _ = fold(row(0, ONGOING), row(2, PREPARE_COMMIT))
    assert (whole["flags"], cut["flags"]) == (0, AFTER_HOLE)


@pytest.mark.parametrize("untold", [(0,), (1,), (2,), (0, 1), (0, 1, 2)])
def test_rows_whose_text_does_not_tell_the_start_are_one_transaction(engine, untold):
    starts = [NOT_PRINTED if number in untold else 100 for number in range(3)]
    states = (ONGOING, PREPARE_COMMIT, COMPLETE_COMMIT)
    transactions, _, oddities = fold(*(row(at, states[at], started_at=starts[at]) for at in range(3)))
    assert len(transactions) == 1
    assert not len(oddities)
    assert transactions["started_at"][0] == (NOT_PRINTED if len(untold) == 3 else 100)


def kinds(*rows):
    return fold(*rows)[2]["kind"].tolist()


def test_what_the_state_machine_can_not_write_is_odd(engine):
    assert kinds(row(0, EMPTY), row(1, PREPARE_COMMIT)) == [ILLEGAL_TRANSITION]
    assert kinds(row(0, ONGOING), tombstone(1)) == [ILLEGAL_TRANSITION]
    assert kinds(row(0, EMPTY, producer_epoch=3), row(1, EMPTY, producer_epoch=2)) == [EPOCH_DECREASED]
    assert kinds(row(0, EMPTY), row(1, EMPTY, producer_epoch=2)) == [EPOCH_JUMPED]
    assert kinds(row(0, EMPTY), row(1, ONGOING, producer_epoch=1)) == [EPOCH_JUMPED]
    assert kinds(row(0, ONGOING), row(1, ONGOING, started_at=101)) == [START_CHANGED]
    assert kinds(row(0, ONGOING), row(1, ONGOING, partitions_code=2)) == [LIST_CHANGED]
    assert kinds(row(0, COMPLETE_COMMIT, started_at=-1)) == [NO_START]
    assert kinds(row(0, ONGOING, partitions_code=EMPTY_LIST)) == [NO_PARTITIONS]
    assert kinds(row(0, ONGOING, partitions_code=-1)) == [NO_PARTITIONS]


def test_what_transactions_v2_added_is_legal_only_there(engine):
    assert kinds(row(0, EMPTY), row(1, PREPARE_ABORT, client_transaction_version=2)) == []
    assert kinds(row(0, EMPTY), row(1, PREPARE_ABORT, client_transaction_version=0)) == [ILLEGAL_TRANSITION]


def test_a_raised_abort_may_be_of_transactions_v2_where_no_version_is_printed(engine):
    untold = {"value_version": -1}
    abort = row(1, PREPARE_ABORT, producer_epoch=8, **untold)
    assert kinds(row(0, COMPLETE_COMMIT, producer_epoch=7, **untold), abort) == []
    assert kinds(row(0, COMPLETE_COMMIT, producer_epoch=8, **untold), abort) == [ILLEGAL_TRANSITION]
    first = row(1, PREPARE_ABORT, producer_epoch=8, value_version=0)
    assert kinds(row(0, COMPLETE_COMMIT, producer_epoch=7, value_version=0), first) == [ILLEGAL_TRANSITION]


@pytest.mark.parametrize("state", [6, 7, 8, 100, 127, -3, -128])
def test_a_state_that_is_none_is_odd_and_harms_nothing_behind_it(engine, state):
    assert kinds(row(0, state), row(1, EMPTY), row(2, ONGOING)) == [ILLEGAL_STATE]
    assert kinds(row(0, state), row(1, ONGOING), tombstone(2)) == [ILLEGAL_STATE, ILLEGAL_TRANSITION]


def test_the_fold_stops_where_room_is_missing_and_goes_on(engine):
    rows = [row(0, EMPTY), row(1, EMPTY, producer_epoch=1), row(2, EMPTY, producer_epoch=2)]
    folded = Fold(room=2)
    assert folded.feed(rows) == (NO_ROOM, 2)
    folded.initialisations = np.concatenate([folded.initialisations, np.zeros(5, INITIALISATION)])
    assert folded.feed(rows, 2) == (DONE, 3)
    assert folded.initialisations["previous_epoch"][:3].tolist() == [0, 0, 1]


STEPS = st.lists(
    st.tuples(
        st.integers(-1, 9),
        st.integers(0, 2),
        st.integers(0, 1),
        st.integers(100, 102),
        st.integers(0, 2),
        st.integers(-1, 2),
    ),
    min_size=1,
    max_size=25,
)


@BOTH_ENGINES
@given(steps=STEPS, cut=st.integers(0, 25))
def test_a_cut_at_any_row_changes_nothing(engine, steps, cut):
    rows, offset = [], 0
    for state, who, hole, started_at, epoch, version in steps:
        offset += 1 + hole
        fields = {"producer_epoch": epoch, "client_transaction_version": version}
        rows.append(
            tombstone(offset, who=who) if state < 0 else row(offset, state, who=who, started_at=started_at, **fields)
        )
    whole, parts = Fold(), Fold()
    whole.feed(rows)
    parts.feed(rows[:cut])
    parts.feed(rows[cut:])
    assert parts.filled == whole.filled
    for one, other in zip(parts.tables(), whole.tables(), strict=True):
        assert (one == other).all()
    assert (parts.latest == whole.latest).all()


@BOTH_ENGINES
@given(steps=STEPS)
def test_every_row_is_told_by_one_table(engine, steps):
    rows = [
        tombstone(number, who=who) if state < 0 else row(number, state, who=who, started_at=started_at)
        for number, (state, who, _, started_at, _, _) in enumerate(steps)
    ]
    transactions, inits, oddities = fold(*rows)
    told = {
        int(offset)
        for name in ("begin_offset", "decision_offset", "completion_offset")
        for offset in transactions[name]
    }
    told |= {int(offset) for table in (inits, oddities) for offset in table["offset"]}
    merged = {number for number, (state, *_) in enumerate(steps) if state in (1, 2, 3, 4, 5)}
    assert {number for number in range(len(rows)) if number not in told} <= merged
